import { expect } from 'chai'
import { EventFragment } from 'ethers'
import { findLogs } from '../../../kits/evm/reader.ts'
import { evmRpc } from '../../../kits/evm/rpc.ts'
import { perpEvents } from '../../../kits/perp/index.ts'
import { at } from '../amm/v2/trading-floor.ts'
import { openPerpFloor, type PerpFloor } from './perp-floor.ts'

const ether = 10n ** 18n

describe('a liquidation, by the kit', () => {
  let floor: PerpFloor
  before(async () => {
    floor = await openPerpFloor()
  })
  after(() => floor.end())

  it('comes when the account is worth less than its maintenance margin, and is told of as what it is', async () => {
    const market = floor.named('ETH')
    const trader = await floor.newTrader(1_000_000_000n)
    const { receipt } = await floor.open(trader, { market, side: 'LONG', sizeRaw: (32n * ether) / 10n })
    expect(await floor.exchange.liquidations(trader.address, market, receipt.blockNumber, at())).to.deep.equal([])

    // Others sell, and the world outside says the same.
    const seller = await floor.newTrader(10n ** 14n)
    const house = await floor.contract('ClearingHouse')
    const liquidate = () => house.getFunction('liquidate(address,address)').send(trader.address, market.id, { gasLimit: 3_000_000n })
    for (const index of ['2950', '2900', '2850', '2800']) {
      await floor.operator.moveIndex('ETHUSD', index)
      for (let sales = 0; sales < 3; sales++) {
        await floor.wait(20)
        const { prices } = await floor.exchange.prices(market, at())
        const isAbove = prices.mark.numerator > BigInt(index) * ether
        if (isAbove) await floor.open(seller, { market, side: 'SHORT', sizeRaw: 100n * ether })
      }
      await floor.wait(120)
      const { position, account } = await floor.exchange.position(trader.address, market, at())
      const isDue = account.valueRaw < account.maintenanceMarginRaw
      const attempt = await (await liquidate()).wait().then(
        (done: { hash: string } | null) => done?.hash,
        () => undefined,
      )
      expect(attempt !== undefined, `at ${index}: ${account.valueRaw} of ${account.maintenanceMarginRaw}`).to.equal(isDue)
      if (attempt === undefined) continue

      const [suffered] = await floor.exchange.liquidations(trader.address, market, receipt.blockNumber, at())
      const left = (await floor.exchange.position(trader.address, market, at())).position.sizeRaw
      expect(suffered).to.include({ txHash: attempt, sizeRaw: position.sizeRaw - left })
      expect(await floor.exchange.liquidations(trader.address, market, Number(suffered?.blockNumber), at())).to.deep.equal([])
      expect(await floor.exchange.liquidations(seller.address, market, 0, at())).to.deep.equal([])
      const newest = await floor.provider.getBlockNumber()
      const all = await logsByParts(0, 10_000)
      expect(all).to.have.lengthOf.above(5)
      expect(await logsByParts(0, Math.ceil(newest / 8))).to.deep.equal(all)
      // The newest ten parts, and what came since.
      expect((await logsByParts(0, 1)).every(({ blockNumber }) => blockNumber > newest - 10)).to.equal(true)
      return
    }
    expect.fail('The price never went far enough.')
  })

  async function logsByParts(fromBlock: number, blocks: number) {
    const rpc = evmRpc({
      chainId: 31337,
      rpcUrls: [floor.devnet.rpcUrl],
      sendUrls: [],
      timeoutMs: 30_000,
      network: 'ethereum/local',
      log: { info() {}, warn() {} },
      meter: { rpc() {} },
    })
    try {
      const [topic = ''] = perpEvents.map((event) => EventFragment.from(event).topicHash)
      const filter = { address: floor.placed.exchange('ClearingHouse'), topics: [topic], fromBlock }
      return await findLogs(rpc, filter, BigInt(await floor.provider.getBlockNumber()), at(), blocks)
    } finally {
      await rpc.stop()
    }
  }
})
