import { Transaction } from 'ethers'
import type { History } from '../history.ts'
import { shownValue } from './shown-value.ts'

/** A transaction that was signed, by what is in its bytes. */
export interface Signed {
  txHash: string
  from: string
  nonce: number
  valueRaw: bigint
  /** It left a server. */
  wasSent: boolean
  /** Key of the journal's entry that has it. */
  entry?: string
}

/** Everything that was ever signed, from the journal and from what went by on its way to the nodes. */
export function signedBytes({ journal, sent }: Pick<History, 'journal' | 'sent'>): Signed[] {
  const all = new Map<string, Signed>()
  for (const { key, attempts } of journal) for (const { raw } of attempts) add(raw, false, key)
  for (const { raw } of sent) add(raw, true)
  return [...all.values()]

  function add(raw: string, wasSent: boolean, entry?: string): void {
    const known = all.get(raw)
    if (known) {
      known.wasSent ||= wasSent
      return
    }
    const transaction = Transaction.from(raw)
    const { hash, from, nonce } = transaction
    if (hash === null || from === null) throw new Error(`Bytes without a signature were sent: ${raw}`)
    all.set(raw, { txHash: hash, from, nonce, valueRaw: shownValue(transaction), wasSent, ...(entry !== undefined && { entry }) })
  }
}
