import { addressWord, word } from 'sluice/evm'
import { SluiceError } from 'sluice/plugin'
import { swapPlan, type Router } from 'sluice/pools'
import { readFill } from './fill.ts'

/** The first four bytes of the keccak256 of the router's functions. */
const selectors = {
  in: '0x38ed1739', // swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)
  out: '0x8803dbee', // swapTokensForExactTokens(uint256 amountOut, uint256 amountInMax, address[] path, address to, uint256 deadline)
}

/**
 * In units of gas, beyond the node's estimate. A new pair writes two sums of prices with the first swap of a later block: an estimate in its
 * first block lacks them.
 */
const priceSumsGas = 44_200n

/** Turns a quote into one call, and a receipt into what was traded. */
export const pairRouter = (address: string): Router => ({
  address,
  name: 'router',
  // What it says when the price has moved past the bound.
  slippageReasons: ['Router: INSUFFICIENT_OUTPUT_AMOUNT', 'Router: EXCESSIVE_INPUT_AMOUNT'],
  carries: (versions) => versions.every((version) => version === 'pair'),

  plan(quote, terms) {
    const { swap, route } = quote
    const { recipient, boundRaw, deadline } = terms
    if (swap.tokenIn.native || swap.tokenOut.native)
      throw new SluiceError('TOKEN_NOT_SUPPORTED', 'This exchange takes no native coin: trade its wrapped form.')
    const tokens = [...route.slice(0, 1).map(({ tokenIn }) => tokenIn), ...route.map(({ tokenOut }) => tokenOut)]
    const path = [word(tokens.length), ...tokens.map(addressWord)]
    // The path is a list: its place is behind the five arguments. Bound and deadline are enforced by the contract.
    const words = [word(swap.amountRaw), word(boundRaw), word(5 * 32), addressWord(recipient), word(deadline), ...path]
    const data = `${selectors[swap.exact]}${words.join('')}`
    return swapPlan(quote, terms, {
      router: address,
      data,
      spareGas: BigInt(route.length) * priceSumsGas,
      memo: { router: address, tokenIn: swap.tokenIn.address, tokenOut: swap.tokenOut.address, recipient },
    })
  },

  fill: (receipt, memo) => readFill(receipt, memo),
})
