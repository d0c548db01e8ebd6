import { expect } from 'chai'
import { inOneBlock, mined, node, type Bench } from '../../../../testkit/cards/venue.ts'
import { expectClose } from './amounts.ts'
import { tickerOf, type Desk } from '../../../../testkit/cards/perp-fixture.ts'
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
    async (desk) => {
      const { position, operator, refused, owner, market } = desk
      await nearlyLiquidated(desk, async ({ fill, blockNumber }) => {
        const hashes: string[] = []
        for (let tries = 0; tries < 10 && (await position()).positionAmt !== '0'; tries++) {
          const before = Number((await position()).positionAmt)
          hashes.push(await operator.liquidate(owner, tickerOf(market)))
          expect(Number((await position()).positionAmt)).to.be.below(before)
        }
        const { body } = await refused('close', { ...market, address: owner }, '404 UNKNOWN_POSITION')
        expect(body.message).to.contain('liquidated')
        const told: { txHash: string; blockNumber: number; size: string }[] = body.details.liquidations
        expect(told.map((each) => each.txHash)).to.deep.equal(hashes)
        const sizes = told.reduce((sum, each) => sum + Number(each.size), 0)
        expectClose(sizes, fill.size, 1e-12, 'what was liquidated')
        for (const each of told) expect(each.blockNumber).to.be.above(blockNumber)
      })
    },
  ],
  [
    'PERP-20 a close that comes after a liquidation says so',
    async (desk) => {
      const { bench, ask, position, operator, owner, market } = desk
      await nearlyLiquidated(desk, async () => {
        let txHash = ''
        await inOneBlock(bench, async () => {
          const { status, body, text } = await ask('close', { ...market, address: owner })
          expect(status, text).to.equal(200)
          txHash = body.txHash
          // The nodes have forgotten it when the liquidation comes; the server sends it again.
          await node(bench, 'anvil_dropTransaction', txHash)
        })
        const hashes: string[] = []
        for (let tries = 0; tries < 10 && (await position()).positionAmt !== '0'; tries++)
          hashes.push(await operator.liquidate(owner, tickerOf(market)))
        const { txReceipt } = await mined(bench, txHash)
        expect(txReceipt.status).to.equal(0)
        expect(await reasonOf(bench, txHash))
          .to.contain('liquidated')
          .and.to.contain(hashes[0])
      })
    },
  ],
]

/** Opens a position with as little behind it as the market allows, and puts the rest of the collateral back in the end. */
async function nearlyLiquidated(
  { order, open, move, margin, answered, market }: Desk,
  work: (opened: Awaited<ReturnType<Desk['open']>>) => Promise<void>,
): Promise<void> {
  const { maxLeverage } = await answered('market-status', { ...market })
  const worth = 20_000
  const { freeCollateral } = await margin()
  const left = (worth / Number(maxLeverage)) * 1.1
  const taken = (Number(freeCollateral) - left).toFixed(2)
  await move('withdraw', taken)
  try {
    await work(await open(await order('LONG', worth, { leverage: maxLeverage, margin: (left * 0.95).toFixed(2) })))
    expect(Number((await margin()).accountValue)).to.be.below(left)
  } finally {
    await move('deposit', taken)
  }
}

/** Why it reverted: found out once the journal knows that it did. */
async function reasonOf({ client, chain, network }: Bench, txHash: string): Promise<string> {
  for (let tries = 0; tries < 200; tries++) {
    const { body } = await client.get('/network/poll', { chain, network, txHash })
    if (body.reason !== undefined && body.txState !== 'BROADCAST') return String(body.reason)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`It is not told why ${txHash} reverted`)
}
