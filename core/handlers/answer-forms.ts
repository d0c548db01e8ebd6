// What a handler gave as the answer of its endpoint: as text for HTTP, or as an object for who calls it as a function.
import fastJsonStringify from 'fast-json-stringify'
import type { TObject, TSchema } from 'typebox'
import { envelopeFields } from '../api/endpoint.ts'
import { isObject } from '../base/json.ts'
import type { Fields } from '../config/field-reader.ts'
import type { Question } from '../config/query-reader.ts'
import type { Answer } from '../transactions/idempotency.ts'
import { copierOf } from './answer-copies.ts'

interface Renderer {
  render(answer: object, question: Question, startedAt: number): Answer
  /** What the text would be read as, without being written. */
  asObject(answer: object, request: Readonly<Fields>, startedAt: number): object
}

/**
 * By the schema of an endpoint's answers.
 * @param hidePaths of what may name files of the server
 */
export function createRenderer(response: TSchema, hidePaths: ((text: string) => string) | undefined): Renderer {
  const isEnveloped = 'properties' in response && isObject(response.properties) && 'latency' in response.properties
  // Compiled with the first answer, as the validator is with the first request.
  const schema = (): object => JSON.parse(JSON.stringify(isEnveloped ? withoutEnvelope(response as TObject) : response))
  let serialize: ((answer: object) => string) | undefined
  let copy: ReturnType<typeof copierOf> | undefined
  /** Of answers that are given to several questions, as JSON up to what differs each time. */
  const opens = new WeakMap<object, string>()

  function serialized(shown: object): string {
    serialize ??= fastJsonStringify(withoutEscapes(schema()), writing)
    const json = serialize(shown)
    return hidePaths ? hidePaths(json) : json
  }

  function render(answer: object, question: Question, startedAt: number): Answer {
    // Health endpoints answer 503 and name the failing part.
    const status = 'status' in answer && answer.status === 'failing' ? 503 : 200
    if (!isEnveloped) return { status, body: serialized(answer) }
    let open = question.answer === answer ? question.open : opens.get(answer)
    if (open === undefined) {
      const text = serialized(answer)
      open = text === '{}' ? '{' : `${text.slice(0, -1)},`
      // What is not frozen may have changed when it comes again.
      if (Object.isFrozen(answer)) {
        question.answer = answer
        question.open = open
        opens.set(answer, open)
      }
    }
    const network = JSON.stringify(networkOf(question.request))
    const [timestamp, latency] = [timestampOf(answer), secondsSince(startedAt)]
    return { status, body: `${open}"network":${network},"timestamp":${timestamp},"latency":${latency}}` }
  }

  return {
    render,
    asObject(answer, request, startedAt) {
      if (hidePaths) return JSON.parse(render(answer, { request }, startedAt).body)
      const copied = (copy ??= copierOf(schema()))(answer) as Fields
      if (!isEnveloped) return copied
      copied['network'] = networkOf(request)
      copied['timestamp'] = timestampOf(answer)
      copied['latency'] = secondsSince(startedAt)
      return copied
    },
  }
}

const networkOf = ({ network }: Readonly<Fields>): string => String(network)

const timestampOf = (answer: object): number =>
  'timestamp' in answer && typeof answer.timestamp === 'number' ? answer.timestamp : Date.now()

/** Rounded to microseconds: further digits are noise of the clock. */
const secondsSince = (startedAtMs: number) => Math.round((performance.now() - startedAtMs) * 1000) / 1e6

/** Where the library chooses between two kinds of answer, it validates, and warns of formats that it does not know. */
const writing = { ajv: { formats: { unsafe: true } } } as const

/** Of `Digits`, the library's word for text that it need not look through. */
const withoutEscapes = (schema: object): object =>
  JSON.parse(JSON.stringify(schema), (_, part: unknown) =>
    isObject(part) && part['digits'] === true ? { type: 'string', format: 'unsafe' } : part,
  )

/** It is for the request to say them, whatever the answer has. */
function withoutEnvelope({ properties, required, ...schema }: TObject): object {
  const isOwn = (name: string) => !Object.hasOwn(envelopeFields, name)
  const fields = Object.entries(properties).filter(([name]) => isOwn(name))
  return { ...schema, properties: Object.fromEntries(fields), required: required.filter(isOwn) }
}
