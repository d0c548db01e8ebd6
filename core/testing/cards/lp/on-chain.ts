import { expect } from 'chai'
import { inOneBlock, mined, node, raw } from '../../../../testkit/cards/venue.ts'
import type { Desk, Done } from '../../../../testkit/cards/lp-fixture.ts'
import type { Card } from './index.ts'

export const onChainCards: readonly Card[] = [
  [
    'LP-16 a price that moved further than allowed reverts on chain and costs only gas',
    async ({ bench, around, add, ask, sell, balances, position, owner, ground: { token0, token1 } }) => {
      const { tokenId } = (await add(await around(0.9, 1.1))).fill
      const strict = { allowedSlippage: '0/1' }
      for (const [verb, fields] of [
        ['add', { ...(await around(0.99, 1.01)), ...strict }],
        ['remove', { address: owner, tokenId, ...strict }],
      ] as const) {
        let before: unknown
        let txHash = ''
        await inOneBlock(bench, async () => {
          before = await balances([token0, token1])
          const held = await ask(verb, fields)
          expect(held.status, held.text).to.equal(200)
          txHash = held.body.txHash
          // It pays more, so it goes first.
          const first = await sell('1', { maxFeePerGas: '100', maxPriorityFeePerGas: '50' })
          expect(first.status, first.text).to.equal(200)
        })
        const { txReceipt, fill } = await mined(bench, txHash)
        expect([verb, txReceipt.status, fill]).to.deep.equal([verb, 0, undefined])
        expect(await balances([token0, token1])).to.deep.equal(before)
      }
      expect(BigInt((await position(tokenId)).liquidity) > 0n).to.equal(true)
    },
  ],
  [
    'LP-17 what is mined after its deadline reverts on chain and costs only gas',
    async ({ bench, around, add, ask, balances, owner, ground: { token0, token1 } }) => {
      const { tokenId } = (await add(await around(0.9, 1.1))).fill
      for (const [verb, fields] of [
        ['add', await around(0.9, 1.1)],
        ['remove', { address: owner, tokenId }],
      ] as const) {
        let before: unknown
        let txHash = ''
        await inOneBlock(bench, async () => {
          before = await balances([token0, token1])
          const { status, body, text } = await ask(verb, fields)
          expect(status, text).to.equal(200)
          txHash = body.txHash
          await node(bench, 'evm_setNextBlockTimestamp', body.deadline + 1)
        })
        const { txReceipt } = await mined(bench, txHash)
        expect([verb, txReceipt.status]).to.deep.equal([verb, 0])
        expect(await balances([token0, token1])).to.deep.equal(before)
      }
    },
  ],
  [
    'LP-18 the native coin itself goes in, the rest of it comes back, and it comes out where it is asked for',
    async ({ around, add, remove, collect, balances, sold, position, ground: { token0, token1 } }) => {
      // Where the cards' pool has the wrapped coin; the devnet's is WETH.
      const side = token0 === 'WETH' ? 0 : token1 === 'WETH' ? 1 : undefined
      if (side === undefined) return
      const symbols = ['ETH', 'WETH']
      const asked = await around(0.9, 1.1, { [`token${side}`]: 'ETH', [`amount${side}`]: side === 0 ? '2' : '20000' })
      const changeOf = async (change: () => Promise<{ gasRaw: bigint }>) => {
        const before = await balances(symbols)
        const { gasRaw } = await change()
        const after = await balances(symbols)
        const [coin = 0n, wrapped = 0n] = after.map((each, i) => each - (before[i] ?? 0n))
        return { coin: coin + gasRaw, wrapped }
      }
      let tokenId = ''
      let put = 0n
      const added = await changeOf(async () => {
        const done = await add(asked)
        tokenId = done.fill.tokenId
        put = raw(side === 0 ? done.fill.amount0 : done.fill.amount1)
        expect(side === 0 ? done.answer.token0 : done.answer.token1).to.equal(`0x${'0'.repeat(40)}`)
        return done
      })
      expect(added).to.deep.equal({ coin: -put, wrapped: 0n })
      const more = await changeOf(async () => {
        const done = await add({ ...asked, tokenId, lowerPrice: undefined, upperPrice: undefined })
        put = raw(side === 0 ? done.fill.amount0 : done.fill.amount1)
        return done
      })
      expect(more).to.deep.equal({ coin: -put, wrapped: 0n })

      await sold('0.01', side === 0 ? {} : { base: token1, quote: token0 })
      const shown = await position(tokenId)
      // Of the ground's tokens the coin alone has 18 decimals, or it comes first.
      const got = async (native: boolean, change: Desk['remove'], fields: object = {}) => {
        let amounts: string[] = []
        const moved = await changeOf(async () => {
          const done: Done = await change({ tokenId, native, ...fields })
          amounts = [done.fill.amount0, done.fill.amount1]
          return done
        })
        const expected = raw(amounts.find((each) => each.split('.')[1]?.length === 18) ?? '0')
        expect(moved).to.deep.equal(native ? { coin: expected, wrapped: 0n } : { coin: 0n, wrapped: expected })
      }
      expect(BigInt(shown.liquidity) > 0n).to.equal(true)
      await got(true, collect)
      await got(false, remove, { decreasePercent: '50' })
      await got(true, remove)
    },
  ],
]
