import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { startServer, type TestServer } from '../../core/testing/index.ts'

const router = '0x00000000000000000000000000000000000000A1'

/** A connector that says whatever it likes of whom it wants approved. */
const connector = `import { defineConnector } from 'sluice/plugin'
import { evm } from 'sluice/evm'

const amm = { quote: async () => { throw new Error('not here') }, swap: () => ({ steps: [], needs: [], memo: null }), fill: () => undefined, gasUnits: () => 1n }

export default defineConnector({
  family: evm,
  manifest: { name: 'careless', apiVersion: '1.0', trading_type: ['AMM'], available_networks: [{ chain: 'ethereum', networks: ['local'] }], schema: {} },
  create: () => ({ AMM: amm, spenders: { good: '${router}', short: '0x12', number: 7, get thrown() { return {} } } }),
})
`

describe('what a plugin declares wrongly to be signed', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-careless-'))
  let server: TestServer | undefined
  after(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('refuses the plugin, and the server starts all the same', async () => {
    const plugin = path.join(folder, 'careless')
    mkdirSync(plugin)
    writeFileSync(path.join(plugin, 'index.ts'), connector)
    writeFileSync(path.join(plugin, 'defaults.yml'), `contractAddresses:\n  local:\n    router: "${router}"\n`)
    server = await startServer({ plugins: [plugin] })
    const { plugins } = server.kernel.services.directory
    expect(plugins.find(({ name }) => name === 'careless')).to.include({ state: 'refused' })
    expect(plugins.find(({ name }) => name === 'uniswap')).to.include({ state: 'loaded' })
  })

  it('says which setting is wrong when a spender of the settings is no address', async () => {
    const wrong = '0x7a250d5630B4cF539739dF2C5dAcb4c659F2488E'
    // A start that fails leaves its home behind: it is to be in a folder that is removed.
    const { TMPDIR } = process.env
    process.env.TMPDIR = folder
    const error = await startServer({ settings: { 'devnet.enabled': false, 'wallet.allowedSpenders': [wrong] } }).catch(
      (thrown: unknown) => thrown,
    )
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
    expect(error).to.have.property('name', 'StartError')
    expect(String(error)).to.contain('wallet.allowedSpenders').and.to.contain(wrong)
  })
})
