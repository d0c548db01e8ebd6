import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { measureNodes, measureStore, measureTransactions } from '../../core/http/gauges.ts'
import { countChanges, createMetrics, observeJournal } from '../../core/http/metrics.ts'
import { SluiceError } from '../../core/base/errors.ts'
import { openStore } from '../../core/store/open-store.ts'
import { type Store } from '../../core/store/store.ts'
import { OwnershipLostError, type Journal } from '../../core/transactions/journal/journal.ts'
import { type Entry } from '../../core/transactions/entry.ts'
import { sqlJournal } from '../../core/transactions/journal/sql-journal.ts'
import { newEntry } from '../transactions/journal/entries.ts'

const log = { info: () => {}, warn: () => {} }
const site = { chain: 'ethereum', network: 'local' }
const ordered = { rail: { sequences: 'ordered' as const } }
const attempt = { id: '0xaa', raw: new Uint8Array(), fees: null, signedAt: 0, sends: 1 }
const landed = { id: '0xaa', ok: true, blockNumber: 7, receipt: null }

const queued = newEntry({
  ...site,
  createdAt: 0,
  updatedAt: 0,
  address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  sequence: 5,
  nonce: 5,
})
const signed: Entry = { ...queued, state: 'SIGNED', attempts: [attempt] }
const bumped: Entry = { ...signed, state: 'BROADCAST', attempts: [attempt, { ...attempt, id: '0xbb' }] }
const mined: Entry = { ...bumped, state: 'MINED', landed, updatedAt: 4_000 }
const confirmed: Entry = { ...mined, state: 'CONFIRMED' }

/** The lines of the server's own figures that begin so. */
async function shown(metrics: ReturnType<typeof createMetrics>, ...names: readonly string[]): Promise<string[]> {
  const text = await metrics.registry.metrics()
  return text.split('\n').filter((line) => names.some((name) => line.startsWith(name)) && !line.includes('_bucket'))
}

describe('the metrics of transactions', () => {
  it('count raised fees, inclusion, reorganisation and final states', async () => {
    const metrics = createMetrics()
    const changed = countChanges(metrics)
    const life = [queued, signed, bumped, mined, bumped, mined, confirmed]
    for (const [index, entry] of life.entries()) changed(entry, life[index - 1])
    const outcome = { ...site, kind: 'trade', state: 'CONFIRMED' }
    expect(await shown(metrics, 'sluice_transaction')).to.have.members([
      `sluice_transaction_outcomes_total{chain="${outcome.chain}",network="local",kind="trade",state="CONFIRMED"} 1`,
      'sluice_transaction_replacements_total{chain="ethereum",network="local",by="bump"} 1',
      'sluice_transaction_reorganisations_total{chain="ethereum",network="local"} 1',
      'sluice_transaction_inclusion_seconds_sum{chain="ethereum",network="local"} 8',
      'sluice_transaction_inclusion_seconds_count{chain="ethereum",network="local"} 2',
    ])
  })

  it("count what other software did apart from a cancel that came too late, so that the alert for other software's doing means it", async () => {
    const metrics = createMetrics()
    const changed = countChanges(metrics)
    changed({ ...signed, state: 'DROPPED' }, signed)
    changed({ ...signed, kind: 'cancel', state: 'OVERTAKEN' }, { ...signed, kind: 'cancel' })
    expect(await shown(metrics, 'sluice_transaction_outcomes_total{')).to.have.members([
      'sluice_transaction_outcomes_total{chain="ethereum",network="local",kind="trade",state="DROPPED"} 1',
      'sluice_transaction_outcomes_total{chain="ethereum",network="local",kind="cancel",state="OVERTAKEN"} 1',
    ])
  })

  it('count cancels and filled gaps once, when they are made', async () => {
    const metrics = createMetrics()
    const changed = countChanges(metrics)
    for (const kind of ['cancel', 'fill'] as const) {
      changed({ ...queued, kind })
      changed({ ...signed, kind }, { ...queued, kind })
    }
    expect(await shown(metrics, 'sluice_transaction_replacements', 'sluice_nonce_gaps_filled')).to.have.members([
      'sluice_transaction_replacements_total{chain="ethereum",network="local",by="cancel"} 1',
      'sluice_nonce_gaps_filled_total{chain="ethereum",network="local"} 1',
    ])
  })
})

describe('the metrics of the journal', () => {
  let dataDir: string
  let store: Store
  let journal: Journal
  let metrics: ReturnType<typeof createMetrics>
  const lane = `${site.chain}/${site.network}/${queued.address}`

  beforeEach(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'sluice-metrics-'))
    store = await openStore({ dataDir, serverName: 'test', log })
    await store.write((tx) => tx.insertInto('lanes').values({ lane, server: 'test', fence: 1, wanted_by: null }).execute())
    metrics = createMetrics()
    journal = observeJournal(sqlJournal(store), metrics)
  })
  afterEach(async () => {
    await store.close()
    await rm(dataDir, { recursive: true, force: true })
  })

  const openAt = async (nonce: number, createdAt: number) => {
    const entry = { ...queued, key: `a-${createdAt}-${nonce}`, nonce, sequence: nonce, createdAt }
    await journal.open([entry], { queue: lane, fencingToken: 1 })
    return entry
  }

  it('measure durable writes, and count failed ones by reason', async () => {
    const entry = await openAt(5, 0)
    expect(await journal.write([{ ...entry, version: 2, state: 'EXPIRED' }], { queue: lane, fencingToken: 1 })).to.equal(true)
    const refused = await journal.open([{ ...queued, key: 'b-1' }], { queue: lane, fencingToken: 0 }).catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(OwnershipLostError)
    const reserve = async () => {
      throw new SluiceError('FORBIDDEN', 'The budget is spent.')
    }
    const spending = { client: 'bot', is: 'new' as const, coin: { symbol: 'ETH', decimals: 18 }, steps: [] }
    await observeJournal(sqlJournal(store, undefined, [{ reserve }]), metrics)
      .open([{ ...queued, key: 'b-2' }], { queue: lane, fencingToken: 1 }, undefined, [], spending)
      .catch(() => {})
    const lines = await shown(metrics, 'sluice_journal_seconds_count', 'sluice_journal_failures_total')
    expect(lines).to.have.members([
      'sluice_journal_seconds_count{operation="open"} 1',
      'sluice_journal_seconds_count{operation="write"} 1',
      'sluice_journal_failures_total{operation="open",reason="superseded"} 1',
      'sluice_journal_failures_total{operation="open",reason="refused"} 1',
    ])
  })

  it('show open transactions by state and age, the age of the oldest, and wallets with nonce gaps', async () => {
    const nowMs = 1_000_000
    const other = { chain: 'ethereum', network: 'mainnet', impl: ordered }
    measureTransactions(metrics, { journal, networks: [{ ...site, impl: ordered }, other], log, nowMs: () => nowMs })
    await openAt(5, nowMs - 700_000)
    await openAt(6, nowMs - 10_000)
    await openAt(8, nowMs - 5_000)
    const expected = [
      'sluice_transactions_open{chain="ethereum",network="local",state="QUEUED",age="10m to 1h"} 1',
      'sluice_transactions_open{chain="ethereum",network="local",state="QUEUED",age="below 1m"} 2',
      'sluice_transactions_oldest_open_seconds{chain="ethereum",network="local"} 700',
      'sluice_transactions_oldest_open_seconds{chain="ethereum",network="mainnet"} 0',
      'sluice_nonce_gap_wallets{chain="ethereum",network="local"} 1',
      'sluice_nonce_gap_wallets{chain="ethereum",network="mainnet"} 0',
    ]
    const scrapes = await Promise.all([1, 2, 3].map(() => shown(metrics, 'sluice_transactions_o', 'sluice_nonce_gap_wallets')))
    for (const lines of scrapes) expect(lines).to.have.members(expected)
  })

  it('show open transactions that this server does not watch', async () => {
    const networks = [{ chain: 'ethereum', network: 'mainnet', impl: ordered }]
    measureTransactions(metrics, { journal, networks, log, nowMs: () => 1_000_000 })
    await openAt(5, 900_000)
    await openAt(6, 900_000)
    expect(await shown(metrics, 'sluice_transactions_unwatched')).to.have.members([
      'sluice_transactions_unwatched{chain="ethereum",network="local"} 2',
      'sluice_transactions_unwatched{chain="ethereum",network="mainnet"} 0',
    ])
  })

  it('show no nonce gap on rails without an order of nonces', async () => {
    const networks = [{ ...site, impl: { rail: { sequences: 'independent' as const } } }]
    measureTransactions(metrics, { journal, networks, log, nowMs: () => 1_000_000 })
    await openAt(5, 900_000)
    await openAt(8, 900_000)
    expect(await shown(metrics, 'sluice_nonce_gap_wallets')).to.deep.equal(['sluice_nonce_gap_wallets{chain="ethereum",network="local"} 0'])
  })

  it('show that the store cannot be written, and all other metrics', async () => {
    measureTransactions(metrics, { journal, networks: [{ ...site, impl: ordered }], log })
    measureStore(metrics, store)
    expect(await shown(metrics, 'sluice_store_up')).to.deep.equal(['sluice_store_up 1'])
    const file = path.join(dataDir, 'sluice.db')
    await rename(file, `${file}.moved`)
    expect(await shown(metrics, 'sluice_store_up', 'process_cpu_seconds_total'))
      .to.include('sluice_store_up 0')
      .and.have.lengthOf(2)
    await rename(`${file}.moved`, file)
    expect(await shown(metrics, 'sluice_store_up')).to.deep.equal(['sluice_store_up 1'])
  })
})

describe('the metrics of requests', () => {
  const series = (lines: readonly string[]) => lines.filter((line) => line.startsWith('sluice_request_seconds_count'))

  it('have a number of series that no client can raise, whatever it asks for, and count every request', async () => {
    const metrics = createMetrics()
    let count = 0
    for (let odd = 0; odd < 30; odd += 1)
      for (const method of ['GET', 'PATCH', 'PROPFIND', 'M-SEARCH', `M${odd}`])
        for (const status of [200, 400, 403, 404, 422, 503])
          for (let connector = 0; connector < 20; connector += 1) {
            metrics.requests.count(`/odd/${odd}`, method, status, `c${connector}`, 0.001)
            count += 1
          }
    const text = await metrics.registry.metrics()
    expect(text.split('\n').length).to.be.below(8_000)
    const shownSeries = series(text.split('\n'))
    expect(shownSeries.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)).to.equal(count)
    // What is beyond keeps its status.
    for (const status of [200, 400, 403, 404, 422, 503])
      expect(text).to.contain(`sluice_request_seconds_count{route="other",method="other",status="${status}",connector="other"}`)
    expect(text).not.to.match(/PATCH|PROPFIND|M-SEARCH/)
  })

  it('show what is answered by its own labels, however much was refused before', async () => {
    const metrics = createMetrics()
    for (let odd = 0; odd < 1_000; odd += 1) metrics.requests.count(`/odd/${odd}`, 'POST', 403, '', 0.001)
    metrics.requests.count('/amm/trade', 'POST', 200, 'uniswap', 0.002)
    metrics.requests.count('/amm/trade', 'POST', 200, 'uniswap', 0.2)
    const labels = 'route="/amm/trade",method="POST",status="200",connector="uniswap"'
    const lines = (await metrics.registry.metrics()).split('\n').filter((line) => line.includes('/amm/trade'))
    expect(lines).to.include.members([
      `sluice_request_seconds_bucket{le="0.001",${labels}} 0`,
      `sluice_request_seconds_bucket{le="0.0025",${labels}} 1`,
      `sluice_request_seconds_bucket{le="0.25",${labels}} 2`,
      `sluice_request_seconds_bucket{le="+Inf",${labels}} 2`,
      `sluice_request_seconds_sum{${labels}} 0.202`,
      `sluice_request_seconds_count{${labels}} 2`,
    ])
  })
})

describe('the metrics of nodes', () => {
  it('show every node of a network, and survive a plugin that fails to list its nodes', async () => {
    const metrics = createMetrics()
    const node = { url: 'https://one', state: 'good', inUse: true, reads: true, errorRate: 0.25, latencyMs: 40 }
    const impls = [
      {
        nodes: () => [
          node,
          { ...node, url: 'https://two', state: 'lagging', inUse: false, lagBlocks: 7, limits: { batch: 3, eth_getLogs: 500 } },
        ],
      },
      {},
      { nodes: () => JSON.parse('') },
    ]
    const networks = impls.map((impl, index) => ({ chain: 'ethereum', network: `n${index}`, impl }))
    // Of an implementation only the nodes are asked for here.
    measureNodes(metrics, { networks: networks as unknown as Parameters<typeof measureNodes>[1]['networks'] })
    const at = (url: string) => `chain="ethereum",network="n0",node="${url}"`
    expect(await shown(metrics, 'sluice_node')).to.have.members([
      `sluice_node_state{${at('https://one')},state="good"} 1`,
      `sluice_node_state{${at('https://two')},state="lagging"} 1`,
      `sluice_node_in_use{${at('https://one')}} 1`,
      `sluice_node_in_use{${at('https://two')}} 0`,
      `sluice_node_limit{${at('https://two')},of="batch"} 3`,
      `sluice_node_limit{${at('https://two')},of="eth_getLogs"} 500`,
      `sluice_node_lag_blocks{${at('https://two')}} 7`,
      `sluice_node_latency_seconds{${at('https://one')}} 0.04`,
      `sluice_node_latency_seconds{${at('https://two')}} 0.04`,
      `sluice_node_error_ratio{${at('https://one')}} 0.25`,
      `sluice_node_error_ratio{${at('https://two')}} 0.25`,
    ])
  })
})
