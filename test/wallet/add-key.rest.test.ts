import { randomBytes } from 'node:crypto'
import fs, { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import path from 'node:path'
import { expect } from 'chai'
import { hexlify, recoverAddress, Signature, Wallet } from 'ethers'
import type { SluiceError } from '../../core/base/errors.ts'
import { curves, decodeBase58, wellKnownAddresses } from '../../core/keys/curves.ts'
import { saveKey } from '../../core/keys/keystore.ts'
import { keyFile } from '../../core/keys/keystore-files.ts'
import { addSentKey } from '../../core/wallet/add-key.ts'
import { startSigner, type Signer, type SignerOptions } from '../../core/wallet/signer.ts'
import { exampleFiles } from './example-files.ts'
import { requestOf, transaction } from './example-policy.ts'
import { isAlive, memoryHolds, parentOf, until } from './processes.ts'
import { temporaryFolder } from './temporary-folder.ts'

const passphrase = 'correct horse battery'
const newWallet = () => new Wallet(Wallet.createRandom().privateKey)

/** Key files that are read in this process meanwhile. */
async function filesRead(work: () => Promise<unknown>): Promise<string[]> {
  const read: string[] = []
  const [sync, later] = [fs.readFileSync, fs.promises.readFile]
  const noting =
    <A extends unknown[], R>(how: (...args: A) => R) =>
    (...args: A): R => {
      if (String(args[0]).endsWith('.json')) read.push(String(args[0]))
      return how(...args)
    }
  Object.assign(fs, { readFileSync: noting(sync) })
  Object.assign(fs.promises, { readFile: noting(later) })
  syncBuiltinESMExports()
  try {
    await work()
  } finally {
    Object.assign(fs, { readFileSync: sync })
    Object.assign(fs.promises, { readFile: later })
    syncBuiltinESMExports()
  }
  return read
}

describe('a key that a client sends', function () {
  this.timeout(400_000)
  const dataDir = temporaryFolder()
  const logged: string[] = []
  const keep = (fields: object, message = ''): void => void logged.push(JSON.stringify({ message, ...fields }))
  const sent = newWallet()
  const secrets = [sent.privateKey.slice(2), passphrase]
  let files: SignerOptions['files']
  let signer: Signer

  const start = (changes: Partial<SignerOptions> = {}) =>
    startSigner({
      dataDir,
      passphrase,
      devnet: false,
      files,
      acceptsKeys: true,
      log: { info: keep, warn: keep, error: keep },
      ...changes,
    })
  const signs = async (by: Signer, address: string): Promise<boolean> => {
    const tx = transaction()
    const signature = await by.sign(requestOf(address, tx))
    return recoverAddress(tx.unsignedHash, Signature.from(hexlify(signature))) === address
  }
  const refusal = async (by: Signer, key: Partial<Parameters<Signer['addKey']>[0]>): Promise<string> => {
    const error = await by.addKey({ chains: ['ethereum'], curve: 'secp256k1', text: newWallet().privateKey, ...key }).then(
      () => undefined,
      (thrown: SluiceError) => thrown,
    )
    return `${error?.name}: ${error?.message}`
  }

  before(async () => {
    await saveKey({ dataDir, chain: 'ethereum', privateKey: newWallet().privateKey, passphrase, scryptN: 1024 })
    files = await exampleFiles(dataDir, { passphrase })
    signer = await start()
  })
  after(async () => {
    await signer.stop()
    for (const secret of secrets) expect(logged.join('\n')).not.to.include(secret)
  })

  it('signs at once, of each chain that it was sent for, while others sign', async () => {
    const [first = { address: '' }] = signer.wallets()
    const adding = signer.addKey({ chains: ['ethereum', 'base'], curve: 'secp256k1', text: ` ${sent.privateKey.slice(2).toUpperCase()}\n` })
    expect(await signs(signer, first.address)).to.equal(true)
    const wallets = ['ethereum', 'base'].map((chain) => ({ chain, address: sent.address }))
    expect(await adding).to.deep.equal(wallets)
    expect(signer.wallets()).to.deep.include.members(wallets)
    expect(await signs(signer, sent.address)).to.equal(true)
  })

  it('is in the keystore, encrypted, and nowhere else in its folder', () => {
    const content = ['ethereum', 'base'].map((chain) => readFileSync(keyFile(dataDir, chain, sent.address), 'utf8'))
    expect(content[0]).to.equal(content[1]).and.to.include('scrypt')
    for (const entry of readdirSync(dataDir, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) {
        const text = readFileSync(path.join(entry.parentPath, entry.name), 'latin1').toLowerCase()
        for (const secret of secrets) expect(text, entry.name).not.to.include(secret)
      }
  })

  it('leaves nothing in the memory of the process that holds the passphrase', function () {
    if (process.platform !== 'linux') this.skip()
    const digits = sent.privateKey.slice(2)
    const wanted = [digits, digits.toUpperCase()].flatMap((each) => [Buffer.from(each, 'latin1'), Buffer.from(each, 'utf16le')])
    expect(memoryHolds(parentOf(signer.processId() ?? 0), [...wanted, Buffer.from(digits, 'hex')])).to.equal(false)
  })

  it('signs after the signer was killed, and after the next start', async () => {
    const before = signer.processId() ?? 0
    process.kill(before, 'SIGKILL')
    await until(() => !isAlive(before))
    await until(() => signer.isReady() && signer.processId() !== before)
    expect(await signs(signer, sent.address)).to.equal(true)
    const later = newWallet()
    await signer.addKey({ chains: ['ethereum'], curve: 'secp256k1', text: later.privateKey })
    await signer.stop()
    signer = await start()
    for (const { address } of [sent, later]) expect(await signs(signer, address)).to.equal(true)
  })

  it('is kept once, however often it comes', async () => {
    const again = newWallet()
    const key = { chains: ['ethereum'], curve: 'secp256k1', text: again.privateKey } as const
    const answers = await Promise.all([signer.addKey(key), signer.addKey(key), signer.addKey({ ...key, chains: ['ethereum', 'celo'] })])
    expect(answers.map((each) => each.length)).to.deep.equal([1, 1, 2])
    const own = signer.wallets().filter(({ address }) => address === again.address)
    expect(own.map(({ chain }) => chain)).to.deep.equal(['ethereum', 'celo'])
  })

  it('is kept again where its file was removed while it signs', async () => {
    const own = temporaryFolder()
    const again = newWallet()
    const key = { chains: ['ethereum', 'base'], curve: 'secp256k1', text: again.privateKey } as const
    const other = await start({ dataDir: own })
    await other.addKey(key)
    rmSync(keyFile(own, 'base', again.address))
    expect(await other.addKey(key)).to.have.length(2)
    rmSync(keyFile(own, 'ethereum', again.address))
    rmSync(keyFile(own, 'base', again.address))
    expect(await other.addKey(key)).to.have.length(2)
    await other.stop()
    const restarted = await start({ dataDir: own })
    expect(restarted.wallets().map(({ chain }) => chain)).to.have.members(key.chains)
    expect(await signs(restarted, again.address)).to.equal(true)
    await restarted.stop()
  })

  it('is refused where its file is there and does not open, whether it signs or not', async () => {
    const own = temporaryFolder()
    const [open, locked] = [newWallet(), newWallet()]
    const other = await start({ dataDir: own })
    const text = open.privateKey
    await other.addKey({ chains: ['ethereum'], curve: 'secp256k1', text })
    const foreign = { dataDir: own, chain: 'ethereum', passphrase: 'of somebody else', scryptN: 1024 }
    const file = keyFile(own, 'ethereum', open.address)
    rmSync(file)
    await saveKey({ ...foreign, privateKey: text })
    await saveKey({ ...foreign, privateKey: locked.privateKey })
    for (const each of [text, locked.privateKey])
      for (const chains of [['ethereum'], ['ethereum', 'base']])
        expect(await refusal(other, { chains, text: each })).to.match(/^SERVICE_UNINITIALIZED: .*passphrase does not open/)
    writeFileSync(file, 'torn')
    expect(await refusal(other, { text })).to.match(/^SERVICE_UNINITIALIZED: .*not a usable key file/)
    expect(existsSync(keyFile(own, 'base', open.address))).to.equal(false)
    expect(other.wallets().map(({ address }) => address)).to.deep.equal([open.address])
    await other.stop()
  })

  it('needs the content of one file among many, for however many chains', async () => {
    const own = temporaryFolder()
    const held = ['ethereum', 'base', 'celo', 'polygon']
    for (let count = 0; count < 3; count += 1)
      await saveKey({
        dataDir: own,
        chain: 'ethereum',
        alsoFor: held.slice(1),
        privateKey: newWallet().privateKey,
        passphrase,
        scryptN: 1024,
      })
    const add = (text: string) =>
      addSentKey({ dataDir: own, chains: held, curve: 'secp256k1', text, passphrase: Buffer.from(passphrase), isOpen: () => false })
    const read = await filesRead(() => add(newWallet().privateKey))
    expect(new Set(read)).to.have.length(1)
    expect(read).to.have.length(2)
  })

  it('may be one of Solana', async () => {
    const seed = randomBytes(32)
    const address = curves.ed25519.addressOf(hexlify(seed))
    const pair = [...seed, ...(decodeBase58(address, 32) ?? [])]
    const wallets = await signer.addKey({ chains: ['solana'], curve: 'ed25519', text: JSON.stringify(pair) })
    expect(wallets).to.deep.equal([{ chain: 'solana', address }])
  })

  it('is refused in words that do not repeat it, where it is none or everybody has it', async () => {
    const typo = `${sent.privateKey.slice(0, -1)}g`
    const why = await refusal(signer, { text: typo })
    expect(why)
      .to.match(/^INCOMPLETE_PARAMS: .*not hexadecimal/)
      .and.not.include(typo.slice(2))
    const wellKnown = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
    expect(await refusal(signer, { text: wellKnown })).to.match(new RegExp(`^INCOMPLETE_PARAMS: .*${wellKnownAddresses[0]}`))
    expect(await refusal(signer, { text: 'a'.repeat(2_000) })).to.match(/^INCOMPLETE_PARAMS: A private key has 1 to 1024/)
    expect(await signs(signer, sent.address)).to.equal(true)
  })

  it('waits behind eight others at most', async () => {
    const keys = Array.from({ length: 12 }, () => ({ text: 'no key' }))
    const answers = await Promise.all(keys.map((each) => refusal(signer, each)))
    expect(answers.filter((each) => each.startsWith('OVERLOADED'))).to.have.length(4)
  })

  it('is refused unless the operator accepts keys, while plugins are tried, and without a keystore or its passphrase', async () => {
    const nothing = { dataDir: temporaryFolder(), passphrase: undefined }
    const cases: [Partial<SignerOptions>, RegExp][] = [
      [{ acceptsKeys: false }, /^FORBIDDEN: Keys of clients are not accepted here/],
      [{ files: { ...files, tries: true } }, /^FORBIDDEN: .*not accepted/],
      [{ keySources: [{ kind: 'devnet' }] }, /^FORBIDDEN: .*not accepted/],
      [nothing, /^SERVICE_UNINITIALIZED: .*SLUICE_WALLET_PASSPHRASE_FILE/],
      [{ ...nothing, passphrase: 'short' }, /^SERVICE_UNINITIALIZED: .*fewer than 8/],
    ]
    for (const [changes, words] of cases) {
      const own = await start(changes)
      expect(await refusal(own, {})).to.match(words)
      await own.stop()
    }
  })

  it('is refused where the keystore has another passphrase by now', async () => {
    const own = temporaryFolder()
    const other = await start({ dataDir: own })
    await saveKey({ dataDir: own, chain: 'ethereum', privateKey: newWallet().privateKey, passphrase: 'of somebody else', scryptN: 1024 })
    expect(await refusal(other, {})).to.match(/^SERVICE_UNINITIALIZED: .*passphrase does not open/)
    await other.stop()
  })
})
