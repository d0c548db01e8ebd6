import { expect } from 'chai'
import { rules, type AlertSources } from '../../core/alerts/index.ts'
import type { RuleName, RuleSettings } from '../../core/config/alerts-file.ts'

const on = { chain: 'ethereum', network: 'mainnet' }
const nothing: AlertSources = {
  portfolio: async () => ({ timestamp: 0, networks: [] }),
  openTransactions: async () => ({ entries: [] }),
  networks: () => [on],
  nodes: () => [],
  failing: async () => [],
  waitingApprovals: async () => [],
  stops: () => [],
  clientsFileWrong: () => false,
  refusedPlugins: () => [],
  blockAges: () => [],
  heads: () => new Map(),
  limitUsage: async () => [],
  limitRefusals: async () => [],
  unexplainedBalances: async () => [],
  quarantined: () => [],
  memoryDifferences: async () => [],
  quotes: () => [],
  certificates: async () => [],
}

const minuteMs = 60_000
const dayMs = 86_400_000

/** A rule that looks at values of a test, at moments of a clock that the test has. */
function ruleOf<Name extends RuleName>(name: Name, threshold: Partial<RuleSettings[Name]>, sources: Partial<AlertSources>) {
  const settings = { enabled: true, severity: 'warning', ...threshold } as RuleSettings[Name]
  const read = rules[name].create(settings, { ...nothing, ...sources })
  return async (steadyMs = 0, foundAt?: number) => {
    const at = { nowMs: steadyMs, steadyMs, signal: AbortSignal.timeout(1_000), foundAt: () => foundAt }
    const { found, isUnknown, unread } = await read(at)
    return { subjects: found.map(({ subject }) => subject), isUnknown: (subject: string) => isUnknown?.(subject) ?? false, found, unread }
  }
}

const wallet = {
  address: '0xA',
  withoutValue: 0,
  balances: [],
  allowances: [],
  liquidity: [],
  shares: [],
  exchangeBalances: [],
  margin: [],
  perpetuals: [],
}
const portfolioOf = (more: object, unavailable: object[] = []): Partial<AlertSources> => ({
  portfolio: async () => ({
    timestamp: 0,
    networks: [{ ...on, blockNumber: 1, wallets: [{ ...wallet, ...more }] }],
    unavailable: unavailable as never,
  }),
})

describe('the rules of alerts', () => {
  it('find a node that is behind or not good for long enough, and forget one that is good again', async () => {
    let node = { ...on, url: 'https://one', state: 'good', lagBlocks: 0 }
    const look = ruleOf('nodeBehind', { blocks: 5, seconds: 60 }, { nodes: () => [node] })
    const subject = 'ethereum/mainnet https://one'
    node = { ...node, lagBlocks: 5 }
    expect((await look(0)).subjects).to.deep.equal([])
    expect((await look(60_000)).subjects).to.deep.equal([subject])
    node = { ...node, lagBlocks: 0, state: 'unreachable' }
    expect((await look(61_000)).found[0]?.words).to.equal('https://one of ethereum/mainnet is unreachable')
    node = { ...node, state: 'slow' }
    expect((await look(62_000)).subjects).to.deep.equal([])
    node = { ...node, state: 'forked' }
    expect((await look(63_000)).subjects).to.deep.equal([])
  })

  it('say nothing of a node that the server does not know yet, and then that it was removed', async () => {
    const look = ruleOf('nodeBehind', { blocks: 5, seconds: 60 }, {})
    expect((await look(0)).isUnknown('ethereum/mainnet https://one')).to.equal(true)
    expect((await look(11 * minuteMs)).isUnknown('ethereum/mainnet https://one')).to.equal(false)
  })

  it('say nothing of a node after a restart, until it was asked and could be bad for long enough', async () => {
    let node = { ...on, url: 'https://one', state: 'unchecked' }
    const subject = 'ethereum/mainnet https://one'
    const behind = ruleOf('nodeBehind', { blocks: 5, seconds: 60 }, { nodes: () => [node] })
    expect((await behind(0)).isUnknown(subject)).to.equal(true)
    node = { ...node, state: 'unreachable' }
    expect((await behind(1_000)).isUnknown(subject)).to.equal(true)
    expect((await behind(61_000)).subjects).to.deep.equal([subject])
    node = { ...node, state: 'good' }
    expect((await behind(62_000)).isUnknown(subject)).to.equal(false)
    const flapping = ruleOf('nodeFlapping', { changes: 4, minutes: 10 }, { nodes: () => [node] })
    expect((await flapping(0)).isUnknown(subject)).to.equal(true)
    expect((await flapping(9 * minuteMs)).isUnknown(subject)).to.equal(true)
    expect((await flapping(10 * minuteMs)).isUnknown(subject)).to.equal(false)
  })

  it('find a node that comes and goes, until it stays for a while', async () => {
    let state = 'good'
    const look = ruleOf('nodeFlapping', { changes: 4, minutes: 10 }, { nodes: () => [{ ...on, url: 'https://one', state }] })
    for (let count = 0; count <= 4; count += 1) {
      const { subjects } = await look(count * 1_000)
      expect(subjects.length).to.equal(count === 4 ? 1 : 0)
      state = state === 'good' ? 'unreachable' : 'good'
    }
    state = 'good'
    expect((await look(12 * minuteMs)).subjects).to.deep.equal([])
  })

  it('find a stuck transaction where those of other wallets cannot be read, and say of none that it is over', async () => {
    const entry = { ...on, address: '0xA', key: 'k1', kind: 'trade', state: 'PENDING', createdAt: 0, nonce: 1 } as const
    const look = ruleOf(
      'stuckTransaction',
      { seconds: 60 },
      {
        openTransactions: async () => ({ entries: [entry] as never, unread: 'ethereum/mainnet 0xB: an entry is damaged' }),
      },
    )
    const { subjects, isUnknown, unread } = await look(minuteMs)
    expect([subjects, isUnknown('k2'), unread]).to.deep.equal([['k1'], true, 'ethereum/mainnet 0xB: an entry is damaged'])
  })

  it('find a stuck transaction also where the clock was set back since it was asked for', async () => {
    const entry = { ...on, address: '0xA', key: 'k1', kind: 'trade', state: 'QUEUED', createdAt: 60 * minuteMs, nonce: 1 } as const
    const look = ruleOf('stuckTransaction', { seconds: 60 }, { openTransactions: async () => ({ entries: [entry] as never }) })
    const found = [await look(0), await look(30_000), await look(minuteMs)].map(({ subjects }) => subjects)
    expect(found).to.deep.equal([[], [], ['k1']])
  })

  it('find a network without new blocks, and say nothing of one that nobody follows', async () => {
    let ages = [{ ...on, seconds: 121 }]
    const look = ruleOf('networkBehind', { seconds: 120 }, { blockAges: () => ages })
    expect((await look()).subjects).to.deep.equal(['ethereum/mainnet'])
    ages = []
    expect((await look()).isUnknown('ethereum/mainnet')).to.equal(true)
  })

  it('are over for a network that the server does not have any more, and go on for one that is away', async () => {
    const sources = { networks: () => [on], portfolio: async () => ({ timestamp: 0, networks: [] }) }
    const subjects = ['ethereum/mainnet', 'base/mainnet']
    for (const [look, of] of [
      [ruleOf('networkBehind', { seconds: 120 }, sources), ''],
      [ruleOf('noQuote', { minutes: 1 }, sources), ' uniswap'],
    ] as const) {
      const at = async (ms: number) => {
        const { isUnknown } = await look(ms)
        return subjects.map((each) => isUnknown(`${each}${of}`))
      }
      expect([await at(0), await at(11 * minuteMs)], of).to.deep.equal([
        [true, true],
        [true, false],
      ])
    }
    const unavailable = [{ ...on, reason: 'It is away.' }] as never
    const low = ruleOf('lowGas', { days: 3 }, { portfolio: async () => ({ timestamp: 0, networks: [], unavailable }) })
    const gas = [await low(0), await low(11 * minuteMs)].map(({ isUnknown }) => subjects.map((each) => isUnknown(`${each} 0xA`)))
    expect(gas).to.deep.equal([
      [true, true],
      [true, false],
    ])
  })

  it('find what the daily check could not explain, and say nothing before there was one', async () => {
    let counts = [{ ...on, token: 'USDC', count: 2 }]
    const look = ruleOf('booksDiffer', { days: 7 }, { unexplainedBalances: async () => counts })
    expect((await look()).subjects).to.deep.equal(['ethereum/mainnet USDC'])
    expect((await look()).isUnknown('ethereum/mainnet DAI')).to.equal(true)
    expect((await look()).found[0]?.words).to.equal('USDC on ethereum/mainnet: 2 changes are not explained')
    // The next check begins where this one ended.
    counts = [{ ...on, token: 'USDC', count: 0 }]
    const unknown = [await look(6 * dayMs, 0), await look(8 * dayMs, 0), await look(8 * dayMs, 2 * dayMs)].map(
      ({ subjects, isUnknown }) => [...subjects, isUnknown('ethereum/mainnet USDC')],
    )
    expect(unknown).to.deep.equal([[true], [false], [true]])
  })

  it('find a plugin for which nothing is signed', async () => {
    const look = ruleOf('pluginQuarantined', {}, { quarantined: () => [{ ...on, plugin: 'trap', txHash: '0x1' }] })
    expect((await look()).subjects).to.deep.equal(['trap'])
  })

  it('find accounts and positions that are near liquidation', async () => {
    const account = { connector: 'perps', accountValue: '100', maintenanceMargin: '80' }
    const position = { market: 'ETH-USD', side: 'LONG', amount: '1', entryPrice: '2000', markPrice: '1900', unrealizedProfit: '-100' }
    const near = {
      connector: 'hyper',
      positions: [
        { ...position, liquidationPrice: '1850' },
        { ...position, market: 'BTC-USD', liquidationPrice: '100' },
      ],
    }
    const look = ruleOf('nearLiquidation', { marginPercent: 80, pricePercent: 5 }, portfolioOf({ perpetuals: [account, near] }))
    expect((await look()).subjects).to.deep.equal(['ethereum/mainnet 0xA perps', 'ethereum/mainnet 0xA hyper ETH-USD'])
    const lost = ruleOf(
      'nearLiquidation',
      { marginPercent: 80, pricePercent: 5 },
      portfolioOf({ perpetuals: [{ ...account, accountValue: '-1' }] }),
    )
    expect((await lost()).subjects).to.have.length(1)
    const safe = ruleOf(
      'nearLiquidation',
      { marginPercent: 80, pricePercent: 5 },
      portfolioOf({ perpetuals: [{ ...account, maintenanceMargin: '79' }] }),
    )
    expect((await safe()).subjects).to.deep.equal([])
  })

  it('find positions whose price is far beyond that of their liquidation', async () => {
    const position = { amount: '1', entryPrice: '2000', liquidationPrice: '1850', unrealizedProfit: '-100' }
    const positions = [
      { ...position, market: 'ETH-USD', side: 'LONG', markPrice: '1500' },
      { ...position, market: 'BTC-USD', side: 'SHORT', markPrice: '2500' },
      { ...position, market: 'SOL-USD', side: 'LONG', markPrice: '2500' },
      { ...position, market: 'XRP-USD', side: 'SHORT', markPrice: '1500' },
    ]
    const perpetuals = [{ connector: 'hyper', positions }]
    const look = ruleOf('nearLiquidation', { marginPercent: 80, pricePercent: 5 }, portfolioOf({ perpetuals }))
    expect((await look()).subjects).to.deep.equal(['ethereum/mainnet 0xA hyper ETH-USD', 'ethereum/mainnet 0xA hyper BTC-USD'])
  })

  it('find a wallet whose coin does not last, or that has none and holds something, and say nothing of what was not read', async () => {
    const gas = { symbol: 'ETH', balance: '0.1', transactions: 9, spent: '1', perDay: '0.05', daysLeft: '2' }
    const place = 'ethereum/mainnet 0xA'
    const few = ruleOf('lowGas', { days: 3 }, portfolioOf({ gas }))
    expect((await few()).found).to.deep.equal([{ subject: place, words: '0xA on ethereum/mainnet has 0.1 ETH, for 2 days' }])
    const none = { ...gas, balance: '0.0', daysLeft: undefined }
    expect((await ruleOf('lowGas', { days: 3 }, portfolioOf({ gas: none }))()).subjects).to.deep.equal([])
    const holding = portfolioOf({ gas: none, shares: [{}] })
    expect((await ruleOf('lowGas', { days: 3 }, holding)()).subjects).to.deep.equal([place])
    const unread = await ruleOf('lowGas', { days: 3 }, portfolioOf({}, [{ ...on, address: '0xA', reason: 'away' }]))()
    expect([unread.isUnknown(place), unread.isUnknown('ethereum/mainnet 0xB'), unread.isUnknown('base/mainnet 0xA')]).to.deep.equal([
      true,
      false,
      true,
    ])
  })

  it('know all of positions but those of what was not read, and name that', async () => {
    const reason = 'It does not run.'
    const positions = { liquidity: [{ connector: 'uniswap', tokenId: '1', pool: '0xP', inRange: true }] }
    const missing = [
      { ...on, connector: 'curve', reason },
      { ...on, address: '0xA', part: 'gas', reason },
      { ...on, address: '0xB', connector: 'uniswap', part: 'liquidity', reason },
    ]
    const look = async (name: 'outOfRange' | 'lowGas', more: object = positions) =>
      ruleOf(name, name === 'lowGas' ? { days: 3 } : {}, portfolioOf(more, missing))()
    const range = await look('outOfRange')
    const known = ['0xA uniswap 1', '0xA curve 2', '0xB uniswap 3', '0xB curve 4'].map((each) =>
      range.isUnknown(`ethereum/mainnet ${each}`),
    )
    expect(known).to.deep.equal([false, true, true, true])
    expect(range.unread).to.equal(`ethereum/mainnet curve: ${reason} And 1 more.`)
    const gas = { symbol: 'ETH', balance: '5', transactions: 0, spent: '0', perDay: '0' }
    const low = await look('lowGas', { address: '0xC', gas })
    expect(['0xA', '0xC'].map((each) => low.isUnknown(`ethereum/mainnet ${each}`))).to.deep.equal([true, false])
    // Whether it holds anything is not known.
    const empty = await look('lowGas', { address: '0xC', gas: { ...gas, balance: '0' } })
    expect(empty.isUnknown('ethereum/mainnet 0xC')).to.equal(true)
  })

  it('find a state in memory that differed, for as long as that counts, also after a restart', async () => {
    let counts: { chain: string; network: string; connector: string; count: number }[] = []
    const look = ruleOf('memoryDiffers', { minutes: 60 }, { memoryDifferences: async () => counts })
    expect((await look(0)).isUnknown('ethereum/mainnet uniswap')).to.equal(true)
    counts = [{ ...on, connector: 'uniswap', count: 1 }]
    expect((await look(minuteMs)).subjects).to.deep.equal(['ethereum/mainnet uniswap'])
    const later = await look(62 * minuteMs)
    expect([later.subjects, later.isUnknown('ethereum/mainnet uniswap')]).to.deep.equal([[], false])
    // What another server found, which may have been restarted since, counts for as long.
    const found = [50, 120].map((minutes) => look(120 * minuteMs, minutes * minuteMs))
    expect((await Promise.all(found)).map(({ isUnknown }) => isUnknown('ethereum/mainnet pancakeswap'))).to.deep.equal([false, true])
  })

  it('find a connector that gave quotes and gives none, and none that never gave one', async () => {
    let count = 0
    const look = ruleOf('noQuote', { minutes: 60 }, { quotes: () => [{ ...on, connector: 'uniswap', count }] })
    expect((await look(0)).subjects).to.deep.equal([])
    expect((await look(120 * minuteMs)).subjects).to.deep.equal([])
    count = 5
    expect((await look(121 * minuteMs)).subjects).to.deep.equal([])
    expect((await look(181 * minuteMs)).subjects).to.deep.equal(['ethereum/mainnet uniswap'])
    count = 6
    expect((await look(182 * minuteMs)).subjects).to.deep.equal([])
    // Another version of the plugin counts from the beginning.
    count = 1
    expect((await look(243 * minuteMs)).subjects).to.deep.equal([])
    count = 0
    await look(244 * minuteMs)
    count = 1
    expect((await look(304 * minuteMs)).subjects).to.deep.equal([])
  })

  it('find a limit that is not used up and refuses again and again, and say nothing of one refusal or of a client whose limits cannot be read', async () => {
    let count = 1
    const look = ruleOf(
      'limitReached',
      { minutes: 15, requests: 3 },
      {
        limitRefusals: async () => [{ client: 'bot', limit: 'value.perTransaction', count }],
        limitUsage: async () => [{ client: 'other' }],
      },
    )
    const first = await look(0)
    expect(first.subjects).to.deep.equal([])
    expect(first.isUnknown('other value.perDay')).to.equal(true)
    count = 2
    expect((await look(14 * minuteMs)).subjects).to.deep.equal([])
    count = 3
    // The first does not count any more.
    expect((await look(15 * minuteMs)).subjects).to.deep.equal([])
    count = 4
    expect((await look(16 * minuteMs)).subjects).to.deep.equal(['bot value.perTransaction'])
    expect((await look(31 * minuteMs)).subjects).to.deep.equal([])
    count = 12
    expect((await look(32 * minuteMs)).subjects).to.deep.equal(['bot value.perTransaction'])
  })

  it('find what keeps the server from being ready once it lasts, and forget it when it is over', async () => {
    let failing = [{ part: 'signer', reason: 'it is not there', remedy: 'Start it.' }]
    const look = ruleOf('notReady', { seconds: 20 }, { failing: async () => failing })
    const begun = await look(0)
    expect([begun.subjects, begun.isUnknown('signer')]).to.deep.equal([[], true])
    expect((await look(20_000)).found).to.deep.equal([{ subject: 'signer', words: 'signer: it is not there. Start it' }])
    failing = []
    const over = await look(21_000)
    expect([over.subjects, over.isUnknown('signer')]).to.deep.equal([[], false])
    failing = [{ part: 'signer', reason: 'it is not there', remedy: 'Start it.' }]
    expect((await look(22_000)).subjects).to.deep.equal([])
  })

  it('find a network none of whose nodes is good', async () => {
    let nodes = [
      { ...on, url: 'https://one', state: 'unreachable' },
      { ...on, url: 'https://two', state: 'good' },
    ]
    const look = ruleOf('noGoodNode', { seconds: 30 }, { nodes: () => nodes })
    await look(0)
    expect((await look(31_000)).subjects).to.deep.equal([])
    nodes = nodes.map((node) => ({ ...node, state: 'forked' }))
    await look(32_000)
    expect((await look(62_000)).found).to.deep.equal([
      { subject: 'ethereum/mainnet', words: 'ethereum/mainnet: https://one is forked, https://two is forked' },
    ])
    nodes = nodes.map((node) => ({ ...node, state: 'slow' }))
    expect((await look(63_000)).subjects).to.deep.equal([])
  })

  it('find stops, a request that waits, a file of clients that is wrong, and a plugin that does not run', async () => {
    const stop = { mode: 'stop', of: 'all', setBy: 'boss', reason: 'a drill' }
    expect((await ruleOf('tradingStopped', {}, { stops: () => [stop] })()).found).to.deep.equal([
      { subject: 'stop all', words: 'stop is in force for all, set by boss: a drill' },
    ])
    const request = { id: 7, client: 'bot', endpoint: 'AMMTrade', expiresAt: 0 }
    expect((await ruleOf('approvalWaits', {}, { waitingApprovals: async () => [request] })()).found).to.deep.equal([
      { subject: '7', words: 'request 7 of the client bot (AMMTrade) waits until 1970-01-01T00:00:00.000Z' },
    ])
    expect((await ruleOf('clientsFileWrong', {}, { clientsFileWrong: () => true })()).subjects).to.deep.equal(['conf/clients.yml'])
    expect((await ruleOf('clientsFileWrong', {}, {})()).subjects).to.deep.equal([])
    const refused = ruleOf('pluginRefused', { seconds: 60 }, { refusedPlugins: () => [{ plugin: 'acme', reason: 'import: it throws.' }] })
    expect((await refused(0)).subjects).to.deep.equal([])
    expect((await refused(60_000)).found).to.deep.equal([{ subject: 'acme', words: 'acme: import: it throws.' }])
  })
})
