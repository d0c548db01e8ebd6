// Positions in several versions of one exchange, each behind a manager of its own, as one trading type.
import { SluiceError, type AMMRange, type RangePositions } from '../../core/contracts/index.ts'
import type { Evm } from '../evm/types.ts'

/** The first version is that of requests without one. What is undefined is left out. */
export function joinedRanges(first: AMMRange<Evm>, ...others: readonly (AMMRange<Evm> | undefined)[]): AMMRange<Evm> {
  const all = [first, ...others.filter((each) => each !== undefined)]
  if (all.length === 1) return first
  const byVersion = new Map(all.flatMap((range) => range.rangeVersions.map((version) => [version, range] as const)))
  const of = (version: string | undefined): AMMRange<Evm> => {
    const range = version === undefined ? first : byVersion.get(version)
    if (range) return range
    throw new SluiceError('UNSUPPORTED', `There are no positions of version ${version} here: give ${[...byVersion.keys()].join(' or ')}.`)
  }
  const positionsById: NonNullable<AMMRange<Evm>['positionsById']> = async ({ tokenIds, version }, at) => {
    const range = of(version)
    if (range.positionsById) return range.positionsById({ tokenIds }, at)
    throw new SluiceError('UNSUPPORTED', 'Positions of this version are read one by one.')
  }
  return {
    ...first,
    rangeVersions: [...byVersion.keys()],
    slippageReasons: all.flatMap(({ slippageReasons = [] }) => slippageReasons),
    positionManagers: Object.fromEntries([...byVersion].map(([version, { positionManager }]) => [version, positionManager])),
    rangePools: (pair, choice, at) => of(choice.version).rangePools(pair, choice, at),
    async poolTokens(pool, at) {
      for (const range of all) {
        const tokens = await range.poolTokens?.(pool, at)
        if (tokens) return tokens
      }
      return undefined
    },
    rangeAround: (pool, lower, upper) => of(pool.version).rangeAround(pool, lower, upper),
    deposit: (pool, range, most, slippage) => of(pool.version).deposit(pool, range, most, slippage),
    add: (addition, terms) => of(addition.pool.version).add(addition, terms),
    remove: (position, removal, terms) => of(position.pool.version).remove(position, removal, terms),
    collect: (position, terms) => of(position.pool.version).collect(position, terms),
    history: (pool, secondsAgo, at) => of(pool.version).history(pool, secondsAgo, at),
    positionOf: ({ tokenId, version }, at) => of(version).position(tokenId, at),
    ...(all.every((range) => range.positionWitnesses) && {
      positionWitnesses: async ({ tokenId, version }, block, at) => of(version).positionWitnesses?.({ tokenId }, block, at) ?? [],
    }),
    ...(all.every(({ positionsById }) => positionsById) && { positionsById }),
    async positionsOf({ version, ...query }, at) {
      const asked = version === undefined ? all : [of(version)]
      const lists = await Promise.allSettled(
        asked.map(async (range): Promise<RangePositions> =>
          range.positionsOf ? range.positionsOf(query, at) : range.positions(query.owner, at),
        ),
      )
      at.signal.throwIfAborted()
      const found = lists.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
      // That one version's manager is in trouble says nothing of the others.
      const unread = lists.flatMap((each, index) =>
        each.status === 'fulfilled'
          ? []
          : (asked[index]?.rangeVersions ?? []).map((label) => ({ version: label, reason: reasonOf(each.reason) })),
      )
      if (found.length === 0) throw firstReason(lists)
      const whole = found.reduce(joined)
      return unread.length === 0 ? whole : { ...whole, unread: [...(whole.unread ?? []), ...unread] }
    },
    rangeFill(receipt, memo) {
      for (const range of all) {
        const fill = range.rangeFill(receipt, memo)
        if (fill) return fill
      }
      return undefined
    },
    async owedLiquidity(receipt, memo, at) {
      const range = all.find((each) => each.rangeFill(receipt, memo) !== undefined)
      return range?.owedLiquidity ? range.owedLiquidity(receipt, memo, at) : { amount0Raw: 0n, amount1Raw: 0n }
    },
  }
}

/** @throws unknown where it is a defect, and not a trouble of nodes or contracts */
function reasonOf(failure: unknown): string {
  if (failure instanceof SluiceError) return failure.message
  throw failure
}

const firstReason = (lists: readonly PromiseSettledResult<unknown>[]): unknown =>
  lists.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))[0]

/** Each list is of one block; both together are as old as the older one. */
function joined(one: RangePositions, other: RangePositions): RangePositions {
  return {
    ...one,
    ...other,
    head: one.head.number < other.head.number ? one.head : other.head,
    positions: [...one.positions, ...other.positions],
    unread: [...(one.unread ?? []), ...(other.unread ?? [])],
  }
}
