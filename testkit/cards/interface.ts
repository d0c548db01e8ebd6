// What every interface must do, whatever its dialect: its paths are declared, its errors are errors, and nothing that a client sends is a defect.
import { expect } from 'chai'
import { errorTable, type ErrorName } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import { maxHostedAnswerBytes, type PathOutline } from '../../core/plugins/index.ts'
import type { Answer } from '../client.ts'
import { ask, examplesOf, shortened, usualFields, type Fields, type TestInterface } from './interface-fixture.ts'
import type { AddCard } from './venue.ts'

type InterfaceCard = readonly [title: string, run: (site: TestInterface) => ReturnType<Parameters<AddCard>[1]>]

/** @param site there once the first card runs */
export function interfaceCards(site: () => TestInterface, add: AddCard): void {
  for (const [title, run] of cards) add(title, () => run(site()))
}

const nameOf = ({ method, path }: PathOutline): string => `${method} ${path}`

/** An error: a status of one, and an object of JSON. */
function expectError({ status, body, text }: Answer, request: string): void {
  expect(status, `${request}: ${shortened(text)}`).to.be.within(400, 599)
  expect(isObject(body), `${request} has to be answered with an object of JSON, and is with: ${shortened(text)}`).to.equal(true)
}

function expectNoDefect({ watched }: TestInterface): void {
  const defects = watched.takeDefects()
  expect(defects, `${defects.length} requests are answered by a defect. The first: ${defects[0]}`).to.have.length(0)
}

/** So many at once: an author's machine is not to be kept busy by waiting. */
async function forAll<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items[Symbol.iterator]()
  const worker = async () => {
    for (const item of left) await work(item)
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}

const cards: readonly InterfaceCard[] = [
  [
    'IFC-01 the server loads it, lists it and listens for it',
    async ({ name, server, client }) => {
      const { body } = await server.get('/plugins')
      const shown = body.find((each: { name: string; kind: string }) => each.name === name && each.kind === 'interface')
      expect(shown).to.include({ state: 'loaded' })
      expect((await client.get('/openapi.json')).status).to.equal(200)
    },
  ],
  [
    'IFC-02 its document describes every path, with a summary and the schema of its answer',
    async ({ served, client }) => {
      const { body } = await client.get('/openapi.json')
      for (const { method, path, summary } of served.paths) {
        if (served.paths.some((each) => each.path === '/openapi.json')) break
        const operation = body.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
        expect(operation, `${method} ${path}`).to.include({ summary })
        expect(operation.responses[200].content['application/json'].schema, `${method} ${path}`).to.be.an('object')
      }
      for (const path of served.paths) expect(path.summary.trim(), `the summary of ${nameOf(path)}`).not.to.equal('')
    },
  ],
  [
    'IFC-03 an unknown path, another method and a body that is no JSON are errors in its own shape',
    async (site) => {
      const { client, served } = site
      expectError(await client.get('/there-is-no-such-path'), 'GET of an unknown path')
      const headers = { 'content-type': 'application/json' }
      for (const { method, path } of served.paths) {
        const target = path.replaceAll(/:\w+/g, '-')
        expectError(await client.request('PATCH', target), `PATCH ${path}`)
        if (method === 'POST') expectError(await client.request('POST', target, { raw: '{"a":', headers }), `POST ${path} with half a body`)
      }
      expectNoDefect(site)
    },
  ],
  [
    'IFC-04 `showError` shows each error of the server as an error',
    async ({ served }) => {
      for (const [name, { http }] of Object.entries(errorTable)) {
        const error = { http, name, message: 'It is so.', requestId: 'a-request', retryAfterSeconds: undefined }
        for (const details of [undefined, [{ field: 'a', problem: 'is wrong' }], { cause: 'slippage' }, 'text', null]) {
          const { status, body } = await served.showError({ ...error, ...(details !== undefined && { details }) })
          const isWaiting = status === http && name === ('PENDING_APPROVAL' satisfies ErrorName)
          expect(isWaiting || (Number.isInteger(status) && status >= 400 && status <= 599), `${name} has the status ${status}`).to.equal(
            true,
          )
          expect(isObject(JSON.parse(JSON.stringify(body))), `the body of ${name}: ${shortened(JSON.stringify(body))}`).to.equal(true)
        }
      }
    },
  ],
  [
    'IFC-05 a path with a permission refuses who lacks it, and calls nothing',
    async (site) => {
      const { served, stranger, watched } = site
      watched.takeCalls()
      for (const path of served.paths.filter(({ permission }) => permission !== undefined))
        expectError(await ask(stranger, path, usualFields(path)), `${nameOf(path)} without ${path.permission}`)
      expect(watched.takeCalls(), 'calls of endpoints for who lacks the permission').to.equal(0)
    },
  ],
  [
    'IFC-06 a missing field that is required is an error of the caller',
    async (site) => {
      for (const path of site.served.paths)
        for (const missing of requiredBeside(path)) {
          const { [missing]: _, ...others } = usualFields(path)
          const answer = await ask(site.client, path, others)
          expectError(answer, `${nameOf(path)} without ${missing}`)
          expect(answer.status, `${nameOf(path)} without ${missing}: ${shortened(answer.text)}`).to.be.below(500)
        }
      expectNoDefect(site)
    },
  ],
  [
    'IFC-07 no request is a defect, whatever its fields are',
    async (site) => {
      const requests = site.served.paths.flatMap((path) => spoiltFields(path).map((fields) => ({ path, fields })))
      await forAll(requests, async ({ path, fields }) => {
        const answer = await ask(site.client, path, fields)
        if (answer.status !== 200) expectError(answer, `${nameOf(path)} with ${shortened(JSON.stringify(fields))}`)
      })
      expectNoDefect(site)
    },
  ],
  [
    'IFC-08 the examples of its paths succeed, with answers of their schemas',
    async (site) => {
      const { served, client, watched } = site
      watched.takeLongest()
      const examples = served.paths.flatMap((path) => examplesOf(path).map((fields) => ({ path, fields })))
      for (const { path, fields } of examples) {
        const answer = await ask(client, path, fields)
        expectNoDefect(site)
        expect(answer.status, `${nameOf(path)} with ${JSON.stringify(fields)}: ${shortened(answer.text)}`).to.equal(200)
      }
      expect(watched.takeLongest(), 'bytes of the longest answer').to.be.at.most(maxHostedAnswerBytes)
      return examples.length > 0
        ? undefined
        : { notTested: 'no path has an example: give its request `examples`, a list of fields that succeed on the devnet' }
    },
  ],
  [
    'IFC-09 callers that go away leave nothing behind that hinders the next',
    async (site) => {
      const { served, client, watched } = site
      for (const path of served.paths)
        for (let count = 0; count < 3; count++) {
          const reached = watched.nextRequest()
          const leaving = ask(client, path, usualFields(path)).catch(() => undefined)
          await Promise.race([reached, leaving])
          client.close()
          await leaving
        }
      const [next] = served.paths
      if (next) expect((await ask(client, next, usualFields(next))).status).to.be.within(200, 599)
      expectNoDefect(site)
    },
  ],
  [
    'IFC-10 many requests at once are each answered or refused, and the server goes on',
    async (site) => {
      const { served, client, server } = site
      const reading = served.paths.filter(({ method }) => method === 'GET')
      const asked = (reading.length > 0 ? reading : served.paths).slice(0, 4)
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, index) => asked[index % asked.length]).map(
          async (path) => path && ask(client, path, usualFields(path)),
        ),
      )
      for (const answer of answers) if (answer && answer.status !== 200) expectError(answer, 'one of many')
      expect((await server.get('/')).status).to.equal(200)
      expectNoDefect(site)
    },
  ],
]

/** Of the query or body: without one of the path it is another path. */
function requiredBeside({ request, path }: PathOutline): readonly string[] {
  const required: readonly string[] = request.required ?? []
  return required.filter((name) => !path.includes(`:${name}`))
}

/** What clients send by mistake or on purpose. */
const spoilt: readonly unknown[] = [
  '',
  'x'.repeat(3_000),
  '-1',
  '1e400',
  '__proto__',
  '../..',
  '\u0000',
  '0x',
  null,
  [],
  [[]],
  {},
  true,
  -0.5,
  1e30,
]

/** One field after the other is spoilt. */
function spoiltFields(path: PathOutline): readonly Fields[] {
  const usual = usualFields(path)
  const each = Object.keys(path.request.properties).flatMap((name) => spoilt.map((value): Fields => ({ ...usual, [name]: value })))
  return [{}, { unknown: 'field' }, { ...usual, constructor: 'x' }, ...each]
}
