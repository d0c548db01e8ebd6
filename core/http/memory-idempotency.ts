import { SluiceError } from '../api/index.ts'
import type { Idempotency } from './idempotency.ts'
import type { Answer } from './kept-requests.ts'

/** Keys in this process alone, until the server has its store. */
export function memoryIdempotency(): Idempotency {
  const kept = new Map<string, { request: string; answer?: Answer }>()
  return {
    async once({ key, request, act }) {
      const id = JSON.stringify([key.client, key.path, key.key])
      const fields = JSON.stringify(Object.entries(request).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      const before = kept.get(id)
      if (before && before.request !== fields)
        throw new SluiceError('IDEMPOTENCY_CONFLICT', 'This Idempotency-Key was used with another request.')
      if (before && !before.answer) throw new SluiceError('IN_FLIGHT', 'The first request is still under way.', { retryAfterSeconds: 1 })
      if (before?.answer) return before.answer
      kept.set(id, { request: fields })
      try {
        const { answer } = await act({ ...key, claim: 1 })
        kept.set(id, { request: fields, answer })
        return answer
      } catch (error) {
        kept.delete(id)
        throw error
      }
    },
    stop: () => {},
  }
}
