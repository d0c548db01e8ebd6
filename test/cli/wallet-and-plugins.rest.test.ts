import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** A connector with nothing wrong with it, which writes down in which thread it was loaded. */
const curious = `import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { evm } from 'sluice/evm'
import { defineConnector } from 'sluice/plugin'

appendFileSync(new URL('./loaded-in', import.meta.url), isMainThread ? 'the process itself\\n' : 'a thread\\n')

export default defineConnector({
  family: evm,
  manifest: { name: 'curious', apiVersion: '1.0', trading_type: ['AMM'], available_networks: [{ chain: 'ethereum', networks: ['mainnet'] }], schema: {} },
  create: () => ({ AMM: { quote() {}, swap() {}, fill() {} } }),
})
`

/** A chain whose keys are of the other curve; it is only asked what it is. */
const elsewhere = `import { defineChain } from 'sluice/plugin'

export default defineChain({
  family: { name: 'elsewhere', keys: 'ed25519' },
  manifest: { name: 'elsewhere', apiVersion: '1.0', trading_type: [], available_networks: [{ chain: 'elsewhere', networks: ['mainnet'] }], schema: {} },
  create: () => { throw new Error('nobody asked for it') },
})
`

describe('sluice wallet add', () => {
  const home = mkdtempSync(path.join(tmpdir(), 'sluice-curious-'))
  after(() => rmSync(home, { recursive: true, force: true }))

  it('loads no plugin into the process that handles the key, and knows the chains all the same', () => {
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
    writeFileSync(path.join(home, 'passphrase'), 'correct horse\n', { mode: 0o600 })
    const launcher = path.join(root, 'bin/launch.mjs')
    // Builds where that has to be done, and says so.
    spawnSync(process.execPath, [launcher, '--version'])
    const sluice = (...args: string[]) =>
      spawnSync(process.execPath, [launcher, 'wallet', 'add', '--new', ...args], {
        cwd: home,
        encoding: 'utf8',
        timeout: 50_000,
        env: { PATH: process.env.PATH, HOME: process.env.HOME, SLUICE_WALLET_PASSPHRASE_FILE: path.join(home, 'passphrase') },
      })
    const added = sluice()
    expect(added.stderr).to.equal('')
    expect(added.stdout).to.match(/^Added 0x[0-9a-fA-F]{40} for ethereum/)
    const loadedIn = new Set(readFileSync(path.join(plugin, 'loaded-in'), 'utf8').trim().split('\n'))
    expect([...loadedIn]).to.deep.equal(['a thread'])
    expect(sluice('--chain', 'elsewhere').stdout).to.match(/^Added [1-9A-HJ-NP-Za-km-z]{32,44} for elsewhere/)
    expect(sluice('--chain', 'etherum').stderr).to.contain('did you mean "ethereum"').and.not.to.contain('curious')
  })
})
