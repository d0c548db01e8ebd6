import { Transaction } from 'ethers'
import type { JournalEntry, SentBytes } from '../history.ts'
import { shownValue } from './shown-value.ts'

/** A transaction that was signed, by what is in its bytes. */
export interface SignedTransaction {
  txHash: string
  from: string
  nonce: number
  valueRaw: bigint
  /** Whom it pays or calls, and with what: another attempt of it differs in its fees alone. Absent where it does nothing. */
  call?: string
  /** What it is good with, on a chain that counts no nonces. */
  blockhash?: string
  /** Milliseconds: until when it is good, where it says so itself. */
  expiresAfter?: number
  /** It left a server. */
  wasSent: boolean
  /** Key of the journal's entry that has it. */
  entry?: string
}

type DecodedTransaction = Omit<SignedTransaction, 'wasSent' | 'entry'>

/** Everything that was ever signed, from the journal, as far as it is open, and from what went by on its way to the nodes. */
export function signedBytes(
  { journal, sent }: { journal: readonly JournalEntry[]; sent: readonly SentBytes[] },
  read: (raw: string) => DecodedTransaction = readEvm,
): SignedTransaction[] {
  const all = new Map<string, SignedTransaction>()
  const entryOf = new Map(journal.flatMap(({ key, attempts }) => attempts.map(({ txHash }) => [txHash, key])))
  for (const { key, attempts } of journal) for (const { raw } of attempts) if (raw !== undefined) add(raw, false, key)
  for (const { raw } of sent) add(raw, true)
  return [...all.values()]

  function add(raw: string, wasSent: boolean, entry?: string): void {
    const known = all.get(raw)
    if (known) {
      known.wasSent ||= wasSent
      return
    }
    const signed = read(raw)
    // The journal has no bytes of what is final.
    const key = entry ?? entryOf.get(signed.txHash)
    all.set(raw, { ...signed, wasSent, ...(key !== undefined && { entry: key }) })
  }
}

function readEvm(raw: string): DecodedTransaction {
  const transaction = Transaction.from(raw)
  const { hash, from, to, nonce, value, data } = transaction
  if (hash === null || from === null) throw new Error(`Bytes without a signature were sent: ${raw}`)
  const does = value > 0n || data !== '0x' ? { call: [to, value, data].join() } : {}
  return { txHash: hash, from, nonce, valueRaw: shownValue(transaction), ...does }
}
