import path from 'node:path'
import { writeFileSync } from 'node:fs'
import { expect } from 'chai'
import { hexlify, recoverAddress, Signature, verifyTypedData, Wallet } from 'ethers'
import { SluiceError, type ErrorName } from '../../core/base/errors.ts'
import { saveKey } from '../../core/keys/keystore.ts'
import { keyFile } from '../../core/keys/keystore-files.ts'
import { startSigner, type Signer, type SignerOptions } from '../../core/wallet/signer.ts'
import { wellKnownAddresses } from '../../core/keys/curves.ts'
import { exampleFiles } from './example-files.ts'
import { requestOf, stranger, transaction } from './example-policy.ts'
import { isAlive, parentOf, until } from './processes.ts'
import { temporaryFolder } from './temporary-folder.ts'

const passphrase = 'correct horse'
const real = new Wallet(`0x${'a1b2c3d4'.repeat(8)}`)
const [devnet0 = ''] = wellKnownAddresses

const logged: string[] = []
const keep =
  (level: string) =>
  (fields: object, message = ''): void => {
    logged.push(JSON.stringify({ level, message, ...fields }))
  }
/** Runs at the next logged error: a signer is down for so short a time that polling may miss it. */
let atError: (() => void) | undefined
const log = {
  info: keep('info'),
  warn: keep('warn'),
  error: (fields: object, message?: string): void => {
    keep('error')(fields, message)
    atError?.()
    atError = undefined
  },
}

async function failure(promise: Promise<unknown>): Promise<{ name: ErrorName | 'none'; message: string }> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return error instanceof SluiceError ? error : { name: 'none', message: String(error) }
}

describe('the signer', () => {
  const dataDir = temporaryFolder()
  let signer: Signer
  let files: SignerOptions['files']
  const start = (changes: Partial<SignerOptions> = {}): Promise<Signer> =>
    startSigner({ dataDir, passphrase, devnet: true, files, log, ...changes })

  before(async () => {
    await saveKey({ dataDir, chain: 'ethereum', privateKey: real.privateKey, passphrase, label: 'main', scryptN: 1024 })
    files = await exampleFiles(dataDir, { passphrase })
    signer = await start()
  })
  after(async () => {
    await signer.stop()
    expect(logged.join('\n')).not.to.include(real.privateKey.slice(2)).and.not.include(passphrase)
  })

  it("has the keystore's wallets and, with the devnet, accounts 0, 1 and 2", () => {
    expect(signer.wallets()).to.have.deep.members([
      { chain: 'ethereum', address: real.address, label: 'main' },
      ...wellKnownAddresses.slice(0, 3).map((address, index) => ({ chain: 'ethereum', address, label: `devnet ${index}`, devnet: true })),
    ])
    expect(signer.isReady()).to.equal(true)
  })

  it("signs transactions that the wallet's address is recovered from", async () => {
    for (const address of [real.address, devnet0, devnet0.toLowerCase()]) {
      const tx = transaction()
      const signature = await signer.sign(requestOf(address, tx))
      expect(signature).to.have.length(65)
      expect(signature[64]).to.be.lessThan(2)
      expect(recoverAddress(tx.unsignedHash, Signature.from(hexlify(signature))).toLowerCase()).to.equal(address.toLowerCase())
      tx.signature = hexlify(signature)
      expect(tx.from?.toLowerCase()).to.equal(address.toLowerCase())
    }
  })

  it("signs typed data that the wallet's address is recovered from", async () => {
    const typedData = {
      domain: { name: 'Book', chainId: 1 },
      types: { Order: [{ name: 'price', type: 'uint256' }] },
      primaryType: 'Order',
      message: { price: '5' },
    }
    const signature = await signer.sign({
      chain: 'ethereum',
      network: 'mainnet',
      address: real.address,
      draft: { scheme: 'eip712', typedData },
    })
    expect(verifyTypedData(typedData.domain, typedData.types, typedData.message, hexlify(signature))).to.equal(real.address)
  })

  it('signs a hundred transactions at once and answers each with its own signature', async () => {
    const all = Array.from({ length: 100 }, (_, nonce) => transaction({ nonce }))
    const signatures = await Promise.all(all.map((tx) => signer.sign(requestOf(devnet0, tx))))
    for (const [index, tx] of all.entries()) {
      expect(recoverAddress(tx.unsignedHash, Signature.from(hexlify(signatures[index] ?? '0x')))).to.equal(devnet0)
    }
  })

  it('goes by seals of a passphrase of their own, with the keystore or with keys of another source', async () => {
    const ofSeals = 'another long passphrase'
    const keystores = { dataDir, passphrase }
    const others = { dataDir: temporaryFolder(), keySources: [{ kind: 'devnet' }] }
    for (const keys of [keystores, others]) {
      const owner = keys === keystores ? real.address : devnet0
      const sealed = await exampleFiles(temporaryFolder(), { passphrase: ofSeals })
      for (const [given, holds] of [
        [ofSeals, true],
        ['yet another passphrase', false],
      ] as const) {
        const own = await startSigner({ devnet: true, log, files: sealed, ofSeals: given, ...keys })
        const to = await failure(own.sign(requestOf(owner, transaction())))
        expect(to.name, to.message).to.equal(holds ? 'none' : 'FORBIDDEN')
        await own.stop()
      }
    }
  })

  it('lets the well-known wallets sign on a devnet only', async () => {
    const refused = await failure(signer.sign(requestOf(devnet0, transaction({ chainId: 1 }), { network: 'mainnet' })))
    expect(refused.name).to.equal('FORBIDDEN')
    expect(refused.message).to.match(/everybody has the key of 0xf39F.*not on ethereum\/mainnet/)
    await signer.sign(requestOf(real.address, transaction({ chainId: 1 }), { network: 'mainnet' }))
  })

  it('refuses with the reason, which it logs', async () => {
    const refused = await failure(signer.sign(requestOf(real.address, transaction({ to: stranger }))))
    expect(refused.name).to.equal('FORBIDDEN')
    expect(refused.message).to.match(/The signer refused: no connector declares the contract .* on ethereum\/local/)
    expect(logged.at(-1)).to.match(/"warn".*refused to sign.*"network":"local".*no connector declares/)
  })

  it('refuses with a reason of a bounded length, however long what it names is', async () => {
    const refused = await failure(signer.sign(requestOf(real.address, transaction(), { network: 'x'.repeat(20_000) })))
    expect(refused.name).to.equal('FORBIDDEN')
    expect(refused.message)
      .to.match(/^The signer refused: nothing is signed for/)
      .and.have.lengthOf(4_000)
  })

  it('refuses unknown wallets, unknown networks and malformed requests', async () => {
    expect((await failure(signer.sign(requestOf(stranger, transaction())))).name).to.equal('LOAD_WALLET')
    expect((await failure(signer.sign(requestOf(real.address, transaction(), { chain: 'polygon' })))).name).to.equal('LOAD_WALLET')
    expect((await failure(signer.sign(requestOf(real.address, transaction(), { network: 'goerli' })))).message).to.match(
      /no plugin serves it/,
    )
    for (const request of [{}, null, { ...requestOf(real.address, transaction()), draft: { scheme: 'secp256k1', bytes: '0x02' } }]) {
      // @ts-expect-error what a plugin without types could send
      expect((await failure(signer.sign(request))).message).to.match(/the request is malformed/)
    }
  })

  it('rejects a request that cannot be sent to its process', async () => {
    const unsendable: object = { admin: () => true }
    const refused = await signer.sign({ ...requestOf(real.address, transaction()), ...unsendable }).catch((error: unknown) => error)
    expect(refused).to.be.an('error')
    await signer.sign(requestOf(real.address, transaction()))
  })

  it('restarts after a kill with its keys, and rejects the requests under way', async () => {
    const killed = signer.processId() ?? 0
    process.kill(killed, 'SIGSTOP')
    const underWay = failure(signer.sign(requestOf(real.address, transaction())))
    process.kill(killed, 'SIGKILL')
    expect(await underWay)
      .to.include({ name: 'OVERLOADED' })
      .and.property('message')
      .match(/nothing was signed that could be sent/)
    expect((await failure(signer.sign(requestOf(real.address, transaction())))).message).to.match(/being started again/)
    expect(signer.isReady()).to.equal(false)
    await until(() => signer.isReady())
    expect(signer.processId()).not.to.equal(killed)
    await signer.sign(requestOf(real.address, transaction()))
    expect((await failure(signer.sign(requestOf(real.address, transaction({ to: stranger }))))).name).to.equal('FORBIDDEN')
  })

  it('ignores Ctrl-C, SIGTERM and SIGHUP', async () => {
    const processId = signer.processId() ?? 0
    for (const each of [processId, parentOf(processId)]) {
      for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(each, name)
    }
    await signer.sign(requestOf(real.address, transaction()))
    expect(signer.processId()).to.equal(processId)
    expect(isAlive(parentOf(processId))).to.equal(true)
  })

  it('keeps the keys of the keystore locked, and says so, after the keeper of the passphrase was killed', async () => {
    const own = await start()
    try {
      const before = own.processId() ?? 0
      process.kill(parentOf(before), 'SIGKILL')
      await until(() => own.isReady() && own.processId() !== before)
      await own.sign(requestOf(devnet0, transaction()))
      const locked = await failure(own.sign(requestOf(real.address, transaction())))
      expect(locked.name).to.equal('SERVICE_UNINITIALIZED')
      expect(locked.message).to.match(/is locked/)
      expect(logged.join('\n')).to.match(/restart the server to unlock it/)
      expect(own.failing()).to.match(/1 of its keys are locked: restart the server/)
    } finally {
      await own.stop()
    }
  })

  it('leaves no process behind when it stops, and signs nothing afterwards', async () => {
    const own = await start()
    const processIds = [own.processId() ?? 0, parentOf(own.processId() ?? 0)]
    const underWay = failure(own.sign(requestOf(real.address, transaction())))
    await own.stop()
    await own.stop()
    expect(['none', 'OVERLOADED']).to.include((await underWay).name)
    expect(processIds.filter(isAlive)).to.deep.equal([])
    expect((await failure(own.sign(requestOf(real.address, transaction())))).name).to.equal('OVERLOADED')
  })

  it('refuses to start with a wrong passphrase or without one, and names the file', async () => {
    const file = keyFile(dataDir, 'ethereum', real.address)
    const wrong = await failure(start({ passphrase: 'wrong horse' }))
    expect(wrong.message)
      .to.include(file)
      .and.match(/does not open/)
      .and.not.include('wrong horse')
    const { message } = await failure(start({ passphrase: undefined }))
    expect(message)
      .to.include(file)
      .and.match(/SLUICE_WALLET_PASSPHRASE_FILE/)
  })

  it('refuses to start with an unknown key source, and names those that there are', async () => {
    const { message } = await failure(start({ keySources: [{ kind: 'keystore' }, { kind: 'kms', region: 'eu-west-1' }] }))
    expect(message).to.match(/wallet\.keySources names "kms", which is not a source of keys: use keystore or devnet/)
  })

  it('opens only the key sources that it is told to', async () => {
    const own = await start({ keySources: [{ kind: 'devnet' }], passphrase: undefined, devnet: false })
    try {
      expect(own.wallets().map(({ address }) => address)).to.deep.equal(wellKnownAddresses.slice(0, 3))
    } finally {
      await own.stop()
    }
  })

  it('starts without a passphrase where there are no keys', async () => {
    const own = await start({ dataDir: path.join(dataDir, 'empty'), passphrase: undefined, devnet: false })
    expect(own.wallets()).to.deep.equal([])
    await own.stop()
  })

  it('names a damaged file at start', async () => {
    const damagedDir = path.join(dataDir, 'damaged')
    await saveKey({ dataDir: damagedDir, chain: 'ethereum', privateKey: real.privateKey, passphrase, scryptN: 1024 })
    const file = keyFile(damagedDir, 'ethereum', real.address)
    writeFileSync(file, 'garbage')
    expect((await failure(start({ dataDir: damagedDir }))).message).to.include(file)
  })

  it('locks the wallet of a damaged file or of another passphrase, and the others sign', async () => {
    const mixedDir = path.join(dataDir, 'mixed')
    const [other, third] = [Wallet.createRandom(), Wallet.createRandom()]
    for (const { privateKey } of [real, other])
      await saveKey({ dataDir: mixedDir, chain: 'ethereum', privateKey, passphrase, scryptN: 1024 })
    await saveKey({ dataDir: mixedDir, chain: 'ethereum', privateKey: third.privateKey, passphrase: 'another horse', scryptN: 1024 })
    writeFileSync(keyFile(mixedDir, 'ethereum', other.address), 'garbage')
    const own = await start({ dataDir: mixedDir, files: await exampleFiles(mixedDir, { passphrase }) })
    try {
      await own.sign(requestOf(real.address, transaction()))
      for (const { address } of [other, third]) {
        const { name, message } = await failure(own.sign(requestOf(address, transaction())))
        expect(name).to.equal('SERVICE_UNINITIALIZED')
        expect(message).to.contain('is locked')
        expect(own.locked().join('\n')).to.contain(keyFile(mixedDir, 'ethereum', address))
      }
      expect(logged.join('\n')).to.contain('A wallet is locked, and the others sign')
      expect(own.failing()).to.equal(undefined)
    } finally {
      await own.stop()
    }
  })
})
