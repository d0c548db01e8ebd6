import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { Wallet } from 'ethers'
import { listWallets } from '../../core/keys/keystore.ts'
import { keyFile } from '../../core/keys/keystore-files.ts'
import { wellKnownMnemonic } from './strange-keys.ts'
import { passphrase, walletCommandInFolder } from './wallet-command-in-folder.ts'

const newKey = (): Wallet => new Wallet(Wallet.createRandom().privateKey)

describe('sluice wallet', () => {
  const { fileOf, sluice, dataDir } = walletCommandInFolder()

  it('adds a key from a file and one from standard input, lists them and removes one', async () => {
    const [first, second] = [newKey(), newKey()]
    const secrets = [first.privateKey, second.privateKey]
    const bare = fileOf(`${first.privateKey}\n`)
    const added = sluice(['add', '--key-file', bare, '--label', 'main'], { secrets })
    expect(added).to.include({ status: 0, err: '' })
    expect(added.out).to.include(`Added ${first.address} for ethereum`).and.include(`${bare} still holds the bare key: delete it.`)
    expect(sluice(['add', '--chain', 'polygon', '--key-file', '-'], { input: second.privateKey.slice(2), secrets }).status).to.equal(0)
    const opened = await Wallet.fromEncryptedJson(readFileSync(keyFile(dataDir(), 'polygon', second.address), 'utf8'), passphrase)
    expect(opened.privateKey).to.equal(second.privateKey)

    expect(sluice(['list']).out).to.equal(`ethereum  ${first.address}  main\npolygon   ${second.address}\n`)
    const unasked = sluice(['remove', first.address.toLowerCase()])
    expect(unasked.status).to.equal(1)
    expect(unasked.err).to.match(/no terminal to ask at; say --yes/)
    expect(sluice(['remove', first.address.toLowerCase(), '--yes']).out).to.include(`Removed ${first.address}`)
    expect(listWallets(dataDir()).map(({ address }) => address)).to.deep.equal([second.address])
  })

  it('makes a new key in a file that only its owner can read', () => {
    expect(sluice(['add', '--new']).out).to.match(/^Added 0x[0-9a-fA-F]{40} for ethereum/)
    const [file = ''] = listWallets(dataDir()).map((entry) => entry.file)
    expect(statSync(file).mode & 0o777).to.equal(0o600)
    expect(readdirSync(path.dirname(file))).to.have.length(1)
  })

  it('refuses a key or seed phrase in any argument, says that it is compromised, and does not repeat it', () => {
    const key = newKey().privateKey
    const wrong = [
      ['add', key],
      ['add', key.slice(2)],
      ['add', '--key-file', key],
      ['add', '--label', key],
      ['add', `--private-key=${key}`],
      ['remove', key],
      [key],
      ['add', ...wellKnownMnemonic.split(' ')],
    ]
    for (const args of wrong) {
      const { status, err } = sluice(args, { secrets: [key] })
      expect(status, args[0]).to.equal(1)
      expect(err).to.match(/shell's history .*consider it burnt/)
    }
    expect(listWallets(dataDir())).to.deep.equal([])
  })

  it('refuses a known key, a well-known key and an invalid key, and changes nothing', () => {
    const wallet = newKey()
    const known = Wallet.fromPhrase(wellKnownMnemonic).privateKey
    sluice(['add', '--key-file', '-'], { input: wallet.privateKey })
    for (const [input, reason] of [
      [wallet.privateKey, /already in the keystore/],
      [known, /test account of anvil and hardhat/],
      ['0x00', /this has 2/],
    ] as const) {
      const { status, err } = sluice(['add', '--key-file', '-'], { input, secrets: [wallet.privateKey, known] })
      expect(status).to.equal(1)
      expect(err).to.match(reason)
    }
    expect(listWallets(dataDir()).map(({ address }) => address)).to.deep.equal([wallet.address])
  })

  it('keeps all keys under one passphrase', () => {
    expect(sluice(['add', '--new'], { passphraseFile: fileOf('short') }).err).to.match(/fewer than 8 characters/)
    sluice(['add', '--new'])
    const { status, err } = sluice(['add', '--new'], { passphraseFile: fileOf('another horse'), secrets: ['another horse'] })
    expect(status).to.equal(1)
    expect(err).to.match(/passphrase does not open/)
    expect(listWallets(dataDir())).to.have.length(1)
  })

  it('imports an encrypted key file with its own passphrase', async () => {
    const wallet = newKey()
    const foreign = fileOf(await wallet.encrypt('battery staple'))
    expect(sluice(['add', '--keystore-file', foreign]).err).to.match(/--keystore-passphrase-file/)
    const wrong = sluice(['add', '--keystore-file', foreign, '--keystore-passphrase-file', fileOf('no staple')])
    expect(wrong.err).to.match(/does not open/)
    const right = sluice(['add', '--keystore-file', foreign, '--keystore-passphrase-file', fileOf('battery staple\n')], {
      secrets: [wallet.privateKey],
    })
    expect(right).to.include({ status: 0, err: '' })
    const opened = await Wallet.fromEncryptedJson(readFileSync(keyFile(dataDir(), 'ethereum', wallet.address), 'utf8'), passphrase)
    expect(opened.privateKey).to.equal(wallet.privateKey)
  })

  it('says what to do when it fails', () => {
    const cases: [string[], RegExp, { passphraseFile?: string }?][] = [
      [['add'], /no terminal to ask for the key\..*--key-file/],
      [['add', '--new'], /no terminal to ask at.*SLUICE_WALLET_PASSPHRASE_FILE/, { passphraseFile: '' }],
      [['add', '--new'], /names \/no\/such, which cannot be read/, { passphraseFile: '/no/such' }],
      [['add', '--new'], /which is empty/, { passphraseFile: fileOf('\n') }],
      [['add', '--new', '--chain', 'etherum'], /did you mean "ethereum"/],
      [['add', '--new', '--key-file', 'x'], /the key comes from one place/],
      [['add', '--new', '--label', 'two\nlines'], /--label takes/],
      [['add', '--key-file', '/no/such'], /cannot be opened/],
      [['add', '--key-file', '/'], /cannot be read \(EISDIR\)/],
      [['add', 'word'], /takes no argument/],
      [['remove', '0x12'], /no address/],
      [['remove', newKey().address], /There is no wallet/],
    ]
    for (const [args, reason, options] of cases) {
      const { status, err } = sluice(args, options)
      expect(status, args.join(' ')).to.equal(1)
      expect(err).to.match(reason)
    }
    expect(sluice(['list']).out).to.match(/There are no wallets in .*sluice wallet add/)
  })
})
