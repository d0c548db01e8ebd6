import type { Token } from '../../../../core/contracts/index.ts'
import type { WalkFixture } from './walk-fixture.ts'
import { fees } from './walk-pools.ts'

/** What a whole token is worth, in dollars, about. */
const worth: Readonly<Record<string, number>> = { WETH: 3_000, WBTC: 60_000, GAP: 100 }
/** So many dollars of each token go into a new pool. */
const dollars = 1_000_000

const rawOf = ({ symbol, decimals }: Token) => BigInt(Math.round(dollars / (worth[symbol] ?? 1))) * 10n ** BigInt(decimals)

/** Makes a pool between two of the tokens that has not been there; false where there are all. */
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
