// Checks the book of one wallet on one network: the journal's side of `verify-wallet.ts`.
import { addressKey, canonicalHash } from '../base/addresses.ts'
import { SluiceError } from '../base/errors.ts'
import type { At, PastBlock, WalletHistory } from '../contracts/index.ts'
import type { NetworkEntry } from '../plugins/index.ts'
import { paidCost } from '../transactions/costs.ts'
import type { Entry } from '../transactions/entry.ts'
import type { Transactions } from '../transactions/transactions.ts'
import { verifyWallet, type WalletCheck } from './verify-wallet.ts'
import type { OwnTransaction } from './wallet-ledger.ts'

/** Where the book is: journal and archive. */
export type BookSource = Pick<Transactions, 'find' | 'list'>

export interface BookCheckParts {
  readonly on: Pick<NetworkEntry, 'chain' | 'network' | 'impl' | 'tokens'>
  readonly wallet: string
  readonly source: BookSource
  /** Symbols or addresses of tokens whose balances change by themselves. */
  readonly rebasing: readonly string[]
  /** As `WalletParts` has them. */
  readonly held?: readonly string[]
  readonly kept: ReadonlyMap<number, ReadonlyMap<string, bigint>>
}

/** Clocks of servers and chains differ by less. What was asked for earlier is found by its hash. */
const slackMs = 3_600_000
const pageSize = 500
/** What moved in so much time is in memory together. */
const sliceMs = 6 * 3_600_000

export const historyOf = ({ impl }: Pick<NetworkEntry, 'impl'>): WalletHistory | undefined => impl.evm?.history

/** @throws SluiceError UNSUPPORTED where the chain does not tell its past, NETWORK */
export function checkBook(parts: BookCheckParts, { after, upTo }: { after: PastBlock; upTo: PastBlock }, at: At): Promise<WalletCheck> {
  const { on, wallet, source, rebasing, held = [], kept } = parts
  const { chain, network, impl, tokens } = on
  const coin = impl.nativeCurrency.address
  return verifyWallet(
    {
      history: requireHistory(on),
      wallet,
      coin,
      listed: tokens.listed.flatMap(({ address }) => (address === coin ? [] : address)),
      rebasing: new Set(rebasing.map((name) => addressKey(tokens.listed.find(({ symbol }) => symbol === name)?.address ?? name))),
      held,
      kept,
      ownIn: async (first, last) => {
        const found = await listOwn(parts, { from: after.timestamp * 1000 - slackMs, to: upTo.timestamp * 1000 + slackMs })
        return found.filter(({ blockNumber }) => blockNumber > first && blockNumber <= last)
      },
      async ownBy(txHash) {
        const entry = await source.find(chain, network, txHash)
        const own = entry && ownTransaction(entry, on)
        return own?.txHash === canonicalHash(txHash) && entry?.address === wallet ? own : undefined
      },
      async blockOf(txHash, by) {
        return (await impl.find(txHash, by))?.blockNumber
      },
    },
    { after: after.number, upTo: upTo.number },
    at,
  )
}

async function listOwn({ on, wallet, source }: BookCheckParts, period: { from: number; to: number }) {
  const { chain, network } = on
  const found: OwnTransaction[] = []
  let cursor: string | undefined
  do {
    const page = await source.list({
      chain,
      network,
      address: wallet,
      ...period,
      archived: true,
      limit: pageSize,
      ...(cursor !== undefined && { cursor }),
    })
    found.push(...page.entries.flatMap((entry) => ownTransaction(entry, on) ?? []))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return found
}

/** Undefined: no block has it, or it is an action that an exchange takes, which moves nothing on the chain. */
function ownTransaction(entry: Entry, { impl }: Pick<NetworkEntry, 'impl'>): OwnTransaction | undefined {
  const { landed, signer, movements } = entry
  if (!landed || signer !== undefined) return undefined
  const { id, blockNumber, blockHash } = landed
  const feeRaw = paidCost(entry, impl.rail)?.feeRaw
  return {
    txHash: canonicalHash(id),
    blockNumber,
    ...(blockHash !== undefined && { blockHash }),
    ...(feeRaw !== undefined && { feeRaw: BigInt(feeRaw) }),
    ...(movements && { movements: readMovements(movements) }),
    ...(movements?.[impl.nativeCurrency.address] === null && { isCoinUnknown: true }),
  }
}

/** Of those that are counted in units. */
const readMovements = (movements: NonNullable<Entry['movements']>): ReadonlyMap<string, bigint> =>
  new Map(
    Object.entries(movements).flatMap(([token, raw]) =>
      raw === null || token.includes('/') ? [] : [[addressKey(token), BigInt(raw)] as const],
    ),
  )

export function requireHistory(on: Pick<NetworkEntry, 'chain' | 'impl'>): WalletHistory {
  const history = historyOf(on)
  if (history) return history
  throw new SluiceError(
    'UNSUPPORTED',
    `The book cannot be held against ${on.chain}: its plugin does not tell what wallets held at past blocks.`,
  )
}

/** The newest block that counts as final. */
export async function finalBlock({ impl }: Pick<NetworkEntry, 'impl'>, history: WalletHistory, at: At): Promise<PastBlock> {
  const { number } = await impl.head(at)
  return blockAt(history, Math.max(0, Number(number) - (impl.confirmations - 1)), at)
}

export async function blockAt(history: WalletHistory, number: number, at: At): Promise<PastBlock> {
  const [block] = await history.blocks([number], at)
  if (!block) throw new SluiceError('NETWORK', `No node has block ${number}. Try again.`)
  return block
}

/** The last block before a moment, and the first block of all where there is none. */
export async function blockBefore(history: WalletHistory, momentMs: number, newest: PastBlock, at: At): Promise<PastBlock> {
  if (newest.timestamp * 1000 < momentMs) return newest
  let [before, after] = [await blockAt(history, 0, at), newest]
  if (before.timestamp * 1000 >= momentMs) return before
  while (after.number - before.number > 1) {
    const middle = await blockAt(history, likelyNumber(before, after, momentMs / 1000), at)
    if (middle.timestamp * 1000 < momentMs) before = middle
    else after = middle
  }
  return before
}

/** Blocks come about evenly. At least a sixteenth is left out each time, so that uneven ones are found as well. */
function likelyNumber(before: PastBlock, after: PastBlock, moment: number): number {
  const blocks = after.number - before.number
  const part = (moment - before.timestamp) / Math.max(1, after.timestamp - before.timestamp)
  const place = Math.floor(blocks * Math.min(15 / 16, Math.max(1 / 16, part)))
  return before.number + Math.min(blocks - 1, Math.max(1, place))
}

/** As many blocks as come in a few hours, if the wallet's balances are known at the last of them: else up to a block at which they were kept. */
export async function sliceEnd(
  { history, wallet, kept }: { history: WalletHistory; wallet: string; kept: ReadonlyMap<number, unknown> },
  after: PastBlock,
  last: PastBlock,
  at: At,
): Promise<PastBlock> {
  const spanMs = (last.timestamp - after.timestamp) * 1000
  if (spanMs <= sliceMs) return last
  const end = after.number + Math.max(1, Math.floor(((last.number - after.number) * sliceMs) / spanMs))
  const [held] = await history.holdings(wallet, [], [end], at)
  if (held) return blockAt(history, end, at)
  const next = Math.min(last.number, ...[...kept.keys()].filter((block) => block >= end))
  return next === last.number ? last : blockAt(history, next, at)
}
