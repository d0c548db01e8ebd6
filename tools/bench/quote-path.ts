import { AbiCoder, id } from 'ethers'
import { deployerAddress } from '../../core/devnet/build-state.ts'
import { v3DevnetAddresses } from '../../kits/amm/v3/devnet.ts'
import { addresses } from '../../test/devnet/addresses.ts'

/** The n-th quote of a run: amounts differ, so that no two neighbours ask the same. Without a version all are looked at. */
export function quotePath(index: number, version?: string): string {
  const { amount, side } = quoteFields(index)
  return pathOf(amount, side, version)
}

/** The same, as fields. */
export const quoteFields = (index: number) => ({
  ...pool,
  amount: (1 + (index % 997) / 1000).toString(),
  side: index % 2 === 0 ? ('SELL' as const) : ('BUY' as const),
})

const pool = { chain: 'ethereum', network: 'local', connector: 'uniswap', base: 'WETH', quote: 'USDC' }

/** One question, asked again and again. */
export const sameQuote = (version?: string) => pathOf('1.5', 'SELL', version)

/** As the load generator takes it: with an amount that nobody has asked for before. */
export const newQuotes = (version?: string) => pathOf('AMOUNT', 'SELL', version).replace('AMOUNT', '{amount}')

/** So many new amounts in one request. */
export const manyNewQuotes = (amounts: number) =>
  `${pathOf('', 'SELL', undefined).replace('amount=&', '')}&amounts=${Array.from({ length: amounts }, () => '{amount}').join()}`

function pathOf(amount: string, side: string, version: string | undefined): string {
  const query = new URLSearchParams({
    ...pool,
    amount,
    side,
    ...(version !== undefined && { version }),
  })
  return `/amm/price?${query.toString()}`
}

const parameters = ['address', 'address', 'uint256', 'uint24', 'uint160']
const selectorOf = (name: string) => id(`${name}((${parameters.join()}))`).slice(0, 10)
const [quoteIn, quoteOut] = [selectorOf('quoteExactInputSingle'), selectorOf('quoteExactOutputSingle')]
const [amountsOut, amountsIn] = ['getAmountsOut', 'getAmountsIn'].map((name) => id(`${name}(uint256,address[])`).slice(0, 10))
const { router } = addresses.exchanges.uniswap
const { quoter } = v3DevnetAddresses(deployerAddress('uniswap'))
const { WETH, USDC } = addresses.tokens
const lowFee = 500

/** WETH sold or bought for USDC, by turns: amounts of WETH differ, so that no two neighbours ask the same. */
export const amountOf = (index: number) => 10n ** 15n * BigInt(1000 + (index % 997))
export const isSale = (index: number) => index % 2 === 0

/** The request that asks the router of v2 for the n-th amount along its one pair: `getAmountsOut` or `getAmountsIn`, views of three calls. */
export function routerCall(index: number): string {
  const [tokenIn, tokenOut] = isSale(index) ? [WETH, USDC] : [USDC, WETH]
  const path = [tokenIn.address, tokenOut.address]
  const data =
    (isSale(index) ? amountsOut : amountsIn) +
    AbiCoder.defaultAbiCoder()
      .encode(['uint256', 'address[]'], [amountOf(index), path])
      .slice(2)
  return JSON.stringify({ jsonrpc: '2.0', id: index, method: 'eth_call', params: [{ to: router, data }, 'latest'] })
}

/** The request that asks QuoterV2 for the n-th amount in the deepest pool, as plainly as one can ask. */
export function quoterCall(index: number): string {
  const [tokenIn, tokenOut] = isSale(index) ? [WETH, USDC] : [USDC, WETH]
  const words = AbiCoder.defaultAbiCoder().encode(parameters, [tokenIn.address, tokenOut.address, amountOf(index), lowFee, 0])
  const data = (isSale(index) ? quoteIn : quoteOut) + words.slice(2)
  return JSON.stringify({ jsonrpc: '2.0', id: index, method: 'eth_call', params: [{ to: quoter, data }, 'latest'] })
}

/** The figure is worth nothing when answers are errors. */
export function requireResult(answer: unknown): void {
  if (typeof answer !== 'object' || answer === null || !('result' in answer)) throw new Error(`The node: ${JSON.stringify(answer)}`)
}
