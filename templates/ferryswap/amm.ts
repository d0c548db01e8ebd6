import { addressWord, word, type Evm } from 'sluice/evm'
import { SluiceError, type AMM, type Fill, type Need, type Swap, type Token, type Venue } from 'sluice/plugin'
import { readFill } from './fill.ts'

/** The first four bytes of the keccak256 of the router's functions. */
const selectors = {
  getAmountsOut: '0xd06ca61f', // getAmountsOut(uint256 amountIn, address[] path)
  getAmountsIn: '0x1f00ca74', // getAmountsIn(uint256 amountOut, address[] path)
  swapExactTokensForTokens: '0x38ed1739', // (uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)
  swapTokensForExactTokens: '0x8803dbee', // (uint256 amountOut, uint256 amountInMax, address[] path, address to, uint256 deadline)
}
/**
 * In units of gas, beyond the node's estimate. A new pool writes two sums of prices with the first swap of a later block: an estimate in its
 * first block lacks them.
 */
const priceSumsGas = '44200'
/** The amount divided by this is quoted as well, for the price at the margin. */
const marginalPart = 10_000n

/** Asks the exchange's router for every price. Trades tokens for tokens. */
export function routerAMM({ reader, tokens }: Venue<Evm>, address: string): AMM<Evm> {
  const isListed = (token: Token) => tokens.some((each) => each.address === token.address)
  const ask = (swap: Swap, amountRaw: bigint) => ({
    to: address,
    // The path is a list: its place is behind the two arguments.
    data: `${swap.exact === 'in' ? selectors.getAmountsOut : selectors.getAmountsIn}${word(amountRaw)}${word(2 * 32)}${pathWords(swap)}`,
  })

  return {
    versions: [],
    // What the router says when the price has moved past the bound.
    slippageReasons: ['Router: INSUFFICIENT_OUTPUT_AMOUNT', 'Router: EXCESSIVE_INPUT_AMOUNT'],

    async quote(swap, _choice, at) {
      const { tokenIn, tokenOut, amountRaw } = swap
      if (tokenIn.native || tokenOut.native) {
        throw new SluiceError(
          'TOKEN_NOT_SUPPORTED',
          `This exchange takes no ${reader.nativeCurrency.symbol}: trade ${reader.wrapped.symbol}.`,
        )
      }
      // A fee on their transfers would take from what is quoted.
      if (!isListed(tokenIn) || !isListed(tokenOut)) {
        throw new SluiceError(
          'TOKEN_NOT_SUPPORTED',
          "This exchange trades the tokens of the network's list only: transfers of others may take a fee.",
        )
      }
      const marginalRaw = amountRaw / marginalPart || 1n
      // Both calls in one round trip, at one block.
      const { head, results } = await reader.read([ask(swap, amountRaw), ask(swap, marginalRaw)], at)
      const [whole, marginal] = results
      if (!whole?.ok || otherSide(swap, whole.data) === 0n) {
        throw new SluiceError(
          'PRICE_FAILED',
          `There is no price for that much ${tokenIn.symbol} against ${tokenOut.symbol}: ask for another amount.`,
        )
      }
      const quotedRaw = otherSide(swap, whole.data)
      return {
        swap,
        amountRaw: quotedRaw,
        // Only for `priceImpact`: the amount of the whole swap at the price of the small part.
        spotAmountRaw: marginal?.ok ? (otherSide(swap, marginal.data) * amountRaw) / marginalRaw : quotedRaw,
        gasUnits: 120_000n,
        route: [{ pool: address, version: 'v1', tokenIn: tokenIn.address, tokenOut: tokenOut.address }],
        head,
        spender: address,
      }
    },

    swap({ swap }, { recipient, boundRaw, deadline }) {
      const { tokenIn, tokenOut, exact, amountRaw } = swap
      const selector = exact === 'in' ? selectors.swapExactTokensForTokens : selectors.swapTokensForExactTokens
      const words = [word(amountRaw), word(boundRaw), word(5 * 32), addressWord(recipient), word(deadline), pathWords(swap)]
      const mostInRaw = exact === 'in' ? amountRaw : boundRaw
      const needs: Need[] = [
        { is: 'balance', token: tokenIn.address, amountRaw: mostInRaw },
        { is: 'allowance', token: tokenIn.address, spender: address, amountRaw: mostInRaw },
      ]
      return {
        // Bound and deadline are arguments of the call: the contract enforces them, not the server.
        steps: [{ to: address, data: `${selector}${words.join('')}`, value: '0', spareGas: priceSumsGas }],
        needs,
        deadline,
        memo: { tokenIn: tokenIn.address, tokenOut: tokenOut.address, recipient },
      }
    },

    fill: (receipt, memo): Fill | undefined => readFill(receipt, memo),
  }
}

/** `address[] path` of two tokens: its length, then each. */
const pathWords = ({ tokenIn, tokenOut }: Swap): string => `${word(2)}${addressWord(tokenIn.address)}${addressWord(tokenOut.address)}`

/** Of the `uint256[] amounts` that the router returns: where the list is, its length, the input, the output. */
function otherSide({ exact }: Swap, data: string): bigint {
  const at = 2 + 64 * (exact === 'in' ? 3 : 2)
  return BigInt(`0x${data.slice(at, at + 64)}`)
}
