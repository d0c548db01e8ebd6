import { generateKeyPairSigner, type KeyPairSigner } from '@solana/kit'
import {
  fetchNonce,
  getCreateAccountInstruction,
  getInitializeNonceAccountInstruction,
  getNonceDecoder,
  getNonceSize,
  SYSTEM_PROGRAM_ADDRESS,
} from '@solana-program/system'
import { expect } from 'chai'
import type { Solana } from '../start-solana.ts'
import { startSite, send, sign, signDurable, statusOf, transferTo, type Client } from './site.ts'

describe('a durable nonce on the test service', () => {
  let solana: Solana
  let client: Client
  let wallet: KeyPairSigner
  let account: KeyPairSigner

  beforeEach(async () => {
    ;({ solana, client, from: wallet, to: account } = await startSite())
    const rent = await client.getMinimumBalanceForRentExemption(BigInt(getNonceSize())).send()
    const created = await sign(client, wallet, [
      getCreateAccountInstruction({
        payer: wallet,
        newAccount: account,
        lamports: rent,
        space: getNonceSize(),
        programAddress: SYSTEM_PROGRAM_ADDRESS,
      }),
      getInitializeNonceAccountInstruction({ nonceAccount: account.address, nonceAuthority: wallet.address }),
    ])
    await send(client, created)
    solana.blocks(1)
    expect((await statusOf(client, created))?.err).to.equal(null)
  })
  afterEach(() => solana.stop())

  const value = async () => (await fetchNonce(client, account.address, { commitment: 'processed' })).data.blockhash
  const durable = async (lamports: bigint, nonce?: string) =>
    signDurable(wallet, { nonce: nonce ?? (await value()), nonceAccountAddress: account.address, nonceAuthorityAddress: wallet.address }, [
      transferTo(wallet, wallet.address, lamports),
    ])

  it('keeps a transaction good long after every blockhash of its time, and is another one then', async () => {
    const [before, transaction] = [await value(), await durable(1n)]
    solana.blocks(400)
    await send(client, transaction)
    solana.blocks(1)
    expect((await statusOf(client, transaction))?.err).to.equal(null)
    expect(await value()).to.not.equal(before)
  })

  it('is used up by the first of two', async () => {
    const [first, second] = [await durable(1n), await durable(2n)]
    await send(client, first)
    await send(client, second)
    solana.blocks(3)
    expect([(await statusOf(client, first))?.err, await statusOf(client, second)]).to.deep.equal([null, null])
  })

  it('advances once in a block: what is signed on its next value has to wait for the next one', async () => {
    const first = await durable(1n)
    const { value: told } = await client
      .simulateTransaction(first.wire, {
        encoding: 'base64',
        commitment: 'processed',
        accounts: { addresses: [account.address], encoding: 'base64' },
      })
      .send()
    const next = getNonceDecoder().decode(Buffer.from(told.accounts[0]!.data[0], 'base64')).blockhash
    const second = await durable(2n, next)
    await send(client, first)
    await send(client, second)
    solana.blocks(1)
    expect([await value(), (await statusOf(client, first))?.err, await statusOf(client, second)]).to.deep.equal([next, null, null])
    await send(client, second)
    solana.blocks(1)
    expect((await statusOf(client, second))?.err).to.equal(null)
  })

  it('is used up by a transaction that fails, which is in the block and pays', async () => {
    const [before, balance] = [await value(), solana.svm.getBalance(wallet.address)!]
    const failing = await durable(100_000_000_000n)
    await send(client, failing)
    solana.blocks(1)
    expect((await statusOf(client, failing))?.err).to.deep.equal({ InstructionError: [1n, { Custom: 1n }] })
    expect(await value()).to.not.equal(before)
    expect(solana.svm.getBalance(wallet.address)).to.equal(balance - 5000n)
    await send(client, failing)
    const next = await durable(1n)
    await send(client, next)
    solana.blocks(1)
    expect((await statusOf(client, next))?.err).to.equal(null)
  })

  it('has its old value again where the block that advanced it was taken back', async () => {
    const before = await value()
    const transaction = await durable(1n)
    await send(client, transaction)
    solana.blocks(2)
    solana.reorganise(2, 'lost')
    expect(await value()).to.equal(before)
    await send(client, transaction)
    solana.blocks(1)
    expect((await statusOf(client, transaction))?.err).to.equal(null)
  })

  it('of another value, or another authority, is no blockhash', async () => {
    const stranger = await generateKeyPairSigner()
    await solana.fund(stranger.address, 1_000_000_000n)
    const strangers = await signDurable(
      stranger,
      { nonce: await value(), nonceAccountAddress: account.address, nonceAuthorityAddress: stranger.address },
      [transferTo(stranger, stranger.address, 1n)],
    )
    for (const each of [strangers, await durable(1n, account.address)]) {
      const { value: simulated } = await client.simulateTransaction(each.wire, { encoding: 'base64', commitment: 'processed' }).send()
      expect(simulated.err).to.equal('BlockhashNotFound')
    }
  })

  it('is shown by what it means', async () => {
    const { value: shown } = await client.getAccountInfo(account.address, { encoding: 'jsonParsed', commitment: 'processed' }).send()
    const feeCalculator = { lamportsPerSignature: '5000' }
    expect(shown?.data).to.deep.include({
      program: 'nonce',
      parsed: { type: 'initialized', info: { authority: wallet.address, blockhash: await value(), feeCalculator } },
    })
  })
})
