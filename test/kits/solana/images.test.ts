import { expect } from 'chai'
import type { Followed, Head } from '../../../core/contracts/index.ts'
import { createSynchroniser, type Synchroniser } from '../../../core/live-state/synchroniser.ts'
import { createStateSource } from '../../../core/live-state/tracked-states.ts'
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
      asked()
      cluster.blocks(1)
      const { number } = await site.chain.head(soon())
      await until(() => (sync.tip?.number ?? 0n) >= number)
      for (const key of keys) expect((await sync.read(source, key, soon())).state).to.equal(amountRaw)
      expect(asked().filter((method) => method === 'getMultipleAccounts')).to.have.length(1)
    }
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
