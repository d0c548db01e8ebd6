import { generateKeyPairSigner, type KeyPairSigner } from '@solana/kit'
import { expect } from 'chai'
import { startSolana, type Solana } from '../solana/start-solana.ts'
import { clientOf, send, sign, statusOf, transferTo, type Client } from './wallet.ts'

describe('a reorganisation of the test service', () => {
  let solana: Solana
  let client: Client
  let [from, to]: KeyPairSigner[] = []

  beforeEach(async () => {
    solana = await startSolana({ slotMs: 'by hand' })
    client = clientOf(solana)
    ;[from, to] = [await generateKeyPairSigner(), await generateKeyPairSigner()]
    await solana.fund(from.address, 5_000_000_000n)
  })
  afterEach(() => solana.stop())

  const landed = async () => {
    const transaction = await sign(client, from!, [transferTo(from!, to!.address, 1_000_000_000n)])
    await send(client, transaction)
    solana.blocks(2)
    expect((await statusOf(client, transaction))?.confirmationStatus).to.equal('confirmed')
    return transaction
  }
  const balances = async () => {
    const { value } = await client.getMultipleAccounts([from!.address, to!.address], { commitment: 'processed' }).send()
    return value.map((each) => each?.lamports ?? 0n)
  }

  it('takes back what blocks changed, their hashes and their transactions', async () => {
    const before = await balances()
    const transaction = await landed()
    const { blockhash } = solana.ledger.tip
    const height = await client.getBlockHeight({ commitment: 'processed' }).send()
    solana.reorganise(2, 'lost')
    expect(await balances()).to.deep.equal(before)
    expect(await statusOf(client, transaction)).to.equal(null)
    expect(await client.getBlockHeight({ commitment: 'processed' }).send()).to.equal(height - 2n)
    expect((await client.isBlockhashValid(blockhash as never, { commitment: 'processed' }).send()).value).to.equal(false)
    solana.blocks(5)
    expect(await statusOf(client, transaction)).to.equal(null)
    expect(solana.ledger.blocks.some((each) => each.blockhash === blockhash)).to.equal(false)
  })

  it('lets what was taken back land again, once, in a later slot', async () => {
    const transaction = await landed()
    const first = (await statusOf(client, transaction))?.slot
    const after = await balances()
    solana.reorganise(2)
    await send(client, transaction)
    solana.blocks(1)
    const second = (await statusOf(client, transaction))?.slot
    expect(second! > first!).to.equal(true)
    expect(await balances()).to.deep.equal(after)
  })

  it('lets what was sent on a blockhash of the lost fork never land', async () => {
    solana.blocks(1)
    const transaction = await sign(client, from!, [transferTo(from!, to!.address, 1n)])
    await send(client, transaction)
    solana.reorganise(1)
    solana.blocks(160)
    expect(await statusOf(client, transaction)).to.equal(null)
  })

  it('keeps the money that there is', async () => {
    const total = async () => {
      const { landed } = solana.ledger.tip
      return landed.flatMap(({ preBalances, postBalances, outcome }) => {
        const sum = (all: readonly bigint[]) => all.reduce((a, b) => a + b, 0n)
        return [sum(preBalances) - sum(postBalances) - outcome.feeRaw]
      })
    }
    await landed()
    solana.reorganise(1)
    solana.reorganise(1)
    solana.blocks(1)
    expect(await total()).to.deep.equal([0n])
  })
})
