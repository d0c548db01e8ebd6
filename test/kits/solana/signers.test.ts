import { getCreateAccountInstruction, SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { expect } from 'chai'
import { address, generateKeyPairSigner, signBytes } from '@solana/kit'
import { fromKit, type SolanaIntent } from '../../../kits/solana/index.ts'
import { draftOf } from '../../../core/wallet/signing.ts'
import { soon, startCluster, type TestCluster } from './test-cluster.ts'

const id = '01234567-89ab-cdef-0123-456789abcdef'

describe('a step of Solana that more than the wallet signs', () => {
  let site: TestCluster
  before(async () => {
    site = await startCluster()
  })
  after(() => site?.stop())

  /** Makes an account whose key signs its making. */
  async function making() {
    const { wallet } = site
    const account = await generateKeyPairSigner()
    const lamports = 1_000_000n
    const create = getCreateAccountInstruction({
      payer: wallet,
      newAccount: account,
      lamports,
      space: 8n,
      programAddress: SYSTEM_PROGRAM_ADDRESS,
    })
    const step: SolanaIntent = {
      payer: wallet.address,
      instructions: [fromKit(create)],
      value: '0',
      rent: lamports.toString(),
      signers: [account.address],
    }
    return { account, step }
  }

  it('names its new accounts to the server, and takes their signatures behind that of the wallet', async () => {
    const { chain, cluster, wallet } = site
    const { account, step } = await making()
    const synced = await chain.rail.sync(wallet.address, soon())
    const [sequence = null] = chain.rail.claim(synced, [], 1)
    const draft = chain.rail.draft({ step, fees: { computeUnits: 30_000, price: '1000' } }, sequence)
    expect(draft.signers).to.deep.equal([account.address])
    const [first, second] = await Promise.all([wallet, account].map(({ keyPair }) => signBytes(keyPair.privateKey, draft.bytes)))
    if (!first || !second) throw new Error('There are two signatures.')
    expect(() => chain.rail.seal(draft, first)).to.throw('needs 2 signatures')
    const sent = await chain.rail.send(chain.rail.seal(draft, first, [second]), soon())
    expect(sent).to.include({ is: 'accepted' })
    cluster.blocks(2)
    const { accounts } = await chain.reader.accounts([account.address], soon())
    expect(accounts[0]?.lamportsRaw).to.equal(1_000_000n)
  })

  const refusal = async (step: SolanaIntent) =>
    Promise.resolve(site.chain.rail.check([step], [], site.wallet.address, { feeOverrides: {} }, soon())).then(
      () => 'checked',
      ({ name, message }: Error) => `${name} ${message}`,
    )

  it('is checked, simulated and priced with all its signatures', async () => {
    const { step } = await making()
    const { prepared } = await site.chain.rail.check([step], [], site.wallet.address, { feeOverrides: {} }, soon())
    expect(prepared[0]?.fees).to.include({ signatures: 2 })
    const { signatures: _, ...alone } = Object(prepared[0]?.fees)
    expect(site.chain.rail.cost(step, prepared[0]?.fees ?? null) - site.chain.rail.cost(step, alone)).to.equal(5_000n)
  })

  it('asks the signer for no signature of an account that was not made for it', () => {
    const draft = { scheme: 'solana-message' as const, bytes: new Uint8Array(), signers: [site.wallet.address] }
    expect(() => draftOf(draft)).to.throw(site.wallet.address)
    expect(draftOf(draft, { newAccounts: [id], signsAs: 0 })).to.deep.include({ scheme: 'ed25519', newAccounts: [id], signsAs: 0 })
  })

  it('fails where an instruction has a signer that the step does not name', async () => {
    const { account, step } = await making()
    const { signers: _, ...unnamed } = step
    expect(await refusal(unnamed)).to.match(new RegExp(`^UNKNOWN_ERROR .*${account.address}.*defect of the plugin`))
  })

  it('fails where it is too long, also with lookup tables: what a memo names stands in the bytes', async () => {
    const { wallet } = site
    const accounts = await Promise.all(Array.from({ length: 40 }, async () => (await generateKeyPairSigner()).address))
    const tables = [{ address: accounts[0] ?? '', addresses: accounts.slice(1) }]
    const memo = (count: number): SolanaIntent => ({
      payer: wallet.address,
      instructions: [
        {
          program: address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'),
          accounts: accounts.slice(0, count).map((each) => ({ address: each, writable: false, signer: false })),
          data: '',
        },
      ],
      value: '0',
      rent: '0',
      tables,
    })
    expect(await refusal(memo(40))).to.match(/^TRADE_FAILED .*a transaction has at most/)
    const { tables: _, ...none } = memo(40)
    expect(await refusal(none)).to.match(/^TRADE_FAILED .*a transaction has at most/)
  })
})
