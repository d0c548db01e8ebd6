import type { Address, KeyPairSigner } from '@solana/kit'
import {
  fetchMint,
  fetchToken,
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { expect } from 'chai'
import type { Mint } from '../mints.ts'
import type { Solana } from '../start-solana.ts'
import { startSite, send, sign, statusOf, type Client } from './site.ts'

const processed = { commitment: 'processed' } as const

describe('tokens on the test service', () => {
  let solana: Solana
  let client: Client
  let from: KeyPairSigner
  let to: KeyPairSigner

  beforeEach(async () => {
    ;({ solana, client, from, to } = await startSite())
  })
  afterEach(() => solana.stop())

  const tokenAccount = async (owner: Address, { address, program }: Mint) =>
    (await findAssociatedTokenPda({ owner, mint: address, tokenProgram: program }))[0]

  /** Creates the other's associated account on the way, in the same transaction. */
  async function transfer(mint: Mint, amount: bigint) {
    const [source, destination] = [await tokenAccount(from.address, mint), await tokenAccount(to.address, mint)]
    const transaction = await sign(client, from, [
      getCreateAssociatedTokenIdempotentInstruction({
        payer: from,
        ata: destination,
        owner: to.address,
        mint: mint.address,
        tokenProgram: mint.program,
      }),
      getTransferCheckedInstruction(
        { source, mint: mint.address, destination, authority: from, amount, decimals: mint.decimals },
        { programAddress: mint.program as typeof TOKEN_PROGRAM_ADDRESS },
      ),
    ])
    await send(client, transaction)
    solana.blocks(1)
    return { transaction, source, destination, status: await statusOf(client, transaction) }
  }

  it('are created, minted and moved by the programs of mainnet, and the official client reads them', async () => {
    await solana.mintTo(from.address, solana.mints.USDC, 10_000_000n)
    const { status, source, destination } = await transfer(solana.mints.USDC, 2_500_001n)
    expect(status?.err).to.equal(null)
    expect((await fetchToken(client, destination, processed)).data).to.deep.include({ owner: to.address, amount: 2_500_001n })
    expect((await fetchMint(client, solana.mints.USDC.address, processed)).data).to.deep.include({ decimals: 6, supply: 10_000_000n })
    const { value } = await client.getTokenAccountBalance(source, processed).send()
    expect(value).to.deep.equal({ amount: '7499999', decimals: 6, uiAmount: 7.499999, uiAmountString: '7.499999' })
    expect((await client.getTokenSupply(solana.mints.USDC.address, processed).send()).value.uiAmountString).to.equal('10')
  })

  it('of Token-2022 have longer accounts, and their extensions work', async () => {
    const { FEES } = solana.mints
    await solana.mintTo(from.address, FEES, 10_000_000_000n)
    const { status, destination } = await transfer(FEES, 1_000_000_000n)
    expect(status?.err).to.equal(null)
    const { value } = await client.getAccountInfo(destination, { ...processed, encoding: 'jsonParsed' }).send()
    expect([value?.owner, value?.space]).to.deep.equal([FEES.program, 182n])
    expect(value?.data).to.deep.include({ program: 'spl-token-2022' })
    const info: unknown = Reflect.get(Reflect.get(Object(value?.data), 'parsed'), 'info')
    expect(info).to.deep.include({
      tokenAmount: { amount: '990000000', decimals: 9, uiAmount: 0.99, uiAmountString: '0.99' },
      extensions: [{ extension: 'immutableOwner' }, { extension: 'transferFeeAmount', state: { withheldAmount: 10_000_000n } }],
    })
    const mint = await client.getAccountInfo(FEES.address, { ...processed, encoding: 'jsonParsed' }).send()
    expect(mint.value?.space).to.equal(278n)
    expect(JSON.stringify(mint.value?.data, (_, each) => (typeof each === 'bigint' ? Number(each) : each))).to.include(
      '"newerTransferFee":{"epoch":810,"maximumFee":5000000000,"transferFeeBasisPoints":100}',
    )
  })

  it('of an owner are found by mint and by program', async () => {
    const { USDC, FEES } = solana.mints
    await solana.mintTo(from.address, USDC, 1_000_000n)
    await solana.mintTo(from.address, FEES, 2_000_000_000n)
    const found = async (filter: { mint: Address } | { programId: Address }) => {
      const { value } = await client.getTokenAccountsByOwner(from.address, filter, { ...processed, encoding: 'jsonParsed' }).send()
      return value.map(({ pubkey, account }) => [pubkey, account.data.parsed.info.tokenAmount.uiAmountString])
    }
    const usdc = [await tokenAccount(from.address, USDC), '1']
    const fees = [await tokenAccount(from.address, FEES), '2']
    expect(await found({ mint: USDC.address })).to.deep.equal([usdc])
    expect(await found({ mint: FEES.address })).to.deep.equal([fees])
    expect(await found({ programId: TOKEN_PROGRAM_ADDRESS })).to.deep.equal([usdc])
    expect(await found({ programId: FEES.program })).to.deep.equal([fees])
  })

  it('are what they were, at the commitment that is asked for', async () => {
    await solana.mintTo(from.address, solana.mints.USDC, 1_000_000n)
    const account = await tokenAccount(from.address, solana.mints.USDC)
    const count = async (commitment: 'processed' | 'confirmed' | 'finalized') => {
      const byMint = await client
        .getTokenAccountsByOwner(from.address, { mint: solana.mints.USDC.address }, { commitment, encoding: 'base64' })
        .send()
      return byMint.value.length
    }
    expect([await count('processed'), await count('confirmed')]).to.deep.equal([1, 0])
    solana.blocks(1)
    await solana.mintTo(from.address, solana.mints.USDC, 1n)
    expect((await client.getTokenAccountBalance(account, { commitment: 'confirmed' }).send()).value.amount).to.equal('1000000')
    expect(await count('finalized')).to.equal(0)
    solana.blocks(40)
    expect((await client.getTokenAccountBalance(account, { commitment: 'finalized' }).send()).value.amount).to.equal('1000001')
  })

  it('stand in the meta data of their transactions', async () => {
    await solana.mintTo(from.address, solana.mints.USDC, 10_000_000n)
    const { transaction } = await transfer(solana.mints.USDC, 4_000_000n)
    solana.blocks(1)
    const told = await client
      .getTransaction(transaction.signature, { commitment: 'confirmed', encoding: 'json', maxSupportedTransactionVersion: 0 })
      .send()
    const shown = (balances: NonNullable<NonNullable<typeof told>['meta']>['preTokenBalances']) =>
      Object.fromEntries(balances!.map(({ owner, uiTokenAmount }) => [owner, uiTokenAmount.uiAmountString]))
    expect(shown(told!.meta!.preTokenBalances)).to.deep.equal({ [from.address]: '10' })
    expect(shown(told!.meta!.postTokenBalances)).to.deep.equal({ [from.address]: '6', [to.address]: '4' })
    expect(told!.meta?.innerInstructions?.[0]?.instructions.length).to.be.greaterThan(2)
  })
})
