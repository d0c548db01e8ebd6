import {
  generateKeyPairSigner,
  getSolanaErrorFromTransactionError,
  isSolanaError,
  SOLANA_ERROR__INSTRUCTION_ERROR__UNKNOWN,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
  SOLANA_ERROR__TRANSACTION_ERROR__UNKNOWN,
  type KeyPairSigner,
} from '@solana/kit'
import { getSetComputeUnitLimitInstruction, getSetComputeUnitPriceInstruction } from '@solana-program/compute-budget'
import { expect } from 'chai'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { instructionErrors, transactionErrors } from '../ledger/errors.ts'
import { startSolana, type Solana } from '../start-solana.ts'
import { ask, askText, clientOf, send, sign, statusOf, transferTo, type Client } from './site.ts'

/** No node ever says these. */
const internal: readonly string[] = ['ProgramCacheHitMaxLimit', 'CommitCancelled']
const nobody = 'J1S9H3QjnRtBbbuD4HjPV6RpRhwuk4zKbxsnCHuTgh9w'

describe('errors of the test service', () => {
  let solana: Solana
  let client: Client
  let [wallet, other]: KeyPairSigner[] = []

  before(async () => {
    solana = await startSolana({ slotMs: 'by hand' })
    client = clientOf(solana)
    ;[wallet, other] = [await generateKeyPairSigner(), await generateKeyPairSigner()]
    await solana.fund(wallet.address, 50_000_000_000n)
    await solana.fund(other.address, 1_000_000n)
    solana.blocks(33)
  })
  after(() => solana.stop())

  it('are named as LiteSVM names them, in its order', async () => {
    const declared = await readFile(fileURLToPath(import.meta.resolve('litesvm')).replace('index.js', 'internal.d.ts'), 'utf8')
    const names = (of: string) => {
      const [, body = ''] = new RegExp(`const enum ${of} \\{([^}]*)\\}`).exec(declared) ?? []
      return [...body.matchAll(/(\w+) = (\d+)/g)].map(([, name, number]) => [name, Number(number)])
    }
    expect(instructionErrors.map((name, index) => [name, index])).to.deep.equal(names('InstructionErrorFieldless'))
    expect(transactionErrors.map((name, index) => [name, index])).to.deep.equal(names('TransactionErrorFieldless'))
  })

  it('are all known to the official client by their names', () => {
    for (const name of transactionErrors)
      expect(isSolanaError(getSolanaErrorFromTransactionError(name), SOLANA_ERROR__TRANSACTION_ERROR__UNKNOWN), name).to.equal(
        internal.includes(name),
      )
    for (const name of instructionErrors) {
      const error = getSolanaErrorFromTransactionError({ InstructionError: [0, name] })
      expect(isSolanaError(error, SOLANA_ERROR__INSTRUCTION_ERROR__UNKNOWN), name).to.equal(false)
    }
  })

  it('of a preflight are thrown by the official client with their cause and logs, and nothing was sent', async () => {
    const transaction = await sign(client, wallet!, [transferTo(wallet!, other!.address, 100_000_000_000n)])
    const sent = solana.sent.length
    const thrown: unknown = await client
      .sendTransaction(transaction.wire, { encoding: 'base64', preflightCommitment: 'processed' })
      .send()
      .catch((error: unknown) => error)
    if (!isSolanaError(thrown, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE)) throw thrown
    expect(thrown.context.logs?.at(-1)).to.equal('Program 11111111111111111111111111111111 failed: custom program error: 0x1')
    expect(String(thrown.cause)).to.include('#1')
    expect(solana.sent.length).to.equal(sent)
  })

  const outcomes: Readonly<Record<string, { of: () => Promise<Parameters<typeof send>[1]>; is: unknown; paid: bigint | undefined }>> = {
    'an instruction failed': {
      of: () => sign(client, wallet!, [transferTo(wallet!, other!.address, 100_000_000_000n)]),
      is: { InstructionError: [0n, { Custom: 1n }] },
      paid: 5000n,
    },
    'an account would be left below its rent': {
      of: async () => sign(client, wallet!, [transferTo(wallet!, (await generateKeyPairSigner()).address, 5n)]),
      is: { InsufficientFundsForRent: { account_index: 1n } },
      paid: 5000n,
    },
    'there is no such program': {
      of: () => sign(client, wallet!, [{ programAddress: nobody as never }]),
      is: 'ProgramAccountNotFound',
      paid: 5000n,
    },
    'the payer has too little for the fee': {
      of: () =>
        sign(client, other!, [
          getSetComputeUnitLimitInstruction({ units: 1_000_000 }),
          getSetComputeUnitPriceInstruction({ microLamports: 5_000_000 }),
        ]),
      is: 'InsufficientFundsForFee',
      paid: undefined,
    },
    'the payer has nothing': {
      of: async () => sign(client, await generateKeyPairSigner(), []),
      is: 'AccountNotFound',
      paid: undefined,
    },
  }
  for (const [name, { of, is, paid }] of Object.entries(outcomes))
    it(`${name}: ${JSON.stringify(is, (_, each) => (typeof each === 'bigint' ? Number(each) : each))}, ${paid ? 'in a block, and pays' : 'in no block'}`, async () => {
      const transaction = await of()
      const { value } = await client.simulateTransaction(transaction.wire, { encoding: 'base64', commitment: 'processed' }).send()
      expect(value.err).to.deep.equal(is)
      const before = solana.svm.getBalance(wallet!.address)!
      await send(client, transaction)
      solana.blocks(1)
      const status = await statusOf(client, transaction)
      expect(status?.err).to.deep.equal(paid ? is : undefined)
      expect(before - solana.svm.getBalance(wallet!.address)!).to.equal(paid ?? 0n)
    })

  it('of a signature: refused at the preflight, and else by every leader', async () => {
    const transaction = await sign(client, wallet!, [transferTo(wallet!, other!.address, 1n)])
    const bytes = Buffer.from(transaction.wire, 'base64')
    bytes[5]! ^= 1
    const sendAs = (options: object) => ask(solana, 'sendTransaction', [bytes.toString('base64'), { encoding: 'base64', ...options }])
    expect((await sendAs({ preflightCommitment: 'processed' })).error?.code).to.equal(-32003)
    const { result } = await sendAs({ skipPreflight: true, maxRetries: 0 })
    solana.blocks(2)
    const statuses = await ask(solana, 'getSignatureStatuses', [[result]])
    expect(Object(statuses.result)).to.deep.include({ value: [null] })
  })

  it('of a transaction that was processed already', async () => {
    const transaction = await sign(client, wallet!, [transferTo(wallet!, other!.address, 1n)])
    await send(client, transaction)
    solana.blocks(1)
    const told = await ask(solana, 'sendTransaction', [transaction.wire, { encoding: 'base64', preflightCommitment: 'processed' }])
    expect(told.error).to.deep.include({
      code: -32002,
      message: 'Transaction simulation failed: This transaction has already been processed',
    })
    expect(Object(told.error?.data)).to.deep.include({ err: 'AlreadyProcessed' })
  })

  const refusals: readonly (readonly [method: string, params: unknown, code: number, message: RegExp])[] = [
    ['getNothing', [], -32601, /^Method not found$/],
    ['toString', [], -32601, /^Method not found$/],
    ['getBalance', [], -32602, /at least 1 argument/],
    ['getBalance', ['0x0000000000000000000000000000000000000001'], -32602, /^Invalid param: Invalid$/],
    ['getBalance', ['abc'], -32602, /^Invalid param: WrongSize$/],
    ['getBalance', [nobody, { commitment: 'recent' }], -32602, /unknown variant `recent`/],
    ['getBalance', [nobody, { minContextSlot: 400_000_000 }], -32016, /^Minimum context slot has not been reached$/],
    ['getMultipleAccounts', [Array.from({ length: 101 }, () => nobody)], -32602, /^Too many inputs provided; max 100$/],
    ['getAccountInfo', [nobody, { encoding: 'hex' }], -32602, /unknown variant `hex`/],
    ['getAccountInfo', ['SysvarS1otHistory11111111111111111111111111', { encoding: 'base58' }], -32600, /less than 128 bytes/],
    ['getSignatureStatuses', [Array.from({ length: 257 }, () => nobody)], -32602, /^Too many inputs provided; max 256$/],
    ['getSignatureStatuses', [[nobody]], -32602, /^Invalid param: WrongSize$/],
    ['getTokenAccountBalance', [nobody], -32602, /could not find account/],
    ['getTokenAccountBalance', ['SysvarRent111111111111111111111111111111111'], -32602, /not a Token account/],
    ['getTokenSupply', [nobody], -32602, /could not find mint/],
    ['getTokenAccountsByOwner', [nobody, { programId: nobody }], -32602, /unrecognized Token program id/],
    ['getTokenAccountsByOwner', [nobody, { mint: nobody }], -32602, /could not find mint/],
    ['getBlock', [500_000_000], -32004, /^Block not available for slot 500000000$/],
    ['getBlock', [7], -32001, /^Block 7 cleaned up/],
    ['getBlock', [350_000_000, { commitment: 'processed' }], -32602, /does not support commitment below `confirmed`/],
    ['sendTransaction', ['AAAA', { encoding: 'base64' }], -32602, /failed to deserialize/],
    ['sendTransaction', ['0OIl'], -32602, /invalid base58 encoding/],
    ['sendTransaction', ['A'.repeat(2000), { encoding: 'base64' }], -32602, /too large: 1500 bytes \(max: 1232 bytes\)/],
    ['simulateTransaction', ['AAAA', { encoding: 'hex' }], -32602, /unsupported encoding: hex/],
    ['requestAirdrop', [nobody, -1], -32602, /expected u64/],
    ['getSignaturesForAddress', [nobody, { limit: 1001 }], -32602, /max 1000/],
  ]
  for (const [method, params, code, message] of refusals)
    it(`${method} of ${JSON.stringify(params).slice(0, 80)}: ${code}`, async () => {
      const { error } = await ask(solana, method, params)
      expect(error?.code).to.equal(code)
      expect(error?.message).to.match(message)
    })

  it('of JSON-RPC itself', async () => {
    expect(JSON.parse(await askText(solana, '{'))).to.deep.equal({
      jsonrpc: '2.0',
      error: { code: -32700, message: 'Parse error' },
      id: null,
    })
    expect(JSON.parse(await askText(solana, []))).to.deep.include({ error: { code: -32600, message: 'Invalid request' } })
    expect((await ask(solana, 'getSlot', { a: 1 })).error?.code).to.equal(-32602)
    const large = await fetch(solana.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: ' '.repeat(60_000) })
    expect(large.status).to.equal(413)
    expect((await fetch(solana.url)).status).to.equal(405)
  })
})
