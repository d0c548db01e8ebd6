import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { writeLock } from '../../core/config/lock.ts'
import { readPluginFiles } from '../../core/plugins/discover/plugin-files.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** A connector with nothing wrong with it, which writes down that it was loaded. */
const curious = `import { appendFileSync } from 'node:fs'
import { evm } from 'sluice/evm'
import { defineConnector } from 'sluice/plugin'

appendFileSync(new URL('./loaded-in', import.meta.url), 'somewhere')

export default defineConnector({
  family: evm,
  manifest: { name: 'curious', apiVersion: '1.0', version: '0.1.0', trading_type: ['AMM'], available_networks: [{ chain: 'ethereum', networks: ['mainnet'] }], schema: {} },
  create: () => ({ AMM: { quote() {}, swap() {}, fill() {} } }),
})
`

/** A chain whose keys are of the other curve; it is only asked what it is. */
const elsewhere = `import { defineChain } from 'sluice/plugin'

export default defineChain({
  family: { name: 'elsewhere', keys: 'ed25519' },
  manifest: { name: 'elsewhere', apiVersion: '1.0', version: '0.1.0', trading_type: [], available_networks: [{ chain: 'elsewhere', networks: ['mainnet'] }], schema: {} },
  create: () => { throw new Error('nobody asked for it') },
})
`

describe('sluice wallet add', function () {
  this.timeout(400_000)
  const home = mkdtempSync(path.join(tmpdir(), 'sluice-curious-'))
  after(() => rmSync(home, { recursive: true, force: true }))

  it('runs no code of third parties where a key is handled, and knows the chains that the operator trusts all the same', async () => {
    const plugin = path.join(home, 'curious')
    const chain = path.join(home, 'elsewhere')
    for (const folder of [plugin, chain, path.join(home, 'conf')]) mkdirSync(folder)
    writeFileSync(path.join(chain, 'index.ts'), elsewhere)
    writeFileSync(path.join(plugin, 'index.ts'), curious)
    writeFileSync(path.join(plugin, 'defaults.yml'), 'contractAddresses:\n  mainnet: {}\n')
    writeFileSync(
      path.join(home, 'conf', 'server.yml'),
      // A machine that tests much at once is slow.
      JSON.stringify({ plugins: { folders: [path.join(root, 'plugins'), plugin, chain] }, limits: { pluginLoadSeconds: 40 } }),
    )
    const keys = 'ed25519'
    const { sha256 } = readPluginFiles(chain)
    await writeLock(path.join(home, 'conf'), {
      elsewhere: { sha256, tier: 'trusted', kind: 'chain', keys, networks: {}, signs: [], hosts: [] },
      curious: { sha256: readPluginFiles(plugin).sha256, tier: 'trusted', kind: 'connector', networks: {}, signs: [], hosts: [] },
    })
    writeFileSync(path.join(home, 'passphrase'), 'correct horse\n', { mode: 0o600 })
    const launcher = path.join(root, 'bin/launch.mjs')
    // Builds where that has to be done, and says so.
    spawnSync(process.execPath, [launcher, '--version'])
    const sluice = (...args: string[]) =>
      spawnSync(process.execPath, [launcher, 'wallet', 'add', '--new', ...args], {
        cwd: home,
        encoding: 'utf8',
        timeout: 100_000,
        env: { PATH: process.env.PATH, HOME: process.env.HOME, SLUICE_WALLET_PASSPHRASE_FILE: path.join(home, 'passphrase') },
      })
    const added = sluice()
    expect(added.stderr).to.equal('')
    expect(added.stdout).to.match(/^Added 0x[0-9a-fA-F]{40} for ethereum/)
    expect(sluice('--chain', 'elsewhere').stdout).to.match(/^Added [1-9A-HJ-NP-Za-km-z]{32,44} for elsewhere/)
    expect(sluice('--chain', 'etherum').stderr).to.contain('did you mean "ethereum"').and.not.to.contain('curious')
    expect(existsSync(path.join(plugin, 'loaded-in'))).to.equal(false)
  })
})
