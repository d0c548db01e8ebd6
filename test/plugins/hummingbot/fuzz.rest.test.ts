import { Ajv } from 'ajv'
import { expect } from 'chai'
import * as fc from 'fast-check'
import type { Answer, Client } from '../../../testkit/client.ts'
import { encode, jsonValues, otherNames, queryValues } from '../../http/fuzz/values.ts'
import { traders } from '../../http/shared-server.ts'
import { scrape } from '../../http/scrape.ts'
import { chainNetwork } from './bot.ts'
import { sharedServer, type SharedServer } from './shared-server.ts'

const seed = Number(process.env.SLUICE_FUZZ_SEED ?? Date.now() % 2 ** 31)
const [batches, atOnce] = [100, 8]

/** A method of a path, as the interface's own document describes it. */
interface Operation {
  readonly method: string
  readonly path: string
  readonly inPath: readonly string[]
  readonly others: readonly string[]
  readonly required: readonly string[]
  /** Of another generation, or what is the operator's: always refused. */
  readonly isRefused: boolean
}

interface Sent {
  readonly operation: Operation
  readonly path: string
  readonly headers: Record<string, string>
  readonly raw?: string
}

/** A good value for every field that a path may have. */
const good: Record<string, unknown> = {
  chain: 'ethereum',
  network: 'local',
  chainNetwork,
  connector: 'uniswap',
  dex: 'uniswap',
  baseToken: 'WETH',
  quoteToken: 'USDC',
  side: 'SELL',
  amount: 0.001,
  slippagePct: 0.5,
  address: traders,
  walletAddress: traders,
  tokens: ['WETH', 'ETH'],
  spender: 'uniswap',
  token: 'WETH',
  signature: `0x${'ab'.repeat(32)}`,
  namespace: 'uniswap',
  path: 'slippagePct',
  value: 0.5,
  search: 'WETH-USDC',
  tokenA: 'WETH',
  tokenB: 'USDC',
  pair: 'WETH-USDC',
  symbolOrAddress: 'USDC',
  action: 'price',
}

describe(`any request to the interface of Hummingbot (SLUICE_FUZZ_SEED=${seed})`, function () {
  this.timeout(240_000)
  let server: SharedServer
  let client: Client
  let operations: readonly Operation[]
  const known = new Map<Operation, typeof good>()
  /** Whether an answer has the shape that the document says. */
  const fits = new Map<Operation, (answer: unknown) => boolean>()
  const seen = new Set<string>()

  before(async () => {
    server = await sharedServer()
    client = server.https.fuzzer
    const bot = server.bots.fuzzer
    const document: Document = (await client.get('/openapi.json')).body
    operations = readOperations(document)
    for (const each of operations) fits.set(each, shapeOf(each, document))
    const { token } = await bot.get('/tokens/WETH', { chainNetwork })
    const { address: pool } = await bot.get('/pools/WETH-USDC', { chainNetwork, connector: 'uniswap' })
    await bot.post('/chains/ethereum/wrap', { network: 'local', address: traders, amount: 5 })
    await bot.post('/chains/ethereum/approve', { network: 'local', address: traders, spender: 'uniswap', token: 'WETH' })
    const swap = { chainNetwork, connector: 'uniswap', baseToken: 'WETH', quoteToken: 'USDC', amount: '0.001', side: 'SELL' }
    const { quoteId } = await bot.get('/trading/router/quote-swap', swap)
    for (const each of operations) {
      const [, room] = each.path.split('/')
      const ofRoom = { tokens: { address: token.address, token }, pools: { address: pool }, connectors: { type: 'router' } }[room ?? '']
      // Without an amount all is approved, for what swaps after it.
      const ofPath = each.path.endsWith('/approve') ? { amount: undefined } : {}
      known.set(each, { ...good, quoteId, ...ofRoom, ...ofPath })
    }
  })

  const goodOf = (operation: Operation, names: readonly string[]): [string, unknown][] =>
    names.flatMap((name): [string, unknown][] => {
      const value = known.get(operation)?.[name]
      return value === undefined ? [] : [[name, value]]
    })

  const inQuery = (value: unknown): string => encode(typeof value === 'string' ? value : JSON.stringify(value))

  /** With these as they stand in a path, and the others as they stand in a query or body. */
  function request(operation: Operation, inPath: Readonly<Record<string, string>>, others: readonly (readonly [string, string])[]): Sent {
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => inPath[name] ?? 'x')
    if (operation.method === 'GET')
      return { operation, path: `${path}?${others.map(([name, value]) => `${encode(name)}=${value}`).join('&')}`, headers: {} }
    const raw = `{${others.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
    return { operation, path, headers: { 'content-type': 'application/json' }, raw }
  }

  const written = ({ method }: Operation) => (method === 'GET' ? inQuery : (value: unknown) => JSON.stringify(value))

  const goodRequest = (operation: Operation): Sent => requestOf(operation, operation.others)

  /** With good values of these fields. */
  function requestOf(operation: Operation, names: readonly string[]): Sent {
    const inPath = Object.fromEntries(goodOf(operation, operation.inPath).map(([name, value]) => [name, inQuery(value)]))
    const write = written(operation)
    return request(
      operation,
      inPath,
      goodOf(operation, names).map(([name, value]) => [name, write(value)]),
    )
  }

  /** Some of its fields are changed, gone, doubled, or joined by others; and at times the body is no JSON. */
  const wild = (operation: Operation): fc.Arbitrary<Sent> => {
    const names = (from: readonly string[], most: number) =>
      from.length === 0 ? fc.constant<string[]>([]) : fc.uniqueArray(fc.constantFrom(...from), { maxLength: most })
    const values = operation.method === 'GET' ? queryValues : jsonValues
    const wounds = fc.constantFrom<((raw: string) => string)[]>(
      ...Array.from({ length: 20 }, () => (raw: string) => raw),
      (raw) => raw.slice(0, -1),
      (raw) => `[${raw}]`,
      () => '',
      () => 'null',
    )
    return fc
      .record({
        changed: names(operation.others, 3),
        gone: names(operation.others, 2),
        added: fc.array(otherNames, { maxLength: 1 }),
        wildPath: names(operation.inPath, 1),
        values: fc.array(values, { minLength: 8, maxLength: 8 }),
        pathValue: queryValues,
        wound: wounds,
        type: fc.constantFrom(...Array.from({ length: 20 }, () => 'application/json'), 'text/plain', 'multipart/form-data'),
      })
      .map(({ changed, gone, added, wildPath, values: wildValues, pathValue, wound, type }) => {
        const inPath = Object.fromEntries(goodOf(operation, operation.inPath).map(([name, value]) => [name, inQuery(value)]))
        for (const name of wildPath) inPath[name] = pathValue
        const write = written(operation)
        const kept = goodOf(
          operation,
          operation.others.filter((name) => !changed.includes(name) && !gone.includes(name)),
        ).map(([name, value]) => [name, write(value)] as const)
        const others = [...changed, ...added].map((name, index) => [name, wildValues[index] ?? ''] as const)
        const made = request(operation, inPath, [...kept, ...others])
        return made.raw === undefined ? made : { ...made, raw: wound(made.raw), headers: { 'content-type': type } }
      })
  }

  const send = ({ operation, path, headers, raw }: Sent): Promise<Answer> =>
    client.request(operation.method, path, { headers, ...(raw !== undefined && { raw }) })

  function judge({ operation, path, raw }: Sent, { status, body, text, headers }: Answer): void {
    const name = `${operation.method} ${operation.path}`
    const about = `${name} ${path.slice(0, 300)} ${raw?.slice(0, 300) ?? ''} -> ${status} ${text.slice(0, 500)}`
    seen.add(`${name} ${status === 200 ? 'answered' : 'refused'}`)
    expect(headers['content-type'], about).to.contain('application/json')
    if (status === 200) {
      // A path with a wild value may be that of another operation.
      const isOwn = operation.inPath.length === 0
      if (isOwn) expect(fits.get(operation)?.(body), about).to.equal(true)
      return
    }
    expect(body, about).to.be.an('object')
    expect(body, about).to.include({ statusCode: status })
    for (const field of ['error', 'name', 'message']) expect(body[field], about).to.be.a('string')
    expect(body.message, about).to.have.length.within(3, 20_000)
    // A defect is UNKNOWN_ERROR, and shown as 503: 500 closes positions in a database of the client.
    expect([500, 502, 504], about).not.to.include(status)
    expect(body.name, about).not.to.equal('UNKNOWN_ERROR')
    expect(text, about).not.to.match(/TRANSACTION_TIMEOUT|\bat .+\.[tj]s:\d+|node_modules/)
  }

  it('is answered in the shape of its path, or refused by an error that clients can read', async () => {
    // What is good is answered and what is not is refused, whatever the dice say: they come to an operation a few times only.
    for (const operation of operations) {
      const request = goodRequest(operation)
      judge(request, await send(request))
      if (operation.required.length === 0) continue
      const lacking = requestOf(
        operation,
        operation.others.filter((name) => !operation.required.includes(name)),
      )
      judge(lacking, await send(lacking))
    }
    const requests = fc.constantFrom(...operations).chain(wild)
    const property = fc.asyncProperty(fc.array(requests, { minLength: atOnce, maxLength: atOnce }), async (batch) => {
      const answers = await Promise.all(batch.map(send))
      for (const [index, answer] of answers.entries()) {
        const request = batch[index]
        if (request) judge(request, answer)
      }
    })
    await fc.assert(property, { seed, numRuns: batches, endOnFailure: true })
    // A fuzz that never gets past the first check, or is never refused, shows nothing.
    const expected = operations.flatMap((operation) => {
      const { method, path, inPath, required, isRefused } = operation
      // There are no positions here: the tests of liquidity have some.
      const isGood = [...inPath, ...required].every((name) => known.get(operation)?.[name] !== undefined)
      return [
        ...(isGood && !isRefused ? [`${method} ${path} answered`] : []),
        ...(isRefused || required.length > 0 ? [`${method} ${path} refused`] : []),
      ]
    })
    expect(expected.filter((each) => !seen.has(each))).to.deep.equal([])
    expect((await client.get('/')).body).to.deep.equal({ status: 'ok' })
    expect((await scrape(server.client)).text).not.to.contain('code="1099"')
  })
})

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
}

interface DescribedOperation {
  readonly summary: string
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: ObjectSchema }>> }
  readonly responses: { readonly 200: { readonly content: Readonly<Record<string, { readonly schema: object }>> } }
}

interface ObjectSchema {
  readonly properties: object
  readonly required: readonly string[]
}

function readOperations({ paths }: Document): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary, parameters, requestBody }]): Operation => {
      const inQuery = parameters.filter((each) => each.in === 'query')
      const { properties = {}, required = [] } = requestBody?.content['application/json']?.schema ?? {}
      return {
        method: method.toUpperCase(),
        path,
        inPath: parameters.flatMap((each) => (each.in === 'path' ? [each.name] : [])),
        others: [...inQuery.map(({ name }) => name), ...Object.keys(properties)],
        required: [...inQuery.flatMap((each) => (each.required ? [each.name] : [])), ...required],
        isRefused: summary.startsWith('Refused'),
      }
    }),
  )
}

const ajv = new Ajv({ strict: false })

const shapeOf = ({ method, path }: Operation, { paths }: Document): ((answer: unknown) => boolean) =>
  ajv.compile(paths[path]?.[method.toLowerCase()]?.responses[200].content['application/json']?.schema ?? false)
