import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { curves } from '../../../core/keys/curves.ts'
import { decryptKey, findWallets, listWallets, saveKey, unlockKeystore } from '../../../core/keys/keystore.ts'
import { keyFile } from '../../../core/keys/keystore-files.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { seed, stranger, wallet } from './example-message.ts'

const passphrase = 'correct horse'

describe('the keystore, with a key of ed25519', () => {
  const folder = temporaryFolder()
  let dataDir: string
  let count = 0
  beforeEach(async () => {
    dataDir = path.join(folder, String(count++))
    const address = await saveKey({
      dataDir,
      chain: 'solana',
      curve: 'ed25519',
      privateKey: seed,
      passphrase,
      label: 'main',
      scryptN: 1024,
    })
    expect(address).to.equal(wallet)
  })
  const file = (address: string = wallet): string => keyFile(dataDir, 'solana', address)

  it('shows address, curve and label without the passphrase, and decrypts the seed with it', async () => {
    expect(listWallets(dataDir)).to.deep.equal([{ chain: 'solana', address: wallet, curve: 'ed25519', label: 'main', file: file() }])
    expect(await decryptKey(readFileSync(file(), 'utf8'), passphrase, file())).to.deep.equal({
      curve: 'ed25519',
      address: wallet,
      privateKey: seed,
    })
    const wrong = await decryptKey(readFileSync(file(), 'utf8'), 'wrong horse', file()).catch((error: Error) => error)
    expect(wrong)
      .to.be.an('error')
      .with.property('message')
      .match(/passphrase does not open/)
      .and.not.include('wrong horse')
    expect(findWallets(dataDir, wallet)).to.have.length(1)
    expect(findWallets(dataDir, wallet.toLowerCase())).to.have.length(0)
  })

  it('keeps seeds with leading zeros', async () => {
    const small = `0x${'00'.repeat(31)}01`
    const address = await saveKey({ dataDir, chain: 'solana', curve: 'ed25519', privateKey: small, passphrase, scryptN: 1024 })
    expect(address).to.equal(curves.ed25519.addressOf(small))
    const { wallets, locked } = await unlockKeystore(dataDir, passphrase)
    expect([wallets.map((each) => each.address).toSorted(), locked]).to.deep.equal([[address, wallet].toSorted(), []])
  })

  const damages: [string, (good: string) => void, RegExp][] = [
    ['renamed', () => renameSync(file(), file(stranger)), /holds the key of .*, not of the address in its name/],
    ['renamed to an invalid address', () => renameSync(file(), file(wallet.replace('N', '0'))), /not named after an address/],
    ['renamed, and changed to fit', (good) => swap(good.replaceAll(wallet, stranger)), /another key than that of its address/],
    [
      'marked as a key of the other curve',
      (good) => writeFileSync(file(), good.replace('ed25519', 'secp256k1')),
      /its address is malformed/,
    ],
    [
      'said to be of a curve that nobody knows',
      (good) => writeFileSync(file(), good.replace('ed25519', 'p256')),
      /a kind that this version does not know/,
    ],
    ['stripped of its curve', (good) => writeFileSync(file(), good.replace('"curve":"ed25519",', '')), /its address is malformed/],
    ['stripped of its address', (good) => writeFileSync(file(), good.replace(`"address":"${wallet}"`, '"address":""')), /names no address/],
    [
      'changed in its cipher text',
      (good) => writeFileSync(file(), good.replace(/"ciphertext":"../, '"ciphertext":"00')),
      /passphrase does not open/,
    ],
  ]
  const swap = (content: string): void => {
    rmSync(file())
    writeFileSync(file(stranger), content)
  }
  for (const [what, damage, problem] of damages) {
    it(`does not open a file that was ${what}, and says why`, async () => {
      damage(readFileSync(file(), 'utf8'))
      const { wallets, locked } = await unlockKeystore(dataDir, passphrase)
      expect(wallets).to.deep.equal([])
      expect(locked.map((each) => each.problem).join())
        .to.match(problem)
        .and.include(path.join(dataDir, 'keystore'))
    })
  }
})
