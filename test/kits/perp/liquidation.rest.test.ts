import { expect } from 'chai'
import { EventFragment } from 'ethers'
import { findLogs } from '../../../kits/evm/log-ranges.ts'
import { evmRpc } from '../../../kits/evm/rpc.ts'
import { perpEvents } from '../../../kits/perp/index.ts'
import { at } from '../amm/devnet-fixture.ts'
import { createPerpFixture, type PerpFixture } from './fixture.ts'

const ether = 10n ** 18n

describe('a liquidation', () => {
  let fixture: PerpFixture
  before(async () => {
    fixture = await createPerpFixture()
  })
  after(() => fixture.end())

  it("happens when the account's value is below its maintenance margin, and is returned as one", async () => {
    const market = fixture.named('ETH')
    const trader = await fixture.newTrader(1_000_000_000n)
    const { receipt } = await fixture.open(trader, { market, side: 'LONG', sizeRaw: (32n * ether) / 10n })
    expect(await fixture.exchange.liquidations(trader.address, market, receipt.blockNumber, at())).to.deep.equal([])

    // Others sell, and the index price falls, too.
    const seller = await fixture.newTrader(10n ** 14n)
    const house = await fixture.contract('ClearingHouse')
    const liquidate = () => house.getFunction('liquidate(address,address)').send(trader.address, market.id, { gasLimit: 3_000_000n })
    for (const index of ['2950', '2900', '2850', '2800']) {
      await fixture.operator.moveIndex('ETHUSD', index)
      for (let sales = 0; sales < 3; sales++) {
        await fixture.wait(20)
        const { prices } = await fixture.exchange.prices(market, at())
        const isAbove = prices.mark.numerator > BigInt(index) * ether
        if (isAbove) await fixture.open(seller, { market, side: 'SHORT', sizeRaw: 100n * ether })
      }
      await fixture.wait(120)
      const { position, account } = await fixture.exchange.position(trader.address, market, at())
      const isDue = account.valueRaw < account.maintenanceMarginRaw
      const owedBefore = await owed(trader.address)
      const attempt = await (await liquidate()).wait().then(
        (done: { hash: string } | null) => done?.hash,
        () => undefined,
      )
      expect(attempt !== undefined, `at ${index}: ${account.valueRaw} of ${account.maintenanceMarginRaw}`).to.equal(isDue)
      if (attempt === undefined) continue

      const [suffered] = await fixture.exchange.liquidations(trader.address, market, receipt.blockNumber, at())
      const left = (await fixture.exchange.position(trader.address, market, at())).position.sizeRaw
      expect(suffered).to.include({ txHash: attempt, sizeRaw: position.sizeRaw - left })
      const { side, feeRaw = 0n, realizedProfitRaw = 0n, fundingRaw = 0n } = suffered?.effect ?? {}
      expect([side, feeRaw > 0n]).to.deep.equal(['SHORT', true])
      expect(realizedProfitRaw + fundingRaw).to.equal((await owed(trader.address)) - owedBefore)
      expect(await fixture.exchange.liquidations(trader.address, market, Number(suffered?.blockNumber), at())).to.deep.equal([])
      expect(await fixture.exchange.liquidations(seller.address, market, 0, at())).to.deep.equal([])
      const newest = await fixture.provider.getBlockNumber()
      const all = await logsByParts(0, 10_000)
      expect(all).to.have.lengthOf.above(5)
      expect(await logsByParts(0, Math.ceil(newest / 8))).to.deep.equal(all)
      // The newest ten parts, and what accrued since.
      expect((await logsByParts(0, 1)).every(({ blockNumber }) => blockNumber > newest - 10)).to.equal(true)
      return
    }
    expect.fail('The price never went far enough.')
  })

  /** What the exchange owes the account besides its collateral and open positions. */
  async function owed(trader: string): Promise<bigint> {
    const balances = await fixture.contract('AccountBalance')
    return BigInt((await balances.getFunction('getPnlAndPendingFee').staticCall(trader))[0])
  }

  async function logsByParts(fromBlock: number, blocks: number) {
    const rpc = evmRpc({
      chainId: 31337,
      rpcUrls: [fixture.devnet.rpcUrl],
      sendUrls: [],
      timeoutMs: 30_000,
      network: 'ethereum/local',
      log: { info() {}, warn() {} },
      meter: { rpc() {} },
    })
    try {
      const [topic = ''] = perpEvents.map((event) => EventFragment.from(event).topicHash)
      const filter = { address: fixture.placed.exchange('ClearingHouse'), topics: [topic], fromBlock }
      return await findLogs(rpc, filter, BigInt(await fixture.provider.getBlockNumber()), at(), blocks)
    } finally {
      await rpc.stop()
    }
  }
})
