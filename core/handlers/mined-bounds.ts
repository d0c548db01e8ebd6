// What a plan of a plugin that is not built in did to the wallet once it was mined, held against what it was allowed: the same bounds that its
// simulation was held against. A contract may act otherwise than it was simulated.
import type { Json } from '../contracts/index.ts'
import { formatRaw } from '../base/decimal.ts'
import { isOfSamePlan, type Entry } from '../transactions/entry.ts'
import { quarantinedError, type Breach, type Loss, type Quarantine } from '../transactions/quarantine.ts'
import { dueOfStep, takenBy, type OutcomeBounds } from './outcome.ts'
import type { NetworkEntry, Registry, ShownLoss, ShownQuarantine } from '../plugins/index.ts'

/** As the journal keeps them. */
export const journaledBounds = (bounds: OutcomeBounds): NonNullable<Entry['bounds']> =>
  Object.fromEntries([...bounds].map(([token, { minRaw }]) => [token, minRaw.toString()]))

/** By token: what is worse for the wallet than the bounds. Of a token without a bound nothing may be lost. Pure. */
export function lossesOf(bounds: NonNullable<Entry['bounds']>, gains: ReadonlyMap<string, bigint>): Loss[] {
  return [...new Set([...Object.keys(bounds), ...gains.keys()])].flatMap((token) => {
    const [minGainRaw, gainRaw] = [BigInt(bounds[token] ?? 0), gains.get(token) ?? 0n]
    return gainRaw < minGainRaw ? [{ token, minGainRaw: minGainRaw.toString(), gainRaw: gainRaw.toString() }] : []
  })
}

interface Parts {
  readonly registry: Pick<Registry, 'networks'>
  readonly quarantine: Pick<Quarantine, 'report'>
  /** The entries of a request that were made at that time. */
  entriesOf(of: { chain: string; network: string; requestId: string; from: number; to: number }): Promise<readonly Entry[]>
  readonly timeoutMs: number
}

/**
 * What compares a mined transaction with its bounds and reports a breach; undefined where nothing tells what it did. It goes by the receipt alone,
 * and rejects where a node or the store cannot tell now. One of several steps has to pay for what it takes by itself, and takes no more than those before it left.
 */
export function compareMined(entry: Entry, { registry, quarantine, entriesOf, timeoutMs }: Parts): (() => Promise<void>) | undefined {
  const { bounds, landed, connector: plugin, chain, network, address, part } = entry
  const on = registry.networks.find((each) => each.chain === chain && each.network === network)
  const { evm, altchain } = on?.impl ?? {}
  // Of these chains a receipt tells the coin, too.
  const moved = evm ? undefined : altchain?.moved
  if (!on || !(evm?.gains ?? moved) || !bounds || !landed?.ok || plugin === undefined) return undefined
  const gainsOf = (receipt: Json) => (moved ? moved(receipt, address, { tokens: Object.keys(bounds) }) : evm?.gains?.(receipt, address))
  const coin = on.impl.nativeCurrency.address

  return async () => {
    const before = part.of === 1 ? [] : await earlierSteps(entry, entriesOf)
    const isWhole = part.index === part.of - 1 && before.every((each) => each.landed?.ok)
    const mined = [...before.flatMap((each) => (each.landed?.ok ? [each.landed] : [])), landed]
    const known = mined.flatMap(({ receipt }) => gainsOf(receipt) ?? [])
    if (known.length < mined.length) throw new Error('No node has the receipt of a step.')
    const { [coin]: minCoinRaw = '0', ...ofTokens } = bounds
    const told = moved ? bounds : ofTokens
    const own = known.at(-1) ?? new Map<string, bigint>()
    const losses = part.of === 1 ? lossesOf(told, own) : lossesOfSteps({ told, own, known, isWhole })
    // Nothing but its value takes the coin of a wallet. So it is read only where it has to bring some, or may take less than it sends; of one of several steps, where it pays
    // with it, too.
    const sentRaw = on.impl.rail.outline(entry.step).valueRaw
    const isAsked = part.of === 1 ? -sentRaw < BigInt(minCoinRaw) : BigInt(minCoinRaw) > 0n || sentRaw > 0n
    if (evm?.coinGain && isAsked) {
      try {
        const gainRaw = await evm.coinGain(landed.receipt, address, { signal: AbortSignal.timeout(timeoutMs) })
        if (gainRaw !== undefined)
          losses.push(
            ...(part.of === 1
              ? lossesOf({ [coin]: minCoinRaw }, new Map([[coin, gainRaw]]))
              : unpaidIn(bounds, new Map([...own, [coin, gainRaw]]))),
          )
      } catch (error) {
        // What the receipt shows is certain, whatever a node tells of the coin.
        if (losses.length === 0) throw error
      }
    }
    if (losses.length === 0) return
    const { key, plugin: version } = entry
    const found = { chain, network, address, txHash: landed.id, ...(version !== undefined && { version }), lost: losses }
    await quarantine.report({ key, plugin, at: Date.now(), ...found })
  }
}

interface MinedSteps {
  /** The bounds of what receipts tell. */
  readonly told: NonNullable<Entry['bounds']>
  /** Of this step. */
  readonly own: ReadonlyMap<string, bigint>
  /** Of this step and of all before it that did not fail. */
  readonly known: readonly ReadonlyMap<string, bigint>[]
  /** It is the last one, and none has failed. */
  readonly isWhole: boolean
}

/** What one step gives back is not there for the next: what all of them take is held against the bounds, and each has to pay for what it takes. */
function lossesOfSteps({ told, own, known, isWhole }: MinedSteps): Loss[] {
  const brings = ([, raw]: readonly [string, string]) => !raw.startsWith('-')
  const [wanted, allowed] = [Object.entries(told).filter(brings), Object.entries(told).filter((each) => !brings(each))]
  const taken = sumOf(known.map((gains) => new Map([...gains].filter(([, raw]) => raw < 0n))))
  const losses = [
    ...lossesOf(Object.fromEntries(allowed), taken),
    ...unpaidIn(told, own),
    ...(isWhole ? lossesOf(Object.fromEntries(wanted), onlyOf(wanted, sumOf(known))) : []),
  ]
  return losses.filter(({ token }, index) => losses.findIndex((each) => each.token === token) === index)
}

/** What one step of several did not bring for what it took. */
function unpaidIn(bounds: NonNullable<Entry['bounds']>, gains: ReadonlyMap<string, bigint>): Loss[] {
  const leastRaw = new Map(Object.entries(bounds).map(([token, raw]) => [token, BigInt(raw)]))
  const due = dueOfStep(leastRaw, takenBy({ gains }))
  return lossesOf(Object.fromEntries([...due].map(([token, raw]) => [token, raw.toString()])), onlyOf([...due], gains))
}

const onlyOf = (tokens: readonly (readonly [token: string, unknown])[], gains: ReadonlyMap<string, bigint>): ReadonlyMap<string, bigint> =>
  new Map(tokens.map(([token]) => [token, gains.get(token) ?? 0n]))

/** @throws Error while one of them may still be mined and is not */
async function earlierSteps(entry: Entry, entriesOf: Parts['entriesOf']): Promise<readonly Entry[]> {
  const { chain, network, requestId, part, createdAt } = entry
  const all = await entriesOf({ chain, network, requestId, from: createdAt, to: createdAt + 1 })
  const before = all.filter((each) => isOfSamePlan(each, entry) && each.part.index < part.index)
  if (before.some(({ landed, state }) => !landed && ['QUEUED', 'SIGNED', 'BROADCAST'].includes(state)))
    throw new Error('A step before it is not mined yet.')
  return before
}

function sumOf(all: readonly ReadonlyMap<string, bigint>[]): ReadonlyMap<string, bigint> {
  const sum = new Map<string, bigint>()
  for (const gains of all) for (const [token, raw] of gains) sum.set(token, (sum.get(token) ?? 0n) + raw)
  return sum
}

/** By the name of the plugin. @param inForce oldest first */
export function shownQuarantines(inForce: readonly Breach[], networks: readonly NetworkEntry[]): ReadonlyMap<string, ShownQuarantine> {
  const shown = new Map<string, ShownQuarantine>()
  for (const breach of inForce) {
    const { plugin, at: since, chain, network, address, txHash } = breach
    const first = shown.get(plugin) ?? { since, chain, network, address, txHash, lost: shownLosses(breach, networks), breaches: 0 }
    shown.set(plugin, { ...first, breaches: first.breaches + 1 })
  }
  return shown
}

export function shownLosses(
  { chain, network, lost }: Pick<Breach, 'chain' | 'network' | 'lost'>,
  networks: readonly NetworkEntry[],
): ShownLoss[] {
  const on = networks.find((each) => each.chain === chain && each.network === network)
  return lost.map(({ token, minGainRaw, gainRaw }) => {
    const listed = on?.tokens.listedAt(token)
    const amount = formatRaw(BigInt(minGainRaw) - BigInt(gainRaw), listed?.decimals ?? 0)
    const how = BigInt(minGainRaw) > 0n ? 'not brought' : 'taken'
    return { token, ...(listed && { symbol: listed.symbol }), amount, how }
  })
}

/** @throws SluiceError FORBIDDEN by what this server knows; before something is signed the store is asked */
export function refuseQuarantined(connector: string, registry: Pick<Registry, 'quarantined'>): void {
  if (registry.quarantined(connector)) throw quarantinedError(connector)
}
