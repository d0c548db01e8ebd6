import { createHash } from 'node:crypto'
import { badFields, SluiceError } from '../api/index.ts'

const keptMs = 24 * 3600 * 1000

interface Answer {
  status: number
  body: string
}

interface Remembered {
  request: string
  /** Absent while the first request is under way. */
  outcome?: { answer: Answer } | { error: unknown }
  at: number
}

export interface Keyed {
  key: { client: string; path: string; key: string }
  request: object
  act(): Promise<Answer>
  /** Whether what failed had come as far as the journal. */
  wasJournaled(): Promise<boolean>
}

/** Keys that requests came with, and what they were answered. In this process; the durable journal takes its place. */
export interface Idempotency {
  /**
   * The first answer again, or what `act` gives now. An error is an answer too once something was journaled: the same
   * request must not make a second transaction. What was refused before that is not remembered.
   */
  once(keyed: Keyed): Promise<Answer>
}

export function createIdempotency(now: () => number = Date.now): Idempotency {
  const remembered = new Map<string, Remembered>()

  function forgetOld() {
    for (const [id, { at, outcome }] of remembered) {
      if (now() - at < keptMs) return
      if (outcome) remembered.delete(id)
    }
  }

  async function first(id: string, { request, act, wasJournaled }: Keyed): Promise<Answer> {
    const entry: Remembered = { request: fingerprintOf(request), at: now() }
    remembered.set(id, entry)
    try {
      const answer = await act()
      entry.outcome = { answer }
      return answer
    } catch (error) {
      // In doubt it was: to answer an error again is safe, to trade again is not.
      if (await wasJournaled().catch(() => true)) entry.outcome = { error }
      else remembered.delete(id)
      throw error
    }
  }

  return {
    async once(keyed) {
      forgetOld()
      const { client, path, key } = keyed.key
      const id = JSON.stringify([client, path, key])
      const before = remembered.get(id)
      if (!before) return first(id, keyed)
      if (before.request !== fingerprintOf(keyed.request)) {
        throw new SluiceError(
          'IDEMPOTENCY_CONFLICT',
          'This Idempotency-Key was used with another request; use a new key for a new request.',
        )
      }
      if (!before.outcome)
        throw new SluiceError('IN_FLIGHT', 'The first request with this Idempotency-Key is still under way.', { retryAfterSeconds: 1 })
      if ('error' in before.outcome) throw before.outcome.error
      return before.outcome.answer
    },
  }
}

/** Fields in another order are the same request. */
function fingerprintOf(request: object): string {
  const fields = Object.entries(request).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex')
}

/** @throws SluiceError INCOMPLETE_PARAMS unless it is 1 to 255 visible characters: an empty one protects nobody */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  if (typeof header === 'string' && /^[\x21-\x7e]{1,255}$/.test(header)) return header
  throw badFields([{ field: 'Idempotency-Key', problem: 'must be 1 to 255 visible ASCII characters, or left out' }])
}
