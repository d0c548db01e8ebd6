import { randomBytes } from 'node:crypto'
import type { Json } from '../../contracts/index.ts'
import type { Entry } from '../entry.ts'
import { namesFees } from '../submit-request.ts'
import type { PlacedOrder } from '../submit-request.ts'

let count = 0

/** Sorts by time, then by order within this process; differs between processes. */
function nextKey(nowMs: number): string {
  count += 1
  return `${nowMs.toString(36).padStart(9, '0')}-${count.toString(36).padStart(8, '0')}-${randomBytes(4).toString('hex')}`
}

interface Places {
  slots: readonly Json[]
  given: readonly boolean[]
  nonces: readonly number[]
  ranks: readonly number[]
  nowMs: number
}

/** What the journal keeps of an order before it is signed: an entry for each step. */
export function newEntries(order: PlacedOrder, { slots, given, nonces, ranks, nowMs }: Places): readonly Entry[] {
  const {
    network: { chain, network, connector: rail },
    address,
    signer,
    kind,
    venue,
    caller,
    requestId,
    keyed,
    wish,
    feesGiven = namesFees(wish),
    plan,
    about,
    admin,
  } = order
  const connector = rail ?? venue?.connector
  return plan.steps.map((step, index) => ({
    key: nextKey(nowMs),
    version: 1,
    chain,
    network,
    address,
    kind,
    ...(connector !== undefined && { connector }),
    ...(rail !== undefined && { signer }),
    client: caller.commonName,
    requestId,
    ...(keyed && { idempotencyKey: keyed.claim.key }),
    createdAt: nowMs,
    updatedAt: nowMs,
    ...(admin && { admin }),
    part: { index, of: plan.steps.length },
    step,
    memo: plan.memo,
    about: about ?? null,
    ...(plan.deadline !== undefined && { deadline: plan.deadline }),
    slot: slots[index] ?? null,
    nonce: nonces[index] ?? 0,
    slotGiven: given[index] ?? false,
    feesGiven,
    rank: ranks[index] ?? 0,
    state: 'QUEUED',
    attempts: [],
    deadLooks: 0,
  }))
}
