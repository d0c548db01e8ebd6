import type { SignedTransaction } from './checker/known.ts'

/**
 * What a bot wants once. A trade sells an amount of the native coin, or opens a position of a size, that no other request of the run has;
 * a deposit or a withdrawal moves such an amount. Who closes names no amount: that is known by its transaction.
 */
export interface Request {
  id: number
  op: 'trade' | 'close' | 'deposit' | 'withdraw' | 'order' | 'cancel-order' | 'cancel' | 'speedUp' | 'create-token'
  wallet: string
  connector?: string
  /** Of an order book. */
  market?: string
  /** Symbol of the token whose account is wanted. */
  token?: string
  /** It is asked for in a batch. */
  inBatch?: true
  /** Request of the order that is to be cancelled. */
  order?: number
  /** What the chain shows of it: the value of its transaction, the size, or what is moved. Absent where it has no such amount. */
  valueRaw?: bigint
  key?: string
}

/** One time that a request was sent. */
export interface Call {
  request: number
  requestId: string
  /** Milliseconds since the run began. */
  sentAt: number
  endedAt: number
  /** `ofBatch`: one of several that were answered together. `lost`: the connection broke, or nothing came for too long. */
  outcome:
    | {
        is: 'answer'
        status: number
        name?: string
        message?: string
        text: string
        txHash?: string
        state?: string
        orderId?: string
        ofBatch?: true
      }
    | { is: 'lost'; reason: string }
}

/** What the server said of a transaction at some time. */
export interface Sample {
  at: number
  via: 'poll' | 'list' | 'events'
  txHash: string
  txStatus?: number
  txState?: string
}

/** Signed bytes that a server sent towards a node, whether they arrived or not. */
export interface SentBytes {
  at: number
  raw: string
}

/** A transaction of one of the wallets in the chain as it is at the end. */
export interface MinedTransaction {
  txHash: string
  from: string
  to: string
  nonce: number
  valueRaw: bigint
  block: number
  ok: boolean
}

/** An entry of the journal at the end. */
export interface JournalEntry {
  key: string
  address: string
  /** Whose key signed, where that is not the chain's own way. */
  signer?: string
  kind: string
  state: string
  nonce: number
  rank: number
  requestId: string
  idempotencyKey?: string
  replacedBy?: string
  reason?: string
  /** The bytes are gone once the entry is final. */
  attempts: readonly { txHash: string; raw?: string }[]
}

/** An order as the server lists it at the end. */
export interface ToldOrder {
  wallet: string
  clientOrderId: string
  orderId?: string
  side: 'BUY' | 'SELL'
  state: string
  /** Of base. */
  filledRaw: bigint
}

/** What an order book logged of an offer. */
export interface OfferEvent {
  txHash: string
  is: 'made' | 'taken' | 'killed'
  orderId: string
  maker: string
  taker?: string
  /** What was taken, of base. */
  baseRaw?: bigint
}

/** Of the order book: what the server says of the bots' orders, what the chain logged, and which offers are still there. */
export interface Orders {
  told: readonly ToldOrder[]
  events: readonly OfferEvent[]
  left: ReadonlySet<string>
}

/** A row of `POST /books/verify`. */
export interface UnexplainedChange {
  wallet: string
  kind: string
  symbol: string
  amount: string
  firstBlock: number
  lastBlock: number
  txHash?: string
  /** What the journal and the chain say of those blocks. */
  around?: unknown
}

/** All that is known of a run at its end. */
export interface History {
  wallets: readonly string[]
  requests: readonly Request[]
  calls: readonly Call[]
  samples: readonly Sample[]
  /** Everything that was ever signed, whether it left a server or not. */
  signed: readonly SignedTransaction[]
  /** Hashes of what can still come into a block, or has. */
  live: ReadonlySet<string>
  mined: readonly MinedTransaction[]
  /** Each wallet's next nonce on the chain. */
  nextNonces: ReadonlyMap<string, number>
  journal: readonly JournalEntry[]
  /** Absent where bots place none. */
  orders?: Orders
  /** Hashes of what another program sent from the wallets. */
  foreign: ReadonlySet<string>
  /** Troubles of a wallet's nonces that were made one by one, and how many blocks each took to be over. */
  healed: readonly { trouble: string; wallet: string; blocks: number; allowed: number }[]
  /** What of the wallets' balances neither the journal nor the chain explains. Absent where nobody asked. */
  unexplained?: readonly UnexplainedChange[]
  /** Blocks since the faults ended, and how many what is open had to reach its end. */
  settled: { blocks: number; allowed: number }
}

/** What bots asked and were told, as it happens. */
export interface Recorder {
  requests: Request[]
  calls: Call[]
  samples: Sample[]
  /** Hashes of what another program sent. */
  foreign: Set<string>
  healed: History['healed'][number][]
  /** Hashes that somebody was told of. */
  hashes: string[]
  /** Milliseconds since the run began. */
  clock(): number
  newRequest(of: Omit<Request, 'id' | 'valueRaw'>): Request
}

/** Far below what moves a price, or a hundredth of a dollar, and far above the number of a request: no two requests have the same. */
const leastValueRaw: Partial<Record<Request['op'], bigint>> = {
  trade: 10n ** 15n,
  order: 10n ** 16n,
  deposit: 10n ** 4n,
  withdraw: 10n ** 4n,
}

/** @param least the smallest amount of each kind of request that shows one */
export function createRecorder(least: Partial<Record<Request['op'], bigint>> = leastValueRaw): Recorder {
  const begun = performance.now()
  const recorder: Recorder = {
    requests: [],
    calls: [],
    samples: [],
    foreign: new Set(),
    healed: [],
    hashes: [],
    clock: () => Math.round(performance.now() - begun),
    newRequest(of) {
      const id = recorder.requests.length + 1
      const from = least[of.op]
      const request = { ...of, id, ...(from !== undefined && { valueRaw: from + BigInt(id) }) }
      recorder.requests.push(request)
      return request
    },
  }
  return recorder
}
