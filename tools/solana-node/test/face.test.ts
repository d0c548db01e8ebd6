import { generateKeyPairSigner, lamports, type KeyPairSigner, type TransactionMessageBytesBase64 } from '@solana/kit'
import { getSetComputeUnitLimitInstruction, getSetComputeUnitPriceInstruction } from '@solana-program/compute-budget'
import { expect } from 'chai'
import { assert, asyncProperty, bigInt, integer, jsonValue, option, property } from 'fast-check'
import { readWire } from '../ledger/read-wire.ts'
import { exactJson } from '../rpc/protocol.ts'
import { startSolana, type Solana } from '../start-solana.ts'
import { ask, askText, clientOf, send, sign, statusOf, transferTo, type Client } from './site.ts'

describe('the face of the test service', () => {
  let solana: Solana
  let client: Client
  let wallet: KeyPairSigner

  before(async () => {
    solana = await startSolana({ slotMs: 'by hand' })
    client = clientOf(solana)
    wallet = await generateKeyPairSigner()
    await solana.fund(wallet.address, 50_000_000_000n)
  })
  after(() => solana.stop())

  it('answers a batch, each call by its id, one of them with an error', async () => {
    const calls = [
      { jsonrpc: '2.0', id: 'a', method: 'getBlockHeight', params: [{ commitment: 'processed' }] },
      { jsonrpc: '2.0', id: 2, method: 'getNothing' },
      { jsonrpc: '2.0', id: 3, method: 'getSlot', params: [{ commitment: 'processed' }] },
    ]
    const { height, slot } = solana.ledger.tip
    expect(JSON.parse(await askText(solana, calls))).to.deep.equal([
      { jsonrpc: '2.0', result: Number(height), id: 'a' },
      { jsonrpc: '2.0', error: { code: -32601, message: 'Method not found' }, id: 2 },
      { jsonrpc: '2.0', result: Number(slot), id: 3 },
    ])
  })

  it('writes integers with all of their digits', async () => {
    const text = await askText(solana, {
      jsonrpc: '2.0',
      id: 1,
      method: 'getAccountInfo',
      params: [wallet.address, { encoding: 'base64', commitment: 'processed' }],
    })
    expect(text).to.include('"rentEpoch":18446744073709551615,')
    assert(
      property(
        bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        (each) => exactJson({ each: [each, null, 'x', true, 1.5] }) === `{"each":[${each},null,"x",true,1.5]}`,
      ),
    )
  })

  it('writes any JSON as JSON.stringify does', () => {
    assert(property(jsonValue(), (value) => exactJson(value as never) === JSON.stringify(value)))
  })

  it('gives airdrops, in blocks', async () => {
    const { address } = await generateKeyPairSigner()
    const drop = () => client.requestAirdrop(address, lamports(2_000_000_000n)).send()
    const signatures = [await drop(), await drop()]
    expect(new Set(signatures).size).to.equal(2)
    solana.blocks(33)
    expect((await client.getBalance(address).send()).value).to.equal(4_000_000_000n)
  })

  it('says the fee that is taken', async () => {
    await assert(
      asyncProperty(
        option(integer({ min: 1000, max: 1_400_000 }), { nil: undefined }),
        option(bigInt({ min: 0n, max: 3_000_000n }), { nil: undefined }),
        integer({ min: 0, max: 3 }),
        async (units, microLamports, transfers) => {
          const transaction = await sign(client, wallet, [
            ...(units === undefined ? [] : [getSetComputeUnitLimitInstruction({ units })]),
            ...(microLamports === undefined ? [] : [getSetComputeUnitPriceInstruction({ microLamports })]),
            ...Array.from({ length: transfers }, () => transferTo(wallet, wallet.address, 1n)),
          ])
          const { transaction: decoded } = readWire(Uint8Array.from(Buffer.from(transaction.wire, 'base64')))
          const message = Buffer.from(decoded.messageBytes).toString('base64') as TransactionMessageBytesBase64
          const { value: fee } = await client.getFeeForMessage(message, { commitment: 'processed' }).send()
          const { value: simulated } = await client
            .simulateTransaction(transaction.wire, { encoding: 'base64', commitment: 'processed' })
            .send()
          const before = solana.svm.getBalance(wallet.address)!
          await send(client, transaction)
          solana.blocks(1)
          expect((await statusOf(client, transaction))?.err).to.equal(null)
          expect([fee, simulated.fee]).to.deep.equal(Array(2).fill(before - solana.svm.getBalance(wallet.address)!))
        },
      ),
      { numRuns: 30 },
    )
  })

  it('tells what was paid for priority of late, in all of a block and for an account', async () => {
    const [quiet, priced] = [await generateKeyPairSigner(), await generateKeyPairSigner()]
    const pay = async (to: KeyPairSigner, microLamports: bigint) =>
      send(
        client,
        await sign(client, wallet, [getSetComputeUnitPriceInstruction({ microLamports }), transferTo(wallet, to.address, 1_000_000n)]),
      )
    await pay(quiet, 100n)
    await pay(priced, 7000n)
    solana.blocks(1)
    const newest = async (...of: readonly KeyPairSigner[]) =>
      (await client.getRecentPrioritizationFees(of.map(({ address }) => address)).send()).at(-1)
    const { slot } = solana.ledger.tip
    expect(await newest()).to.deep.equal({ slot, prioritizationFee: 100n })
    expect(await newest(priced)).to.deep.equal({ slot, prioritizationFee: 7000n })
    expect(await newest(quiet)).to.deep.equal({ slot, prioritizationFee: 100n })
  })

  it('simulates without signatures, on any blockhash, and shows what accounts would be', async () => {
    const to = await generateKeyPairSigner()
    const transaction = await sign(client, wallet, [transferTo(wallet, to.address, 3_000_000n)])
    const unsigned = Buffer.from(transaction.wire, 'base64').fill(0, 1, 65)
    solana.blocks(200)
    const { result } = await ask(solana, 'simulateTransaction', [
      unsigned.toString('base64'),
      {
        encoding: 'base64',
        replaceRecentBlockhash: true,
        commitment: 'processed',
        innerInstructions: true,
        accounts: { addresses: [to.address], encoding: 'base64' },
      },
    ])
    const { value } = Object(result)
    expect(value).to.deep.include({
      err: null,
      fee: 5000,
      innerInstructions: [],
      replacementBlockhash: { blockhash: solana.ledger.tip.blockhash, lastValidBlockHeight: Number(solana.ledger.tip.height + 150n) },
      unitsConsumed: 150,
      loadedAddresses: { readonly: [], writable: [] },
    })
    expect(value.accounts[0]).to.deep.include({ lamports: 3_000_000, owner: '11111111111111111111111111111111' })
    expect(value.postBalances[1] - value.preBalances[1]).to.equal(3_000_000)
    expect(solana.svm.getAccount(to.address).exists).to.equal(false)
    const both = { encoding: 'base64', replaceRecentBlockhash: true, sigVerify: true }
    expect((await ask(solana, 'simulateTransaction', [transaction.wire, both])).error?.code).to.equal(-32602)
  })

  it('says what it is', async () => {
    const info = await client.getEpochInfo({ commitment: 'processed' }).send()
    const { slot, height } = solana.ledger.tip
    expect(info).to.deep.include({
      absoluteSlot: slot,
      blockHeight: height,
      slotsInEpoch: 432_000n,
      epoch: slot / 432_000n,
      slotIndex: slot % 432_000n,
    })
    expect(await client.getGenesisHash().send()).to.equal(solana.genesisHash)
    expect((await client.getVersion().send())['solana-core']).to.match(/^\d+\.\d+\.\d+$/)
    expect(await client.getMinimumBalanceForRentExemption(165n).send()).to.equal(2_039_280n)
  })
})
