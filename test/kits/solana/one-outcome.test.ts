import { expect } from 'chai'
import { address, generateKeyPairSigner, signBytes, type Address, type Signature } from '@solana/kit'
import type { Plan } from '../../../core/contracts/index.ts'
import type { Sign } from '../../../core/transactions/submit-request.ts'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import { newAccountOf } from '../../../core/wallet/new-accounts.ts'
import { fromKit, type Solana } from '../../../kits/solana/index.ts'
import { dropsAll, holdsAll, takesAll } from '../../../tools/solana-node/ledger/leaders.ts'
import { createPool, swapInstruction, type Pool } from '../../../tools/solana-node/programs/pool.ts'
import type { SolanaNode } from '../../../tools/solana-node/start-solana.ts'
import { soon, until } from '../../transactions/site.ts'
import { chainOver } from './test-cluster.ts'
import {
  comesTo,
  entryOf,
  looks,
  orderOf,
  signChecked,
  signedBy,
  startSolanaSite,
  transactionsAt,
  verifier,
  type SolanaSite,
} from './solana-site.ts'

const paidRaw = 1_000_000n
const reserves = [1_000_000_000_000n, 150_000_000_000n] as const

describe('a transaction with a lookup table and a new account, on nodes and a chain in trouble', () => {
  let site: SolanaSite
  let transactions: Transactions
  let liar: SolanaNode
  let pools: readonly Pool[]
  let table: Address
  let skewMs = 0
  /** What happens between journal and signature. */
  let beforeSigning = () => {}
  before(async () => {
    const own = await startSolanaSite()
    liar = await own.cluster.addNode({})
    const { chain, asked } = chainOver({ rpcUrls: [own.cluster.url, liar.url] })
    await own.chain.stop?.()
    site = { ...own, chain, asked, network: { ...own.network, impl: chain } }
    const { cluster, wallet } = site
    const made: Pool[] = []
    await cluster.mintTo(wallet.address, cluster.mints.BASE, 10n ** 12n)
    for (const symbol of ['ONE', 'TWO', 'TREE', 'FOUR', 'FIVE', 'SIX']) {
      const mint = await cluster.createMint({ symbol, decimals: 6 })
      made.push(await createPool(cluster, [cluster.mints.BASE, mint], reserves, 30n))
      await cluster.mintTo(wallet.address, mint, 1n)
    }
    pools = made
    table = (await generateKeyPairSigner()).address
    cluster.setLookupTable(table, entries())
    cluster.blocks(2)
    transactions = await transactionsAt(site, { sign, newAccount, steadyMs: () => performance.now() + skewMs })
  })
  beforeEach(() => {
    beforeSigning = () => {}
    skewMs = 0
    site.cluster.lead(takesAll)
    Object.assign(liar.options, { aheadBlocks: 0n, lagBlocks: 0 })
  })
  after(async () => {
    await transactions?.stop(1000)
    await site?.chain.stop?.()
    await site?.stop()
  })

  const declared = () => [verifier, ...pools.slice(0, 1).map(({ program }) => program)]
  const entries = () => pools.flatMap((pool) => [pool.address, pool.authority, ...pool.vaults])
  const accountOf = (id: string) => {
    const { wallet } = site
    const signs = async (payload: Uint8Array) => Uint8Array.from(await signBytes(wallet.keyPair.privateKey, payload))
    return newAccountOf({ chain: 'solana', address: wallet.address, curve: 'ed25519', sign: signs }, 'solana/local', id)
  }
  const newAccount = async ({ id }: { id: string }) => (await accountOf(id)).address
  const sign: Sign = async (request) => {
    beforeSigning()
    const id = request.newAccounts?.[request.signsAs ?? -1]
    if (id !== undefined) return (await accountOf(id)).sign(request.signable.bytes)
    return signChecked(site.wallet, declared)(
      request,
      await Promise.all((request.newAccounts ?? []).map((each) => newAccount({ id: each }))),
    )
  }

  async function planFor(account: string): Promise<Plan<Solana>> {
    const { wallet } = site
    const swaps = pools.map((pool) => swapInstruction(pool, wallet, { pays: 0, exact: 'paid', amountRaw: paidRaw, limitRaw: 1n }))
    const step = {
      payer: wallet.address,
      instructions: [signedBy(account), ...(await Promise.all(swaps)).map(fromKit)],
      value: '0',
      rent: '0',
      signers: [account],
      tables: [{ address: table, addresses: entries() }],
    }
    return { steps: [step], needs: [], memo: null }
  }
  async function submit() {
    const newAccounts = await transactions.newAccounts({ chain: 'solana', network: 'local', address: site.wallet.address }, 1)
    const [account = ''] = Object.keys(newAccounts)
    const { txHash } = await transactions.submit(
      orderOf(site, { plan: await planFor(account), newAccounts, scope: { contracts: declared(), valueRaw: 0n } }),
      soon(),
    )
    return { txHash, account }
  }

  /** How often it is on the fork that is followed, and that nothing else was signed for it. */
  function expectLanded(times: 0 | 1, { txHash, account }: { txHash: string; account: string }): void {
    const { ledger, sent } = site.cluster
    const landed = ledger.blocks.flatMap((block) =>
      block.landed.filter(({ wire }) => wire.message.staticAccounts.includes(address(account))),
    )
    expect(landed.map(({ signature }) => signature)).to.deep.equal(times === 1 ? [txHash] : [])
    const all = sent.filter(({ message }) => message.staticAccounts.includes(address(account)))
    expect(new Set(all.map(({ bytes }) => Buffer.from(bytes).toString('hex'))).size).to.equal(1)
    expect(landed.every(({ loaded }) => loaded.writable.length === 2 * pools.length)).to.equal(true)
  }
  const stateOf = async (txHash: string) => (await entryOf(transactions, txHash))?.state

  it('lands once more, by the same bytes, when the block that had it is on a fork that lost', async () => {
    const { cluster } = site
    const made = await submit()
    await comesTo(site, transactions, made.txHash, 'MINED')
    const height = cluster.ledger.find(made.txHash as Signature)?.block.height ?? 0n
    cluster.lead(dropsAll)
    cluster.reorganise(Number(cluster.ledger.tip.height - height) + 1, 'lost')
    await until('it is back', async () => (await stateOf(made.txHash)) === 'BROADCAST')
    expectLanded(0, made)
    cluster.lead(takesAll)
    skewMs = 2_100
    await comesTo(site, transactions, made.txHash, 'MINED')
    expectLanded(1, made)
  })

  it('ends EXPIRED and did nothing where its blockhash dies before it is sent', async () => {
    const { cluster } = site
    let isFirst = true
    beforeSigning = () => {
      if (isFirst) cluster.blocks(160)
      isFirst = false
    }
    const made = await submit()
    cluster.blocks(40)
    await comesTo(site, transactions, made.txHash, 'EXPIRED')
    expectLanded(0, made)
  })

  it('stays open while it can land, whatever a node says that is ahead of all others, and lands once', async () => {
    const { cluster } = site
    cluster.lead(holdsAll)
    const made = await submit()
    Object.assign(liar.options, { aheadBlocks: 10_000n })
    await looks(site, { times: 4 })
    expect(await stateOf(made.txHash)).to.equal('BROADCAST')
    cluster.lead(takesAll)
    Object.assign(liar.options, { aheadBlocks: 0n, lagBlocks: 20 })
    await comesTo(site, transactions, made.txHash, 'MINED')
    expectLanded(1, made)
  })
})
