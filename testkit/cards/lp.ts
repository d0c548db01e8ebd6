import { expect } from 'chai'
import { raw } from './venue.ts'
import { inOrderOf, rawLike, raws } from '../../core/testing/cards/lp/amounts.ts'
import type { Card } from '../../core/testing/cards/lp/index.ts'

export const changeCards: readonly Card[] = [
  [
    'LP-01 what is added is what was promised, and what the position shows',
    async ({ around, add, position, owner, ground, bench }) => {
      const { answer, fill } = await add(await around(0.9, 1.1))
      expect(fill).to.include({ amount0: answer.amount0, amount1: answer.amount1, liquidity: answer.liquidity })
      const shown = await position(fill.tokenId)
      const { pool, fee } = ground
      expect(shown).to.include({ tokenId: fill.tokenId, liquidity: fill.liquidity, inRange: true, owner, pool, fee })
      const held = raws(inOrderOf(answer, shown, [shown.amount0, shown.amount1]))
      for (const [i, put] of raws([fill.amount0, fill.amount1]).entries()) {
        // The contracts round up what is put in, and down what comes out.
        const lostRaw = put - (held[i] ?? 0n)
        expect(lostRaw === 0n || lostRaw === 1n, JSON.stringify({ fill, shown })).to.equal(true)
      }
      expect(raws([shown.unclaimedToken0, shown.unclaimedToken1])).to.deep.equal([0n, 0n])

      const { connector, chain, network } = bench
      const { body } = await bench.client.get('/amm/liquidity/positions', { connector, chain, network, address: owner })
      const listed = body.positions.filter((each: { tokenId: string }) => each.tokenId === fill.tokenId)
      const { blockNumber, timestamp, latency, network: on, ...alone } = shown
      expect([on, blockNumber > 0, timestamp > 0, latency > 0]).to.deep.equal([network, true, true, true])
      expect(listed).to.deep.equal([alone])
    },
  ],
  [
    'LP-02 what is added is never more than was offered, and nearly all of one of both',
    async ({ around, add }) => {
      for (const amount0 of ['0.1', '0.5', '2']) {
        const asked = await around(0.8, 1.05, { amount0 })
        const { fill } = await add(asked)
        const left = (['amount0', 'amount1'] as const).map((each) => {
          const offered = rawLike(asked[each], fill[each])
          expect(raw(fill[each]) <= offered, JSON.stringify({ asked, fill })).to.equal(true)
          return Number(offered - raw(fill[each])) / Number(offered)
        })
        expect(Math.min(...left), JSON.stringify({ asked, fill })).to.be.below(1e-5)
      }
    },
  ],
  [
    'LP-03 removing all of it returns what the position showed, to the unit',
    async ({ around, add, position, remove, balances, ground: { token0, token1 } }) => {
      const asked = await around(0.9, 1.1)
      const { fill: added, answer: adding } = await add(asked)
      const shown = await position(added.tokenId)
      const before = await balances([token0, token1])
      const { answer, fill } = await remove({ tokenId: added.tokenId })
      const got = (await balances([token0, token1])).map((after, i) => after - (before[i] ?? 0n))
      expect([answer.liquidity, fill.liquidity]).to.deep.equal([shown.liquidity, shown.liquidity])
      expect(fill).to.include({ tokenId: added.tokenId, amount0: shown.amount0, amount1: shown.amount1 })
      expect(got).to.deep.equal(inOrderOf(adding, shown, [raw(fill.amount0), raw(fill.amount1)]))
      expect(await position(added.tokenId)).to.include({ liquidity: '0', inRange: true })
    },
  ],
  [
    'LP-04 unclaimed fees are its share of what swaps paid, and collecting gives just that',
    async ({ around, add, position, price, sold, collect, balances, ground: { fee, token0, token1 } }) => {
      const { fill: added, answer } = await add(await around(0.9, 1.1))
      const { liquidity } = await price()
      const { amountInRaw } = await sold('0.01')
      expect((await price()).liquidity).to.equal(liquidity, 'the swap was too large for this card')
      const shown = await position(added.tokenId)
      const [earned, nothing] = inOrderOf(answer, shown, [shown.unclaimedToken0, shown.unclaimedToken1])
      // An exchange may keep a part of the fee for itself; none keeps half.
      const share = (amountInRaw * BigInt(fee) * BigInt(added.liquidity)) / (1_000_000n * BigInt(liquidity))
      expect(raw(earned) <= share + 1n && raw(earned) * 2n >= share - 2n, `${earned}, and its share is ${share}`).to.equal(true)
      expect(raw(nothing)).to.equal(0n)

      const before = await balances([token0, token1])
      const { fill } = await collect({ tokenId: added.tokenId })
      const got = (await balances([token0, token1])).map((after, i) => after - (before[i] ?? 0n))
      const { tokenId, unclaimedToken0: amount0, unclaimedToken1: amount1 } = shown
      expect(fill).to.deep.equal({ tokenId, liquidity: '0', amount0, amount1 })
      expect(got).to.deep.equal([raw(earned), 0n])
      const after = await position(tokenId)
      expect(after.liquidity).to.equal(added.liquidity)
      expect(raws([after.unclaimedToken0, after.unclaimedToken1])).to.deep.equal([0n, 0n])
    },
  ],
  [
    'LP-05 a range that the price is outside of takes one token only',
    async ({ around, add, position, refused }) => {
      for (const [below, above, taken, left] of [
        [1.1, 1.2, 'amount0', 'amount1'],
        [0.8, 0.9, 'amount1', 'amount0'],
      ] as const) {
        const asked = await around(below, above)
        const { fill, answer } = await add({ ...asked, [left]: '0' })
        expect([raw(fill[taken]) > 0n, raw(fill[left])]).to.deep.equal([true, 0n])
        expect(answer).to.include({ amount0: fill.amount0, amount1: fill.amount1 })
        expect((await position(fill.tokenId)).inRange).to.equal(false)
        // What it does not take stays in the wallet.
        expect((await add(asked)).fill).to.include({ amount0: fill.amount0, amount1: fill.amount1 })
        await refused('add', { ...asked, [taken]: '0' }, '400 INCOMPLETE_PARAMS', taken)
      }
    },
  ],
  [
    'LP-06 more is added to a position, and part of it taken out',
    async ({ around, add, remove, position }) => {
      const { fill: first, answer } = await add(await around(0.9, 1.1))
      const asked = await around(0.9, 1.1, { tokenId: first.tokenId, lowerPrice: undefined, upperPrice: undefined })
      const { fill: second, answer: again } = await add(asked)
      expect(second.tokenId).to.equal(first.tokenId)
      const { lowerPrice, upperPrice, pool } = answer
      expect(again).to.include({ tokenId: first.tokenId, lowerPrice, upperPrice, pool })
      const whole = BigInt(first.liquidity) + BigInt(second.liquidity)
      expect((await position(first.tokenId)).liquidity).to.equal(String(whole))
      // The same bounds may be said again.
      await add({ ...asked, lowerPrice, upperPrice })
      const { liquidity } = await position(first.tokenId)
      const { fill: part } = await remove({ tokenId: first.tokenId, decreasePercent: '12.5' })
      expect(BigInt(part.liquidity)).to.equal((BigInt(liquidity) * 125n) / 1000n)
      expect(BigInt((await position(first.tokenId)).liquidity)).to.equal(BigInt(liquidity) - BigInt(part.liquidity))
    },
  ],
  [
    'LP-07 a position that was emptied can be burnt, and is none from then on',
    async ({ around, add, remove, position, refused, owner }) => {
      const { fill: burnt } = await add(await around(0.9, 1.1))
      const { fill } = await remove({ tokenId: burnt.tokenId, burn: true })
      expect(fill.liquidity).to.equal(burnt.liquidity)
      const { fill: emptied } = await add(await around(0.9, 1.1))
      await remove({ tokenId: emptied.tokenId })
      expect((await position(emptied.tokenId)).liquidity).to.equal('0')
      await refused('remove', { address: owner, tokenId: emptied.tokenId }, '422 TRADE_FAILED')
      await refused('collect_fees', { address: owner, tokenId: emptied.tokenId }, '422 TRADE_FAILED')
      await remove({ tokenId: emptied.tokenId, burn: true })
      for (const { tokenId } of [burnt, emptied]) {
        await refused('position', { tokenId }, '404 UNKNOWN_POSITION')
        for (const verb of ['remove', 'collect_fees']) await refused(verb, { address: owner, tokenId }, '404 UNKNOWN_POSITION')
      }
    },
  ],
]
