// Prices of swaps: one path for each type in 2.17, one for all in 2.16.
import { isLess } from 'sluice/decimal'
import { after, badFields, interfacePath, SluiceError, Type, type InterfaceCall, type InterfacePath } from 'sluice/interface'
import { cutAmount } from './amounts.ts'
import { connectorOf, everyConnector, typeIn, typeOf, versionsOf, type PoolType } from './connectors.ts'
import { slippageOf } from './defaults.ts'
import { isPassing } from './errors.ts'
import { networkFields, type NamedNetwork, type Networks } from './networks.ts'
import { decimalPattern, numberBelow } from './numbers.ts'
import { knownQuestion, newQuestion, termsOf, type Choice, type Question } from './quote-terms.ts'

const Amount = Type.String({ pattern: decimalPattern, description: 'Of the base token.' })
const Percent = Type.String({ pattern: '^\\d{1,3}(\\.\\d{1,120})?([eE][+-]?\\d{1,2})?$' })

export const QuoteFields = Type.Object({
  ...networkFields,
  connector: Type.Optional(Type.String({ maxLength: 128 })),
  baseToken: Type.String({ minLength: 1, maxLength: 256 }),
  quoteToken: Type.String({ minLength: 1, maxLength: 256 }),
  amount: Amount,
  side: Type.Enum(['BUY', 'SELL']),
  slippagePct: Type.Optional(Percent),
  poolAddress: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
})
type Fields = Type.Static<typeof QuoteFields>

/** As hummingbot-api asked until July 2026: the connector is in the path, and the network is named alone. */
export const pathOfJune = (action: string): string => `/connectors/:dex/router/${action}`
export const juneFields = { dex: Type.String({ maxLength: 128 }) }

const price = { price: Type.String(), amountIn: Type.String(), amountOut: Type.String() }
const bounds = { minAmountOut: Type.String(), maxAmountIn: Type.String(), priceImpactPct: Type.String() }
const about = { tokenIn: Type.String(), tokenOut: Type.String(), routePath: Type.String(), slippagePct: Type.Optional(Type.String()) }
const quoteId = Type.Optional(Type.String({ description: 'Of the type router: what execute-quote takes.' }))
const Quote = Type.Object({ ...price, ...bounds, ...about, poolAddress: Type.Optional(Type.String()), quoteId })
type Quote = Type.Static<typeof Quote>

/** The same with numbers: clients of 2.16 calculate with what they read. */
const NumberQuote = Type.Object({
  ...Object.fromEntries(Object.keys({ ...price, ...bounds }).map((name) => [name, Type.Number()])),
  ...about,
  quoteId,
})

export function quotePaths(networks: Networks): InterfacePath[] {
  const typed = (['router', 'clmm', 'amm'] as const).map((type) =>
    interfacePath({
      method: 'GET',
      path: `/trading/${type}/quote-swap`,
      summary:
        type === 'router' ? 'The price of a swap, of one connector or the best of all.' : `The same through pools of the type ${type}.`,
      permission: 'read',
      request: QuoteFields,
      response: Quote,
      answer: (request, call) => quote(request, type, networks.of(request), call),
    }),
  )
  return [
    ...typed,
    interfacePath({
      method: 'GET',
      path: '/trading/swap/quote',
      summary: 'The price of a swap, as clients of 2.16 ask for it.',
      permission: 'read',
      request: QuoteFields,
      response: NumberQuote,
      answer: async (request, call) =>
        inNumbers(await quote(request, typeIn(request.connector ?? '') ?? 'router', networks.of(request), call)),
    }),
    interfacePath({
      method: 'GET',
      path: pathOfJune('quote-swap'),
      summary: 'The price of a swap, as hummingbot-api asked for it until July 2026.',
      permission: 'read',
      request: Type.Object({ ...QuoteFields.properties, ...juneFields }),
      response: NumberQuote,
      answer: async ({ dex: connector, ...request }, call) =>
        inNumbers(await quote({ ...request, connector }, 'router', networks.ofNetworkAlone(request), call)),
    }),
  ]
}

function inNumbers(of: Quote): Type.Static<typeof NumberQuote> {
  const { poolAddress: _, ...quoted } = of
  const numbers = Object.keys({ ...price, ...bounds }).map((name) => [name, numberBelow(String(Reflect.get(quoted, name)))])
  return { ...quoted, ...Object.fromEntries(numbers) }
}

type PriceCall = Pick<InterfaceCall, 'call' | 'ask' | 'preferences'>
type BestPrice = Awaited<ReturnType<typeof bestPrice>>

/** A price, and what a trade names to have it: at once where it is there. */
export function bestPrice(request: Fields, type: PoolType, on: NamedNetwork, call: PriceCall) {
  const { connector = everyConnector, baseToken: base, quoteToken, amount, side } = request
  const named = connectorOf(connector)
  if (type !== 'router' && named === 'any')
    throw badFields([
      { field: 'connector', problem: `"${everyConnector}" has the type router: name an exchange for pools of the type ${type}` },
    ])
  const { chain, network } = on.own
  const known = knownQuestion(request)
  if (known) return priceOf(known, request, type, call)
  return after(cutAmount(amount, { field: 'amount', token: base }, on, call), (cut) => {
    const swap = { chain, network, connector: named, base, quote: quoteToken, amount: cut, side }
    return priceOf(newQuestion(request, swap), request, type, call)
  })
}

function priceOf(question: Question, { connector = everyConnector, ...request }: Fields, type: PoolType, call: PriceCall) {
  const { side, poolAddress } = request
  const named = question.swap.connector
  const ask = (choice: Choice) => {
    const { pool, version } = choice
    const isChosen = pool !== undefined || version !== undefined
    return after(call.ask('AMMPrice', isChosen ? { ...question.swap, ...choice } : question.swap), (answer) => ({ answer, choice }))
  }
  const askChosen = () => ask(poolAddress === undefined ? {} : { pool: poolAddress })
  const askVersions = (versions: readonly string[]) =>
    versions.length > 0 ? bestOf(versionsOfType(type, versions, connector), side, async (version) => ask({ version })) : askChosen()
  // A route through all versions may pass pools of other types.
  const isOfAll = type === 'router' || poolAddress !== undefined
  const priced = isOfAll ? askChosen() : after(versionsOf(named, call), askVersions)
  return after(priced, ({ answer, choice }) => {
    if (type !== 'router') requireType(type, answer.route, poolAddress === undefined ? 'connector' : 'poolAddress')
    return after(slippageOf({ ...request, connector }, call), (slippagePct) => ({
      answer,
      slippagePct,
      terms: termsOf(question, answer, slippagePct, choice),
    }))
  })
}

const quote = (request: Fields, type: PoolType, on: NamedNetwork, call: PriceCall): Quote | Promise<Quote> =>
  after(bestPrice(request, type, on, call), (best) => quoteOf(best, request, type))

function quoteOf({ answer, terms, slippagePct }: BestPrice, { side, poolAddress }: Fields, type: PoolType): Quote {
  const { expectedAmount, route } = answer
  const { quoteAmount, priceImpactPct, newQuoteId } = terms
  const isSale = side === 'SELL'
  const shown: Quote = {
    price: answer.price,
    amountIn: isSale ? answer.amount : expectedAmount,
    amountOut: isSale ? expectedAmount : answer.amount,
    tokenIn: isSale ? answer.base : answer.quote,
    tokenOut: isSale ? answer.quote : answer.base,
    minAmountOut: isSale ? quoteAmount : answer.amount,
    maxAmountIn: isSale ? answer.amount : quoteAmount,
    priceImpactPct,
    routePath: route.map(({ version, pool }) => (version === '' ? pool : `${version}:${pool}`)).join(' → '),
  }
  if (slippagePct !== undefined) shown.slippagePct = slippagePct
  if (poolAddress !== undefined) shown.poolAddress = poolAddress
  if (type === 'router') shown.quoteId = newQuoteId()
  return shown
}

/** @throws SluiceError INCOMPLETE_PARAMS where there is none */
function versionsOfType(type: PoolType, versions: readonly string[], connector: string): readonly string[] {
  const fitting = versions.filter((version) => typeOf(version) === type)
  if (fitting.length > 0) return fitting
  throw badFields([{ field: 'connector', problem: `${connector} has no pools of the type ${type}, only of ${versions.join(', ')}` }])
}

/** The best price of those versions that have one. */
async function bestOf<P extends { readonly answer: { readonly expectedAmount: string } }>(
  versions: readonly string[],
  side: 'BUY' | 'SELL',
  ask: (version: string) => Promise<P>,
): Promise<P> {
  const refusals: SluiceError[] = []
  const prices = await Promise.all(
    versions.map((version) =>
      ask(version).catch((thrown: unknown) => {
        if (!(thrown instanceof SluiceError)) throw thrown
        refusals.push(thrown)
        return undefined
      }),
    ),
  )
  const [first, ...others] = prices.filter((price) => price !== undefined)
  // Trouble of a node says nothing of the pools.
  if (!first) throw refusals.find(isPassing) ?? refusals[0]
  const isBetter = (a: P, b: P) =>
    side === 'SELL' ? isLess(b.answer.expectedAmount, a.answer.expectedAmount) : isLess(a.answer.expectedAmount, b.answer.expectedAmount)
  return others.reduce((best, each) => (isBetter(each, best) ? each : best), first)
}

/** @throws SluiceError INCOMPLETE_PARAMS */
function requireType(type: PoolType, route: readonly { version: string; pool: string }[], field: string): void {
  const other = route.find(({ version }) => typeOf(version) !== type)
  if (other) throw badFields([{ field, problem: `the pool ${other.pool} has the type ${typeOf(other.version)}, not ${type}` }])
}
