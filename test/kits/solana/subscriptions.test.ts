import { lamports, type Address } from '@solana/kit'
import { expect } from 'chai'
import type { Chain, Followed } from '../../../core/contracts/index.ts'
import { createSynchroniser, type Synchroniser } from '../../../core/live-state/synchroniser.ts'
import { createStateSource, type StateSource } from '../../../core/live-state/tracked-states.ts'
import { startOf } from '../../../kits/solana/account-keys.ts'
import { clockSysvar } from '../../../kits/solana/accounts.ts'
import { createAccountFeed, type AccountFeed, type FeedOptions } from '../../../kits/solana/account-feed.ts'
import { associatedAddress, type Solana } from '../../../kits/solana/index.ts'
import { createSubscribedImages } from '../../../kits/solana/subscribed-images.ts'
import type { SolanaNode } from '../../../tools/solana-node/start-solana.ts'
import { keeping } from '../../live-state/keeping.ts'
import { createRecorder } from '../../live-state/recorder.ts'
import { soon, startCluster, type TestCluster } from './test-cluster.ts'

/** https://github.com/solana-program/token: an account's amount, u64 behind mint and owner. */
const amountAt = 64

describe('accounts of Solana by subscription', () => {
  let site: TestCluster
  let node: SolanaNode
  let feed: AccountFeed
  let sync: Synchroniser
  let source: StateSource
  let warned: string[]
  let batches: number
  /** How long a slot is waited for. */
  let waitMs: number
  let accounts: readonly string[]
  /** When connections ended, and when something was subscribed to. */
  let endedAt: number[]
  let subscribedAt: number[]

  /** Counts the batches beside the subscription, and notes what is asked for over it. */
  function follow(checkMs = 3_600_000, options: Partial<FeedOptions> = {}): void {
    const note = (_fields: object, text: string) => {
      warned.push(text)
      if (/ended/.test(text)) endedAt.push(performance.now())
    }
    const log = { info: note, warn: note }
    const rpc = (method: string) => {
      if (method === 'accountSubscribe') subscribedAt.push(performance.now())
    }
    feed = createAccountFeed([node.url.replace('http', 'ws')], { log, meter: { rpc }, ...options })
    const batch: NonNullable<Chain<Solana>['changes']> = async (...asked) => {
      batches += 1
      const blocks = await site.chain.changes?.(...asked)
      return blocks ?? 'forked'
    }
    const changes = createSubscribedImages({ feed, batch, log, waitMs, checkMs })
    const subject = { chain: 'solana', network: 'local' }
    const { telemetry } = createRecorder()
    sync = createSynchroniser({ ...keeping, staleBlocks: 4, chain: { ...site.chain, changes }, subject, telemetry })
    source = createStateSource({ ...subject, connector: 'tokens' }, followedAmounts(site))
  }

  beforeEach(async () => {
    site = await startCluster({ skipped: 0 })
    node = await site.cluster.addNode({})
    warned = []
    endedAt = []
    subscribedAt = []
    batches = 0
    waitMs = 300
    const { USDC, FEES } = site.cluster.mints
    for (const mint of [USDC, FEES]) await site.cluster.mintTo(site.wallet.address, mint, 7n)
    accounts = await Promise.all([USDC, FEES].map((mint) => associatedAddress(site.wallet.address, mint.address, mint.program)))
    site.cluster.blocks(2)
  })
  afterEach(async () => {
    sync?.stop()
    feed?.stop()
    await site?.stop()
  })

  const amounts = async () => Promise.all(accounts.map(async (key) => (await sync.read(source, key, soon())).state))
  const mint = (amountRaw: bigint) => site.cluster.mintTo(site.wallet.address, site.cluster.mints.USDC, amountRaw)
  /** Blocks come until it holds. */
  const passes = async (what: string, holds: () => boolean | Promise<boolean>) => {
    for (let tries = 0; !(await holds()); tries += 1) {
      if (tries > 100) throw new Error(`It never came about: ${what}; ${warned.join(', ')}`)
      site.cluster.blocks(1)
      await new Promise((resolve) => setTimeout(resolve, 60))
    }
  }
  const areSubscribed = () => passes('all are subscribed to', () => accounts.every((key) => feed.since(key) !== undefined))
  const begins = async (options?: Partial<FeedOptions>) => {
    follow(undefined, options)
    await amounts()
    await areSubscribed()
    await passes('images come by subscription', async () => {
      const before = batches
      for (let each = 0; each < 3; each += 1) {
        site.cluster.blocks(1)
        await new Promise((resolve) => setTimeout(resolve, 80))
      }
      return batches === before
    })
  }

  it('change without a call, all of one slot', async () => {
    // The next one is made by this test, which may be slow.
    waitMs = 10_000
    await begins()
    batches = 0
    await mint(3n)
    await passes('the amount is told', async () => (await amounts())[0] === 10n)
    await mint(1n)
    await passes('the amount is told again', async () => (await amounts())[0] === 11n)
    expect([batches, warned]).to.deep.equal([0, []])
  })

  for (const [what, subscriptions] of [
    ['falls silent', 'silent'],
    ['ends its connections', 'none'],
  ] as const)
    it(`are read in batches where the node ${what}, and by subscription again when it is well`, async () => {
      await begins()
      node.options.subscriptions = subscriptions
      batches = 0
      await mint(3n)
      await passes('the amount is read', async () => (await amounts())[0] === 10n)
      expect(batches).to.be.greaterThan(0)
      expect(warned[0]).to.match(/are behind the head|subscriptions to accounts ended/)
      node.options.subscriptions = 'all'
      await mint(5n)
      await passes('the amount is told', async () => (await amounts())[0] === 15n)
      await areSubscribed()
      await passes('no batch is needed', async () => {
        const before = batches
        site.cluster.blocks(2)
        await new Promise((resolve) => setTimeout(resolve, 150))
        return batches === before
      })
      expect((await amounts())[0]).to.equal(15n)
    })

  it('are read in batches where the node is a hundred slots behind, and never shown as they were then', async () => {
    await begins()
    site.cluster.blocks(100)
    node.options.lagBlocks = 100
    batches = 0
    await mint(3n)
    await passes('the amount is read', async () => (await amounts())[0] === 10n)
    expect(warned).to.not.have.length(0)
    for (let each = 0; each < 5; each += 1) {
      site.cluster.blocks(1)
      await new Promise((resolve) => setTimeout(resolve, 60))
      expect((await amounts())[0]).to.equal(10n)
    }
  })

  it('are read again where the chain took slots back that were told', async () => {
    await begins()
    const { height } = site.cluster.ledger.tip
    await mint(3n)
    await passes('the amount is told', async () => (await amounts())[0] === 10n)
    site.cluster.reorganise(Number(site.cluster.ledger.tip.height - height), 'lost')
    await passes('the amount is undone', async () => (await amounts())[0] === 7n)
    expect(warned.join()).to.match(/took a slot back|subscriptions to accounts ended/)
  })

  it('are found wrong by the next check where the node kept one change to itself', async () => {
    follow(400)
    await amounts()
    await areSubscribed()
    node.options.subscriptions = 'clock'
    await mint(3n)
    await passes('the amount is read', async () => (await amounts())[0] === 10n)
    node.options.subscriptions = 'all'
    await passes('it is not relied on any more', () => warned.some((each) => /ended/.test(each)))
  })

  it('are read until they are told, where the node confirms a subscription before it takes it up', async () => {
    follow()
    const [told = '', late = ''] = accounts
    const amountOf = async (account: string) => (await sync.read(source, account, soon())).state
    await amountOf(told)
    await passes('one is subscribed to', () => feed.since(told) !== undefined)
    node.options.subscriptions = 'late'
    expect(await amountOf(late)).to.equal(7n)
    // It is confirmed with the next block, in which the node takes the subscription up: it is never told.
    await site.cluster.mintTo(site.wallet.address, site.cluster.mints.FEES, 3n)
    await new Promise((resolve) => setTimeout(resolve, 200))
    await passes('the amount is read', async () => (await amountOf(late)) === 10n)
  })

  it('are not kept as they are told while they are read in batches', async () => {
    site.cluster.blocks(25)
    node.options.lagBlocks = 20
    follow()
    await amounts()
    await areSubscribed()
    for (let each = 0; each < 50; each += 1) {
      await mint(1n)
      await new Promise((resolve) => setTimeout(resolve, 30))
    }
    await passes('the amount is read', async () => (await amounts())[0] === 57n)
    await passes('the last is told', () => (feed.toldUntil ?? 0) > Number(site.cluster.ledger.tip.slot) - 24)
    expect(feed.take(accounts[0] ?? '', Number.MAX_SAFE_INTEGER).length).to.be.lessThan(10)
  })

  it('are not kept without end where nobody takes what is told', async () => {
    await begins({ maxHeldBytes: 3_000 })
    sync.stop()
    for (let each = 0; each < 10; each += 1) await mint(1n)
    await passes('the connection ends', () => warned.some((each) => /ended/.test(each)))
  })

  it('are subscribed to once where the node refuses some, and again after a rest', async () => {
    const restMs = 1_500
    node.options.mostSubscriptions = 2
    follow(undefined, { restMs })
    await amounts()
    await passes('the node refuses', () => endedAt.length > 0)
    node.options.mostSubscriptions = Infinity
    const [refusedAt = 0, before] = [endedAt[0], subscribedAt.length]
    for (let each = 0; each < 15; each += 1) {
      await mint(1n)
      await new Promise((resolve) => setTimeout(resolve, 60))
    }
    await areSubscribed()
    await passes('the amount is told', async () => (await amounts())[0] === 22n)
    // The rest began a moment before it was said.
    expect((subscribedAt[before] ?? 0) - refusedAt).to.be.at.least(restMs - 100)
  })

  it('of a node that kept a change to itself are not subscribed to there again at once', async () => {
    follow(400)
    await amounts()
    await areSubscribed()
    node.options.subscriptions = 'clock'
    await mint(3n)
    await passes('it is found out', () => endedAt.length > 0)
    const before = subscribedAt.length
    for (let each = 0; each < 20; each += 1) {
      await amounts()
      site.cluster.blocks(1)
      await new Promise((resolve) => setTimeout(resolve, 60))
    }
    expect(subscribedAt).to.have.length(before)
  })

  it('are told where the clock is one of them, which the feed follows itself', async () => {
    waitMs = 10_000
    await begins()
    sync.stop()
    const [account = ''] = accounts
    feed.follow(new Set([account, clockSysvar]))
    await passes('the clock is subscribed to', () => feed.since(clockSysvar) !== undefined)
    const count = () => feed.take(clockSysvar, Number.MAX_SAFE_INTEGER).length
    count()
    let told = 0
    await passes('the clock is told', () => (told += count()) > 1)
    feed.follow(new Set([account]))
    const until = feed.toldUntil ?? 0
    await passes('slots are told', () => (feed.toldUntil ?? 0) > until + 3)
    expect(warned).to.deep.equal([])
  })

  it('are told in part where that is followed, and as gone where they are closed', async () => {
    await begins()
    sync.stop()
    const [account = ''] = accounts
    const start = startOf(account, 72)
    feed.follow(new Set([account, start]))
    await passes('the part is subscribed to', () => feed.since(start) !== undefined)
    const told = (key: string) => feed.take(key, Number.MAX_SAFE_INTEGER).at(-1)
    await mint(3n)
    let part = told(start)
    await passes('the part is told', () => (part ??= told(start)) !== undefined)
    const whole = Buffer.from(told(account)?.data?.base64 ?? '', 'base64')
    expect(Buffer.from(part?.data?.base64 ?? '', 'base64')).to.deep.equal(whole.subarray(0, 72))
    const { svm } = site.cluster
    const found = svm.getAccount(account as Address)
    if (!found.exists) throw new Error('It is not there.')
    svm.setAccount({ ...found, lamports: lamports(0n), data: new Uint8Array(), space: 0n })
    let last = told(account)
    await passes('it is told that it is gone', () => (last ??= told(account)) !== undefined)
    expect(last).to.have.property('data', null)
  })
})

const amountIn = (data: Uint8Array) => Buffer.from(data).readBigUInt64LE(amountAt)

const followedAmounts = ({ chain }: TestCluster): Followed<Solana, bigint> => ({
  follow: [],
  followOf: (account) => [account],
  keysOf: ({ address }) => [address],
  async load(keys, head, at) {
    const { head: read, accounts } = await chain.reader.accounts(keys, at, head)
    const states = keys.flatMap((key, index) => {
      const account = accounts[index]
      return account && account.data.length > amountAt ? [[key, amountIn(account.data)] as const] : []
    })
    return { head: { ...head, number: read.number }, states: new Map(states) }
  },
  apply: (_state, { data }) => (data ? amountIn(Buffer.from(data.base64, 'base64')) : 'reload'),
})
