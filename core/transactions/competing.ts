// Which of our own transactions is in a block in the place of another one.
import type { AttemptStatus } from '../contracts/index.ts'
import { isFinal, railOf, signerOf, type Entry } from './entry.ts'
import type { Recorder } from './journal/journal.ts'
import type { CompetingTransaction } from './lifecycle.ts'

/** What a poll saw of attempts, by their ids. */
export type Observations = ReadonlyMap<string, AttemptStatus>

/** Another transaction of ours in a block with an entry's sequence; `gone` if its replacement ended without replacing it. */
export type CompetingOf = (entry: Entry) => CompetingTransaction | 'gone' | undefined

/** Searches the open entries, and the final ones that were to replace one of them. */
export async function findCompeting(
  open: readonly Entry[],
  observations: Observations,
  { recorder, confirmations }: { recorder: Recorder; confirmations: number },
): Promise<CompetingOf> {
  const landed = new Map<string, CompetingTransaction & { key: string }>()
  for (const entry of open) {
    const { key, kind, rank, attempts } = entry
    const observed = attempts.map(({ id }) => observations.get(id)).find((each) => each?.is === 'landed')
    if (observed?.is !== 'landed' || !usesSequence(entry, observed)) continue
    landed.set(sequenceName(entry), { key, txHash: observed.id, kind, rank, final: observed.depth >= confirmations })
  }
  /** Of entries whose place was taken by what no node can name. */
  const finalOnNonce = new Map<string, CompetingTransaction>()
  for (const entry of open) {
    if (!isDeadByUnknown(entry, observations)) continue
    const found = await findFinalOnNonce(entry, recorder)
    if (found) finalOnNonce.set(entry.key, found)
  }
  const openIds = new Set(open.flatMap(({ attempts }) => attempts.map(({ id }) => id)))
  const final = new Map<string, CompetingTransaction | 'gone'>()
  for (const entry of open)
    for (const id of replacementsOf(entry, observations)) {
      if (openIds.has(id) || final.has(id)) continue
      const other = await recorder.find(entry.chain, entry.network, id)
      if (!other || !isFinal(other) || !isSameSequence(other, entry)) continue
      if (leftSequenceUnused(other)) final.set(id, 'gone')
      else if (other.landed) final.set(id, finalCompeting(other, other.landed.id))
    }
  return (entry) => {
    const competing = landed.get(sequenceName(entry))
    if (competing && competing.key !== entry.key) return competing
    const found = replacementsOf(entry, observations).flatMap((id) => final.get(id) ?? [])
    return found.find((each) => each !== 'gone') ?? found[0] ?? finalOnNonce.get(entry.key)
  }
}

const finalCompeting = ({ kind, rank }: Entry, txHash: string): CompetingTransaction => ({ txHash, kind, rank, final: true })

/** Whether polls find it dead, and none names the transaction in its place. */
function isDeadByUnknown({ attempts }: Entry, observations: Observations): boolean {
  const dead = attempts.flatMap(({ id }) => {
    const observed = observations.get(id)
    return observed?.is === 'dead' ? observed : []
  })
  return dead.length > 0 && dead.every(({ by }) => by === undefined)
}

/** A final transaction of ours that used the entry's nonce. */
async function findFinalOnNonce(entry: Entry, recorder: Recorder): Promise<CompetingTransaction | undefined> {
  const { chain, network, connector } = railOf(entry)
  const { entries } = await recorder.list({ chain, network, on: { connector, address: signerOf(entry) }, nonce: entry.nonce })
  const other = entries.find(
    (each) => each.key !== entry.key && isFinal(each) && each.landed && usesSequence(each, each.landed) && isSameSequence(each, entry),
  )
  return other?.landed && finalCompeting(other, other.landed.id)
}

const isSameSequence = (one: Entry, other: Entry) => sequenceName(one) === sequenceName(other)

/** A reverted transaction in a block has used its nonce, too. An action that an exchange refused may not have used it. */
const usesSequence = ({ signer }: Entry, { ok }: { ok: boolean }): boolean => ok || signer === undefined

/** Whether it ended without using its nonce: only an action that an exchange did not carry out. */
const leftSequenceUnused = ({ signer, landed }: Entry): boolean => signer !== undefined && landed?.ok !== true

/** Ids of its intended replacement, and of the transactions that polls saw in its place. Those may be other replacements of it. */
function replacementsOf({ replacedBy, attempts }: Entry, observations: Observations): readonly string[] {
  const seen = attempts.flatMap(({ id }) => {
    const observed = observations.get(id)
    return observed?.is === 'dead' ? (observed.by ?? []) : []
  })
  return replacedBy === undefined ? seen : [replacedBy, ...seen]
}

const sequenceName = (entry: Entry) => `${signerOf(entry)}/${JSON.stringify(entry.sequence)}`
