// Where the check of a wallet's book can begin: nodes forget events and state, and servers keep balances.
import { SluiceError } from '../base/errors.ts'
import type { At, PastTransfer, WalletHistory } from '../contracts/index.ts'
import type { Balances } from './wallet-changes.ts'

/** What nodes lack before a block. */
export interface LostHistory {
  readonly what: 'events' | 'state'
  readonly before: number
}

interface StartParts {
  readonly history: WalletHistory
  readonly wallet: string
  /** As `WalletParts` has it. */
  readonly kept: ReadonlyMap<number, ReadonlyMap<string, bigint>>
}

interface CheckStart {
  readonly after: number
  readonly upTo: number
  readonly transfers: readonly PastTransfer[]
  /** Where it was kept, and no node has it. */
  readonly start?: Balances
  readonly lost?: LostHistory
}

/** Begins where both the events and the wallet's balances are known. */
export async function beginning(
  { history, wallet, kept }: StartParts,
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
  { history, wallet, kept }: StartParts,
  { after, upTo }: { after: number; upTo: number },
  at: At,
): Promise<{ readonly block: number; readonly lost?: LostHistory }> {
  const hasEvents = async (block: number) => (await history.transfers([wallet], { from: block + 1, to: block + 1 }, at)).since === undefined
  const withEvents = (await hasEvents(after)) ? after : await firstWhere(after, upTo, hasEvents)
  const [held] = await history.holdings(wallet, [], [withEvents], at)
  if (held || kept.has(withEvents))
    return { block: withEvents, ...(withEvents > after && { lost: { what: 'events', before: withEvents + 1 } }) }
  const withState = await firstWithState(history, wallet, withEvents, upTo, at)
  const block = Math.min(withState, ...[...kept.keys()].filter((each) => each > withEvents))
  return { block, lost: { what: 'state', before: block } }
}
