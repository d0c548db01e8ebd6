import { expect } from 'chai'
import type { Followed, Head } from '../../../core/contracts/index.ts'
import { createSynchroniser, type Synchroniser } from '../../../core/live-state/synchroniser.ts'
import { createStateSource } from '../../../core/live-state/tracked-states.ts'
import { startOf } from '../../../kits/solana/account-keys.ts'
import { associatedAddress, type Solana } from '../../../kits/solana/index.ts'
import { keeping } from '../../live-state/keeping.ts'
import { createRecorder, until } from '../../live-state/recorder.ts'
import { soon, startCluster, type TestCluster } from './test-cluster.ts'

/** https://github.com/solana-program/token: an account's amount, u64 behind mint and owner. */
const amountAt = 64

describe('accounts of Solana that are kept in memory', () => {
  let site: TestCluster
  let sync: Synchroniser
  before(async () => {
    site = await startCluster()
    const subject = { chain: 'solana', network: 'local' }
    sync = createSynchroniser({ ...keeping, chain: site.chain, subject, telemetry: createRecorder().telemetry })
  })
  after(async () => {
    sync?.stop()
    await site?.stop()
  })

  /** What is kept is read with the newest slot. */
  async function caughtUp(): Promise<Head> {
    const head = await site.chain.head(soon())
    await until(() => (sync.tip?.number ?? 0n) >= head.number)
    return head
  }

  const amountIn = (data: Uint8Array) => Buffer.from(data).readBigUInt64LE(amountAt)
  const accountsOf = ({ chain }: TestCluster): Followed<Solana, bigint> => ({
    follow: [],
    followOf: (account) => [account],
    keysOf: ({ address }) => [address],
    async load(keys, head, at) {
      const { head: read, accounts } = await chain.reader.accounts(keys, at, head)
      const states = keys.flatMap((key, index) => {
        const account = accounts[index]
        return account ? [[key, amountIn(account.data)] as const] : []
      })
      return { head: { ...head, number: read.number }, states: new Map(states) }
    },
    apply: (_state, { data }) => (data ? amountIn(Buffer.from(data.base64, 'base64')) : 'reload'),
  })

  it('change with every slot, by one call for all of them', async () => {
    const { cluster, wallet, asked } = site
    const { USDC, FEES } = cluster.mints
    const source = createStateSource({ chain: 'solana', network: 'local', connector: 'tokens' }, accountsOf(site))
    const keys = []
    for (const mint of [USDC, FEES]) {
      await cluster.mintTo(wallet.address, mint, 7n)
      keys.push(await associatedAddress(wallet.address, mint.address, mint.program))
    }
    cluster.blocks(1)
    for (const key of keys) expect((await sync.read(source, key, soon())).state).to.equal(7n)

    for (const amountRaw of [10n, 13n]) {
      for (const mint of [USDC, FEES]) await cluster.mintTo(wallet.address, mint, 3n)
      await caughtUp()
      asked()
      cluster.blocks(1)
      await caughtUp()
      for (const key of keys) expect((await sync.read(source, key, soon())).state).to.equal(amountRaw)
      expect(asked().filter((method) => method === 'getMultipleAccounts')).to.have.length(1)
    }
  })

  it('are read from their beginning alone where no more is followed, in the same batch', async () => {
    const { chain, cluster, wallet, asked } = site
    const { USDC } = cluster.mints
    const mint = startOf(USDC.address, 45)
    cluster.blocks(1)
    const head = await caughtUp()
    asked()
    const blocks = await chain.changes?.(head, head, { follow: [mint, wallet.address] }, soon())
    if (!blocks || blocks === 'forked') throw new Error('There are no images.')
    const images = new Map(blocks.flatMap(({ changes }) => changes.map(({ address, data }) => [address, data])))
    const account = cluster.svm.getAccount(USDC.address)
    const whole = Buffer.from(account.exists ? account.data : [])
    expect(images.get(mint)?.base64).to.equal(whole.subarray(0, 45).toString('base64'))
    expect(images.get(wallet.address)).to.have.property('base64', '')
    const { sets } = await chain.reader.sets([[wallet.address, mint]], soon(), head)
    expect(sets[0]?.map((account) => account?.data.length)).to.deep.equal([0, 45])
    expect(asked().filter((method) => method === 'getMultipleAccounts')).to.have.length(4)
  })

  it('are read again where the slots that had them are on a fork that lost', async () => {
    const { cluster, wallet } = site
    const { USDC } = cluster.mints
    const source = createStateSource({ chain: 'solana', network: 'local', connector: 'forks' }, accountsOf(site))
    const key = await associatedAddress(wallet.address, USDC.address, USDC.program)
    const amount = async () => BigInt(String((await sync.read(source, key, soon())).state))
    const becomes = async (amountRaw: bigint) => {
      for (let tries = 0; (await amount()) !== amountRaw; tries += 1) {
        if (tries > 100) throw new Error(`It never became ${amountRaw}.`)
        cluster.blocks(1)
        await caughtUp()
      }
    }
    await cluster.mintTo(wallet.address, USDC, 1n)
    cluster.blocks(2)
    const before = await amount()
    const { height } = cluster.ledger.tip
    await cluster.mintTo(wallet.address, USDC, 5n)
    await becomes(before + 5n)
    cluster.reorganise(Number(cluster.ledger.tip.height - height), 'lost')
    await becomes(before)
  })

  it('come from the slot that was asked for, or a newer one, or not at all', async () => {
    const { chain, cluster, wallet } = site
    cluster.blocks(1)
    const head = await chain.head(soon())
    const read = await chain.reader.accounts([wallet.address], soon(), head)
    expect(read.head.number >= head.number).to.equal(true)
    const later: Head = { ...head, number: head.number + 1_000n }
    for (const reading of [
      () => chain.reader.accounts([wallet.address], soon(), later),
      () => chain.changes?.(head, later, { follow: [wallet.address] }, soon()),
    ]) {
      const refusal = await Promise.resolve(reading()).then(
        () => 'read',
        ({ name }: Error) => name,
      )
      expect(refusal).to.equal('NETWORK')
    }
  })
})
