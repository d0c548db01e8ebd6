import { Transaction, Interface } from 'ethers'
import type { Call, History, JournalEntry, MinedTransaction, Request, SentBytes } from '../history.ts'

/** The history, by what the invariants ask for. */
export interface IndexedHistory extends History {
  callsOf(request: Request): readonly Call[]
  /** By the amount that no other request has, or, of a request without one, by the journal's entries of it. */
  signedOf(request: Request): readonly SignedTransaction[]
  minedOf(request: Request): readonly MinedTransaction[]
  minedBy(txHash: string): MinedTransaction | undefined
  entryOf(txHash: string): JournalEntry | undefined
  /** Which one it is for: by the amount that it shows, else by what the journal says, its key or the id of one of its calls. */
  requestOf(entry: JournalEntry): Request | undefined
  /** It never comes into a block. */
  isDead(signed: SignedTransaction): boolean
}

export function knownOf(history: History): IndexedHistory {
  const { signed } = history
  const calls = groupBy(history.calls, ({ request }) => request)
  const signedByValue = groupBy(signed, ({ valueRaw }) => valueRaw)
  const minedByValue = groupBy(history.mined, ({ valueRaw }) => valueRaw)
  const mined = new Map(history.mined.map((each) => [each.txHash, each]))
  const entries = new Map(history.journal.flatMap((entry) => entry.attempts.map(({ txHash }) => [txHash, entry])))
  const byKey = new Map(history.requests.flatMap((request) => (request.key === undefined ? [] : [[request.key, request]])))
  const byId = new Map(history.requests.map((request) => [request.id, request]))
  const byCall = new Map(history.calls.map(({ requestId, request }) => [requestId, byId.get(request)]))
  const signedByHash = new Map(signed.map((each) => [each.txHash, each]))
  const byAmount = new Map(history.requests.flatMap((request) => (request.valueRaw === undefined ? [] : [[request.valueRaw, request]])))
  const requestOf = ({ idempotencyKey, requestId, attempts: [first] }: JournalEntry) =>
    byAmount.get(signedByHash.get(first?.txHash ?? '')?.valueRaw ?? 0n) ?? byCall.get(requestId) ?? byKey.get(idempotencyKey ?? '')
  const entriesByRequest = groupBy(history.journal, requestOf)
  const ofRequest =
    <T>(byValue: Map<bigint, T[]>, byHash: Map<string, T>) =>
    (request: Request): readonly T[] => {
      if (request.valueRaw !== undefined) return byValue.get(request.valueRaw) ?? []
      const attempts = (entriesByRequest.get(request) ?? []).flatMap((entry) => entry.attempts)
      return attempts.flatMap(({ txHash }) => byHash.get(txHash) ?? [])
    }
  return {
    ...history,
    callsOf: ({ id }) => calls.get(id) ?? [],
    requestOf,
    signedOf: ofRequest(signedByValue, signedByHash),
    minedOf: ofRequest(minedByValue, mined),
    minedBy: (txHash) => mined.get(txHash),
    entryOf: (txHash) => entries.get(txHash),
    isDead: ({ txHash }) => !mined.has(txHash) && !history.live.has(txHash),
  }
}

export function groupBy<T, K>(list: readonly T[], keyOf: (each: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const each of list) {
    const key = keyOf(each)
    const group = groups.get(key)
    if (group) group.push(each)
    else groups.set(key, [each])
  }
  return groups
}

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

/** @param senders of transactions that a node has read, by their hashes: to find one in a signature takes milliseconds */
export function readEvm(raw: string, senders: ReadonlyMap<string, string> = new Map()): DecodedTransaction {
  const transaction = Transaction.from(raw)
  const { hash, to, nonce, value, data } = transaction
  const from = senders.get(hash ?? '') ?? transaction.from
  if (hash === null || from === null) throw new Error(`Bytes without a signature were sent: ${raw}`)
  const does = value > 0n || data !== '0x' ? { call: [to, value, data].join() } : {}
  return { txHash: hash, from, nonce, valueRaw: shownValue(transaction), ...does }
}

const exchanges = new Interface([
  'function openPosition((address baseToken, bool isBaseToQuote, bool isExactInput, uint256 amount, uint256 oppositeAmountBound, uint256 deadline, uint160 sqrtPriceLimitX96, bytes32 referralCode))',
  'function deposit(address token, uint256 amount)',
  'function withdraw(address token, uint256 amount)',
  'function offer(uint256 pay_amt, address pay_gem, uint256 buy_amt, address buy_gem, uint256 pos, bool rounding)',
  'function sellAllAmount(address pay_gem, uint256 pay_amt, address buy_gem, uint256 min_fill_amount)',
  'function buyAllAmount(address buy_gem, uint256 buy_amt, address pay_gem, uint256 max_fill_amount)',
])

/** What a transaction shows of the request that it is for: its value, of a position its size, of collateral its amount, of an order its base. */
export function shownValue({ value, data }: { value: bigint; data: string }): bigint {
  const call = value > 0n ? null : exchanges.parseTransaction({ data })
  if (!call) return value
  const { name, args } = call
  if (name === 'openPosition') return BigInt(args[0].amount)
  if (name === 'sellAllAmount') return BigInt(args.pay_amt)
  if (name === 'buyAllAmount') return BigInt(args.buy_amt)
  // A base of 18 decimals, a quote of 6.
  if (name === 'offer') return args.pay_amt > args.buy_amt ? BigInt(args.pay_amt) : BigInt(args.buy_amt)
  return BigInt(args.amount)
}

type Invariant = 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I7'

/** What must not be, and what shows it. */
export interface Violation {
  invariant: Invariant
  what: string
  evidence: object
}

export const violation = (invariant: Invariant, what: string, evidence: object): Violation => ({ invariant, what, evidence })
