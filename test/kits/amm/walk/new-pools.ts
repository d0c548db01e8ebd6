import type { Token } from '../../../../core/contracts/index.ts'
import type { WalkFixture } from './walk-fixture.ts'
import { fees } from './walk-pools.ts'

/** About the worth of a whole token in dollars. */
const worth: Readonly<Record<string, number>> = { WETH: 3_000, WBTC: 60_000, GAP: 100 }
/** Each token of a new pool is worth this many dollars. */
const dollars = 1_000_000

const rawOf = ({ symbol, decimals }: Token) => BigInt(Math.round(dollars / (worth[symbol] ?? 1))) * 10n ** BigInt(decimals)

/** Creates a missing pool between two of the tokens; false where all exist. */
export async function makePool(fixture: WalkFixture, below: (bound: number) => number): Promise<boolean> {
  const tokens = fixture.tokens.filter(({ native }) => !native)
  const missing = tokens.flatMap((a, index) =>
    tokens.slice(index + 1).flatMap((b) => {
      const there = fixture.pools.filter((pool) => pool.tokens.includes(a.address) && pool.tokens.includes(b.address))
      const tiers = fees.filter((fee) => !there.some((pool) => pool.version === 'v3' && pool.fee === fee))
      const pairs = there.some(({ version }) => version === 'v2') ? [] : [undefined]
      return [...pairs, ...tiers].map((fee) => ({ a, b, fee }))
    }),
  )
  const one = missing[below(missing.length)]
  if (!one) return false
  const { a, b, fee } = one
  await fixture.addPool(a, rawOf(a), b, rawOf(b), fee)
  return true
}
