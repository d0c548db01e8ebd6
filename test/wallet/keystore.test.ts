import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { Wallet } from 'ethers'
import { findWallets, listWallets, removeKey, saveKey, unlockKeystore } from '../../core/keys/keystore.ts'
import { keyFile, keystoreHasKeys } from '../../core/keys/keystore-files.ts'
import { temporaryFolder } from './temporary-folder.ts'

const passphrase = 'correct horse'
const newKey = (): Wallet => new Wallet(Wallet.createRandom().privateKey)

describe('the keystore', () => {
  const folder = temporaryFolder()
  let dataDir: string
  let count = 0
  beforeEach(() => {
    dataDir = path.join(folder, String(count++))
  })

  const save = (wallet: Wallet, label?: string, chain = 'ethereum'): Promise<string> =>
    saveKey({ dataDir, chain, privateKey: wallet.privateKey, passphrase, scryptN: 1024, ...(label === undefined ? {} : { label }) })

  it('lists no wallet where there is no folder', () => {
    expect(keystoreHasKeys(dataDir)).to.equal(false)
    expect(listWallets(dataDir)).to.deep.equal([])
  })

  it('writes key files that only their owner can read and ethers can open, and lists them without the passphrase', async () => {
    const wallet = newKey()
    expect(await save(wallet, 'my "first" $& one')).to.equal(wallet.address)
    const file = keyFile(dataDir, 'ethereum', wallet.address)
    expect(listWallets(dataDir)).to.deep.equal([
      { chain: 'ethereum', address: wallet.address, curve: 'secp256k1', label: 'my "first" $& one', file },
    ])
    expect(keystoreHasKeys(dataDir)).to.equal(true)
    const modes = [file, path.dirname(file), path.dirname(path.dirname(file))].map((each) => statSync(each).mode & 0o777)
    expect(modes).to.deep.equal([0o600, 0o700, 0o700])
    expect(readdirSync(path.dirname(file))).to.have.length(1)
    const opened = await Wallet.fromEncryptedJson(readFileSync(file, 'utf8'), passphrase)
    expect(opened.privateKey).to.equal(wallet.privateKey)
  })

  it('uses scrypt at full strength by default', async () => {
    const wallet = newKey()
    await saveKey({ dataDir, chain: 'ethereum', privateKey: wallet.privateKey, passphrase })
    const { Crypto } = JSON.parse(readFileSync(keyFile(dataDir, 'ethereum', wallet.address), 'utf8'))
    expect(Crypto.kdfparams).to.include({ n: 131072, r: 8, p: 1 })
  })

  it('refuses a key that is there already, but accepts it for another chain', async () => {
    const wallet = newKey()
    await save(wallet)
    const again = await save(wallet).catch((error: Error) => error.message)
    expect(again).to.match(/already in the keystore/)
    await save(wallet, undefined, 'polygon')
    expect(findWallets(dataDir, wallet.address.toLowerCase()).map(({ chain }) => chain)).to.deep.equal(['ethereum', 'polygon'])
  })

  it('refuses chain names that lead out of its folder', async () => {
    for (const chain of ['..', 'a/b', '', 'Ethereum']) {
      expect(await save(newKey(), undefined, chain).catch((error: Error) => error.message)).to.match(/not a valid chain name/)
    }
  })

  it('removes a key', async () => {
    await save(newKey())
    await removeKey(listWallets(dataDir)[0]?.file ?? '')
    expect(keystoreHasKeys(dataDir)).to.equal(false)
  })

  it('unlocks many keys at once', async () => {
    const wallets = Array.from({ length: 9 }, newKey)
    for (const wallet of wallets) await save(wallet)
    const unlocked = await unlockKeystore(dataDir, passphrase)
    expect(unlocked.locked).to.deep.equal([])
    expect(unlocked.wallets.map(({ address }) => address)).to.have.members(wallets.map(({ address }) => address))
  })

  it('names the file that the passphrase does not open, and says when no passphrase was given', async () => {
    const address = await save(newKey())
    const [wrong] = (await unlockKeystore(dataDir, 'wrong horse')).locked
    expect(wrong?.problem)
      .to.include(`${address}.json`)
      .and.match(/passphrase does not open/)
      .and.not.include('wrong horse')
    const [missing] = (await unlockKeystore(dataDir, undefined)).locked
    expect(missing?.problem).to.match(/SLUICE_WALLET_PASSPHRASE_FILE/)
  })

  it('reports a damaged file and a file with another key, and opens the others', async () => {
    const [sound, swapped, foreign] = [newKey(), newKey(), newKey()]
    const addresses = [await save(sound), await save(swapped)]
    const file = keyFile(dataDir, 'ethereum', swapped.address)
    const damaged: [() => void, RegExp][] = [
      [() => renameSync(file, keyFile(dataDir, 'ethereum', foreign.address)), /holds the key of .*, not of the address in its name/],
      [() => writeFileSync(file, readFileSync(file, 'utf8').slice(0, 100)), /it is not JSON/],
      [() => writeFileSync(file, ''), /it is not JSON/],
      [() => writeFileSync(file, '[]'), /it is not a JSON object/],
      [
        () =>
          writeFileSync(
            file,
            readFileSync(file, 'utf8').replaceAll(swapped.address.slice(2).toLowerCase(), foreign.address.slice(2).toLowerCase()),
          ),
        /holds the key of/,
      ],
      [() => writeFileSync(file, readFileSync(file, 'utf8').replace(/"n":\d+/, '"n":1073741824')), /asks for more than 1 GiB of memory/],
      [
        () => {
          rmSync(file)
          mkdirSync(file)
        },
        /not a usable key file/,
      ],
    ]
    const good = readFileSync(file)
    for (const [damage, problem] of damaged) {
      damage()
      const { wallets, locked } = await unlockKeystore(dataDir, passphrase)
      expect(wallets.map(({ address }) => address)).to.deep.equal(addresses.slice(0, 1))
      expect(locked).to.have.length(1)
      expect(locked[0]?.problem).to.match(problem).and.include(path.join(dataDir, 'keystore'))
      rmSync(keyFile(dataDir, 'ethereum', foreign.address), { force: true })
      rmSync(file, { recursive: true, force: true })
      writeFileSync(file, good)
    }
  })

  it('reports a folder that cannot be read, and opens the others', async () => {
    const sound = newKey()
    const address = await save(sound)
    const away = path.join(dataDir, 'keystore', 'polygon')
    mkdirSync(away)
    chmodSync(away, 0o000)
    try {
      const { wallets, locked } = await unlockKeystore(dataDir, passphrase)
      expect(wallets.map((each) => each.address)).to.deep.equal([address])
      if (process.getuid?.() !== 0)
        expect(locked.map(({ problem }) => problem)).to.deep.equal([`${away} cannot be read; check its owner and mode.`])
    } finally {
      chmodSync(away, 0o700)
    }
  })

  it('reports a file whose name and address were both changed', async () => {
    const [wallet, other] = [newKey(), newKey()]
    await save(wallet)
    const file = keyFile(dataDir, 'ethereum', wallet.address)
    const forged = readFileSync(file, 'utf8').replace(wallet.address.slice(2).toLowerCase(), other.address.slice(2).toLowerCase())
    rmSync(file)
    writeFileSync(keyFile(dataDir, 'ethereum', other.address), forged)
    const { wallets, locked } = await unlockKeystore(dataDir, passphrase)
    expect(wallets).to.deep.equal([])
    expect(locked[0]?.problem).to.match(/holds another key than that of its address/)
  })

  it('makes folders that no one else may write to, also where the umask allows it', async () => {
    const before = process.umask(0)
    try {
      await save(newKey())
    } finally {
      process.umask(before)
    }
    const below = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).map((name) => path.join(dataDir, name))
    expect([dataDir, ...below].map((each) => (statSync(each).mode & 0o077).toString(8))).to.deep.equal(['0', '0', '0', '0'])
  })

  for (const [what, change] of [
    [
      'PBKDF2 with 2,147,483,647 rounds',
      { kdf: 'pbkdf2', kdfparams: { c: 2 ** 31 - 1, prf: 'hmac-sha256', dklen: 32, salt: 'ab'.repeat(32) } },
    ],
    [
      'PBKDF2 with as many in a text',
      { kdf: 'pbkdf2', kdfparams: { c: '2147483647', prf: 'hmac-sha512', dklen: 32, salt: 'ab'.repeat(32) } },
    ],
    ['scrypt with 900,000 passes', { kdf: 'scrypt', kdfparams: { n: 131_072, r: 8, p: 900_000, dklen: 32, salt: 'ab'.repeat(32) } }],
    ['scrypt with 64 GiB of memory', { kdf: 'scrypt', kdfparams: { n: 2 ** 26, r: 8, p: 1, dklen: 32, salt: 'ab'.repeat(32) } }],
  ] as const) {
    it(`refuses a key file that would keep the start busy, and names it: ${what}`, async () => {
      const wallet = newKey()
      await save(wallet)
      const file = keyFile(dataDir, 'ethereum', wallet.address)
      const content = JSON.parse(readFileSync(file, 'utf8'))
      writeFileSync(file, JSON.stringify({ ...content, Crypto: { ...content.Crypto, ...change } }))
      const { wallets, locked } = await unlockKeystore(dataDir, passphrase)
      expect(wallets).to.deep.equal([])
      expect(locked[0]?.problem)
        .to.include(file)
        .and.match(/asks for more work|asks for more than 1 GiB/)
    })
  }
})
