import { SluiceError } from '../../api/index.ts'
import type { At, Chain, Json, Transaction } from '../../contracts/index.ts'
import { canonicalHash } from '../../transactions/canonical-hash.ts'
import { isFinal, type Entry } from '../../transactions/entry.ts'

/** Where a transaction is, by the chain and the journal together. */
export interface Whereabouts {
  /** The attempt that is shown: the mined one, else the newest that the node has, else the one that was asked for. */
  txHash: string
  /** The newest block; undefined where no node answered. */
  head: number | undefined
  /** -1 until mined. */
  txBlock: number
  tx: Json
  receipt: Json
  /** What the node has of it. */
  found: Transaction | undefined
}

interface Asked {
  txHash: string
  /** Oldest first: at most one of them is ever mined, and where it is, the transaction is. */
  attempts: readonly string[]
  /** The journal's, where it has one. */
  entry: Entry | undefined
}

interface Seen {
  txHash: string
  found: Transaction | undefined
}

/**
 * A node may lag behind the journal, and may have an attempt in a block that the journal has not seen there yet: whoever
 * of them has one in a block is believed. Where no node answers, the journal does of what is final.
 */
export async function whereaboutsOf({ txHash, attempts, entry }: Asked, impl: Chain, at: At): Promise<Whereabouts> {
  const landed = attempts.some((each) => isSameHash(each, entry?.landed?.id)) ? entry?.landed : undefined
  const journals = { txHash: landed?.id ?? txHash, txBlock: landed?.blockNumber ?? -1, receipt: landed?.receipt ?? null }

  const asked = await askChain(txHash, attempts, impl, at).catch((error: unknown) => {
    if (entry && isFinal(entry) && error instanceof SluiceError) return undefined
    throw error
  })
  if (!asked) return { ...journals, head: undefined, tx: null, found: undefined }
  const { head, seen } = asked
  const mined = seen.find(({ found }) => found?.blockNumber !== undefined)
  if (landed && !mined) {
    const found = seen.find((each) => isSameHash(each.txHash, landed.id))?.found
    return { ...journals, head, tx: found?.tx ?? null, found }
  }
  const shown = mined ?? seen.find(({ found }) => found) ?? { txHash, found: undefined }
  const { found } = shown
  return { txHash: shown.txHash, head, txBlock: found?.blockNumber ?? -1, tx: found?.tx ?? null, receipt: found?.receipt ?? null, found }
}

/** Of an action on an exchange's own rail: no block has it, and the journal alone knows what was said of it. To strangers nothing. */
export function whereaboutsOfAction(txHash: string, own: Entry | undefined): Whereabouts {
  const receipt = own?.landed?.receipt ?? null
  return { txHash: own?.landed?.id ?? txHash, head: undefined, txBlock: -1, tx: own?.step ?? null, receipt, found: undefined }
}

/** What a node has of the attempts, newest first; the others are asked about only while the one that is asked for is in no block. */
async function askChain(
  txHash: string,
  attempts: readonly string[],
  impl: Chain,
  at: At,
): Promise<{ head: number; seen: readonly Seen[] }> {
  const look = async (id: string): Promise<Seen> => ({ txHash: id, found: await impl.find(id, at) })
  const [{ number }, asked] = await Promise.all([impl.head(at), look(txHash)])
  const head = Number(number)
  if (asked.found?.blockNumber !== undefined) return { head, seen: [asked] }
  const others = await Promise.all(attempts.filter((each) => !isSameHash(each, txHash)).map(look))
  const age = (each: Seen) => attempts.findIndex((id) => isSameHash(id, each.txHash))
  return { head, seen: [asked, ...others].toSorted((a, b) => age(b) - age(a)) }
}

export const isSameHash = (a: string, b: string | undefined) => b !== undefined && canonicalHash(a) === canonicalHash(b)
