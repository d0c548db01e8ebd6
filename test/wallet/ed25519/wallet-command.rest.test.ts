import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createKeyPairSignerFromBytes } from '@solana/kit'
import { expect } from 'chai'
import { Wallet } from 'ethers'
import { encodeBase58 } from '../../../core/keys/curves.ts'
import { listWallets, unlockKeystore } from '../../../core/keys/keystore.ts'
import { keyFile } from '../../../core/keys/keystore-files.ts'
import { passphrase, walletCommandInFolder } from '../wallet-command-in-folder.ts'

interface Pair {
  address: string
  /** As wallets export it, and as solana-keygen writes it. */
  exported: string
  list: string
  secrets: readonly string[]
}

async function newPair(): Promise<Pair> {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const bytes = Buffer.concat([Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')])
  const [exported, list] = [encodeBase58(bytes), JSON.stringify([...bytes])]
  const { address } = await createKeyPairSignerFromBytes(bytes)
  return { address, exported, list, secrets: [exported, list.slice(1, -1), bytes.subarray(0, 32).toString('hex')] }
}

describe('sluice wallet, on a chain whose keys are of ed25519', () => {
  const { fileOf, sluice, dataDir } = walletCommandInFolder()
  const add = (...args: string[]) => ['add', '--chain', 'solana', ...args]

  it("adds a file of solana-keygen and a wallet's export, lists them, and removes one", async () => {
    const [first, second] = [await newPair(), await newPair()]
    const secrets = [...first.secrets, ...second.secrets]
    const bare = fileOf(`${first.list}\n`)
    const added = sluice(add('--key-file', bare, '--label', 'main'), { secrets })
    expect(added).to.include({ status: 0, err: '' })
    expect(added.out).to.include(`Added ${first.address} for solana`).and.include(`${bare} still holds the bare key: delete it.`)
    expect(sluice(add('--key-file', '-'), { input: second.exported, secrets }).status).to.equal(0)
    expect(sluice(['add', '--new']).status).to.equal(0)
    expect(sluice(add('--key-file', '-'), { input: first.list, secrets }).err).to.include('already in the keystore')

    const listed = listWallets(dataDir())
    expect(listed.map(({ chain, curve, problem }) => ({ chain, curve, problem }))).to.deep.equal([
      { chain: 'ethereum', curve: 'secp256k1', problem: undefined },
      { chain: 'solana', curve: 'ed25519', problem: undefined },
      { chain: 'solana', curve: 'ed25519', problem: undefined },
    ])
    expect(sluice(['list']).out)
      .to.include(`solana    ${first.address}  main\n`)
      .and.include(`solana    ${second.address}\n`)
    const { wallets, locked } = await unlockKeystore(dataDir(), passphrase)
    expect([wallets.length, locked]).to.deep.equal([3, []])

    expect(sluice(['remove', second.address.toLowerCase(), '--yes']).status).to.equal(1)
    expect(sluice(['remove', second.address, '--yes']).out).to.include(`Removed ${second.address} of solana`)
    expect(listWallets(dataDir()).map(({ address }) => address))
      .to.include(first.address)
      .and.not.include(second.address)
  })

  it('makes a new key in a file that other programs refuse', async () => {
    expect(sluice(add('--new')).out).to.match(/^Added [1-9A-HJ-NP-Za-km-z]{32,44} for solana/)
    const [made] = listWallets(dataDir())
    if (!made) throw new Error('there is no wallet')
    const { file, address } = made
    const content = readFileSync(file, 'utf8')
    expect(file).to.equal(keyFile(dataDir(), 'solana', address))
    expect(JSON.parse(content)).to.deep.include({ version: 3, address, 'x-sluice': { curve: 'ed25519' } })
    const opened = await Wallet.fromEncryptedJson(content, passphrase).catch((error: Error) => error)
    expect(opened).to.be.instanceOf(Error)
  })

  it('imports a key file of another keystore, and refuses one of the other curve', async () => {
    const { address, exported, secrets } = await newPair()
    sluice(add('--key-file', '-', '--label', 'old'), { input: exported, secrets })
    const foreign = fileOf(readFileSync(keyFile(dataDir(), 'solana', address), 'utf8'))
    sluice(['remove', address, '--yes'])
    expect(sluice(['add', '--keystore-file', foreign]).err).to.match(/holds a key of ed25519, and the keys of this chain are of secp256k1/)
    expect(sluice(add('--keystore-file', foreign), { secrets }).out).to.include(`Added ${address} for solana`)
    const evm = fileOf(await new Wallet(Wallet.createRandom().privateKey).encrypt(passphrase))
    expect(sluice(add('--keystore-file', evm)).err).to.match(/holds a key of secp256k1, and the keys of this chain are of ed25519/)
    expect(sluice(add('--keystore-file', fileOf('[1,2]'))).err).to.match(/solana-keygen.*--key-file/)
  })

  it('refuses a key in any argument, says that it is compromised, and does not repeat it', async () => {
    const { exported, list, secrets } = await newPair()
    const spaced = list.replaceAll(',', ', ').split(' ')
    for (const args of [
      add(exported),
      add('--key-file', exported),
      add(`--key=${exported}`),
      add(list),
      add(...spaced),
      ['remove', exported],
      [exported],
    ]) {
      const { status, err } = sluice(args, { secrets })
      expect(status, args[0]).to.equal(1)
      expect(err).to.match(/shell's history .*consider it burnt/)
    }
    expect(listWallets(dataDir())).to.deep.equal([])
  })

  it('says what an invalid key seems to be', async () => {
    const { address } = await newPair()
    for (const [input, reason] of [
      [address, /an address.*or half of a key/],
      [Wallet.createRandom().privateKey, /key of an EVM chain/],
    ] as const) {
      const { status, err } = sluice(add('--key-file', '-'), { input, secrets: [input] })
      expect(status).to.equal(1)
      expect(err).to.match(reason)
    }
  })
})
