import { expect } from 'chai'
import {
  createAlertTable,
  createAlertWatch,
  createRuleHealth,
  type AlertSources,
  type AlertWatch,
  type RuleHealth,
} from '../../core/alerts/index.ts'
import type { PortfolioResponse } from '../../core/api/portfolio.ts'
import { alertsFile, type AlertSettings } from '../../core/config/alerts-file.ts'
import type { Store } from '../../core/store/store.ts'
import { loadedWith } from '../../tools/imports.ts'
import { places } from '../store/stores.ts'

const on = { chain: 'ethereum', network: 'mainnet' }

describe('the watch of alerts', () => {
  const { place } = places('embedded')
  let store: Store
  let watches: AlertWatch[]
  let now: number
  let blocksFrom: number
  let readAt: number[]
  let quarantined: string[]
  let isAway: boolean
  let said: object[]
  let health: RuleHealth
  let unexplained: { chain: string; network: string; token: string; count: number }[]
  beforeEach(async () => {
    store = await place().open()
    watches = []
    now = 1_800_000_000_000
    blocksFrom = now
    readAt = []
    quarantined = []
    isAway = false
    said = []
    health = createRuleHealth(undefined, () => now)
    unexplained = []
  })
  afterEach(async () => {
    for (const watch of watches) await watch.stop()
  })

  /** How many blocks there were, one every so often. */
  const every = (ms: number, fromMs = 0) => Math.floor((now - blocksFrom - fromMs) / ms)
  const sources = {
    quarantined() {
      if (isAway) throw new Error('away')
      return quarantined.map((plugin) => ({ ...on, plugin, txHash: '0x1' }))
    },
    async portfolio() {
      readAt.push(now)
      return { timestamp: 0, networks: [] }
    },
    openTransactions: async () => ({ entries: [] }),
    failing: async () => [],
    waitingApprovals: async () => [],
    stops: () => [],
    clientsFileWrong: () => false,
    refusedPlugins: () => [],
    nodes: () => [],
    networks: () => [],
    blockAges: () => [],
    heads: () => new Map([['ethereum/mainnet', every(12_000)]]),
    limitUsage: async () => [],
    limitRefusals: async () => [],
    unexplainedBalances: async () => unexplained,
    memoryDifferences: async () => [],
    quotes: () => [],
    certificates: async () => [],
  } satisfies AlertSources

  function start(change: (settings: AlertSettings) => void = () => {}, of: Partial<AlertSources> = {}, isShared = false): AlertWatch {
    const settings = structuredClone(alertsFile.defaults) as AlertSettings
    settings.channels = { ops: { kind: 'webhook', url: 'https://hooks.example.org' } }
    settings.groupSeconds = 1
    change(settings)
    const watch = createAlertWatch({
      settings,
      sources: { ...sources, ...of },
      table: createAlertTable({ store, serverId: `server ${watches.length}`, nowMs: () => now }),
      outbox: { run: async () => {}, stop: async () => {} },
      health,
      isShared,
      server: 'host',
      log: { warn: (fields, message) => void said.push({ ...fields, message }) },
      nowMs: () => now,
      steadyMs: () => now,
    })
    watches.push(watch)
    return watch
  }

  const onlyLiquidations = ({ rules }: AlertSettings) => {
    rules.lowGas.enabled = false
    rules.outOfRange.enabled = false
  }

  /** Lets the time pass, second by second. */
  async function pass(watch: AlertWatch, seconds: number): Promise<void> {
    for (let count = 0; count < seconds; count += 1) {
      now += 1_000
      await watch.tick()
    }
  }
  const told = async (): Promise<string[]> => {
    const rows = await store.read((db) => db.selectFrom('alert_messages').select('body').orderBy('id').execute())
    return rows.map(({ body }) => {
      const { status, items } = JSON.parse(body) as { status: string; items: { subject: string }[] }
      return `${status} ${items.map(({ subject }) => subject).join()}`
    })
  }

  it('tells of something once, and that it is over once it is for a while', async () => {
    const watch = start()
    quarantined = ['trap']
    await pass(watch, 100)
    expect(await told()).to.deep.equal(['raised trap'])
    quarantined = []
    await pass(watch, 20)
    quarantined = ['trap']
    await pass(watch, 20)
    quarantined = []
    await pass(watch, 25)
    expect(await told()).to.deep.equal(['raised trap'])
    await pass(watch, 15)
    expect(await told()).to.deep.equal(['raised trap', 'resolved trap'])
  })

  it('tells nothing again after a restart, and what was over meanwhile', async () => {
    const first = start()
    quarantined = ['trap', 'gone']
    await pass(first, 5)
    await first.stop()
    quarantined = ['trap']
    await pass(start(), 60)
    expect(await told()).to.deep.equal(['raised gone,trap', 'resolved gone'])
  })

  it('says that something is over when no server sees it any more', async () => {
    const trap = { ...on, plugin: 'trap', txHash: '0x1' }
    const seen = [true, true]
    const both = seen.map((_, index) => start(undefined, { quarantined: () => (seen[index] ? [trap] : []) }, true))
    const passBoth = async (seconds: number) => {
      for (let count = 0; count < seconds; count += 1) {
        now += 1_000
        for (const watch of both) await watch.tick()
      }
    }
    await passBoth(20)
    seen[0] = false
    await passBoth(120)
    expect(await told()).to.deep.equal(['raised trap'])
    seen[1] = false
    await passBoth(120)
    expect(await told()).to.deep.equal(['raised trap', 'resolved trap'])
  })

  it('reads wallets and positions after a block, and no more often than it would without blocks', async () => {
    const ethereum = () => new Map([['ethereum/mainnet', every(12_000)]])
    for (const heads of [ethereum, () => new Map([...ethereum(), ['arbitrum/mainnet', every(1_000)], ['base/mainnet', every(2_000)]])]) {
      readAt = []
      blocksFrom = now - 7_000
      const watch = start(onlyLiquidations, { heads })
      await pass(watch, 240)
      expect(readAt.length).to.be.within(18, 22)
      const late = readAt.slice(-10).map((at) => (at - blocksFrom) % 12_000)
      expect(Math.max(...late)).to.be.below(3_000)
      await watch.stop()
    }
  })

  it('reads wallets and positions no more often where blocks are shorter, or of several networks', async () => {
    const blocks = (...every: number[]) => new Map(every.map((height, index) => [`network ${index}`, height]))
    const headsOf = {
      short: () => blocks(every(2_000)),
      odd: () => blocks(every(10_000)),
      two: () => blocks(every(12_000), every(12_000, 9_000)),
    }
    for (const [name, heads] of Object.entries(headsOf)) {
      readAt = []
      const watch = start(onlyLiquidations, { heads })
      await pass(watch, 240)
      expect(readAt.length, name).to.be.within(18, 21)
      // What was read for transactions puts off nothing.
      for (let count = 0; count < 60; count += 1) {
        watch.trigger('journal')
        await pass(watch, 1)
      }
      readAt = []
      await pass(watch, 60)
      expect(readAt.length, `${name}, after transactions`).to.be.within(4, 6)
      await watch.stop()
    }
  })

  // The first by what is set where nobody sets it, which is for blocks of that time.
  for (const [blockSeconds, set] of [
    [12, {}],
    [2, { portfolioSeconds: 2 }],
  ] as const)
    it(`has a message of what a block changed within the next one and two seconds, where there is one every ${blockSeconds} s`, async () => {
      const position = (tokenId: number, inRange: boolean) => ({ connector: 'uniswap', tokenId: String(tokenId), pool: '0xP', inRange })
      const firstOut: number[] = []
      const block = () => every(blockSeconds * 1_000)
      const portfolio = async () => {
        const liquidity = firstOut.map((from, tokenId) => position(tokenId, block() < from))
        return { timestamp: 0, networks: [{ ...on, wallets: [{ address: '0xA', liquidity }] }] } as unknown as PortfolioResponse
      }
      const heads = () => new Map([['ethereum/mainnet', block()]])
      const watch = start((settings) => void Object.assign(settings, set), { portfolio, heads })
      await pass(watch, 60)
      // At other moments of the watch's own turn.
      for (const [tokenId, laterMs] of [0, 300, 700, 5_100, 7_900, 11_000, 13_300].entries()) {
        blocksFrom += laterMs
        await pass(watch, (3 + tokenId) * blockSeconds)
        firstOut.push(block() + 1)
        const outAtMs = blocksFrom + (block() + 1) * blockSeconds * 1_000
        while (!(await told()).some((each) => each.endsWith(` uniswap ${tokenId}`))) await pass(watch, 1)
        expect((now - outAtMs) / 1_000, `position ${tokenId}`).to.be.within(0, blockSeconds + 2)
      }
    })

  it('says once that a rule cannot look, and of nothing that it is over because of that', async () => {
    const watch = start()
    quarantined = ['trap']
    await pass(watch, 5)
    isAway = true
    quarantined = []
    await pass(watch, 100)
    expect(await told()).to.deep.equal(['raised trap'])
    expect(said).to.deep.equal([{ rule: 'pluginQuarantined', reason: 'away', message: 'an alert rule could not look; tried again' }])
    expect(health.failing()).to.deep.equal([{ rule: 'pluginQuarantined', since: now - 99_000, reason: 'away' }])
    isAway = false
    await pass(watch, 40)
    expect(health.failing()).to.deep.equal([])
    expect(await told()).to.deep.equal(['raised trap', 'resolved trap'])
  })

  it('says nothing of what nobody knows any more, until it is known again', async () => {
    const watch = start(({ rules }) => void (rules.booksDiffer.days = 50 / 86_400))
    unexplained = [{ ...on, token: 'USDC', count: 1 }]
    await pass(watch, 15)
    unexplained = []
    await pass(watch, 100)
    expect(await told()).to.deep.equal(['raised ethereum/mainnet USDC'])
    unexplained = [{ ...on, token: 'USDC', count: 0 }]
    await pass(watch, 60)
    expect(await told()).to.deep.equal(['raised ethereum/mainnet USDC', 'resolved ethereum/mainnet USDC'])
  })

  it('says of no difference of books that it is over before its days have passed since some server found it', async () => {
    const counts = [1, 0]
    const server = (index: number) =>
      start(undefined, { unexplainedBalances: async () => [{ ...on, token: 'USDC', count: counts[index] ?? 0 }] }, true)
    const minutes = async (count: number, ...watches: AlertWatch[]) => {
      for (let minute = 0; minute < count; minute += 1) {
        now += 60_000
        for (const watch of watches) await watch.tick()
      }
    }
    const [finder, other] = [server(0), server(1)]
    await minutes(5, finder, other)
    expect(await told()).to.deep.equal(['raised ethereum/mainnet USDC'])
    // It is found over and over, so its days count from now on; the servers that look then have started later.
    now += 8 * 86_400_000
    await minutes(5, finder, other)
    await finder.stop()
    await minutes(5, other)
    now += 4 * 86_400_000
    await minutes(5, other)
    await other.stop()
    const later = server(1)
    await minutes(5, later)
    expect(await told()).to.deep.equal(['raised ethereum/mainnet USDC'])
    now += 3 * 86_400_000
    await minutes(5, later)
    expect(await told()).to.deep.equal(['raised ethereum/mainnet USDC', 'resolved ethereum/mainnet USDC'])
  })

  it('says of a rule that was switched off that it is over', async () => {
    const first = start()
    quarantined = ['trap']
    await pass(first, 5)
    await first.stop()
    await pass(
      start((settings) => (settings.rules.pluginQuarantined.enabled = false)),
      5,
    )
    expect(await told()).to.deep.equal(['raised trap', 'resolved trap'])
  })
})

describe('a server without conf/alerts.yml', () => {
  it('loads nothing of what tells people', () => {
    expect([...loadedWith(['core/main.ts', 'core/kernel.ts'])].filter((file) => file.startsWith('core/alerts'))).to.deep.equal([])
  })
})
