import type { JournaledTransaction } from '../../api/transactions.ts'
import type { TransactionState } from '../../transactions/entry.ts'

/** What happens next, by state; the first four are open. */
const sentences: Readonly<Record<TransactionState, (transaction: JournaledTransaction) => string>> = {
  QUEUED: () =>
    'It is being signed, and nothing has left yet. If the server dies before it is signed, it becomes EXPIRED and has no effect.',
  SIGNED: () => 'It is signed and kept; the server sends the same bytes until a node has them.',
  BROADCAST: ({ txStatus, replacedBy, kind }) =>
    replacedBy !== undefined
      ? `One of the two on its nonce will be mined, this or ${replacedBy}: what comes first ends the other.`
      : txStatus === 3
        ? `It pays too little for the next block. The server raises its fees after a while, unless the request set them; "sluice tx speed-up" does so now${kind === 'cancel' ? '' : ', "sluice tx cancel" gives it up'}.`
        : 'It waits for a block, and the server sends it again if the nodes forget it.',
  MINED: ({ txBlock }) => `It is in block ${txBlock}, and final once enough blocks follow; until then a reorganisation can move it back.`,
  CONFIRMED: () => 'Nothing: it is final, and had its effect.',
  REVERTED: () => 'Nothing: it is final. The chain refused it, so that it had no effect but its gas.',
  REPLACED: ({ replacedBy }) => `Nothing: it is final, and had no effect. ${replacedBy ?? 'Another'} took its nonce.`,
  CANCELLED: () => 'Nothing: it is final, and had no effect. It was cancelled.',
  DROPPED: () => 'Nothing: it is final, and had no effect. A transaction of other software took its nonce.',
  EXPIRED: () => 'Nothing: it is final, and had no effect. It was never signed, or can never be mined.',
}

const next = new Map<string, (transaction: JournaledTransaction) => string>(Object.entries(sentences))

export const stateNames: readonly string[] = [...next.keys()]
/** In the order that a transaction goes through them. */
export const openStates: readonly string[] = ['QUEUED', 'SIGNED', 'BROADCAST', 'MINED']

export const isOpen = ({ txState }: Pick<JournaledTransaction, 'txState'>): boolean => openStates.includes(txState)

export function whatIsNext(transaction: JournaledTransaction): string {
  return (
    next.get(transaction.txState)?.(transaction) ??
    'This version of the command does not know that state: use the one that came with the server.'
  )
}
