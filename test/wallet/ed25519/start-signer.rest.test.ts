import { createPublicKey, verify } from 'node:crypto'
import {
  AccountRole,
  address,
  getBase64EncodedWireTransaction,
  getCompiledTransactionMessageDecoder,
  getPublicKeyFromAddress,
  getTransactionDecoder,
  signatureBytes,
  verifySignature,
  type Address,
} from '@solana/kit'
import { findAssociatedTokenPda, getCreateAssociatedTokenIdempotentInstruction } from '@solana-program/token'
import { expect } from 'chai'
import { SluiceError } from '../../../core/base/errors.ts'
import { addressOfBytes } from '../../../core/keys/curves.ts'
import { saveKey } from '../../../core/keys/keystore.ts'
import { priorityFeeOf } from '../../../core/wallet/policy-solana.ts'
import { decodeMessage } from '../../../core/wallet/solana-message.ts'
import { startSigner, type Signer } from '../../../core/wallet/signer.ts'
import type { SignRequest } from '../../../core/wallet/signer-messages.ts'
import { clientOf } from '../../../tools/solana-node/test/site.ts'
import { startSolana } from '../../../tools/solana-node/start-solana.ts'
import { book, exampleFiles } from '../example-files.ts'
import { bytesOf, requestOf, transaction } from '../example-policy.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { exchange, feeCapLamports, limit, messageOf, owner, price, seed, stranger, trade, wallet } from './example-message.ts'

const passphrase = 'correct horse'
const evmKey = `0x${'b1b2c3d4'.repeat(8)}`

const requestFor = (bytes: Uint8Array, changes: Partial<SignRequest> = {}): SignRequest => ({
  chain: 'solana',
  network: 'mainnet',
  address: wallet,
  draft: { scheme: 'ed25519', bytes },
  ...changes,
})

async function failure(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return error instanceof SluiceError ? `${error.name}: ${error.message}` : String(error)
}

describe('the signer, with keys of both curves', () => {
  const dataDir = temporaryFolder()
  let signer: Signer
  let evmAddress: string
  let evmMisplaced: string
  const logged: string[] = []

  before(async () => {
    const save = (chain: string, curve: 'secp256k1' | 'ed25519', privateKey: string) =>
      saveKey({ dataDir, chain, curve, privateKey, passphrase, scryptN: 1024 })
    await save('solana', 'ed25519', seed)
    evmAddress = await save('ethereum', 'secp256k1', evmKey)
    // A file that somebody copied to where it does not belong.
    evmMisplaced = await save('solana', 'secp256k1', evmKey)
    await save('ethereum', 'ed25519', seed)
    const keep = (fields: object, message = '') => void logged.push(JSON.stringify({ message, ...fields }))
    const here = { contracts: { exchange }, spenders: [] }
    const feeCap = Number(feeCapLamports)
    const files = await exampleFiles(dataDir, {
      passphrase,
      records: { book, pools: { ...book, deposits: [], signs: [], networks: { 'solana/mainnet': here, 'solana/devnet': here } } },
      conf: { 'chains/solana.yml': { mainnet: { feeCap }, devnet: { feeCap } } },
    })
    signer = await startSigner({
      dataDir,
      passphrase,
      devnet: false,
      files,
      log: { info: keep, warn: keep, error: keep },
    })
  })
  after(async () => {
    await signer.stop()
    expect(logged.join('\n')).not.to.include(seed.slice(2)).and.not.include(passphrase)
  })

  it("makes signatures that Node and Solana's own library verify", async () => {
    for (const version of [0, 'legacy'] as const) {
      const bytes = messageOf([limit(), price(1n), trade], { version })
      const signature = await signer.sign(requestFor(bytes))
      expect(signature).to.have.length(64)
      const publicKey = await getPublicKeyFromAddress(wallet)
      expect(await verifySignature(publicKey, signatureBytes(signature), bytes)).to.equal(true)
      const spki = Buffer.from(await crypto.subtle.exportKey('spki', publicKey))
      expect(verify(null, bytes, createPublicKey({ key: spki, format: 'der', type: 'spki' }), signature)).to.equal(true)
    }
  })

  it('signs the creation of a token account, and a node of Solana accepts it', async () => {
    const solana = await startSolana({ slotMs: 'by hand' })
    try {
      await solana.fund(wallet, 1_000_000_000n)
      const { address: mint, program: tokenProgram } = solana.mints.USDC
      const [ata] = await findAssociatedTokenPda({ owner: wallet, mint, tokenProgram })
      const client = clientOf(solana)
      const { value: latest } = await client.getLatestBlockhash({ commitment: 'processed' }).send()
      const create = getCreateAssociatedTokenIdempotentInstruction({ payer: owner, owner: wallet, ata, mint, tokenProgram })
      const bytes = messageOf([limit(200_001), price(1_001n), create], { hash: latest.blockhash })
      const signature = await signer.sign(requestFor(bytes))

      const wire = getBase64EncodedWireTransaction(getTransactionDecoder().decode(Uint8Array.of(1, ...signature, ...bytes)))
      const id = await client.sendTransaction(wire, { encoding: 'base64', preflightCommitment: 'processed' }).send()
      solana.blocks(2)
      const { value: statuses } = await client.getSignatureStatuses([id]).send()
      expect(statuses[0]?.err).to.equal(null)
      // 5000 for the signature; the rest is what the signer holds against the cap, rounded as the runtime does.
      const landed = await client
        .getTransaction(id, { commitment: 'confirmed', encoding: 'base64', maxSupportedTransactionVersion: 0 })
        .send()
      expect(landed?.meta?.fee).to.equal(5_000n + priorityFeeOf(decodeMessage(bytes).instructions.slice(0, 2)))
      const { value: account } = await client.getAccountInfo(ata, { encoding: 'base64', commitment: 'processed' }).send()
      expect(account?.owner).to.equal(tokenProgram)
    } finally {
      await solana.stop()
    }
  })

  it('signs with new accounts whose keys follow from the wallet, the same after it was started again', async () => {
    const ids = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'] as const
    const addressOf = async (id: string) => {
      const twice = await signer.sign({ chain: 'solana', network: 'mainnet', address: wallet, draft: { scheme: 'new-account', id } })
      expect([...twice.subarray(0, 32)]).to.deep.equal([...twice.subarray(32)])
      return address(addressOfBytes(twice.subarray(0, 32)))
    }
    const accounts = [await addressOf(ids[0]), await addressOf(ids[1])] as const
    const signedBy = (...of: readonly Address[]) =>
      messageOf([
        { ...trade, accounts: [...(trade.accounts ?? []), ...of.map((each) => ({ address: each, role: AccountRole.READONLY_SIGNER }))] },
      ])
    const bytes = signedBy(...accounts)
    const inOrder = decodeMessage(bytes).signers.slice(1)
    const newAccounts = inOrder.map((each) => ids[accounts.findIndex((own) => own === each)] ?? '')
    const draft = { scheme: 'ed25519' as const, bytes, newAccounts }
    for (const [index, signerOf] of [wallet, ...inOrder].entries()) {
      const signature = await signer.sign(requestFor(bytes, { draft: { ...draft, ...(index > 0 && { signsAs: index - 1 }) } }))
      expect(await verifySignature(await getPublicKeyFromAddress(address(signerOf)), signatureBytes(signature), bytes)).to.equal(true)
    }

    const refusals: readonly (readonly [Partial<Extract<SignRequest['draft'], { scheme: 'ed25519' }>>, RegExp])[] = [
      [{ newAccounts: [] }, /needs 3 signatures/],
      [{ newAccounts: newAccounts.toReversed() }, /needs 3 signatures/],
      [{ newAccounts: newAccounts.slice(0, 1) }, /needs 3 signatures/],
      [{ bytes: signedBy(stranger), newAccounts: [ids[0]] }, /needs 2 signatures/],
      [{ signsAs: 2 }, /has no such new account/],
      [{ bytes: messageOf([{ programAddress: stranger }]), newAccounts: [], signsAs: 0 }, /no connector declares/],
    ]
    for (const [changes, expected] of refusals)
      expect(await failure(signer.sign(requestFor(bytes, { draft: { ...draft, ...changes } })))).to.match(expected)

    const before = signer.processId()
    if (before === undefined) throw new Error('It runs.')
    process.kill(before, 'SIGKILL')
    for (const until = performance.now() + 180_000; signer.processId() === before || !signer.isReady();) {
      if (performance.now() > until) throw new Error('It did not start again.')
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    expect(await addressOf(ids[0])).to.equal(accounts[0])
  })

  it('refuses with the reason, which it logs', async () => {
    const bytes = messageOf([{ programAddress: stranger }])
    expect(await failure(signer.sign(requestFor(bytes)))).to.match(
      /^FORBIDDEN: The signer refused: no connector declares the program .* on solana/,
    )
    expect(logged.at(-1)).to.match(/refused to sign.*"network":"mainnet".*no connector declares/)
    expect(await failure(signer.sign(requestFor(messageOf([trade]), { network: 'nowhere' })))).to.match(/no plugin serves it/)
  })

  it('signs a transaction only with a key of its curve', async () => {
    const evmDraft = { scheme: 'secp256k1' as const, bytes: bytesOf(transaction()) }
    const solanaDraft = { scheme: 'ed25519' as const, bytes: messageOf([trade]) }
    const typedData = { domain: { name: 'Book' }, types: {}, primaryType: 'Order', message: {} }
    expect(await failure(signer.sign(requestFor(solanaDraft.bytes, { draft: evmDraft })))).to.match(/expects a message of Solana/)
    expect(await failure(signer.sign(requestFor(solanaDraft.bytes, { draft: { scheme: 'eip712', typedData } })))).to.match(
      /expects a message of Solana/,
    )
    expect(await failure(signer.sign(requestOf(evmAddress, transaction(), { draft: solanaDraft })))).to.match(
      /expects an EVM transaction or EIP-712 data/,
    )
    expect(await failure(signer.sign(requestFor(solanaDraft.bytes, { address: evmMisplaced })))).to.match(
      /one of secp256k1, and solana\/mainnet takes keys of ed25519/,
    )
    expect(await failure(signer.sign(requestOf(wallet, transaction())))).to.match(
      /one of ed25519, and ethereum\/local takes keys of secp256k1/,
    )
    // The example is read by the same eyes: it is good in its own place.
    expect(getCompiledTransactionMessageDecoder().decode(solanaDraft.bytes).version).to.equal(0)
    await signer.sign(requestFor(solanaDraft.bytes))
    await signer.sign(requestOf(evmAddress, transaction()))
  })

  it('distinguishes addresses that differ in letter case only', async () => {
    const other = address(wallet.toLowerCase())
    const bytes = messageOf([{ ...trade, accounts: [] }], { feePayer: other })
    expect(await failure(signer.sign(requestFor(bytes, { address: other })))).to.match(/there is no key for/)
  })
})
