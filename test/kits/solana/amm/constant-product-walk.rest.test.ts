import { expect } from 'chai'
import { realProgram } from '../../../../tools/solana-node/programs/real.ts'
import { randomBits } from '../../../../testkit/random-bits.ts'
import { constantProductMarket } from '../../../../tools/solana-node/walk/constant-product-market.ts'
import { keepVectors } from './vectors.ts'
import { walk } from '../../../../tools/solana-node/walk/walk.ts'

const trades = Number(process.env['SLUICE_WALK_TRADES'] ?? 300)
const seed = Number(process.env['SLUICE_WALK_SEED'] ?? 1)

describe(`a walk of ${trades} swaps (SLUICE_WALK_TRADES) on Raydium's own program, seed ${seed} (SLUICE_WALK_SEED)`, () => {
  it('moves what was quoted, to the unit, and is refused where we refuse', async function () {
    const program = realProgram('raydium_cp_swap')
    if ('missing' in program) {
      console.log(`      ${program.missing}`)
      this.skip()
    }
    this.timeout(60_000 + trades * 500)
    const random = randomBits(seed)
    const { market, pools } = await constantProductMarket(random, 24)
    const vectors = keepVectors('constant-product')
    const count = walk(market, pools, { trades, random, ...vectors })
    if (process.env['SLUICE_WALK_TRADES']) console.log(`      ${JSON.stringify(count)}`)
    for (const each of [count.in, count.out, count.refused, count.tight]) expect(each).to.be.above(0)
  })
})
