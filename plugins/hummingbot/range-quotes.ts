// What an open of a position would take, in the pool's own order of tokens: `quote-liquidity` of 2.17, `quote-position` of 2.16.
import { isLess, multiply } from 'sluice/decimal'
import { badFields, SluiceError, Type, type InterfacePath } from 'sluice/interface'
import { cutBoth } from './amounts.ts'
import { slippage, slippagePct } from './changes.ts'
import type { Networks } from './networks.ts'
import { canonical, canonicalOf, numberBelow } from './numbers.ts'
import { PoolAddress, rangePoolAt } from './range-pools.ts'
import { Decimal, liquidityPaths, venueFields, venueOf } from './venues.ts'

export const amountFields = { baseTokenAmount: Type.Optional(Decimal), quoteTokenAmount: Type.Optional(Decimal) }
export const rangeFields = { poolAddress: PoolAddress, lowerPrice: Decimal, upperPrice: Decimal }

const quoted = ['baseTokenAmount', 'quoteTokenAmount', 'baseTokenAmountMax', 'quoteTokenAmountMax'] as const
const ofOpen = 'What a position between two prices takes of two amounts, or of one and what that needs.'

/** 2.16 calculates with what it reads of a quote. */
export const rangeQuotePaths = (networks: Networks): InterfacePath[] =>
  liquidityPaths('clmm', ['quote-liquidity', 'quote-position'], {
    method: 'GET',
    summary: ofOpen,
    permission: 'read',
    request: Type.Object({ ...venueFields, ...rangeFields, ...amountFields, slippagePct }),
    response: Type.Object({
      poolAddress: Type.String(),
      baseLimited: Type.Boolean(),
      ...Object.fromEntries(quoted.map((name) => [name, Type.Union([Type.String(), Type.Number()])])),
      liquidity: Type.String(),
      positionCount: Type.Number(),
      transactionCount: Type.Number(),
    }),
    async answer(request, call) {
      const venue = venueOf(request, networks)
      const { token0, token1, version, pool } = await rangePoolAt(request.poolAddress, venue, call)
      const given = [canonicalOf(request.baseTokenAmount), canonicalOf(request.quoteTokenAmount)] as const
      const [base, quote] = await cutBoth(given, [token0, token1], venue.on, call)
      const { amount0, amount1, maxAmount0, maxAmount1, liquidity } = await inFieldsOfClients(async () =>
        call.call('AMMLiquidityQuote', {
          ...venue.own,
          token0,
          token1,
          version,
          pool,
          lowerPrice: canonical(request.lowerPrice),
          upperPrice: canonical(request.upperPrice),
          ...(base !== undefined && { amount0: base }),
          ...(quote !== undefined && { amount1: quote }),
          ...(await slippage(request.slippagePct, venue, version, call)),
        }),
      )
      const offered = [base ?? maxAmount0, quote ?? maxAmount1] as const
      const shown = [amount0, amount1, ...offered].map((amount) => (request.dex === undefined ? amount : numberBelow(amount)))
      return {
        poolAddress: pool,
        baseLimited: quote === undefined || (base !== undefined && isUsedMore(offered, [maxAmount0, maxAmount1], [amount0, amount1])),
        ...Object.fromEntries(quoted.map((name, index) => [name, shown[index] ?? '0'])),
        liquidity,
        positionCount: 1,
        transactionCount: 1,
      }
    },
  })

type Amounts = readonly [base: string, quote: string]

/**
 * Whether at least as large a part of the base is used as of the quote: then it is the base that limits. Where both maxima are used up, as the slippage
 * leaves room for either, the amounts at the pool's price tell it.
 */
function isUsedMore(offered: Amounts, most: Amounts, takes: Amounts): boolean {
  if (!isLess('0', offered[0])) return false
  const [byBase, byQuote] = partsOf(most, offered)
  const [nowByBase, nowByQuote] = partsOf(takes, offered)
  if (isLess(byBase, byQuote) || isLess(byQuote, byBase)) return isLess(byQuote, byBase)
  return !isLess(nowByBase, nowByQuote)
}

/** Both parts of what is offered, times the product of the offers. */
const partsOf = ([base, quote]: Amounts, [offeredBase, offeredQuote]: Amounts): Amounts => [
  multiply(base, offeredQuote),
  multiply(quote, offeredBase),
]

const namesOfClients: Readonly<Record<string, string>> = { amount0: 'baseTokenAmount', amount1: 'quoteTokenAmount', pool: 'poolAddress' }

/** Names the fields that are wrong as clients do. @throws SluiceError as the work */
export async function inFieldsOfClients<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    const details: unknown = thrown instanceof SluiceError && thrown.name === 'INCOMPLETE_PARAMS' ? thrown.details : undefined
    const [first, ...others] = Array.isArray(details) ? details.map(inNamesOfClients) : []
    throw first ? badFields([first, ...others]) : thrown
  }
}

function inNamesOfClients(problem: object): { field: string; problem: string } {
  const field = String(Reflect.get(problem, 'field'))
  return { field: namesOfClients[field] ?? field, problem: String(Reflect.get(problem, 'problem')) }
}
