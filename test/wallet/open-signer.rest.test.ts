import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { Wallet } from 'ethers'
import pino from 'pino'
import { saveKey } from '../../core/keys/keystore.ts'
import { askPassphrase, openSigner, signerFiles } from '../../core/wallet/signing.ts'
import { loadSettings } from '../../core/config/settings.ts'

describe('opening the keystore beside the rest of the start', () => {
  const home = mkdtempSync(path.join(tmpdir(), 'sluice-open-'))
  const conf = path.join(home, 'conf')
  before(() => {
    mkdirSync(conf)
    mkdirSync(path.join(home, 'data', 'keystore', 'ethereum'), { recursive: true })
    writeFileSync(path.join(home, 'data', 'keystore', 'ethereum', `0x${'1'.repeat(40)}.json`), '{}')
    writeFileSync(path.join(home, 'passphrase'), 'correct horse\n')
  })
  after(() => rmSync(home, { recursive: true, force: true }))

  it('reads the passphrase file relative to the folder above conf, and names it when it is missing', async () => {
    const settings = loadSettings({ confDir: conf, env: { SLUICE_WALLET_PASSPHRASE_FILE: 'passphrase' } })
    expect(Buffer.from((await askPassphrase(settings)) ?? []).toString()).to.equal('correct horse')
    rmSync(path.join(home, 'passphrase'))
    const error = await askPassphrase(settings).catch((thrown: unknown) => thrown)
    expect(error).to.have.property('name', 'StartError')
    expect(String(error)).to.contain(path.join(home, 'passphrase'))
  })

  it('finds a key that was added by the name of a plugin of its chain', async () => {
    const own = path.join(home, 'former')
    mkdirSync(path.join(own, 'conf'), { recursive: true })
    const settings = loadSettings({ confDir: path.join(own, 'conf'), env: {} })
    const { privateKey } = Wallet.createRandom()
    const address = await saveKey({
      dataDir: settings.data.dir,
      chain: 'hyperliquid-chain',
      privateKey,
      passphrase: 'correct horse',
      scryptN: 1024,
    })
    const signer = await openSigner({
      settings,
      log: pino({ level: 'silent' }),
      passphrase: 'correct horse',
      files: signerFiles(settings, { found: [{ name: 'hyperliquid-chain' }], tried: [] }),
    })
    try {
      expect(signer.wallets().filter((each) => each.address === address)).to.deep.equal([{ chain: 'hyperliquid', address }])
    } finally {
      await signer.stop()
    }
  })

  it('fails when it is awaited, without an unhandled rejection before', async () => {
    const settings = loadSettings({ confDir: conf, env: {} })
    const unhandled: unknown[] = []
    const note = (thrown: unknown) => unhandled.push(thrown)
    process.on('unhandledRejection', note)
    try {
      // The key file is none.
      const opening = openSigner({
        settings,
        log: pino({ level: 'silent' }),
        passphrase: 'correct horse',
        files: signerFiles(settings, { found: [], tried: [] }),
      })
      const error = await opening.catch((thrown: unknown) => thrown)
      for (let turn = 0; turn < 5; turn += 1) await setImmediate()
      expect(unhandled).to.deep.equal([])
      expect(error).to.have.property('name', 'StartError')
    } finally {
      process.off('unhandledRejection', note)
    }
  })
})
