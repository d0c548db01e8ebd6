// Holds a wallet's book against the chain: what it held at one block, and all that is known to have moved since, is what it holds at another, to the unit.
import { addressKey } from '../base/addresses.ts'
import type { At, CoinMove, PastTransfer, WalletHistory } from '../contracts/index.ts'
import { beginning, lostState, type LostHistory } from './check-start.ts'
import { balancesOf, keptNonce, leftOver, narrow, nonceKey, only, type KnownChanges, type OpenRange } from './wallet-changes.ts'
import { bookedCoin, createLedger, isCoinBooked, type Discrepancy, type Ledger, type OwnTransaction } from './wallet-ledger.ts'

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
  readonly lost?: LostHistory
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
