import { expect } from 'chai'
import { createMovementReadings } from '../../core/handlers/movements.ts'
import type { Registry } from '../../core/plugins/index.ts'
import type { Entry } from '../../core/transactions/entry.ts'

const coin = 'coin'
let asked = 0
const registryOf = (coinGain: () => Promise<bigint | undefined>, fillRaw?: bigint, gains = new Map([['usdc', 3000n]]), local = false) =>
  ({
    networks: [
      {
        chain: 'ethereum',
        network: 'local',
        tokens: { listedAt: (address: string) => (address === 'usdc' ? {} : undefined) },
        impl: {
          local,
          nativeCurrency: { symbol: 'ETH', address: coin, decimals: 18 },
          rail: { outline: ({ value }: { value: string }) => ({ contracts: ['router'], valueRaw: BigInt(value) }) },
          evm: {
            gains: () => gains,
            coinGain: () => {
              asked += 1
              return coinGain()
            },
            wrapped: { token: { address: 'weth' } },
          },
        },
      },
    ],
    plannedBy: () => ({ builtIn: fillRaw !== undefined, impl: { AMM: { fill: () => ({ amountInRaw: fillRaw, amountOutRaw: 3000n }) } } }),
  }) as unknown as Pick<Registry, 'networks' | 'plannedBy'>

const trade = (more: object = {}, quote = 'ETH'): Entry =>
  ({
    key: 'one',
    chain: 'ethereum',
    network: 'local',
    address: 'wallet',
    kind: 'trade',
    state: 'CONFIRMED',
    part: { index: 0, of: 1 },
    step: { value: quote === 'ETH' ? '10' : '0' },
    landed: { id: '0x1', ok: true, blockNumber: 7, receipt: {} },
    about: { side: 'BUY', base: { symbol: 'USDC', decimals: 6 }, quote: { symbol: quote, decimals: 18 } },
    planned: { base: 'usdc', quote: quote === 'ETH' ? coin : quote },
    ...more,
  }) as unknown as Entry

async function movementsOf(entry: Entry, coinGain: () => Promise<bigint | undefined>, fillRaw?: bigint, gains?: Map<string, bigint>) {
  asked = 0
  const readings = createMovementReadings({ registry: registryOf(coinGain, fillRaw, gains), timeoutMs: 1_000 })
  await readings.begin([entry], 7n)
  return { moved: readings.of(entry), asked }
}
const gone = () => Promise.reject(new Error('no old balances'))

describe('what a transaction is journaled to have moved', () => {
  it('has the coin by the event of a built-in exchange, and asks no node', async () => {
    expect(await movementsOf(trade(), gone, 8n)).to.deep.equal({ moved: { usdc: '3000', coin: '-8' }, asked: 0 })
    expect(await movementsOf(trade({}, 'DAI'), gone)).to.deep.equal({ moved: { usdc: '3000' }, asked: 0 })
  })

  it('has it by the balances of its block where no event can be trusted', async () => {
    expect(await movementsOf(trade(), async () => -7n)).to.deep.equal({ moved: { usdc: '3000', coin: '-7' }, asked: 1 })
    // More than was sent is no amount of this trade.
    expect(await movementsOf(trade(), async () => -7n, 11n)).to.deep.equal({ moved: { usdc: '3000', coin: '-7' }, asked: 1 })
    expect(await movementsOf(trade({ kind: 'liquidity' }), async () => 0n)).to.deep.equal({ moved: { usdc: '3000' }, asked: 1 })
  })

  it('has it by balances that are read as soon as it is mined, on a local network once there is another block', async () => {
    for (const [local, atOnce] of [
      [false, 1],
      [true, 0],
    ] as const) {
      asked = 0
      const registry = registryOf(async () => -7n, undefined, undefined, local)
      const readings = createMovementReadings({ registry, timeoutMs: 1_000 })
      const mined = trade({ state: 'MINED' })
      await readings.begin([mined], 7n)
      expect(asked).to.equal(atOnce)
      await readings.begin([mined], 8n)
      expect(asked).to.equal(1)
      expect(readings.of(mined)).to.deep.equal({ usdc: '3000', coin: '-7' })
    }
  })

  it('has no coin of the event of a trade of a token that has the symbol of the coin alone', async () => {
    const fake = { step: { value: '0' }, planned: { base: 'usdc', quote: 'fake' } }
    expect(await movementsOf(trade(fake), gone, 8n)).to.deep.equal({ moved: { usdc: '3000' }, asked: 0 })
    const sold = { ...(trade(fake).about as object), side: 'SELL' }
    expect(await movementsOf(trade({ ...fake, about: sold }), gone, 8n)).to.deep.equal({ moved: { usdc: '3000' }, asked: 0 })
    // Nobody knows which it was.
    expect(await movementsOf(trade({ planned: undefined }), async () => -7n, 8n)).to.deep.equal({
      moved: { usdc: '3000', coin: '-7' },
      asked: 1,
    })
  })

  it('says that the coin is not known where nothing tells it, and holds nothing up', async () => {
    const unknown = { usdc: '3000', coin: null }
    expect((await movementsOf(trade(), gone)).moved).to.deep.equal(unknown)
    expect((await movementsOf(trade(), async () => undefined)).moved).to.deep.equal(unknown)
    const since = performance.now()
    expect((await movementsOf(trade(), () => new Promise(() => {}))).moved).to.deep.equal(unknown)
    expect(performance.now() - since).to.be.below(5_000)
  })

  it('keeps 64 ids and 64 tokens that nobody knows, and all others', async () => {
    const spam = Array.from(
      { length: 1_000 },
      (_, index) =>
        [
          [`nft/${index}`, 1n],
          [`spam${index}`, 1n],
        ] as const,
    ).flat()
    const gains = new Map<string, bigint>([...spam, ['usdc', 3000n], ['DAI', -5n], ['weth', 1n]])
    const { moved = {} } = await movementsOf(trade({}, 'DAI'), gone, undefined, gains)
    expect(moved).to.include({ usdc: '3000', DAI: '-5', weth: '1', 'nft/63': '1', spam63: '1' })
    expect(Object.keys(moved)).to.have.lengthOf(64 + 64 + 3)
  })

  it('is nothing where it failed, and absent where no receipt tells it', async () => {
    const landed = { id: '0x1', ok: false, blockNumber: 7, receipt: {} }
    expect(await movementsOf(trade({ state: 'REVERTED', landed }), gone)).to.deep.equal({ moved: {}, asked: 0 })
    expect((await movementsOf(trade({ signer: 'agent' }), gone)).moved).to.equal(undefined)
    expect((await movementsOf(trade({ network: 'gone' }), gone)).moved).to.equal(undefined)
    expect((await movementsOf(trade({ step: null }), gone)).moved).to.equal(undefined)
  })
})
