import { generateKeyPairSigner, type KeyPairSigner } from '@solana/kit'
import { expect } from 'chai'
import { array, assert, asyncProperty, boolean, nat, record } from 'fast-check'
import type { Solana } from '../start-solana.ts'
import { startSite, send, sign, statusOf, transferTo, type Client } from './site.ts'

describe('a reorganisation of the test service', () => {
  let solana: Solana
  let client: Client
  let from: KeyPairSigner
  let to: KeyPairSigner

  beforeEach(async () => {
    ;({ solana, client, from, to } = await startSite())
  })
  afterEach(() => solana.stop())

  const landed = async () => {
    const transaction = await sign(client, from, [transferTo(from, to.address, 1_000_000_000n)])
    await send(client, transaction)
    solana.blocks(2)
    expect((await statusOf(client, transaction))?.confirmationStatus).to.equal('confirmed')
    return transaction
  }
  const balances = async () => {
    const { value } = await client.getMultipleAccounts([from.address, to.address], { commitment: 'processed' }).send()
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
    expect((await client.isBlockhashValid(blockhash as never, { commitment: 'processed' }).send()).value).to.equal(false)
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
    const transaction = await sign(client, from, [transferTo(from, to.address, 1n)])
    await send(client, transaction)
    solana.reorganise(1)
    solana.blocks(2)
    await send(client, transaction)
    solana.blocks(160)
    expect(await statusOf(client, transaction)).to.equal(null)
  })

  it('never takes back what is final, nor the height of it', async () => {
    const final = () => client.getBlockHeight({ commitment: 'finalized' }).send()
    const transaction = await landed()
    solana.blocks(31)
    expect((await statusOf(client, transaction))?.confirmationStatus).to.equal('finalized')
    const before = await final()
    expect(() => solana.reorganise(33)).to.throw('final')
    solana.reorganise(32)
    expect(await final()).to.equal(before)
    expect((await statusOf(client, transaction))?.confirmationStatus).to.equal('finalized')
    solana.blocks(32)
    expect(await final()).to.equal(before)
    solana.blocks(1)
    expect(await final()).to.equal(before + 1n)
  })

  it('leaves every account as the block left it that it goes back to, whatever happened since', async () => {
    const wallets = [from, to, await generateKeyPairSigner(), await generateKeyPairSigner()]
    const state = () => wallets.map(({ address }) => solana.svm.getBalance(address) ?? 0n)
    const step = record({ payer: nat(3), payee: nat(3), sol: nat(3), blocks: nat(2), back: nat(4), isLost: boolean() })
    await assert(
      asyncProperty(array(step, { maxLength: 12 }), async (steps) => {
        const seen = new Map([[solana.ledger.tip, state()]])
        for (const { payer, payee, sol, blocks, back, isLost } of steps) {
          await send(
            client,
            await sign(client, wallets[payer]!, [transferTo(wallets[payer]!, wallets[payee]!.address, BigInt(sol) * 1_000_000_000n)]),
          )
          for (let made = 0; made < blocks; made++) {
            solana.blocks(1)
            seen.set(solana.ledger.tip, state())
          }
          if (back < seen.size && solana.ledger.tip.height - BigInt(back) >= solana.ledger.root) {
            const target = solana.ledger.blocks.at(-1 - back)!
            solana.reorganise(back, isLost ? 'lost' : 'again')
            if (seen.has(target)) expect(state()).to.deep.equal(seen.get(target))
          }
          for (const block of solana.ledger.blocks.slice(-20)) {
            const then = solana.ledger.asOf(block, () => state())
            if (seen.has(block)) expect(then).to.deep.equal(seen.get(block))
          }
        }
      }),
      { numRuns: 25 },
    )
  })
})
