import { badFields, type NetworkPollResponse, SluiceError } from '../api/index.ts'
import type { Json, Transaction, At, Chain, Fill } from '../contracts/index.ts'
import { fromRaw, priceOf } from '../decimal.ts'
import { isFinal, type Entry, canonicalHash } from '../transactions/entry.ts'
import type { Transactions } from '../transactions/transactions.ts'
import { showLiquidityFill } from './amm/range-changes.ts'
import { readAboutTrade } from './amm/trade.ts'
import { mayUseWallet } from './caller.ts'
import type { Handler, RequestContext, TargetContext, Services } from './context.ts'
import { refusalMeaning } from './explain-errors.ts'
import { showPositionFill, liquidationsBefore } from './perp/fills.ts'
import type { Registry, NetworkEntry } from './registry.ts'

export const networkPoll: Handler<'NetworkPoll'> = async ({ txHash, connector }, context) => {
  const { network, services, caller, signal } = context
  const { impl } = network
  if (!impl.isTransactionId(txHash)) throw badFields([{ field: 'txHash', problem: 'is no transaction hash of this chain' }])
  if (connector !== undefined) services.registry.connector(connector)

  const entry = await services.transactions.find(network.chain, network.network, txHash)
  const own = entry && mayUseWallet(caller, entry.address) ? entry : undefined
  // Who may not use the wallet learns of the one hash only.
  const attempts = own ? own.attempts.map(({ id }) => id) : [txHash]
  const isVenues = entry?.signer !== undefined
  const where = isVenues ? locateAction(txHash, own) : await locateTransaction({ txHash, attempts, entry }, impl, { signal })
  const { head, txBlock, receipt, found } = where
  // A block may come between both questions.
  const currentBlock = head === undefined ? -1 : Math.max(head, txBlock)
  // Who was told that a trade is in a block asks for a price after it.
  if (!isVenues && currentBlock >= 0) services.following.expectBlock(network, BigInt(currentBlock))
  return {
    currentBlock,
    txHash,
    txStatus: own ? services.transactions.status(own, found) : strangersStatus(txHash, found, entry, services.transactions),
    txBlock,
    txData: where.tx,
    // What an exchange said is no receipt of the chain's.
    txReceipt: receipt && (isVenues ? receipt : decode(receipt, network, services.registry, connector)),
    confirmations: txBlock < 0 ? 0 : head === undefined ? impl.confirmations : currentBlock - txBlock + 1,
    ...(own && {
      txState: own.state,
      ...replacedBy(txHash, own, where),
      ...(await failureReason(own, context)),
      ...fillOf(own, receipt, network, services.registry),
    }),
  }
}

/** Of a transaction that is not in the journal, or not the caller's: the journal still keeps it from being called dead too early. */
function strangersStatus(
  txHash: string,
  found: Pick<Transaction, 'blockNumber' | 'pays'> | undefined,
  entry: Entry | undefined,
  transactions: Transactions,
): number {
  if (found) return found.blockNumber !== undefined ? 1 : found.pays === false ? 3 : 2
  if (!entry) return -1
  const lost = isFinal(entry) && entry.landed !== undefined && !isSameHash(txHash, entry.landed.id)
  return lost ? -1 : transactions.status(entry)
}

/** What took, or is to take, the place of the hash that was asked for: another attempt, or another transaction. */
function replacedBy(
  txHash: string,
  { replacedBy: heir, attempts }: Entry,
  where: TransactionLocation,
): Pick<NetworkPollResponse, 'replacedBy'> {
  if (where.txBlock >= 0) return isSameHash(txHash, where.txHash) ? {} : { replacedBy: where.txHash }
  const newest = attempts.at(-1)?.id
  const hash = heir ?? (newest === undefined || isSameHash(txHash, newest) ? undefined : newest)
  return hash === undefined ? {} : { replacedBy: hash }
}

/** Logs are explained by the events of the named connector, or of all that are on the network. */
function decode(receipt: Json, { impl, chain, network }: NetworkEntry, directory: Registry, connector: string | undefined): Json {
  const venues = directory.venuesOn(chain, network).filter((each) => connector === undefined || each.connector === connector)
  return impl.decode(receipt, [...new Set(venues.flatMap((each) => each.impl.events ?? []))])
}

/** Where a transaction is, by the chain and the journal together. */
interface TransactionLocation {
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

interface LocationQuery {
  txHash: string
  /** Oldest first: at most one of them is ever mined, and where it is, the transaction is. */
  attempts: readonly string[]
  /** The journal's, where it has one. */
  entry: Entry | undefined
}

interface AttemptLookup {
  txHash: string
  found: Transaction | undefined
}

/**
 * A node may lag behind the journal, and may have an attempt in a block that the journal has not seen there yet: whoever
 * of them has one in a block is believed. Where no node answers, the journal does of what is final.
 */
async function locateTransaction({ txHash, attempts, entry }: LocationQuery, impl: Chain, at: At): Promise<TransactionLocation> {
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
function locateAction(txHash: string, own: Entry | undefined): TransactionLocation {
  const receipt = own?.landed?.receipt ?? null
  return { txHash: own?.landed?.id ?? txHash, head: undefined, txBlock: -1, tx: own?.step ?? null, receipt, found: undefined }
}

/** What a node has of the attempts, newest first; the others are asked about only while the one that is asked for is in no block. */
async function askChain(
  txHash: string,
  attempts: readonly string[],
  impl: Chain,
  at: At,
): Promise<{ head: number; seen: readonly AttemptLookup[] }> {
  const look = async (id: string): Promise<AttemptLookup> => ({ txHash: id, found: await impl.find(id, at) })
  const [{ number }, asked] = await Promise.all([impl.head(at), look(txHash)])
  const head = Number(number)
  if (asked.found?.blockNumber !== undefined) return { head, seen: [asked] }
  const others = await Promise.all(attempts.filter((each) => !isSameHash(each, txHash)).map(look))
  const age = (each: AttemptLookup) => attempts.findIndex((id) => isSameHash(id, each.txHash))
  return { head, seen: [asked, ...others].toSorted((a, b) => age(b) - age(a)) }
}

const isSameHash = (a: string, b: string | undefined) => b !== undefined && canonicalHash(a) === canonicalHash(b)

/** What a transaction really gave, read from its receipt by the connector that made it. */
function fillOf(
  entry: Entry | undefined,
  receipt: Json,
  { chain, network }: NetworkEntry,
  directory: Registry,
): Pick<NetworkPollResponse, 'fill'> {
  if (!entry || receipt === null) return {}
  const impl = directory.venuesOn(chain, network).find(({ connector }) => connector === entry.connector)?.impl
  if (entry.kind === 'trade') {
    const fill = orNothing(() => impl?.AMM?.fill(receipt, entry.memo))
    return fill ? { fill: showTradeFill(fill, entry.about) } : {}
  }
  if (entry.kind === 'liquidity') {
    const fill = orNothing(() => impl?.AMM_RANGE?.rangeFill(receipt, entry.memo))
    return fill ? { fill: showLiquidityFill(fill, entry.about) } : {}
  }
  if (entry.kind === 'position') {
    const fill = orNothing(() => impl?.PERP_AMM?.perpFill(receipt, entry.memo))
    return fill ? { fill: showPositionFill(fill, entry.about) } : {}
  }
  return {}
}

function showTradeFill(fill: Fill, about: Json) {
  const { side, base, quote } = readAboutTrade(about)
  const [tokenIn, tokenOut] = side === 'BUY' ? [quote, base] : [base, quote]
  const [quoteRaw, baseRaw] = side === 'BUY' ? [fill.amountInRaw, fill.amountOutRaw] : [fill.amountOutRaw, fill.amountInRaw]
  return {
    amountIn: fromRaw(fill.amountInRaw, tokenIn.decimals),
    amountOut: fromRaw(fill.amountOutRaw, tokenOut.decimals),
    price: priceOf({ raw: quoteRaw, decimals: quote.decimals }, { raw: baseRaw, decimals: base.decimals }, side === 'BUY' ? 'up' : 'down'),
  }
}

/** Nothing where the connector fails, too: its log has the defect, and what became of the transaction is worth more than its fill. */
function orNothing<T>(read: () => T | undefined): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Why a transaction came to nothing: what the exchange's code means, and whether a liquidation came before it. */
async function failureReason(
  entry: Entry,
  { network, services, signal }: RequestContext & { services: Services } & TargetContext<'chain'>,
): Promise<Pick<NetworkPollResponse, 'reason'>> {
  const { reason, connector } = entry
  if (reason === undefined) return {}
  const venue = services.registry.venuesOn(network.chain, network.network).find((each) => each.connector === connector)
  if (!venue) return { reason }
  const meaning = refusalMeaning(reason, venue)
  const told = meaning === undefined ? reason : `${meaning} (${reason})`
  // What became of the transaction is worth more than why: where the exchange does not say, the rest is told.
  const hashes = await liquidationsBefore(entry, { network, venue, services, signal }).catch(() => [])
  return { reason: hashes.length === 0 ? told : `${told}; the position was liquidated before, in ${hashes.join(', ')}` }
}
