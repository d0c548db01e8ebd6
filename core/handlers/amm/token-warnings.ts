// What others may do to the tokens of a swap: shown with its price, and refused in a trade where the operator says so.
import { SluiceError } from '../../base/errors.ts'
import type { At, TokenRisk } from '../../contracts/index.ts'
import type { NetworkEntry } from '../../plugins/index.ts'
import { toSwap, type SwapRequest } from './quote.ts'

/** The code first, which is stable, then what people read. */
export const shownWarning = ({ code, text }: TokenRisk): string => `${code}: ${text}`

/** Undefined where the chain cannot tell. Without a promise where it is known from a moment ago. */
export const warningsOf = (
  { base, quote }: Pick<SwapRequest, 'base' | 'quote'>,
  wallet: string | undefined,
  { impl }: NetworkEntry,
  at: At,
): readonly TokenRisk[] | undefined | Promise<readonly TokenRisk[]> =>
  impl.warnings?.of({ tokens: [base, quote], ...(wallet !== undefined && { wallet }) }, at)

/**
 * What a wallet has already may be sold, whatever others may do to it. Native coin is paid by way of an account that wraps it, which counts, too.
 * @throws SluiceError TOKEN_NOT_SUPPORTED where what is bought, or the account that it is paid into, has a warning that `refuseWarnings` names
 */
export async function refuseWarned(
  swapRequest: SwapRequest,
  wallet: string,
  { chain, network, impl }: NetworkEntry,
  at: At,
): Promise<void> {
  const { warnings } = impl
  if (!warnings || warnings.refused.length === 0) return
  const { tokenIn, tokenOut } = toSwap(swapRequest)
  const found = await warnings.of({ tokens: [tokenOut, ...(tokenIn.native ? [tokenIn] : [])], wallet, isNow: true }, at)
  const refused = found.filter(({ code }) => warnings.refused.includes(code))
  if (refused.length === 0) return
  throw new SluiceError(
    'TOKEN_NOT_SUPPORTED',
    `${tokenOut.symbol} is not bought: ${refused.map(shownWarning).join('; ')}. The operator refuses this by refuseWarnings of ${chain}/${network}.`,
    { details: { warnings: refused.map(shownWarning) } },
  )
}
