import { Contract } from 'ethers'
import { devnetQuoter } from '../../../../../testkit/devnet-operators.ts'
import type { Hop, Quote, Swap, Token } from '../../../../../core/contracts/index.ts'
import { addresses } from '../../../../devnet/addresses.ts'
import { devnetFiles } from '../../../../devnet/test-devnet.ts'
import { tokens, type DevnetFixture } from '../../devnet-fixture.ts'

/** A pool of Uniswap: its fee in hundredths of a basis point, or `v2`. */
export type Pass = number | 'v2'

const [uniswapFile = ''] = devnetFiles
const getPool = ['function getPool(address, address, uint24) view returns (address)']
const getPair = ['function getPair(address, address) view returns (address)']
const { WETH } = tokens
const onChain = (token: Token) => (token.native ? WETH.address : token.address)

/** Combines quotes of the same two tokens to one swap through all their routes. */
export function together(quotes: readonly [Quote, ...Quote[]]): Quote {
  const [first] = quotes
  const sum = (of: (quote: Quote) => bigint) => quotes.reduce((raw, quote) => raw + of(quote), 0n)
  return {
    ...first,
    swap: { ...first.swap, amountRaw: sum(({ swap }) => swap.amountRaw) },
    amountRaw: sum(({ amountRaw }) => amountRaw),
    spotAmountRaw: sum(({ spotAmountRaw }) => spotAmountRaw),
    route: quotes.flatMap(({ route }) => route),
    parts: quotes.map(({ swap, amountRaw, route }) => ({ hops: route.length, exactRaw: swap.amountRaw, otherRaw: amountRaw })),
  }
}

/** Quotes along a given route by the exchange's own quoters, to test routers with any route. */
export async function quotedBy({ provider }: DevnetFixture) {
  const quoter = await devnetQuoter(uniswapFile, provider)
  if (!quoter) throw new Error('The devnet of Uniswap names no quoter.')
  const range = new Contract(addresses.rangeExchanges.uniswap.factory, getPool, provider)
  const pairs = new Contract(addresses.exchanges.uniswap.factory, getPair, provider)

  const poolOf = async (tokenIn: string, tokenOut: string, pass: Pass): Promise<string> =>
    pass === 'v2'
      ? pairs.getFunction('getPair').staticCall(tokenIn, tokenOut)
      : range.getFunction('getPool').staticCall(tokenIn, tokenOut, pass)

  /** @param along tokens of the route, and the pools between them */
  return async (exact: 'in' | 'out', amountRaw: bigint, along: readonly [Token, ...(Token | Pass)[]], spender: string): Promise<Quote> => {
    const route: Hop[] = []
    for (let index = 1; index < along.length; index += 2) {
      const [from, pass, to] = [along[index - 1], along[index], along[index + 1]]
      if (typeof from !== 'object' || typeof pass === 'object' || pass === undefined || typeof to !== 'object')
        throw new Error('A route is tokens, and pools between them.')
      const [tokenIn, tokenOut] = [onChain(from), onChain(to)]
      const [version, fee] = pass === 'v2' ? ['v2', '0.003'] : ['v3', String(pass / 1e6)]
      route.push({ pool: await poolOf(tokenIn, tokenOut, pass), version, tokenIn, tokenOut, fee })
    }
    const [tokenIn, tokenOut] = [along[0], along.at(-1)]
    if (typeof tokenOut !== 'object') throw new Error('A route ends with a token.')
    const swap: Swap = { tokenIn, tokenOut, exact, amountRaw }
    const block = await provider.getBlock('latest')
    if (!block) throw new Error('There is no block.')
    const otherRaw = await (exact === 'in' ? quoter.exactIn : quoter.exactOut)(route, amountRaw, block.number)
    const head = { number: BigInt(block.number), timestamp: block.timestamp }
    return { swap, amountRaw: otherRaw, spotAmountRaw: otherRaw, gasUnits: 0n, route, head, spender }
  }
}
