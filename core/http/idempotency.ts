import { createHash } from 'node:crypto'
import { badFields, SluiceError } from '../api/index.ts'

const keptMs = 24 * 3600 * 1000

interface Answer {
  status: number
  body: string
}

interface Remembered {
  request: string
  answer?: Answer
  at: number
}

/** Keys that requests came with, and what they were answered. In this process; the durable journal takes its place. */
export interface Idempotency {
  /** The first answer again, or what `act` gives now. What `act` throws before anything was journaled is not remembered. */
  once(key: { client: string; path: string; key: string }, request: unknown, act: () => Promise<Answer>): Promise<Answer & { repeated: boolean }>
}

export function createIdempotency(now: () => number = Date.now): Idempotency {
  const remembered = new Map<string, Remembered>()

  function forgetOld() {
    for (const [id, { at, answer }] of remembered) {
      if (now() - at < keptMs) return
      if (answer) remembered.delete(id)
    }
  }

  return {
    async once({ client, path, key }, request, act) {
      forgetOld()
      const id = JSON.stringify([client, path, key])
      const fingerprint = createHash('sha256').update(JSON.stringify(request)).digest('hex')
      const first = remembered.get(id)
      if (first && first.request !== fingerprint) {
        throw new SluiceError('IDEMPOTENCY_CONFLICT', 'This Idempotency-Key was used with another request; use a new key for a new request.')
      }
      if (first && !first.answer) throw new SluiceError('IN_FLIGHT', 'The first request with this Idempotency-Key is still under way.', { retryAfterSeconds: 1 })
      if (first?.answer) return { ...first.answer, repeated: true }

      const entry: Remembered = { request: fingerprint, at: now() }
      remembered.set(id, entry)
      try {
        entry.answer = await act()
        return { ...entry.answer, repeated: false }
      } catch (error) {
        remembered.delete(id)
        throw error
      }
    },
  }
}

/** @throws SluiceError INCOMPLETE_PARAMS unless it is 1 to 255 visible characters */
export function readIdempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined || header === '') return undefined
  if (/^[\x21-\x7e]{1,255}$/.test(header)) return header
  throw badFields([{ field: 'Idempotency-Key', problem: 'must be 1 to 255 visible ASCII characters' }])
}
