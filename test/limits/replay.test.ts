import { expect } from 'chai'
import type { ClientLimits } from '../../core/config/clients.ts'
import { limitsOn } from '../../core/limits/client-limits.ts'
import type { NetworkName } from '../../core/base/networks.ts'
import { createReplay, type Replay, type ReplayReader } from '../../core/limits/replay.ts'
import type { Entry } from '../../core/transactions/entry.ts'

const [weth, usdc, odd] = ['0x01', '0x02', '0x03'] as const
const tokens = [
  { address: weth, symbol: 'WETH', decimals: 0 },
  { address: usdc, symbol: 'USDC', decimals: 0 },
]
/** What each transaction moved is its memo, and its fee its nonce. */
const reader: ReplayReader = {
  gains: ({ memo }) => new Map(Object.entries((memo ?? {}) as Record<string, number>).map(([token, raw]) => [token, BigInt(raw)])),
  tells: () => 'all',
  heldChanges: () => [],
  gasCost: ({ nonce }) => BigInt(nonce),
  token: (_, name) => tokens.find(({ address, symbol }) => address === name || symbol === name),
  value: (_, gives) => ({ is: 'priced', micros: Object.values(gives).reduce((sum, raw) => sum + raw * 1_000_000n, 0n) }),
  reference: () => 'USDC',
  coin: () => ({ symbol: 'ETH', decimals: 0 }),
  touches: ({ connector, memo, kind }) => ({
    connectors: connector === 'not told' ? 'unknown' : connector === undefined ? [] : [{ name: connector, builtIn: connector !== 'mine' }],
    tokens:
      memo === null
        ? 'unknown'
        : Object.entries(memo as Record<string, number>)
            .filter(([, raw]) => kind !== 'liquidity' || raw < 0)
            .map(([name]) => ({ name, ...(kind === 'position' ? { symbol: name } : symbolOf(name)) })),
  }),
}
function symbolOf(address: string): { symbol?: string } {
  const token = tokens.find((each) => each.address === address)
  return token ? { symbol: token.symbol } : {}
}
const hour = 3_600_000
const noon = Date.parse('2026-11-26T12:00:00Z')
const swapAt = (at: number, more: Partial<Entry> = {}): Entry =>
  ({
    chain: 'ethereum',
    network: 'mainnet',
    kind: 'trade',
    connector: 'uniswap',
    client: 'bot',
    createdAt: noon + at,
    attempts: [{}],
    memo: { [weth]: -5, [usdc]: 9 },
    nonce: 1,
    about: null,
    ...more,
  }) as unknown as Entry

function resultOf(limits: ClientLimits, ...entries: readonly Entry[]): ReturnType<Replay['result']> {
  const replay = createReplay('bot', { own: limits, limitsOn: (on) => limitsOn(limits, on) }, reader)
  for (const entry of entries) replay.take(entry)
  return replay.result()
}

function hitsOf(limits: ClientLimits, ...entries: readonly Entry[]): Record<string, number> {
  return Object.fromEntries(resultOf(limits, ...entries).hits.map(({ limit, transactions }) => [limit, transactions]))
}

describe('limits that are checked against transactions of before', () => {
  it('would have refused those that touch what is not listed, by every list', () => {
    expect(hitsOf({ allowed: {} }, swapAt(0))).to.deep.equal({})
    expect(hitsOf({ maxFee: '5' }, swapAt(0, { memo: { [odd]: 3, [weth]: -1 } }), swapAt(1, { connector: 'mine' }))).to.deep.equal({
      'allowed.tokens': 1,
      'allowed.connectors': 1,
    })
    const lists = {
      connectors: ['sushiswap'],
      networks: ['base/mainnet'],
      tokens: ['WETH'],
      actions: ['order' as const],
      hours: ['13:00-14:00'],
    }
    expect(hitsOf({ allowed: lists }, swapAt(0), swapAt(hour))).to.deep.equal({
      'allowed.connectors': 2,
      'allowed.networks': 2,
      'allowed.tokens': 2,
      'allowed.actions': 2,
      'allowed.hours': 1,
    })
    expect(hitsOf({ allowed: { actions: ['shares'] } }, swapAt(0, { kind: 'liquidity', memo: { [odd]: 1, [weth]: -1 } }))).to.deep.equal({})
  })

  it('would have let through what the live server takes: approvals of its connectors, perpetuals, wraps and removals', () => {
    const approval = swapAt(0, { kind: 'approve', memo: { [weth]: 0 } })
    const position = swapAt(0, { kind: 'position', connector: 'perp', memo: { BTC: 1, USD: -1 } })
    const wrap = swapAt(0, { kind: 'wrap', memo: { [weth]: -1 } })
    const removal = swapAt(0, { kind: 'liquidity', memo: { [odd]: -1, [weth]: 2 }, reduces: true })
    expect(hitsOf({ maxSlippage: 1 }, approval, position)).to.deep.equal({})
    expect(hitsOf({ allowed: { connectors: ['perp'], tokens: ['BTC', 'USD', 'WETH'] } }, approval, position)).to.deep.equal({
      'allowed.connectors': 1,
    })
    expect(hitsOf({ tokens: {}, value: { perTransaction: '0' } }, position, wrap, removal)).to.deep.equal({})
  })

  it('would have refused an approval of a spender of no connector for a client with a list of connectors alone', () => {
    const { connector: _, ...approval } = swapAt(0, { kind: 'approve', memo: { [weth]: 0 } })
    expect(hitsOf({ allowed: {} }, approval)).to.deep.equal({})
    expect(hitsOf({ allowed: { connectors: ['perp'] } }, approval)).to.deep.equal({ 'allowed.connectors': 1 })
  })

  it('are not known where the journal does not tell what was touched, and hold those of which it does', () => {
    const { hits, notTold } = resultOf(
      { allowed: { connectors: ['perp'], tokens: ['USDC'] } },
      swapAt(0),
      swapAt(1, { connector: 'not told' }),
      swapAt(2, { kind: 'order', memo: null }),
    )
    expect(hits.map(({ limit, transactions }) => [limit, transactions])).to.deep.equal([
      ['allowed.tokens', 2],
      ['allowed.connectors', 2],
    ])
    expect([...notTold]).to.deep.equal(['allowed.connectors', 'allowed.tokens'])
    const ofPosition = resultOf({ maxFee: '5' }, swapAt(0, { kind: 'position', memo: null }))
    expect(ofPosition.hits).to.deep.equal([])
    expect(ofPosition.notTold).to.deep.equal([])
  })

  it('would have let cancels and what takes back through, and count nothing that was never signed', () => {
    const limits: ClientLimits = { allowed: { actions: [], hours: [] } }
    expect(
      hitsOf(limits, swapAt(0, { kind: 'cancel' }), swapAt(0, { kind: 'liquidity', reduces: true }), swapAt(0, { attempts: [] })),
    ).to.deep.equal({})
  })

  it('would have refused what is over amounts in an hour or a day, and what was refused is not spent', () => {
    expect(hitsOf({ transactionsPerHour: 2 }, ...[0, 1, 2, 3, 2 * hour].map((at) => swapAt(at)))).to.deep.equal({ transactionsPerHour: 2 })
    expect(hitsOf({ maxFee: '1' }, swapAt(0), swapAt(1, { nonce: 2 }))).to.deep.equal({ maxFee: 1 })
    expect(hitsOf({ maxDailyGas: '5' }, ...[0, 1, 2, 3, 4].map((at) => swapAt(at)))).to.deep.equal({ maxDailyGas: 1 })
    const ofWeth = { 'ethereum/mainnet': { WETH: { perHour: '10' } } }
    expect(hitsOf({ tokens: ofWeth }, swapAt(0), swapAt(1), swapAt(2), swapAt(30 * hour))).to.deep.equal({ 'tokens.perHour': 1 })
    expect(hitsOf({ tokens: ofWeth }, swapAt(0, { memo: { [usdc]: -1, [weth]: 1 } }))).to.deep.equal({ tokens: 1 })
    expect(hitsOf({ value: { perTransaction: '4' } }, swapAt(0))).to.deep.equal({ 'value.perTransaction': 1 })
  })

  it('would have refused what is over defaults, on networks that have them', () => {
    const limitsHere = ({ network }: NetworkName) =>
      network === 'mainnet' ? { maxFee: '1', maxDailyLoss: '20', defaults: new Map() } : undefined
    const replay = createReplay('bot', { own: undefined, limitsOn: limitsHere }, reader)
    for (const entry of [swapAt(0, { nonce: 2 }), swapAt(1, { nonce: 2, network: 'local' }), swapAt(2, { connector: 'mine' })])
      replay.take(entry)
    const { hits, notTold, transactions } = replay.result()
    expect(hits.map(({ limit, transactions: count }) => [limit, count])).to.deep.equal([['maxFee', 1]])
    expect([...notTold].toSorted()).to.deep.equal(['maxDailyLoss', 'maxLeverage'])
    expect(transactions).to.equal(3)
  })

  it('say which of them the journal does not tell', () => {
    const limits: ClientLimits = { maxDailyLoss: '1', maxSlippage: 1, value: { perDay: '1' }, allowed: { pools: [], recipients: [] } }
    const held = { own: limits, limitsOn: (on: NetworkName) => limitsOn(limits, on) }
    const replay = createReplay('bot', held, { ...reader, value: () => ({ is: 'no market' }) })
    replay.take(swapAt(0))
    const { notTold, hits, transactions } = replay.result()
    expect([...notTold].toSorted()).to.deep.equal([
      'allowed.pools',
      'allowed.recipients',
      'maxDailyLoss',
      'maxLeverage',
      'maxSlippage',
      'value',
    ])
    expect(hits).to.deep.equal([])
    expect(transactions).to.equal(1)
  })
})
