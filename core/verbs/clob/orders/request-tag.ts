import { createHash, randomUUID } from 'node:crypto'
import type { Call } from '../../context.ts'

/** The same for a request that is repeated with its Idempotency-Key, also after its server died; undefined without a key. */
export function requestTag({ keyed }: Pick<Call, 'keyed'>): string | undefined {
  if (!keyed) return undefined
  const { client, path, key } = keyed.claim
  return createHash('sha256')
    .update(JSON.stringify([client, path, key]))
    .digest('hex')
    .slice(0, 32)
}

/** A client order id where the caller gave none: with a key always the same, so that nothing is placed twice. */
export const madeOrderId = (tag: string | undefined, index: number): string => (tag === undefined ? randomUUID() : `${tag}-${index}`)
