// What was signed for a request: its hash is the answer, with more once it is mined, and an error only where it can never succeed.
import { setTimeout as pause } from 'node:timers/promises'
import { SluiceError, Type, type InterfaceCall, type TObject } from 'sluice/interface'
import type { HummingbotConfig, NamedNetwork } from './networks.ts'
import { outcomeOf, pollOrTrouble, type PollAnswer } from './poll.ts'

const againMs = 250
/** Most are mined by then. What is not is asked for less often, as each time is several questions to the node. */
const soonMs = 3_000
const slowestMs = 5_000

/** What comes beside the wait for a receipt. */
export const answerSeconds = 10

/** Of requests that are held for so long until their receipt is there: two of them at once are two, and count as gone after it. */
export const windowsOf = ({ staleSeconds, collectSeconds }: HummingbotConfig, heldSeconds: number) => ({
  staleSeconds: Math.max(staleSeconds, heldSeconds + answerSeconds),
  collectSeconds,
})

/** @param data what it brought: absent where that is not known, as a field without a value would stop the client after its transaction */
export const signedAnswer = <Data extends TObject>(data: Data) =>
  Type.Object({
    signature: Type.String(),
    /** 1: mined. Absent: it may still be. */
    status: Type.Optional(Type.Literal(1)),
    data: Type.Optional(data),
  })

/**
 * Waits for an equal request that is being signed, and for nobody: once the client is gone, an equal request of it may have been refused meanwhile,
 * and nothing may be signed after that.
 */
export async function signOnce<T>(sign: () => Promise<T>, { signal, delivered }: Pick<InterfaceCall, 'signal' | 'delivered'>): Promise<T> {
  let isGone = false
  void delivered.then((isDelivered) => void (isGone = !isDelivered))
  // What it asked for before it came here took time, too: whether the client has gone meanwhile is known in the next turn.
  await Promise.resolve()
  let thrown: unknown = gone()
  for (;;) {
    if (isGone) throw thrown
    try {
      return await sign()
    } catch (error) {
      thrown = error
      if (!(error instanceof SluiceError) || error.name !== 'IN_FLIGHT' || signal.aborted) throw error
      await pauseIn({ signal })
    }
  }
}

/** As of one that waits: what was not signed may still be asked for. */
const gone = () =>
  new SluiceError('IN_FLIGHT', 'The client is gone: nothing was signed. An equal request signs it.', { retryAfterSeconds: 1 })

interface Success {
  readonly on: NamedNetwork
  readonly call: InterfaceCall
  /** By `performance.now()`. */
  readonly untilMs: number
  /** Whether it tells what is needed: what a block has is not always read with it. Absent: it does. */
  readonly isWhole?: (found: PollAnswer) => boolean
}

/**
 * What succeeded; undefined where it still may, or is not whole, and once the client is gone: an equal request looks for itself.
 * @throws SluiceError TRADE_FAILED, only where it can never succeed
 */
export async function successOf(signature: string, { on, call, untilMs, isWhole = () => true }: Success): Promise<PollAnswer | undefined> {
  const end = AbortSignal.timeout(Math.max(0, Math.ceil(untilMs - performance.now())))
  const sinceMs = performance.now()
  let isGone = false
  // A POST does not end with its client.
  void call.delivered.then((isDelivered) => void (isGone = !isDelivered))
  do {
    const found = await pollOrTrouble(signature, on, call, end).catch(() => 0 as const)
    const state = typeof found === 'number' ? 0 : outcomeOf(found)
    if (typeof found !== 'number') {
      if (state === 1 && isWhole(found)) return found
      if (state === -1) throw failed(signature, found)
    }
    const nowMs = performance.now()
    if (nowMs + againMs > untilMs || call.signal.aborted) return undefined
    // The last time is just before the end.
    await pauseIn(call, Math.max(againMs, Math.min(pauseAfter(nowMs - sinceMs), untilMs - nowMs - againMs)))
  } while (!isGone)
  return undefined
}

/** A tenth of what was waited: nobody hears of it much later. */
const pauseAfter = (waitedMs: number): number => (waitedMs < soonMs ? againMs : Math.min(slowestMs, Math.max(1_000, waitedMs / 10)))

/** Until the time of the request is over: then what is known is answered. */
const pauseIn = ({ signal }: Pick<InterfaceCall, 'signal'>, ms = againMs): Promise<void> => pause(ms, undefined, { signal }).catch(() => {})

function failed(signature: string, { reason, cause, txState = 'REVERTED' }: PollAnswer): SluiceError {
  const why = reason ?? (txState === 'REVERTED' ? 'the chain reverted it' : `it is ${txState}`)
  return new SluiceError('TRADE_FAILED', `The transaction ${signature} did nothing: ${why}.`, {
    details: { txHash: signature, ...(reason !== undefined && { reason }), ...(cause !== undefined && { cause }) },
  })
}
