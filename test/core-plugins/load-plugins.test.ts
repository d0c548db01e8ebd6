import { expect } from 'chai'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { failingParts } from '../../core/handlers/readiness.ts'
import { ConfigError } from '../../core/config/problems.ts'
import { SluiceError } from '../../core/contracts/index.ts'
import { buildRegistry } from '../../core/plugins/registry-entries.ts'
import { brokenPlugins, goodPlugins, keptLog, load } from './fixtures.ts'

const chain = path.join(goodPlugins, 'fixture-chain')
const broken = (name: string) => path.join(brokenPlugins, name)

/** A plugin that writes to a part of its venue. */
const changing = (change: string) => `import { defineConnector, singleRouterSchema } from 'sluice/plugin'
export default defineConnector({
  family: { name: 'fixture' },
  manifest: { name: '${change}', apiVersion: '1.0', version: '0.1.0', trading_type: ['AMM'], available_networks: [{ chain: 'fixture-chain', networks: ['mainnet'] }], schema: singleRouterSchema },
  create: (venue) => {
    const { config, contracts, tokens, nativeCurrency } = venue
    Object.assign({ venue, config, contracts, tokens, currency: nativeCurrency, networks: config.contractAddresses }.${change}, { ttl: 1 })
    return {}
  },
})`

describe('loading plugins', function () {
  this.timeout(120_000)
  let folder: string
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'sluice-loader-')))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it('returns chains, then connectors, each by name, with an implementation for each network', async () => {
    const { loaded, refused } = await load([goodPlugins])

    expect(refused).to.deep.equal([])
    expect(loaded.map(({ name }) => name)).to.deep.equal(['fixture-chain', 'fixture-compiled', 'fixture-swap'])
    const swap = loaded[2]
    expect(swap?.venues.map(({ network }) => network)).to.deep.equal(['mainnet', 'testnet'])
    expect(swap?.available_networks).to.deep.equal([{ chain: 'fixture-chain', networks: ['mainnet', 'testnet'] }])
    expect(swap?.manifest).to.include({ name: 'fixture-swap', version: '1.2.3' })
    expect(Object.isFrozen(swap?.manifest.available_networks[0]?.networks)).to.equal(true)
    expect(Object.isFrozen(swap?.configuration.config)).to.equal(true)
  })

  it('gives a connector the reader of its chain, and contract addresses in the chain’s spelling', async () => {
    const { loaded } = await load([goodPlugins])
    const swap = loaded.find((plugin) => plugin.kind === 'connector' && plugin.name === 'fixture-swap')
    if (swap?.kind !== 'connector') throw new Error('fixture-swap was refused')
    const token = { symbol: 'A', address: '0x0a', decimals: 1 }

    const quote = await swap.venues[0]?.implementation.AMM?.quote(
      { tokenIn: token, tokenOut: token, exact: 'in', amountRaw: 1n },
      {},
      { signal: new AbortController().signal },
    )

    expect(quote?.spender).to.equal('0xaa01')
  })

  it('refuses a second chain of third parties with one chain id, but for local ones', async () => {
    for (const name of ['alpine', 'boreal', 'cedar']) {
      const copy = path.join(folder, name)
      cpSync(chain, copy, { recursive: true })
      const file = path.join(copy, 'index.ts')
      const text = readFileSync(file, 'utf8').replaceAll("'fixture-chain'", `'${name}'`)
      writeFileSync(file, name === 'cedar' ? text : text.replace('local: true,', ''))
    }
    const { loaded, refused } = await load([folder])
    expect(loaded.map(({ name }) => name)).to.deep.equal(['alpine', 'cedar'])
    expect(refused).to.have.length(1)
    expect(refused[0]).to.include({
      name: 'boreal',
      step: 'create',
      reason: 'networks.mainnet.chainId is 1, which is that of the chain alpine',
      remedy: 'Use alpine, or correct the chain id of boreal.',
    })
  })

  it('loads a chain and a connector of one name, the chain from a folder that ends with -chain', async () => {
    const chainIn = (of: string) => {
      cpSync(chain, of, { recursive: true })
      const file = path.join(of, 'index.ts')
      writeFileSync(file, readFileSync(file, 'utf8').replaceAll("'fixture-chain'", "'both'"))
    }
    chainIn(path.join(folder, 'one', 'both-chain'))
    cpSync(path.join(goodPlugins, 'fixture-swap'), path.join(folder, 'one', 'both'), { recursive: true })
    const file = path.join(folder, 'one', 'both', 'index.ts')
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/'fixture-(swap|chain)'/g, "'both'"))
    for (const name of ['both', 'both-chain']) chainIn(path.join(folder, 'other', name))

    const one = await load([path.join(folder, 'one')])
    const other = await load([path.join(folder, 'other')])

    expect(one.refused).to.deep.equal([])
    expect(one.loaded.map(({ kind, name }) => `${kind} ${name}`)).to.deep.equal(['chain both', 'connector both'])
    expect(other.loaded.map((each) => path.basename(each.folder))).to.deep.equal(['both'])
    expect(other.refused[0]).to.include({ name: 'both', kind: 'chain', step: 'manifest' })
    expect(other.refused[0]?.reason).to.match(/^There is a chain 'both' already/)
  })

  it('names the own trouble of a chain that is missing, where a connector is refused for it', async () => {
    const confDir = path.join(folder, 'conf')
    const inConf = async (yaml: string) => {
      mkdirSync(path.join(confDir, 'chains'), { recursive: true })
      writeFileSync(path.join(confDir, 'chains', 'fixture-chain.yml'), yaml)
      const { loaded, refused } = await load([chain, path.join(goodPlugins, 'fixture-swap')], { confDir })
      return { swap: loaded.find(({ name }) => name === 'fixture-swap'), refusal: refused.find(({ name }) => name === 'fixture-swap') }
    }

    const broken = await inConf('mainnet: {\n')
    expect(broken.refusal).to.include({ step: 'networks', remedy: 'Correct that line, or put quotes around the value.' })
    expect(broken.refusal?.reason).to.match(
      /^None of its networks can be served: The chain 'fixture-chain' was refused \(configuration\): conf\/chains\/fixture-chain\.yml:2: is not valid YAML/,
    )

    const misspelt = await inConf('mainnet: { greetign: hello }\n')
    expect(misspelt.swap?.unserved).to.deep.equal([
      {
        chain: 'fixture-chain',
        network: 'mainnet',
        reason: "The chain 'fixture-chain' does not serve 'mainnet'. conf/chains/fixture-chain.yml:1 mainnet.greetign: is not a known key",
        remedy: 'Did you mean "greeting"?',
      },
    ])

    const { swap } = await inConf('testnet: { enabled: false }\n')
    expect(swap?.unserved).to.deep.equal([
      {
        chain: 'fixture-chain',
        network: 'testnet',
        reason: "The chain 'fixture-chain' does not serve 'testnet'. It is switched off",
        remedy: 'Take `enabled: false` of testnet out of conf/chains/fixture-chain.yml, if it is to be served.',
      },
    ])

    const { refused } = await load([goodPlugins], { disabled: ['fixture-chain'] })
    expect(refused.map(({ name, reason, remedy }) => ({ name, reason, remedy }))).to.deep.include({
      name: 'fixture-swap',
      reason: "None of its networks can be served: The chain 'fixture-chain' is switched off",
      remedy: 'Take fixture-chain out of plugins.disabled in conf/server.yml.',
    })
  })

  it('shares one core with every plugin, so that an error class is the same on both sides', async () => {
    const { loaded } = await load([goodPlugins])

    for (const plugin of loaded) {
      if (plugin.kind !== 'connector') continue
      const token = { symbol: 'A', address: '0x0a', decimals: 1 }
      const swap = { tokenIn: token, tokenOut: token, exact: 'in', amountRaw: 0n } as const
      const thrown = await (async () =>
        plugin.venues[0]?.implementation.AMM?.quote(swap, {}, { signal: new AbortController().signal }))().catch((error: unknown) => error)
      expect(thrown, plugin.name).to.be.instanceOf(SluiceError)
    }
  })

  it('loads a plugin from outside, with its own package.json, packages and a core of its own in them', async () => {
    cpSync(path.join(goodPlugins, 'fixture-compiled'), path.join(folder, 'fixture-compiled'), { recursive: true })
    cpSync(path.join(goodPlugins, 'fixture-swap'), path.join(folder, 'fixture-swap'), { recursive: true })
    const packages = path.join(folder, 'fixture-swap', 'node_modules')
    writeFileSync(
      path.join(folder, 'fixture-swap', 'package.json'),
      '{ "name": "fixture-swap", "type": "commonjs", "dependencies": { "three": "1.0.0" } }',
    )
    for (const [name, files] of Object.entries({
      three: { 'package.json': '{ "name": "three", "version": "1.0.0", "main": "index.js" }', 'index.js': 'module.exports = 3' },
      sluice: {
        'package.json': '{ "name": "sluice", "version": "0.0.1", "exports": { "./plugin": "./index.js" } }',
        'index.js': 'throw new Error("a second core")',
      },
    })) {
      mkdirSync(path.join(packages, name), { recursive: true })
      for (const [file, text] of Object.entries(files)) writeFileSync(path.join(packages, name, file), text)
    }
    writeFileSync(path.join(folder, 'fixture-swap', 'facts.json'), '{ "version": "9.9.9" }')
    const amm = path.join(folder, 'fixture-swap', 'amm.ts')
    writeFileSync(
      amm,
      `import three from 'three'\nimport { SluiceError } from 'sluice/plugin'\nexport const amm = (): object => {\n  const refuse = () => { throw new SluiceError('PRICE_FAILED', String(three)) }\n  return { versions: [], quote: refuse, swap: refuse, fill: refuse }\n}\n`,
    )

    const { loaded, refused } = await load([chain, folder])

    expect(refused).to.deep.equal([])
    expect(loaded.map(({ folder: place }) => path.dirname(place))).to.deep.equal([goodPlugins, folder, folder])
    const swap = loaded[2]
    expect(swap?.manifest.version).to.equal('9.9.9')
    const outside = swap?.kind === 'connector' ? swap.venues[0]?.implementation.AMM : undefined
    expect(() => outside?.fill(null, null)).to.throw(SluiceError, '3')
  })

  it('gives plugins frozen values, which they cannot change for others', async () => {
    const parts = ['venue', 'config', 'contracts', 'tokens', 'currency', 'networks']
    for (const part of parts) {
      mkdirSync(path.join(folder, part))
      writeFileSync(path.join(folder, part, 'index.ts'), changing(part))
      writeFileSync(
        path.join(folder, part, 'defaults.yml'),
        "allowedSlippage: 1/100\nttl: 300\ncontractAddresses:\n  mainnet: { routerAddress: '0x01' }\n",
      )
    }

    const { refused } = await load([chain, folder])

    expect(refused.map(({ name }) => name)).to.have.members(parts)
    for (const { name, reason } of refused)
      expect(reason, name).to.match(/^index\.ts:\d+: TypeError: Cannot .*(read only|not extensible|assign)/)
  })

  it('refuses a plugin whose files were added after its compilation, and does not compile its packages', async () => {
    mkdirSync(path.join(folder, 'late', 'node_modules', 'typed'), { recursive: true })
    writeFileSync(path.join(folder, 'late', 'node_modules', 'typed', 'index.ts'), 'this is no TypeScript')
    writeFileSync(
      path.join(folder, 'late', 'index.ts'),
      "import { writeFileSync } from 'node:fs'\nwriteFileSync(new URL('part.ts', import.meta.url), 'export {}')\nawait import('./part.ts')\n",
    )

    const { refused } = await load([folder])

    expect(refused[0]?.reason).to.match(/late\/part\.ts did not exist when the plugins were compiled/)
  })

  it('does not load disabled plugins', async () => {
    const { loaded, refused } = await load([chain, broken('throws-while-loading')], { disabled: ['throws-while-loading'] })

    expect(refused).to.deep.equal([])
    expect(loaded).to.have.length(1)
  })

  it('gives a logger with the plugin’s name, and token lists in the chain’s spelling', async () => {
    const own = keptLog()
    const { loaded } = await load([goodPlugins], {
      log: own.log,
      tokensOf: () => [
        { symbol: 'A', address: '0xAB', decimals: 6 },
        { symbol: 'B', address: 'nonsense', decimals: 6 },
      ],
    })

    expect(loaded[2]?.venues[0]?.tokens).to.deep.equal([{ symbol: 'A', address: '0xab', decimals: 6 }])
    expect(own.lines.map(({ fields }) => fields)).to.deep.include({
      chain: 'fixture-chain',
      network: 'mainnet',
      token: { symbol: 'B', address: 'nonsense', decimals: 6 },
    })
  })

  it('refuses the second of two plugins of one name, and names both folders', async () => {
    cpSync(path.join(goodPlugins, 'fixture-swap'), path.join(folder, 'fixture-swap'), { recursive: true })

    const { loaded, refused } = await load([goodPlugins, folder])

    expect(loaded.find(({ name }) => name === 'fixture-swap')?.folder).to.equal(path.join(goodPlugins, 'fixture-swap'))
    expect(refused).to.have.length(1)
    expect(refused[0]).to.include({ name: 'fixture-swap', step: 'find', folder: path.join(folder, 'fixture-swap') })
    expect(refused[0]?.reason).to.contain(path.join(goodPlugins, 'fixture-swap')).and.contain(path.join(folder, 'fixture-swap'))
  })

  it('refuses links to other folders and files, and invalid names', async () => {
    const plugins = path.join(folder, 'plugins')
    mkdirSync(path.join(plugins, 'linked-entry'), { recursive: true })
    mkdirSync(path.join(plugins, 'linked-part'))
    mkdirSync(path.join(plugins, 'Größer'))
    symlinkSync(path.join(goodPlugins, 'fixture-swap'), path.join(plugins, 'linked-folder'))
    symlinkSync(path.join(folder, 'nowhere'), path.join(plugins, 'linked-nowhere'))
    symlinkSync(path.join(goodPlugins, 'fixture-compiled', 'index.js'), path.join(plugins, 'linked-entry', 'index.js'))
    symlinkSync(path.join(goodPlugins, 'fixture-compiled', 'amm.js'), path.join(plugins, 'linked-part', 'amm.js'))
    writeFileSync(path.join(plugins, 'linked-part', 'index.js'), "export { amm as default } from './amm.js'\n")
    mkdirSync(path.join(plugins, 'a'.repeat(80)))
    // What every object has: in records by name it would be there without having been allowed.
    cpSync(path.join(goodPlugins, 'fixture-swap'), path.join(plugins, 'constructor'), { recursive: true })

    const { loaded, refused } = await load([plugins])

    expect(loaded).to.deep.equal([])
    expect(refused.map(({ name, step }) => `${name} ${step}`)).to.have.members([
      'Größer find',
      'constructor find',
      `${'a'.repeat(80)} find`,
      'linked-entry find',
      'linked-folder find',
      'linked-nowhere find',
      'linked-part import',
    ])
  })

  it('reports a folder of the settings that does not exist', async () => {
    const { refused } = await load([path.join(folder, 'typo')])

    expect(refused).to.have.length(1)
    expect(refused[0]).to.include({ step: 'find', reason: `There is no folder ${path.join(folder, 'typo')}` })
    expect(refused[0]?.remedy).to.contain('plugins.folders')
  })

  it('serves the networks that are loaded, and says why it does not serve the others', async () => {
    cpSync(path.join(goodPlugins, 'fixture-swap'), path.join(folder, 'fixture-swap'), { recursive: true })
    writeFileSync(
      path.join(folder, 'fixture-swap', 'defaults.yml'),
      "allowedSlippage: 1/100\nttl: 300\ncontractAddresses:\n  fixture_chain_testnet: { routerAddress: '0x02' }\n",
    )

    const { loaded } = await load([chain, folder])

    expect(loaded[1]?.available_networks).to.deep.equal([{ chain: 'fixture-chain', networks: ['testnet'] }])
    expect(loaded[1]?.unserved.map(({ network, reason }) => `${network}: ${reason}`)).to.deep.equal([
      'mainnet: contractAddresses has no entry for fixture-chain mainnet',
    ])
  })

  it('serves the other networks of a chain where the settings or token lists of one are wrong', async () => {
    const confDir = path.join(folder, 'conf')
    mkdirSync(path.join(confDir, 'chains'), { recursive: true })
    writeFileSync(path.join(confDir, 'chains', 'fixture-chain.yml'), 'mainnet: { rpcUrls: 7, unknown: 1 }\n')
    const unread = new ConfigError([{ file: 'conf/tokens/x.json', path: '', problem: 'is not JSON', remedy: 'Correct the file.' }])

    const wrongSettings = await load([chain], { confDir })
    const wrongList = await load([chain], {
      tokensOf({ network }) {
        if (network === 'mainnet') throw unread
        return []
      },
    })

    for (const { loaded, refused } of [wrongSettings, wrongList]) {
      expect(refused).to.deep.equal([])
      expect(loaded[0]?.available_networks).to.deep.equal([{ chain: 'fixture-chain', networks: ['testnet'] }])
      expect(loaded[0]?.unserved).to.have.length(1)
      expect(loaded[0]?.unserved[0]).to.include({ network: 'mainnet', isWrong: true })
    }
    expect(wrongSettings.loaded[0]?.unserved[0]?.reason).to.contain('conf/chains/fixture-chain.yml:1 mainnet.')
    expect(wrongList.loaded[0]?.unserved[0]?.reason).to.contain('conf/tokens/x.json: is not JSON')
    const registry = buildRegistry({ ...wrongList, running: new Map() })
    expect(() => registry.network('fixture-chain', 'mainnet'))
      .to.throw('fixture-chain/mainnet is not served, because its settings are wrong: conf/tokens/x.json: is not JSON')
      .with.property('name', 'UNKNOWN_CHAIN_ERROR')
    const signer = { failing: () => undefined }
    const store = { failing: async () => undefined }
    const required = [{ chain: 'fixture-chain', network: 'mainnet' }]
    expect((await failingParts({ registry, signer, store, required }))[0]?.reason).to.contain('its settings are wrong')
  })

  it('serves the other networks of a connector where one address of one is wrong', async () => {
    cpSync(path.join(goodPlugins, 'fixture-swap'), path.join(folder, 'fixture-swap'), { recursive: true })
    writeFileSync(
      path.join(folder, 'fixture-swap', 'defaults.yml'),
      "allowedSlippage: 1/100\nttl: 300\ncontractAddresses:\n  mainnet: { routerAddress: 'x' }\n  testnet: { routerAddress: '0x02' }\n",
    )

    const { loaded } = await load([chain, folder])

    expect(loaded[1]?.available_networks).to.deep.equal([{ chain: 'fixture-chain', networks: ['testnet'] }])
    expect(loaded[1]?.unserved[0]).to.include({ network: 'mainnet', isWrong: true })
    expect(loaded[1]?.unserved[0]?.reason).to.contain("contractAddresses.mainnet.routerAddress 'x' is not an address")
  })

  it('refuses a connector whose only chain was refused', async () => {
    mkdirSync(path.join(folder, 'fixture-chain'))
    writeFileSync(path.join(folder, 'fixture-chain', 'index.ts'), "throw new Error('no chain today')\n")

    const { loaded, refused } = await load([folder, path.join(goodPlugins, 'fixture-swap')])

    expect(loaded).to.deep.equal([])
    expect(refused.map(({ name, step, trading_type }) => ({ name, step, trading_type }))).to.deep.equal([
      { name: 'fixture-chain', step: 'import', trading_type: undefined },
      { name: 'fixture-swap', step: 'networks', trading_type: ['AMM'] },
    ])
  })
})
