import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { addressKey } from '../core/base/addresses.ts'
import { mayUseWallet, type Services } from '../core/handlers/context.ts'
import { requireKey } from '../core/handlers/wallets.ts'
import type { NetworkEntry } from '../core/plugins/index.ts'
import { openStore } from '../core/store/open-store.ts'
import { sqlJournal } from '../core/transactions/journal/sql-journal.ts'
import { viewPools } from '../kits/pools/pool-views.ts'
import { v2Protocol } from '../kits/amm/v2/pools.ts'
import { canonicalAddress as canonicalOfEvm } from '../kits/evm/encoding.ts'
import { canonicalAddress } from '../kits/solana/types.ts'
import { giveLease, newEntry, queueOf } from './transactions/journal/entries.ts'
import { silent } from './transactions/site.ts'

const wallet = 'KbP52UpUBVxDWUam3g5h5uUtKxQyNvyGtV894iyazGe'
/** Another one on Solana. */
const twin = wallet.toLowerCase()
const ofEvm = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

describe('addresses of which one is the other in lower case', () => {
  it('are two of Solana, and one of an EVM chain', () => {
    expect([wallet, twin].map(canonicalAddress)).to.deep.equal([wallet, twin])
    expect(addressKey(wallet)).to.not.equal(addressKey(twin))
    expect([ofEvm, ofEvm.toLowerCase()].map(canonicalOfEvm)).to.deep.equal([ofEvm, ofEvm])
    for (const spelling of [ofEvm, ofEvm.toLowerCase(), ofEvm.toUpperCase()]) expect(addressKey(spelling)).to.equal(addressKey(ofEvm))
  })

  it('are not both given to a client that may use one of them', () => {
    for (const [own, other] of [
      [wallet, twin],
      [twin, wallet],
    ] as const) {
      const caller = { id: 'bot', fingerprint: '', permissions: new Set<never>(), wallets: new Set([addressKey(own)]) }
      expect([mayUseWallet(caller, own), mayUseWallet(caller, other)]).to.deep.equal([true, false])
    }
  })

  it('have keys of their own', () => {
    const wallets = { all: () => [{ chain: 'solana', address: twin }] } as unknown as Services['wallets']
    const network = { chain: 'solana', network: 'local', impl: { address: canonicalAddress } } as unknown as NetworkEntry
    expect(() => requireKey(wallets, network, twin)).to.not.throw()
    expect(() => requireKey(wallets, network, wallet)).to.throw(wallet)
  })

  it('have transactions of their own in the journal', async () => {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'sluice-addresses-'))
    const store = await openStore({ dataDir, serverName: 'test', log: silent })
    try {
      const journal = sqlJournal(store)
      const entries = [wallet, twin].map((address) => newEntry({ chain: 'solana', address }))
      for (const entry of entries) await journal.open([entry], await giveLease(store, { queue: queueOf(entry.address), fencingToken: 1 }))
      for (const entry of entries) {
        const { address } = entry
        for (const filter of [{ address }, { addresses: new Set([addressKey(address)]) }, { on: { address } }])
          expect((await journal.list(filter)).entries.map(({ key }) => key)).to.deep.equal([entry.key])
        const events = await journal.eventsAfter(0, { addresses: new Set([addressKey(address)]), limit: 10 })
        expect(events.map(({ entry: { key } }) => key)).to.deep.equal([entry.key])
      }
    } finally {
      await store.close()
      await rm(dataDir, { recursive: true, force: true })
    }
  })

  it('are two pools', async () => {
    const origin = { factory: ofEvm, initCodeHash: `0x${'00'.repeat(32)}` }
    const protocol = v2Protocol('v2', [3n, 1000n], origin)
    const tokens = ['A', 'B'] as const
    const pools = [wallet, twin].map((address) => ({
      protocol,
      pool: { address, tokens, state: { reserve0Raw: 10n ** 9n, reserve1Raw: 10n ** 9n } },
    }))
    const views = await viewPools(pools, [{ tokenIn: 'A', tokenOut: 'B' }], { depths: [100], most: 2, pool: twin })
    expect(views.map(({ pool }) => pool)).to.deep.equal([twin])
  })
})
