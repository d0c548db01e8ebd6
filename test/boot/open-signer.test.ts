import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import pino from 'pino'
import { openSigner } from '../../core/boot/signer.ts'
import { loadSettings } from '../../core/config/index.ts'

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

  it('fails for whoever awaits it later, and is nobody\'s unhandled rejection until then', async () => {
    const settings = loadSettings({ confDir: conf, env: { SLUICE_WALLET_PASSPHRASE_FILE: 'passphrase' } })
    rmSync(path.join(home, 'passphrase'))
    const unhandled: unknown[] = []
    const note = (thrown: unknown) => unhandled.push(thrown)
    process.on('unhandledRejection', note)
    try {
      const opening = openSigner({ settings, log: pino({ level: 'silent' }) })
      for (let turn = 0; turn < 5; turn += 1) await setImmediate()
      const error = await opening.catch((thrown: unknown) => thrown)
      expect(unhandled).to.deep.equal([])
      // The file of the settings, from the folder above conf wherever the command was run.
      expect(error).to.have.property('name', 'StartError')
      expect(String(error)).to.contain(path.join(home, 'passphrase'))
    } finally {
      process.off('unhandledRejection', note)
    }
  })
})
