import { expect } from 'chai'
import { inOneBlock, mined, node } from '../bench.ts'
import { expectClose, expectNear } from './amounts.ts'
import type { Card } from './index.ts'

const sides = [
  ['LONG', 'SHORT'],
  ['SHORT', 'LONG'],
] as const

export const onChainCards: readonly Card[] = [
  [
    'PERP-17 a price that moved past the bound reverts on chain and costs only gas',
    async ({ bench, order, open, ask, clear, position, owner, other, market }) => {
      for (const [side, back] of sides) {
        await clear()
        await open(await order(side, 10_000))
        const strict = { allowedSlippage: '0/1' }
        for (const [verb, fields, moving] of [
          ['open', { ...(await order(side, 10_000)), ...strict }, side],
          ['close', { ...market, address: owner, ...strict }, back],
        ] as const) {
          const { positionAmt } = await position()
          const first = await order(moving, 20_000, { address: other, maxFeePerGas: '100', maxPriorityFeePerGas: '50' })
          let txHash = ''
          await inOneBlock(bench, async () => {
            const held = await ask(verb, fields)
            expect(held.status, held.text).to.equal(200)
            txHash = held.body.txHash
            // It pays more, so it goes first.
            const answer = await ask('open', first)
            expect(answer.status, answer.text).to.equal(200)
          })
          const { txReceipt, fill } = await mined(bench, txHash)
          expect([verb, txReceipt.status, fill]).to.deep.equal([verb, 0, undefined])
          expect((await position()).positionAmt).to.equal(positionAmt)
        }
      }
    },
  ],
  [
    'PERP-18 what is mined after its deadline reverts on chain and costs only gas',
    async ({ bench, order, open, ask, position, owner, market }) => {
      await open(await order('LONG', 1_000))
      const { positionAmt } = await position()
      for (const [verb, fields] of [
        ['open', await order('LONG', 1_000)],
        ['close', { ...market, address: owner }],
      ] as const) {
        let txHash = ''
        await inOneBlock(bench, async () => {
          const { status, body, text } = await ask(verb, fields)
          expect(status, text).to.equal(200)
          txHash = body.txHash
          await node(bench, 'evm_setNextBlockTimestamp', body.deadline + 1)
        })
        const { txReceipt } = await mined(bench, txHash)
        expect([verb, txReceipt.status]).to.deep.equal([verb, 0])
        expect((await position()).positionAmt).to.equal(positionAmt)
      }
    },
  ],
  [
    'PERP-19 a liquidation in between is told as what it is',
    async ({ order, open, move, margin, position, answered, operator, refused, owner, market, settlement }) => {
      const { maxLeverage } = await answered('market-status', { ...market })
      const worth = 20_000
      const { freeCollateral } = await margin()
      const left = (worth / Number(maxLeverage)) * 1.1
      const taken = (Number(freeCollateral) - left).toFixed(2)
      await move('withdraw', taken)
      try {
        const asked = await order('LONG', worth, { leverage: maxLeverage, margin: (left * 0.95).toFixed(2) })
        const { fill, blockNumber } = await open(asked)
        const hashes: string[] = []
        for (let tries = 0; tries < 10 && (await position()).positionAmt !== '0'; tries++) {
          const before = Number((await position()).positionAmt)
          hashes.push(await operator.liquidate(owner, `${market.base}${market.quote}`))
          expect(Number((await position()).positionAmt)).to.be.below(before)
        }
        const { body } = await refused('close', { ...market, address: owner }, '404 UNKNOWN_POSITION')
        expect(body.message).to.contain('liquidated')
        const told: { txHash: string; blockNumber: number; size: string }[] = body.details.liquidations
        expect(told.map((each) => each.txHash)).to.deep.equal(hashes)
        expectClose(
          told.reduce((sum, each) => sum + Number(each.size), 0),
          fill.size,
          1e-12,
          'what was liquidated',
        )
        for (const each of told) expect(each.blockNumber).to.be.above(blockNumber)
        const { accountValue } = await margin()
        expect(Number(accountValue)).to.be.below(left)
        // A trade since then has nothing to do with it.
        expectNear(Number((await position()).positionAmt), 0, 0, 'position')
      } finally {
        await move('deposit', taken, { token: settlement })
      }
    },
  ],
]
