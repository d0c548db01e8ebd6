import { expect } from 'chai'
import { signBytes, type Signature } from '@solana/kit'
import type { Plan } from '../../../core/contracts/index.ts'
import type { Sign } from '../../../core/transactions/submit-request.ts'
import { newAccountOf } from '../../../core/wallet/new-accounts.ts'
import type { Solana } from '../../../kits/solana/index.ts'
import { dropsAll, takesAll } from '../../../tools/solana-node/ledger/leaders.ts'
import { freshStore, soon } from '../../transactions/site.ts'
import {
  comesTo,
  entryOf,
  orderOf,
  signChecked,
  signedBy,
  startSolanaSite,
  transactionsAt,
  verifier,
  type SolanaSite,
} from './solana-site.ts'

describe('a transaction that a new account signs beside the wallet', () => {
  let site: SolanaSite
  before(async () => {
    site = await startSolanaSite()
  })
  after(() => site?.stop())

  /** As the signer's process has it, by the wallet's key. */
  const accountOf = (id: string, network = 'solana/local') => {
    const { wallet } = site
    const sign = async (payload: Uint8Array) => Uint8Array.from(await signBytes(wallet.keyPair.privateKey, payload))
    return newAccountOf({ chain: 'solana', address: wallet.address, curve: 'ed25519', sign }, network, id)
  }
  const sign: Sign = async (request) => {
    const { newAccounts = [], signsAs, signable } = request
    const id = newAccounts[signsAs ?? -1]
    if (id !== undefined) return (await accountOf(id)).sign(signable.bytes)
    return signChecked(site.wallet, () => scope.contracts)(request, await Promise.all(newAccounts.map((each) => newAccount({ id: each }))))
  }
  const newAccount = async ({ id }: { id: string }) => (await accountOf(id)).address

  const scope = { contracts: [verifier], valueRaw: 0n }
  async function making(of: string): Promise<Plan<Solana>> {
    const { wallet } = site
    const step = { payer: wallet.address, instructions: [signedBy(of)], value: '0', rent: '0', signers: [of] }
    return { steps: [step], needs: [], memo: null }
  }
  const wallet = () => ({ chain: 'solana', network: 'local', address: site.wallet.address })

  it('is journaled with the id of its account, and the same bytes are sent by a server that starts after a crash', async () => {
    const { cluster } = site
    const store = await freshStore()
    const first = await transactionsAt(site, { store, sign, newAccount })
    // Nobody takes what the server sends, and then it is gone.
    cluster.lead(dropsAll)
    const made = await first.newAccounts(wallet(), 1)
    const [[account, id] = ['', '']] = Object.entries(made)
    const { txHash } = await first.submit(orderOf(site, { plan: await making(account), newAccounts: made, scope }), soon())
    cluster.blocks(1)
    await first.stop(100)
    expect(cluster.ledger.find(txHash as Signature)).to.equal(undefined)

    const sentBefore = cluster.sent.length
    cluster.lead(takesAll)
    const second = await transactionsAt(site, { store, sign, newAccount })
    try {
      expect((await entryOf(second, txHash))?.newAccounts).to.deep.equal({ [account]: id })
      await comesTo(site, second, txHash, 'MINED')
      const sent = cluster.sent.filter(({ signature }) => signature === txHash)
      expect(cluster.sent.length).to.be.above(sentBefore)
      expect(sent.length).to.be.above(1)
      expect(new Set(sent.map(({ bytes }) => Buffer.from(bytes).toString('hex'))).size).to.equal(1)
      // The same key, by the id that is in the journal.
      expect(await newAccount({ id })).to.equal(account)
    } finally {
      await second.stop(1000)
      await store.close()
    }
  })

  it('is refused where the plan has a signer that was not made for it, and nothing is sent', async () => {
    const { cluster } = site
    const transactions = await transactionsAt(site, { sign, newAccount })
    try {
      const [account = ''] = Object.keys(await transactions.newAccounts(wallet(), 1))
      const sent = cluster.sent.length
      const refused = await transactions.submit(orderOf(site, { plan: await making(account), scope }), soon()).then(
        () => 'sent',
        ({ message }: Error) => message,
      )
      expect(refused).to.match(new RegExp(`has the signer ${account}, which is none of the new accounts`))
      expect(cluster.sent.length).to.equal(sent)
    } finally {
      await transactions.stop(1000)
    }
  })

  it('has another account for each id and network, and none by a key that signs differently each time', async () => {
    const [id, other] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002']
    const found = await Promise.all([accountOf(id), accountOf(id), accountOf(other), accountOf(id, 'solana/devnet')])
    const addresses = found.map((each) => each.address)
    expect(addresses[0]).to.equal(addresses[1])
    expect(new Set(addresses).size).to.equal(3)
    let count = 0
    const random = async () => new Uint8Array(64).fill((count += 1))
    const refused = await newAccountOf(
      { chain: 'solana', address: site.wallet.address, curve: 'ed25519', sign: random },
      'solana/local',
      id,
    ).then(
      () => 'made',
      ({ message }: Error) => message,
    )
    expect(refused).to.match(/signs the same differently each time/)
  })
})
