import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { allowedPlugins } from '../../core/plugins/consent/consent.ts'
import { outlineOf } from '../../core/plugins/discover/outline.ts'
import { signerFiles } from '../../core/wallet/signing.ts'
import { policyFromFiles } from '../../core/wallet/policy-files.ts'
import { constantProductProgram } from '../../kits/solana/amm/constant-product/accounts.ts'
import { dammProgram } from '../../kits/solana/amm/damm/accounts.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'

const router = '0x00000000000000000000000000000000000000A1'

/** A connector that says whatever it likes of whom it wants approved. */
const connector = `import { defineConnector } from 'sluice/plugin'
import { evm } from 'sluice/evm'

const amm = { quote: async () => { throw new Error('not here') }, swap: () => ({ steps: [], needs: [], memo: null }), fill: () => undefined, gasUnits: () => 1n }

export default defineConnector({
  family: evm,
  manifest: { name: 'careless', apiVersion: '1.0', version: '0.1.0', trading_type: ['AMM'], available_networks: [{ chain: 'ethereum', networks: ['local'] }], schema: {} },
  create: () => ({ AMM: amm, spenders: { good: '${router}', short: '0x12', number: 7, get thrown() { return {} } } }),
})
`

const program = '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8'

/** A connector of the other family. */
const elsewhere = connector
  .replaceAll('evm', 'solana')
  .replace("'careless'", "'elsewhere'")
  .replace("chain: 'ethereum', networks: ['local']", "chain: 'solana', networks: ['mainnet']")
  .replace(/spenders: .* \}\)/, '})')

describe('what a plugin declares to be signed', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-elsewhere-'))
  let server: TestServer | undefined
  after(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('has the kind that its chain has, with addresses as that chain spells them', async () => {
    const plugin = path.join(folder, 'elsewhere')
    mkdirSync(plugin)
    writeFileSync(path.join(plugin, 'index.ts'), elsewhere)
    writeFileSync(
      path.join(plugin, 'defaults.yml'),
      `allowedSlippage: 1/100\nttl: 300\ncontractAddresses:\n  mainnet:\n    exchange: "${program}"\n`,
    )
    server = await startServer({ plugins: [plugin], settings: { 'devnet.enabled': false } })
    const { loaded, refused } = server.kernel.plugins
    expect(refused.map(({ reason }) => reason)).to.deep.equal([])
    const { settings } = server
    const outlines = loaded.flatMap((each) => (each.name === 'elsewhere' ? [[each.name, outlineOf(each)] as const] : []))
    const records = Object.fromEntries(outlines.map(([name, each]) => [name, { ...each, sha256: '', tier: 'trusted' as const, hosts: [] }]))
    const { networks } = policyFromFiles(signerFiles(settings, await allowedPlugins(settings)), records)
    const on = (chain: string) => networks.find((each) => each.chain === chain && each.network === 'mainnet')
    const solana = on('solana')
    expect(solana).to.deep.equal({
      keys: 'ed25519',
      chain: 'solana',
      network: 'mainnet',
      local: false,
      feeCapRaw: solana?.feeCapRaw,
      contracts: [dammProgram, constantProductProgram, program],
    })
    expect(on('ethereum')).to.include({ keys: 'secp256k1', chainId: 1 })
    expect(on('ethereum')?.contracts).not.to.include(program)
  })
})

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
    writeFileSync(
      path.join(plugin, 'defaults.yml'),
      `allowedSlippage: 1/100\nttl: 300\ncontractAddresses:\n  local:\n    router: "${router}"\n`,
    )
    server = await startServer({ plugins: [plugin] })
    const { plugins } = server.kernel.services.registry
    const careless = plugins.find(({ name }) => name === 'careless')
    expect(careless).to.include({ state: 'refused' })
    expect(careless?.reason).to.match(/spenders/)
    expect(plugins.find(({ name }) => name === 'uniswap')).to.include({ state: 'loaded' })
  })
})
