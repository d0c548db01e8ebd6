import { parseUnits, toBeHex } from 'ethers'
import { groupBy, violation, type IndexedHistory, type Violation } from '../checker/known.ts'
import type { DeliveryBook } from './check-swaps.ts'
import type { PositionLife, ToldAmounts } from './position-bots.ts'
import type { PositionEvent, Reorganisation } from './position-facts.ts'

export interface PositionFacts {
  readonly lives: readonly PositionLife[]
  readonly events: readonly PositionEvent[]
  /** Of the pool's first and second token. */
  readonly decimals: readonly [number, number]
  readonly states: DeliveryBook['states']
  readonly reorganisations: readonly Reorganisation[]
}

/** The positions of bots that send no keys: none is orphaned, none is closed twice, and what they were told is what the chain has. Pure. */
export const checkPositions =
  (seen: PositionFacts) =>
  (known: IndexedHistory): Violation[] => {
    const byPosition = groupBy(seen.events, ({ tokenId }) => tokenId)
    const minted = seen.events.filter(({ is }) => is === 'minted')
    const minters = seen.lives.map((life) => ({ life, mints: minted.filter(({ input }) => input.includes(wordOf(life.amountRaw))) }))
    return [
      ...minters.flatMap(({ life, mints }) => ofOpens(life, mints, seen, known)),
      ...seen.lives.flatMap((life) => ofEnd(life, byPosition, seen, known)),
      ...seen.lives.flatMap((life) => ofAmounts(life, seen, known)),
      ...[...byPosition.values()].flatMap(ofCloses),
      ...sharing(seen.lives, known),
    ]
  }

const wordOf = (amountRaw: bigint): string => toBeHex(amountRaw, 32).slice(2)

/** I1: a position that is on the chain is one that its bot knows, or that stands in the book of lost answers. */
function ofOpens(life: PositionLife, mints: readonly PositionEvent[], { states }: PositionFacts, known: IndexedHistory): Violation[] {
  const isLost = (txHash: string) => ['lost', 'uncollected', 'open'].includes(stateOf(txHash, states, known) ?? '')
  const unread = life.calls.flatMap(({ outcome }) => (outcome.is === 'lost' ? (outcome.unread() ?? []) : []))
  // Of one that stands as lost, its server knew that nobody had read it.
  const told = [life.signature ?? [], ...unread.filter((signature) => !isLost(signature))].flat()
  const unknown = mints.filter(({ txHash }) => !told.some((signature) => isSame(signature, txHash, known)))
  const evidence = {
    life: briefly(life),
    mints: mints.map(shown),
    states: mints.map(({ txHash }) => stateOf(txHash, states, known)),
    entries: mints.map(({ txHash }) => known.entryOf(txHash)).map((entry) => [entry?.requestId, entry?.state]),
  }
  if (life.booked === 'refused' && unknown.some(({ txHash }) => stateOf(txHash, states, known) === 'delivered'))
    return [violation('I1', 'a position was opened though its bot was refused', evidence)]
  const orphans = unknown.filter(({ txHash }) => !isLost(txHash))
  if (orphans.length > 0) return [violation('I1', 'a position that no bot knows is not in the book of lost answers', evidence)]
  // Each answer that a standing line took may have been followed by another open: of what its bot learned it is the last.
  const taken = new Set(told.map((signature) => known.entryOf(signature)?.key ?? signature)).size
  if (mints.length > (life.signature === undefined ? taken + 1 : taken))
    return [violation('I1', 'a position was opened more often than its bot knows', evidence)]
  return []
}

/** I1: what a bot was told of, and followed to its end, is the position of its own open, and is as the bot books it. */
function ofEnd(
  life: PositionLife,
  byPosition: ReadonlyMap<string, readonly PositionEvent[]>,
  { reorganisations }: Pick<PositionFacts, 'reorganisations'>,
  known: IndexedHistory,
): Violation[] {
  const { signature, position = '', booked } = life
  if (signature === undefined) return []
  const mint = [...byPosition.values()].flat().find(({ is, txHash }) => is === 'minted' && isSame(signature, txHash, known))
  const evidence = { life: briefly(life), mint: mint && shown(mint) }
  // A handle is that of an open which may still come to nothing.
  if (!mint)
    return booked === 'gone' || (booked === 'open' && life.wants === 'nothing more' && position === signature)
      ? []
      : [violation('I1', 'a bot follows a position that was never opened', evidence)]
  if (/^\d+$/.test(position) && position !== mint.tokenId)
    return [violation('I1', 'an open was answered with the position of another one', evidence)]
  if (booked === 'closed' && life.closed?.every((told) => isUndone(life, told, reorganisations, known))) return []
  const isBurnt = (byPosition.get(mint.tokenId) ?? []).some(({ is }) => is === 'burnt')
  if ((booked === 'closed' || booked === 'gone') && !isBurnt)
    return [violation('I1', `a bot booked its position as ${booked}, and it is there`, evidence)]
  if (booked === 'open' && life.wants !== 'nothing more' && !isBurnt)
    return [violation('I1', 'a bot could not close its position', evidence)]
  return []
}

/**
 * Whether the block of an answered close was taken back, and the close did nothing the second time: its receipt was true, and not final. Such a position is
 * one of `sluice positions --orphaned`.
 */
export const isUndone = (
  { calls }: Pick<PositionLife, 'calls'>,
  { signature }: Pick<ToldAmounts, 'signature'>,
  reorganisations: readonly Reorganisation[],
  known: Pick<IndexedHistory, 'entryOf' | 'minedBy'>,
): boolean => {
  const entry = known.entryOf(signature)
  const [block] = entry?.attempts.flatMap(({ txHash }) => known.minedBy(txHash)?.block ?? []) ?? []
  return entry?.state === 'REVERTED' && block !== undefined && isTakenBack(signature, block, { calls, reorganisations, known })
}

interface TakenBack {
  readonly calls: PositionLife['calls']
  readonly reorganisations: readonly Reorganisation[]
  readonly known: Pick<IndexedHistory, 'entryOf'>
}

/**
 * Whether a receipt that was told may have been of a block that was taken back since its call was sent. What came again did so in no earlier block than
 * the first of those.
 */
function isTakenBack(txHash: string, block: number, { calls, reorganisations, known }: TakenBack): boolean {
  const call = calls.find(({ outcome }) => outcome.is === 'signature' && isSame(outcome.signature, txHash, known))
  return reorganisations.some(({ at, from }) => block >= from && at >= (call?.sentAt ?? 0))
}

/** I1: liquidity is removed once, and the position is burnt once. */
function ofCloses(events: readonly PositionEvent[]): Violation[] {
  const count = (is: PositionEvent['is']) => new Set(events.filter((each) => each.is === is).map(({ txHash }) => txHash)).size
  return count('removed') > 1 || count('burnt') > 1 ? [violation('I1', 'a position was closed twice', { events: events.map(shown) })] : []
}

/** I5: amounts and fees are those of the receipts, to the unit. */
function ofAmounts(life: PositionLife, { events, decimals, reorganisations }: PositionFacts, known: IndexedHistory): Violation[] {
  // What is told is held to a receipt, not to what is final.
  const mayBeOther = ({ txHash, block }: PositionEvent) => isTakenBack(txHash, block, { ...life, reorganisations, known })
  const of = (told: ToldAmounts, is: PositionEvent['is']) =>
    events.find((each) => each.is === is && isSame(told.signature, each.txHash, known))
  const isEqual = (told: readonly string[], raw: readonly [bigint, bigint]) =>
    raw.every((amount, side) => rawOf(told[side], decimals[side] ?? 0) === amount)
  const isPaid = ({ paid }: ToldAmounts, { paidRaw }: PositionEvent) => rawOf(paid, coinDecimals) === paidRaw
  const [begun = 0, ended = 0] = [life.calls[0]?.sentAt, life.calls.at(-1)?.endedAt]
  const evidence = { life: briefly(life), reorganised: reorganisations.filter(({ at }) => at >= begun && at <= ended) }
  const found = (life.unsaid ?? []).map((signature) =>
    violation('I5', 'a close was answered without what it brought', { ...evidence, signature }),
  )
  const added = life.opened && of(life.opened, 'added')
  if (life.opened && added && !mayBeOther(added) && !(isEqual(life.opened.amounts, added.raw) && isPaid(life.opened, added)))
    found.push(violation('I5', 'an open was told with other amounts than the chain has', { ...evidence, added: shown(added) }))
  for (const told of life.closed ?? []) {
    const [removed, collected] = [of(told, 'removed'), of(told, 'collected')]
    if (isUndone(life, told, reorganisations, known)) continue
    if (!removed || !collected) {
      found.push(violation('I5', 'a close was answered with a transaction that removed nothing', { ...evidence, told }))
      continue
    }
    if (mayBeOther(removed)) continue
    const fees = [collected.raw[0] - removed.raw[0], collected.raw[1] - removed.raw[1]] as const
    const isTold = isEqual(told.amounts, removed.raw) && isEqual(told.fees ?? ['0', '0'], fees)
    if (!isTold || !isPaid(told, removed))
      found.push(
        violation('I5', 'a close was told with other amounts than the chain has', {
          ...evidence,
          removed: shown(removed),
          collected: shown(collected),
        }),
      )
  }
  return found
}

const coinDecimals = 18

/** undefined: it is no amount of so many decimals. */
function rawOf(text: unknown, decimals: number): bigint | undefined {
  try {
    return typeof text === 'string' ? parseUnits(text, decimals) : undefined
  } catch {
    return undefined
  }
}

/** I1: no two wishes were answered with one position. */
const sharing = (lives: readonly PositionLife[], known: IndexedHistory): Violation[] => {
  const answered = lives.filter(({ signature }) => signature !== undefined)
  const bySignature = groupBy(answered, ({ signature = '' }) => known.entryOf(signature)?.key ?? signature)
  return [...bySignature.values()].flatMap((own) =>
    own.length > 1 ? [violation('I1', 'two opens were answered with one transaction', { lives: own.map(briefly) })] : [],
  )
}

const stateOf = (txHash: string, states: PositionFacts['states'], known: IndexedHistory): string | undefined =>
  states.get(known.entryOf(txHash)?.idempotencyKey ?? '')

const isSame = (one: string, other: string, known: Pick<IndexedHistory, 'entryOf'>): boolean =>
  one === other || known.entryOf(one)?.attempts.some(({ txHash }) => txHash === other) === true

const shown = ({ txHash, is, tokenId, raw, block, paidRaw }: PositionEvent) => ({ txHash, is, tokenId, raw, block, paidRaw })

/** Without the texts of answers. */
const briefly = ({ calls, ...life }: PositionLife) => ({
  ...life,
  calls: calls.map(({ does, requestId, sentAt, endedAt, outcome }) =>
    [does, requestId, sentAt, endedAt, outcome.is, ...(outcome.is === 'lost' ? [outcome.reason, outcome.unread()] : [])].join(' '),
  ),
})
