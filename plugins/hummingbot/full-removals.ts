// The removal of all of a position that itself stays. Whoever asks again, with whatever slippage, asks for the same one, until its answer was delivered or
// the position has liquidity again: a second transaction would find nothing, and fail.
import { SluiceError, type InterfaceCall, type OnceRequest } from 'sluice/interface'
import { outcomeOf, pollOrTrouble } from './poll.ts'
import { past, signedUnder, untilNotPast } from './past-outcomes.ts'
import { readPosition, type NamedPosition } from './positions.ts'
import { signOnce } from './signed.ts'
import type { Venue } from './venues.ts'

interface FullRemoval<P extends object, T> {
  readonly position: NamedPosition
  readonly venue: Venue
  readonly call: InterfaceCall
  prepare(): Promise<P>
  sign(key: string, prepared: P): Promise<{ txHash: string }>
  answer(signed: { txHash: string }): Promise<T>
}

/** @throws SluiceError what signing and the answer throw */
export async function removeAllOnce<P extends object, T>(
  request: Pick<OnceRequest, 'fields' | 'staleSeconds' | 'collectSeconds'>,
  { prepare, sign, answer, call, ...of }: FullRemoval<P, T>,
): Promise<T> {
  return untilNotPast(() =>
    call.once({ ...request, isOneForEver: true, isNewAfterFailure: true, isNewAfterAnswer: true }, prepare, async (key, prepared) => {
      const earlier = await signedUnder(key, call)
      const signed = await signOnce(() => sign(key, prepared), call).catch((thrown: unknown) => {
        // Other fields were decided for it than now.
        if (earlier !== undefined && thrown instanceof SluiceError && thrown.name === 'IDEMPOTENCY_CONFLICT') return earlier
        throw thrown
      })
      if (earlier !== undefined && (await isFilledAgain(signed.txHash, { ...of, call })))
        throw past(signed.txHash, 'removed all, and there is liquidity again')
      return answer(signed)
    }),
  )
}

/** Whether it has liquidity, though its removal was done before this request. @throws SluiceError where that is not known */
async function isFilledAgain(txHash: string, { venue, position, call }: Pick<FullRemoval<object, unknown>, 'venue' | 'position' | 'call'>) {
  const found = await pollOrTrouble(txHash, venue.on, call)
  // The old removal is no answer to who may have added since: asked again, it is known.
  if (typeof found === 'number') throw new SluiceError('TIMEOUT', `What became of the removal ${txHash} is not known now: ask again.`)
  if (outcomeOf(found) !== 1) return false
  try {
    const { liquidity, blockNumber } = await readPosition(position, venue, call)
    return BigInt(liquidity) > 0n && blockNumber > found.txBlock
  } catch (thrown) {
    // Who has burnt it since has removed nothing more.
    if (thrown instanceof SluiceError && thrown.name === 'UNKNOWN_POSITION') return false
    throw thrown
  }
}
