// Holds a wallet's book against the chain: what it held at one block, and all that is known to have moved since, is what it holds at another, to the unit.
import { addressKey } from '../base/addresses.ts'
import { SluiceError } from '../base/errors.ts'
import type { At, CoinMove, PastTransfer, WalletHistory } from '../contracts/index.ts'
import { balancesOf, keptNonce, KnownChanges, leftOver, narrow, nonceKey, only, type Balances, type OpenRange } from './wallet-changes.ts'

/** A mined transaction of the journal, as the book has it. */
export interface OwnTransaction {
  readonly txHash: string
  readonly blockNumber: number
  /** Absent in the journal of an earlier version. */
  readonly blockHash?: string
  /** Absent where its receipt does not tell. */
  readonly feeRaw?: bigint
  /** By token (`addressKey`), the native coin among them, without the fee. Absent: the book says nothing, and the chain is asked. */
  readonly movements?: ReadonlyMap<string, bigint>
  /** The book does not say what it did to the native coin. */
  readonly isCoinUnknown?: true
}

/**
 * `inside-a-call`: the native coin came or went without being the value of a transaction. `without-event`: a token's balance changed and no event
 * of it says so. `not-in-book`: the events of one of the journal's own transactions say something else than its movements. `taken-back`: it is in no
 * block of the chain any more.
 */
export type DiscrepancyKind = (typeof discrepancyKinds)[number]
export const discrepancyKinds = ['inside-a-call', 'without-event', 'not-in-book', 'taken-back'] as const

export interface Discrepancy {
  readonly token: string
  readonly kind: DiscrepancyKind
  /** Above 0 the wallet has more than is explained. */
  readonly amountRaw: bigint
  /** The first and the last block in which it may have been. */
  readonly firstBlock: number
  readonly lastBlock: number
  /** Of the one transaction that the wallet had in the block. */
  readonly txHash?: string
  /** Where the block was not found: so many transactions more than are known the wallet sent in these blocks. */
  readonly unknownTransactions?: number
}

/** Smallest units: what it held at the start, and all that follows is what it holds at the end. */
export interface TokenCheck {
  /** `addressKey` */
  readonly token: string
  readonly startRaw: bigint
  /** By the book, without fees. */
  readonly ownRaw: bigint
  /** What own transactions cost: below 0. */
  readonly feesRaw: bigint
  /** Of transactions that are not in the journal, with their fees. */
  readonly foreignRaw: bigint
  readonly unexplainedRaw: bigint
  readonly endRaw: bigint
}

export interface WalletCheck {
  /** It begins after this block: later than asked where nodes have lost what was before. */
  readonly startBlock: number
  readonly endBlock: number
  /** How many transactions the wallet had sent by then; absent: nobody tells. */
  readonly endNonce?: number
  readonly tokens: readonly TokenCheck[]
  readonly unexplained: readonly Discrepancy[]
  readonly ownTransactions: number
  readonly foreignTransactions: number
  /** Tokens that no list has, and that none of the own transactions moved, in this range or before: anybody can send them, and they are not held against their balances. */
  readonly unlistedTokens: number
  /** What the nodes lack of the range that was asked for; absent: nothing. */
  readonly lost?: { readonly what: 'events' | 'state'; readonly before: number }
}

export interface WalletParts {
  readonly history: WalletHistory
  readonly wallet: string
  /** The native coin's address. */
  readonly coin: string
  /** Addresses of tokens whose balances are read. */
  readonly listed: readonly string[]
  /** Addresses of tokens that count although no list has them: what answers before found that the wallet holds. */
  readonly held?: readonly string[]
  /** Tokens (`addressKey`) whose balances change by themselves: in which blocks is not looked for. */
  readonly rebasing?: ReadonlySet<string>
  /** Balances that were kept at earlier blocks, by token (`addressKey`), and the number of transactions as `nonceKey`. */
  readonly kept: ReadonlyMap<number, ReadonlyMap<string, bigint>>
  /** The journal's transactions of the wallet that were mined in these blocks. One that is missing is found by its hash. */
  ownIn(after: number, upTo: number): Promise<readonly OwnTransaction[]>
  ownBy(txHash: string): Promise<OwnTransaction | undefined>
  /** The block that a transaction is in now; undefined: in none. */
  blockOf(txHash: string, at: At): Promise<number | undefined>
}

/** Readings of the wallet at blocks in between, in one range: of the coin, and again of its tokens. */
const maxReadings = 2_000
/** Blocks without their transactions. */
const headersAtOnce = 200
/** Transactions of another program that are looked up by their tokens. */
const maxSent = 500
/** Whole blocks that one request asks for. */
const blocksAtOnce = 16

/** @param range the balances at its first block are the start @throws SluiceError NETWORK where no node has what is needed of any part of it */
export async function verifyWallet(parts: WalletParts, range: { after: number; upTo: number }, at: At): Promise<WalletCheck> {
  const { history, wallet, listed, ownIn } = parts
  const coin = addressKey(parts.coin)
  const begun = await beginning(parts, range, at)
  const { after, upTo, transfers, lost } = begun

  const own = new Map((await ownIn(after, upTo)).map((each) => [each.txHash, each] as const))
  for (const { txHash } of transfers) if (!own.has(txHash)) await learn(own, txHash, parts)
  const takenBack = await findTakenBack(own, transfers, parts, at)

  // Own transactions moved what was kept, in this range or before.
  const keptTokens = [...(parts.kept.get(after) ?? [])].flatMap(([token, raw]) => (raw > 0n && token !== nonceKey ? [token] : []))
  const ofLists = [...new Set([...listed, ...(parts.held ?? []), ...keptTokens].map(addressKey))]
  const counted = countedTokens(transfers, own, ofLists)
  const asked = [...new Set([...ofLists, ...counted])].filter((token) => token !== coin)
  const [first, last] = await history.holdings(wallet, asked, [after, upTo], at)
  const [start, keptEnd] = [first ? balancesOf(first, asked, coin) : begun.start, parts.kept.get(upTo)]
  const end = last ? balancesOf(last, asked, coin) : keptEnd && { nonce: 0, amounts: keptEnd }
  if (!start || !end) throw lostState(upTo)
  const isHeld = (token: string) => (start.amounts.get(token) ?? 0n) > 0n || (end.amounts.get(token) ?? 0n) > 0n
  const tokens = [...new Set([coin, ...counted, ...asked.filter(isHeld)])]

  const ledger = createLedger(coin, new Set(tokens))
  ledger.addTransfers(transfers, own)
  await addCoin(ledger, own, parts, at)
  const known = (token: string) => ledger.changes.sum(token, after, upTo)
  // What an earlier version kept has no count of transactions, and what was kept may lack a token: then it is what is known to have moved.
  const [startNonce, endNonce] = [first?.nonce ?? keptNonce(parts.kept.get(after)), last?.nonce ?? keptNonce(keptEnd)]
  const isCounted = startNonce !== undefined && endNonce !== undefined
  const startOf = (token: string) => start.amounts.get(token) ?? 0n
  const endOf = (token: string) => end.amounts.get(token) ?? (last ? 0n : startOf(token) + known(token))
  const whole: OpenRange = {
    after,
    upTo,
    start: { nonce: isCounted ? startNonce : 0, amounts: new Map(tokens.map((token) => [token, startOf(token)])) },
    end: { nonce: isCounted ? endNonce : Number(known(nonceKey)), amounts: new Map(tokens.map((token) => [token, endOf(token)])) },
  }
  const kept = isCounted && [...parts.kept.values()].every((each) => each.has(nonceKey)) ? parts.kept : withoutNonces(parts.kept)
  const found = await explain(whole, ledger, { own, transfers }, { ...parts, kept }, at)
  const unexplained = [...takenBack, ...ledger.notInBook(), ...found].filter(({ token }) => tokens.includes(token))

  const sumOf = (token: string) => unexplained.reduce((sum, each) => (each.token === token ? sum + each.amountRaw : sum), 0n)
  return {
    startBlock: after,
    endBlock: upTo,
    ...(endNonce !== undefined && { endNonce }),
    tokens: tokens.map((token) => {
      const [startRaw, endRaw] = [startOf(token), endOf(token)]
      const { ownRaw, feesRaw, foreignRaw } = ledger.totalsOf(token)
      const takenBackRaw = takenBack.reduce((sum, each) => (each.token === token ? sum - each.amountRaw : sum), 0n)
      return { token, startRaw, ownRaw: ownRaw + takenBackRaw, feesRaw, foreignRaw, unexplainedRaw: sumOf(token), endRaw }
    }),
    unexplained: unexplained.toSorted((a, b) => a.firstBlock - b.firstBlock),
    ownTransactions: own.size,
    foreignTransactions: ledger.foreignTransactions(),
    unlistedTokens: new Set(transfers.flatMap(({ token }) => (tokens.includes(addressKey(token)) ? [] : addressKey(token)))).size,
    ...(lost && { lost }),
  }
}

const withoutNonces = (kept: WalletParts['kept']): WalletParts['kept'] =>
  new Map([...kept].map(([block, amounts]) => [block, new Map([...amounts].filter(([token]) => token !== nonceKey))] as const))

interface CheckStart {
  readonly after: number
  readonly upTo: number
  readonly transfers: readonly PastTransfer[]
  /** Where it was kept, and no node has it. */
  readonly start?: Balances
  readonly lost?: WalletCheck['lost']
}

/** Begins where both the events and the wallet's balances are known. */
async function beginning(
  { history, wallet, kept }: WalletParts,
  { after, upTo }: { after: number; upTo: number },
  at: At,
): Promise<CheckStart> {
  const { transfers, since } = await history.transfers([wallet], { from: after + 1, to: upTo }, at)
  const withEvents = since === undefined ? after : since - 1
  if (withEvents >= upTo)
    throw new SluiceError(
      'NETWORK',
      `The nodes have no events of tokens before block ${since}: name a node that has them, or ask from there.`,
    )
  const [first] = await history.holdings(wallet, [], [withEvents], at)
  const ofKept = (block: number): CheckStart => ({
    after: block,
    upTo,
    transfers: transfers.filter(({ blockNumber }) => blockNumber > block),
    start: { nonce: 0, amounts: kept.get(block) ?? new Map() },
    ...(block > after && { lost: { what: 'state', before: block } }),
  })
  if (first) return { after: withEvents, upTo, transfers, ...(since !== undefined && { lost: { what: 'events', before: since } }) }
  if (kept.has(withEvents)) return ofKept(withEvents)
  const withState = await firstWithState(history, wallet, withEvents, upTo, at)
  const [firstKept = Infinity] = [...kept.keys()].filter((block) => block > withEvents).toSorted((a, b) => a - b)
  if (firstKept < withState) return ofKept(firstKept)
  if (withState >= upTo) throw lostState(withState)
  return {
    after: withState,
    upTo,
    transfers: transfers.filter(({ blockNumber }) => blockNumber > withState),
    lost: { what: 'state', before: withState },
  }
}

export const lostState = (before: number) =>
  new SluiceError('NETWORK', `The nodes have no state of blocks before ${before}: name an archive node in rpcUrls, or ask from there.`)

/** By halves, as nodes keep the newest. */
const firstWithState = (history: WalletHistory, wallet: string, from: number, to: number, at: At) =>
  firstWhere(from, to, async (block) => (await history.holdings(wallet, [], [block], at))[0] !== undefined)

async function firstWhere(from: number, to: number, has: (block: number) => Promise<boolean>): Promise<number> {
  let [lost, first] = [from, to]
  while (first - lost > 1) {
    const middle = Math.floor((lost + first) / 2)
    if (await has(middle)) first = middle
    else lost = middle
  }
  return first
}

/** The first block of a range from which on the nodes have events, and where the wallet's balances are known. */
export async function firstKnown(
  { history, wallet, kept }: Pick<WalletParts, 'history' | 'wallet' | 'kept'>,
  { after, upTo }: { after: number; upTo: number },
  at: At,
): Promise<{ readonly block: number; readonly lost?: NonNullable<WalletCheck['lost']> }> {
  const hasEvents = async (block: number) => (await history.transfers([wallet], { from: block + 1, to: block + 1 }, at)).since === undefined
  const withEvents = (await hasEvents(after)) ? after : await firstWhere(after, upTo, hasEvents)
  const [held] = await history.holdings(wallet, [], [withEvents], at)
  if (held || kept.has(withEvents))
    return { block: withEvents, ...(withEvents > after && { lost: { what: 'events', before: withEvents + 1 } }) }
  const withState = await firstWithState(history, wallet, withEvents, upTo, at)
  const block = Math.min(withState, ...[...kept.keys()].filter((each) => each > withEvents))
  return { block, lost: { what: 'state', before: block } }
}

async function learn(own: Map<string, OwnTransaction>, txHash: string, { ownBy }: WalletParts): Promise<OwnTransaction | undefined> {
  const found = await ownBy(txHash)
  if (found) own.set(txHash, found)
  return found
}

/** Those that no block has any more are taken out of the own ones. */
async function findTakenBack(
  own: Map<string, OwnTransaction>,
  transfers: readonly PastTransfer[],
  { history, blockOf, coin }: WalletParts,
  at: At,
): Promise<readonly Discrepancy[]> {
  const seen = new Map(transfers.map(({ txHash, blockNumber }) => [txHash, blockNumber] as const))
  const doubtful = [...own.values()].filter(({ txHash, blockHash }) => blockHash !== undefined && !seen.has(txHash))
  const numbers = [...new Set(doubtful.map(({ blockNumber }) => blockNumber))]
  const hashes = new Map<number, string>()
  for (let first = 0; first < numbers.length; first += headersAtOnce)
    for (const { number, hash } of await history.blocks(numbers.slice(first, first + headersAtOnce), at)) hashes.set(number, hash)
  const takenBack: Discrepancy[] = []
  for (const each of doubtful) {
    const { txHash, blockNumber, blockHash, movements = new Map<string, bigint>(), feeRaw = 0n } = each
    if (hashes.get(blockNumber) === blockHash) continue
    const block = await blockOf(txHash, at)
    if (block !== undefined) {
      own.set(txHash, { ...each, blockNumber: block })
      continue
    }
    own.delete(txHash)
    const lost = new Map([...movements, [addressKey(coin), (movements.get(addressKey(coin)) ?? 0n) - feeRaw]])
    for (const [token, amountRaw] of lost)
      if (amountRaw !== 0n)
        takenBack.push({ token, kind: 'taken-back', amountRaw: -amountRaw, firstBlock: blockNumber, lastBlock: blockNumber, txHash })
  }
  return takenBack
}

/** Of the lists, and those that own transactions moved: anybody can write the events of a token, whosever wallet they name. */
function countedTokens(
  transfers: readonly PastTransfer[],
  own: ReadonlyMap<string, OwnTransaction>,
  listed: readonly string[],
): readonly string[] {
  const ofLists = new Set(listed)
  const moved = transfers.flatMap(({ token, txHash }) => (ofLists.has(addressKey(token)) || own.has(txHash) ? addressKey(token) : []))
  return [...new Set([...moved, ...[...own.values()].flatMap(({ movements = new Map<string, bigint>() }) => [...movements.keys()])])]
}

type Ledger = ReturnType<typeof createLedger>

/** What is known to have moved, and of whom it was. */
function createLedger(coin: string, tokens: ReadonlySet<string>) {
  const changes = new KnownChanges()
  const totals = new Map<string, { ownRaw: bigint; feesRaw: bigint; foreignRaw: bigint }>()
  const foreign = new Set<string>()
  const notInBook: Discrepancy[] = []

  function count(token: string, of: 'ownRaw' | 'feesRaw' | 'foreignRaw', amountRaw: bigint): void {
    const total = totals.get(token) ?? { ownRaw: 0n, feesRaw: 0n, foreignRaw: 0n }
    total[of] += amountRaw
    totals.set(token, total)
  }

  return {
    changes,
    addTransfers(transfers: readonly PastTransfer[], own: ReadonlyMap<string, OwnTransaction>): void {
      const byOwn = new Map<string, Map<string, bigint>>()
      for (const { token, amountRaw, txHash, blockNumber } of transfers) {
        const key = addressKey(token)
        // Of the coin the book tells all, or nothing.
        if (!tokens.has(key) || (key === coin && isCoinBooked(own.get(txHash)))) continue
        changes.add(key, blockNumber, amountRaw)
        if (!own.has(txHash)) {
          count(key, 'foreignRaw', amountRaw)
          foreign.add(txHash)
          continue
        }
        const moved = byOwn.get(txHash) ?? new Map<string, bigint>()
        byOwn.set(txHash, moved.set(key, (moved.get(key) ?? 0n) + amountRaw))
      }
      for (const each of own.values()) {
        const { txHash, blockNumber, movements } = each
        const moved = byOwn.get(txHash) ?? new Map<string, bigint>()
        const booked = movements ?? moved
        for (const [token, amountRaw] of booked) if (token !== coin) count(token, 'ownRaw', amountRaw)
        if (!isCoinBooked(each)) count(coin, 'ownRaw', moved.get(coin) ?? 0n)
        for (const token of new Set([...moved.keys(), ...booked.keys()])) {
          const amountRaw = (moved.get(token) ?? 0n) - (booked.get(token) ?? 0n)
          if (amountRaw !== 0n && token !== coin)
            notInBook.push({ token, kind: 'not-in-book', amountRaw, firstBlock: blockNumber, lastBlock: blockNumber, txHash })
        }
      }
    },
    addOwnCoin(blockNumber: number, amountRaw: bigint, feeRaw: bigint): void {
      changes.add(nonceKey, blockNumber, 1n)
      changes.add(coin, blockNumber, amountRaw - feeRaw)
      count(coin, 'ownRaw', amountRaw)
      count(coin, 'feesRaw', -feeRaw)
    },
    addForeign({ blockNumber, txHash, nonce, amountRaw, feeRaw = 0n }: CoinMove): void {
      if (nonce !== undefined) changes.add(nonceKey, blockNumber, 1n)
      changes.add(coin, blockNumber, amountRaw - feeRaw)
      count(coin, 'foreignRaw', amountRaw - feeRaw)
      if (txHash !== undefined) foreign.add(txHash)
    },
    totalsOf: (token: string) => totals.get(token) ?? { ownRaw: 0n, feesRaw: 0n, foreignRaw: 0n },
    foreignTransactions: () => foreign.size,
    notInBook: (): readonly Discrepancy[] => notInBook,
  }
}

const isCoinBooked = (own: OwnTransaction | undefined) => own?.movements !== undefined && !own.isCoinUnknown

/** Undefined: the book does not say it. */
const bookedCoin = (own: OwnTransaction, coin: string) => (isCoinBooked(own) ? (own.movements?.get(coin) ?? 0n) : undefined)

/** What own transactions did to the coin: by the book, else by the chain. */
async function addCoin(
  ledger: Ledger,
  own: ReadonlyMap<string, OwnTransaction>,
  { history, wallet, coin }: WalletParts,
  at: At,
): Promise<void> {
  const untold = [...own.values()].filter((each) => !isCoinBooked(each) || each.feeRaw === undefined)
  const moves = await movesIn(
    history,
    wallet,
    untold.map(({ blockNumber }) => blockNumber),
    at,
  )
  const moveOf = new Map(
    moves.flatMap((move) => (move.txHash !== undefined && move.nonce !== undefined ? [[move.txHash, move] as const] : [])),
  )
  for (const each of own.values()) {
    const { txHash, blockNumber, feeRaw } = each
    const move = moveOf.get(txHash)
    ledger.addOwnCoin(blockNumber, bookedCoin(each, addressKey(coin)) ?? move?.amountRaw ?? 0n, feeRaw ?? move?.feeRaw ?? 0n)
  }
}

async function movesIn(history: WalletHistory, wallet: string, blocks: readonly number[], at: At): Promise<readonly CoinMove[]> {
  const numbers = [...new Set(blocks)]
  const found: CoinMove[] = []
  for (let first = 0; first < numbers.length; first += blocksAtOnce)
    found.push(...(await history.coinMoves(wallet, numbers.slice(first, first + blocksAtOnce), at)))
  return found
}

/** Finds the transactions that the journal does not know, and where something moved that nothing explains. */
async function explain(
  whole: OpenRange,
  ledger: Ledger,
  { own, transfers }: { own: Map<string, OwnTransaction>; transfers: readonly PastTransfer[] },
  parts: WalletParts,
  at: At,
): Promise<readonly Discrepancy[]> {
  const { history, wallet, kept } = parts
  const coin = addressKey(parts.coin)
  const { changes } = ledger
  const search = { history, wallet, coin, changes, kept, maxReadings }
  const part = (has: (token: string) => boolean): OpenRange => {
    const tokens = [...whole.end.amounts.keys()].filter(has)
    return { ...whole, start: only(whole.start, tokens), end: only(whole.end, tokens) }
  }
  const isRebasing = (token: string) => token !== coin && parts.rebasing?.has(token) === true
  const ranges = [
    // Apart: a token that changes in every block uses up all readings.
    ...(await narrow(
      part((token) => token === coin),
      search,
      at,
    )),
    ...(await narrow(
      part((token) => token !== coin && !isRebasing(token)),
      search,
      at,
    )),
    part(isRebasing),
  ]
  const single = ranges.filter((range) => range.upTo - range.after === 1 && hasCoinLeft(range, changes, coin))
  // Where no node has the state in between, what another program sent is found by the tokens that it moved out of the wallet.
  const wide = ranges.filter((range) => range.upTo - range.after > 1 && hasCoinLeft(range, changes, coin))
  const sent = transfers.filter(
    ({ txHash, amountRaw, blockNumber }) =>
      amountRaw < 0n && !own.has(txHash) && wide.some(({ after, upTo }) => blockNumber > after && blockNumber <= upTo),
  )
  const blocks = [...single.map(({ upTo }) => upTo), ...sent.slice(0, maxSent).map(({ blockNumber }) => blockNumber)]
  const moves = await movesIn(history, wallet, blocks, at)
  const sentIn = new Map<number, Set<string>>()
  for (const move of moves) {
    const { blockNumber, txHash, nonce } = move
    if (txHash !== undefined && nonce !== undefined) sentIn.set(blockNumber, (sentIn.get(blockNumber) ?? new Set()).add(txHash))
    const known = txHash === undefined || nonce === undefined ? undefined : own.get(txHash)
    if (known) continue
    const learned = txHash === undefined || nonce === undefined ? undefined : await learn(own, txHash, parts)
    if (!learned) ledger.addForeign(move)
    else ledger.addOwnCoin(blockNumber, bookedCoin(learned, coin) ?? move.amountRaw, learned.feeRaw ?? move.feeRaw ?? 0n)
  }
  return ranges.flatMap((range) => {
    const left = leftOver(range, changes, coin)
    const isWide = range.upTo - range.after > 1
    const unknown = isWide ? Number(left.get(nonceKey) ?? 0n) : 0
    return [...left].flatMap(([token, amountRaw]): readonly Discrepancy[] => {
      // Authorizations count as transactions: https://eips.ethereum.org/EIPS/eip-7702
      if (token === nonceKey) return []
      const [txHash, ...others] = isWide ? [] : (sentIn.get(range.upTo) ?? [])
      const kind = token === coin ? 'inside-a-call' : 'without-event'
      const isOne = txHash !== undefined && others.length === 0
      const place = { firstBlock: range.after + 1, lastBlock: range.upTo }
      return [{ token, kind, amountRaw, ...place, ...(isOne && { txHash }), ...(unknown > 0 && { unknownTransactions: unknown }) }]
    })
  })
}

function hasCoinLeft(range: OpenRange, changes: KnownChanges, coin: string): boolean {
  const left = leftOver(range, changes, coin)
  return left.has(coin) || left.has(nonceKey)
}
