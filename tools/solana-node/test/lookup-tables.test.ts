import {
  address,
  appendTransactionMessageInstructions,
  AccountRole,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
  type Address,
  type Instruction,
  type KeyPairSigner,
} from '@solana/kit'
import { findAssociatedTokenPda, getTransferCheckedInstruction } from '@solana-program/token'
import { expect } from 'chai'
import type { Mint } from '../mints.ts'
import type { Solana } from '../start-solana.ts'
import { ask, send, startSite, transferTo, type Client, type SignedTransfer } from './site.ts'

describe('a transaction with accounts of a lookup table, on the test service', () => {
  let solana: Solana
  let client: Client
  let from: KeyPairSigner
  let to: KeyPairSigner
  let table: Address
  let stranger: Address

  beforeEach(async () => {
    ;({ solana, client, from, to } = await startSite())
    table = (await generateKeyPairSigner()).address
    stranger = (await generateKeyPairSigner()).address
    solana.setLookupTable(table, [stranger, to.address])
  })
  afterEach(() => solana.stop())

  async function signed(instruction: Instruction, addresses: readonly Address[] = [stranger, to.address]): Promise<SignedTransfer> {
    const { value: latest } = await client.getLatestBlockhash({ commitment: 'processed' }).send()
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (empty) => setTransactionMessageFeePayerSigner(from, empty),
      (paid) => setTransactionMessageLifetimeUsingBlockhash(latest, paid),
      (timed) => appendTransactionMessageInstructions([instruction], timed),
      (whole) => compressTransactionMessageUsingAddressLookupTables(whole, { [table]: [...addresses] }),
    )
    const transaction = await signTransactionMessageWithSigners(message)
    return {
      signature: getSignatureFromTransaction(transaction),
      wire: getBase64EncodedWireTransaction(transaction),
      lastValidBlockHeight: latest.lastValidBlockHeight,
    }
  }
  const accountOf = async (owner: Address, { address: mint, program }: Mint) =>
    (await findAssociatedTokenPda({ owner, mint, tokenProgram: program }))[0]
  const transfer = () => signed(transferTo(from, to.address, 1_000_000_000n))
  const held = async () => (await client.getBalance(to.address, { commitment: 'processed' }).send()).value
  const refusal = (sending: Promise<unknown>) =>
    sending.then(
      () => 'taken',
      ({ cause, message }: Error) => (cause instanceof Error ? cause.message : message),
    )

  it('moves lamports to an account that only the table names, and says which it loaded', async () => {
    const sent = await transfer()
    await send(client, sent)
    solana.blocks(2)
    expect(await held()).to.equal(1_000_000_000n)
    const landed = await client
      .getTransaction(sent.signature, { commitment: 'confirmed', encoding: 'json', maxSupportedTransactionVersion: 0 })
      .send()
    expect(landed?.meta?.loadedAddresses).to.deep.equal({ writable: [to.address], readonly: [] })
    expect(landed?.transaction.message.accountKeys).to.not.include(to.address)
    expect(Object(landed?.transaction.message).addressTableLookups).to.deep.equal([
      { accountKey: table, writableIndexes: [1], readonlyIndexes: [] },
    ])
    // Behind those of the message.
    expect(landed?.meta?.preBalances.at(-1)).to.equal(0n)
    expect(landed?.meta?.postBalances.at(-1)).to.equal(1_000_000_000n)
  })

  it('is taken back with the block that it was in', async () => {
    await send(client, await transfer())
    solana.blocks(1)
    solana.reorganise(1, 'lost')
    solana.blocks(2)
    expect(await held()).to.equal(0n)
  })

  it('is refused by its error where the table is away, deactivated, too short, another program’s or extended a moment ago', async () => {
    const sent = await transfer()
    const { slot } = solana.ledger
    const cases: readonly (readonly [() => void, RegExp])[] = [
      [() => solana.setLookupTable(table, [stranger]), /invalid transaction: Transaction address table lookup uses an invalid index/],
      [() => solana.setLookupTable(table, [stranger, to.address], { deactivationSlot: 7n }), /address table account that doesn't exist/],
      [
        () => solana.setLookupTable(table, [stranger, to.address], { lastExtendedSlot: slot + 5n, lastExtendedFrom: 1 }),
        /uses an invalid index/,
      ],
      [() => solana.setLookupTable(table, [stranger, from.address]), /Account loaded twice/],
      [() => solana.svm.setAccount({ ...solana.svm.getAccount(solana.mints.BASE.address), address: table } as never), /an invalid owner/],
    ]
    for (const [change, expected] of cases) {
      change()
      expect(await refusal(send(client, sent))).to.match(expected)
      const { error } = await ask(solana, 'simulateTransaction', [sent.wire, { encoding: 'base64', commitment: 'processed' }])
      expect(error).to.have.property('code', -32602)
    }
    solana.blocks(1)
    expect(await held()).to.equal(0n)
    expect(solana.ledger.find(sent.signature)).to.equal(undefined)
  })

  it('is taken while its table is being deactivated, and by no leader after the table changed', async () => {
    solana.setLookupTable(table, [stranger, to.address], { deactivationSlot: solana.ledger.tip.slot })
    await send(client, await transfer())
    solana.blocks(1)
    expect(await held()).to.equal(1_000_000_000n)
    const late = await signed(transferTo(from, to.address, 5n))
    await send(client, late)
    solana.setLookupTable(table, [stranger])
    solana.blocks(1)
    expect(solana.ledger.find(late.signature)).to.equal(undefined)
    expect(await held()).to.equal(1_000_000_000n)
  })

  it('shows the token balances of accounts that only the table names', async () => {
    const { BASE } = solana.mints
    for (const each of [from, to]) await solana.mintTo(each.address, BASE, 100n)
    const [source, destination] = await Promise.all([from, to].map(({ address: owner }) => accountOf(owner, BASE)))
    if (!source || !destination) throw new Error('There are two accounts.')
    solana.setLookupTable(table, [destination, BASE.address])
    const { decimals, address: mint } = BASE
    const sent = await signed(getTransferCheckedInstruction({ source, mint, destination, authority: from, amount: 7n, decimals }), [
      destination,
      mint,
    ])
    await send(client, sent)
    solana.blocks(1)
    const landed = solana.ledger.find(sent.signature)?.landed
    expect(landed?.loaded).to.deep.equal({ writable: [destination], readonly: [mint] })
    const balances = [landed?.preTokenBalances, landed?.postTokenBalances].map((all = []) =>
      all.map((each) => [Reflect.get(Object(each), 'accountIndex'), Object(Reflect.get(Object(each), 'uiTokenAmount')).amount]),
    )
    // The payer, its token account, the program, and then what the table gave.
    expect(balances).to.deep.equal([
      [
        [1, '100'],
        [3, '100'],
      ],
      [
        [1, '93'],
        [3, '107'],
      ],
    ])
  })

  it('is refused where a program is to come from a table, or a table gives nothing', async () => {
    const memo: Instruction = {
      programAddress: address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'),
      accounts: [{ address: to.address, role: AccountRole.READONLY }],
      data: new Uint8Array(),
    }
    const sent = await signed(memo)
    const bytes = Buffer.from(sent.wire, 'base64')
    // The message ends with the counts of indexes: one table, its address, no writable ones, one that is only read.
    expect([...bytes.subarray(-3)]).to.deep.equal([0, 1, 1])
    const empty = Buffer.concat([bytes.subarray(0, -3), Buffer.from([0, 0])])
    const { error } = await ask(solana, 'sendTransaction', [empty.toString('base64'), { encoding: 'base64', skipPreflight: true }])
    expect(error?.message).to.match(/failed to sanitize/)
  })
})
