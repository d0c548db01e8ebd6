import { expect } from 'chai'
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { writeLock, type LockedPlugin } from '../../core/config/lock.ts'
import { loadSettings, type Settings } from '../../core/config/settings.ts'
import { examine, pluginOnDisk, record } from '../../core/plugins/consent/allow.ts'
import { declaredCode, declaredPlugin } from '../../core/plugins/discover/declared.ts'
import { allowedPlugins } from '../../core/plugins/consent/consent.ts'
import { tryPlugins } from '../../core/plugins/load.ts'
import { readPluginFiles } from '../../core/plugins/discover/plugin-files.ts'
import { signerFiles } from '../../core/wallet/signing.ts'
import { policyFromFiles } from '../../core/wallet/policy-files.ts'
import { entryPoints } from '../../core/base/layout.ts'
import { eachWithHome } from '../config/home.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const fork = path.join(root, 'test/fixtures/rillswap')
const router = '0x0DBbe3e399D95A31f564f6a857A1bE42aeFA7fc8'
const tokens = {
  tokens: [
    { chainId: 146, address: '0x039e2fB66102314Ce7b64Ce5Ce3E5183bc94aD38', symbol: 'wS', decimals: 18 },
    { chainId: 1, address: '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2', symbol: 'WETH', decimals: 18 },
  ],
}
const network = { chainId: 146, nativeCurrency: 'S', tokens: ['wS'], blockSeconds: 0.6, confirmations: 3 }
const chainOf = (mainnet: object = network) => ({
  kind: 'chain',
  kit: 'evm',
  name: 'tonic',
  apiVersion: '1.0',
  version: '0.1.0',
  networks: { mainnet },
})
const nodes = 'mainnet: { rpcUrls: ["https://rpc.tonic.example"] }\n'

describe('a plugin that is data alone', function () {
  this.timeout(60_000)
  const home = eachWithHome()
  const inHome = (...parts: string[]) => path.join(home.folder, ...parts)
  const settingsOf = (): Settings =>
    loadSettings({
      confDir: home.confDir,
      env: {},
      flags: { 'plugins.folders': [path.join(root, 'plugins/ethereum'), inHome('own')] },
    })
  const plantFork = (change: (text: string) => string = (text) => text) => {
    cpSync(fork, inHome('own', 'rillswap'), { recursive: true })
    const file = inHome('own', 'rillswap', 'plugin.yml')
    writeFileSync(file, change(readFileSync(file, 'utf8')))
  }
  const plantChain = (data: object = chainOf(), files: Readonly<Record<string, string>> = {}) => {
    mkdirSync(inHome('own', 'tonic'), { recursive: true })
    for (const [name, text] of Object.entries({ 'plugin.yml': stringify(data), 'tokens.json': JSON.stringify(tokens), ...files }))
      writeFileSync(inHome('own', 'tonic', name), text)
  }
  const allow = async (name: string, change: Partial<LockedPlugin> = {}) => {
    const settings = settingsOf()
    const asked = await examine(pluginOnDisk(name, settings), 'data', settings)
    await record(name, { ...asked, ...change }, settings, undefined)
    return asked
  }
  const load = async () => {
    const settings = settingsOf()
    const allowed = await allowedPlugins(settings)
    const { loaded, refused } = await tryPlugins(settings, allowed)
    return {
      loaded,
      reasons: refused.map(({ name, step, reason, remedy }) => `${name}: ${step}: ${reason} → ${remedy}`),
      allowed,
      settings,
    }
  }

  it('waits until it is allowed; then it loads without a host, in a tier of its own, and its kit makes it', async () => {
    plantFork()
    expect((await load()).reasons).to.deep.equal([
      'rillswap: consent: It was not allowed to run: sluice.lock does not have it → See what it may do, and allow it: bin/sluice plugin allow rillswap',
    ])
    const asked = await allow('rillswap')
    expect(asked).to.deep.include({
      version: '0.1.0',
      tier: 'data',
      kind: 'connector',
      networks: { 'ethereum/local': { contracts: { routerAddress: router }, spenders: [router] } },
      signs: [],
      hosts: [],
    })
    await home.write('conf/server.yml', 'devnet: { enabled: true }\n')
    const { loaded, reasons } = await load()
    expect(reasons).to.deep.equal([])
    const fork = loaded.find(({ name }) => name === 'rillswap')
    expect(fork).to.include({ tier: 'data', allowedBy: 'operator', builtIn: false })
    expect(fork?.host).to.equal(undefined)
    expect(fork?.deprecated).to.deep.equal([
      'plugin.yml is deprecated: bin/sluice plugin show rillswap prints the index.ts that takes its place, with which the plugin is allowed again',
    ])
    expect(fork?.manifest.trading_type).to.deep.equal(['AMM', 'AMM_SHARES'])
  })

  it('has no more signed for it than a contained one: exact allowances to its spenders, whatever its record says', async () => {
    plantFork()
    await home.write('conf/server.yml', 'devnet: { enabled: true }\n')
    const asked = await allow('rillswap')
    const { allowed, settings } = await load()
    const own = (tier: LockedPlugin['tier']) =>
      policyFromFiles(signerFiles(settings, allowed), {
        rillswap: {
          ...asked,
          tier,
          signs: [{ domain: 'Rill', primaryType: 'Order' }],
          deposits: [{ chain: 'ethereum', network: 'local', token: router, recipient: router }],
        },
      }).networks.find((each) => each.chain === 'ethereum' && each.network === 'local')
    expect(own('data')).to.deep.include({ contracts: [router], spenders: [router], exactSpenders: [router], typedData: [], deposits: [] })
    expect(own('trusted')).to.deep.include({ spenders: [router], exactSpenders: [] })
  })

  it('does not load where its record is that of code, and code does not where its record is that of data', async () => {
    plantFork()
    const again = 'See what it may do, and allow it again: bin/sluice plugin allow rillswap'
    for (const tier of ['trusted', 'contained'] as const) {
      await allow('rillswap', { tier })
      expect((await load()).reasons).to.deep.equal([`rillswap: consent: It is data alone, and was not allowed as such → ${again}`])
    }
    rmSync(inHome('own', 'rillswap', 'plugin.yml'))
    const marks = inHome('marks')
    writeFileSync(inHome('own', 'rillswap', 'index.js'), `import fs from 'node:fs'\nfs.writeFileSync(${JSON.stringify(marks)}, 'ran')\n`)
    const { sha256 } = readPluginFiles(inHome('own', 'rillswap'))
    await writeLock(home.confDir, { rillswap: { sha256, tier: 'data', kind: 'connector', networks: {}, signs: [], hosts: [] } })
    expect((await load()).reasons).to.deep.equal([`rillswap: consent: It has code, and was allowed as data alone → ${again}`])
    expect(() => readFileSync(marks)).to.throw(/ENOENT/)
  })

  describe('has, for the time after it, code that declares the same', () => {
    const [factory, other] = [router, '0x24aea0F351852FaeCDcE735E04cd16a80207cfA4']
    const hash = `0x${'ab'.repeat(32)}`
    const forks: Readonly<Record<string, { own: object; contains: RegExp }>> = {
      'uniswap-v2': {
        own: { fee: '25/10000', coin: 'AVAX', networks: { 'ethereum/local': { factory, initCodeHash: hash } } },
        contains: /fee: \[ 25n, 10000n \], coin: 'AVAX'/,
      },
      'uniswap-v3': {
        own: { router: 'SwapRouter', feeTiers: { LOW: 500 }, networks: { 'ethereum/local': { factory, initCodeHash: hash } } },
        contains: /router: 'SwapRouter', feeTiers: \{ LOW: 500 \}/,
      },
      algebra: {
        own: { networks: { 'ethereum/local': { factory, poolDeployer: other, initCodeHash: hash } } },
        contains: new RegExp(hash),
      },
      weighted: {
        own: { networks: { 'ethereum/local': { pools: [hash] } } },
        contains: new RegExp(hash),
      },
    }
    const replaced = async (name: string): Promise<string> => {
      const entry = inHome('own', name, 'plugin.yml')
      const files = Object.entries(await declaredCode(entry))
      for (const [file, text] of files) writeFileSync(inHome('own', name, file), text)
      rmSync(entry)
      return files.map(([, text]) => text).join()
    }
    const declares = async (name: string, tier: LockedPlugin['tier']) => {
      const { tier: _, sha256: _sha256, hosts: _hosts, ...declared } = await examine(pluginOnDisk(name, settingsOf()), tier, settingsOf())
      return declared
    }

    /** With the entry points of this checkout. It has no types, so that it is JavaScript, too. */
    const importCode = async (name: string): Promise<unknown> => {
      const urls = entryPoints()
      const code = readFileSync(inHome('own', name, 'index.ts'), 'utf8')
      const file = inHome('own', name, 'index.mjs')
      writeFileSync(
        file,
        code.replaceAll(/'(sluice\/[\w-]+)'/g, (_, from: string) => `'${urls[from] ?? from}'`),
      )
      return (await import(file)).default
    }

    for (const [kit, { own, contains }] of Object.entries(forks))
      it(`of the kit ${kit}`, async () => {
        const data = { kind: 'fork', kit, name: 'rillswap', apiVersion: '1.0', version: '0.2.0', ...own }
        mkdirSync(inHome('own', 'rillswap'), { recursive: true })
        const entry = inHome('own', 'rillswap', 'plugin.yml')
        writeFileSync(entry, stringify(data))
        const before = JSON.stringify(await declaredPlugin(entry))
        expect(before).to.include('"version":"0.2.0"')
        expect(await replaced('rillswap')).to.match(contains)
        expect(JSON.stringify(await importCode('rillswap'))).to.equal(before)
      })

    it('of the kit evm, and of its devnet where it has one', async () => {
      plantChain(chainOf({ ...network, maxGas: 9_000_000 }))
      await home.write('conf/chains/tonic.yml', nodes)
      const before = await declares('tonic', 'data')
      expect(await replaced('tonic')).to.include('maxGas: 9000000n')
      expect(await declares('tonic', 'trusted')).to.deep.equal(before)
      plantFork()
      expect(await replaced('rillswap')).to.include("[ 'WETH', '500', 'USDC', '1495000' ]")
    })
  })

  it('makes a chain with the nodes of the operator, and no other chain signs for it', async () => {
    plantChain()
    await home.write('conf/chains/tonic.yml', nodes)
    const asked = await allow('tonic')
    expect(asked).to.deep.include({ tier: 'data', kind: 'chain', keys: 'secp256k1' })
    expect(asked.networks['tonic/mainnet']).to.deep.include({ chainId: 146, contracts: {}, spenders: [] })
    const { loaded, reasons, allowed, settings } = await load()
    expect(reasons).to.deep.equal([])
    expect(loaded.find(({ name }) => name === 'tonic')).to.include({ tier: 'data', kind: 'chain' })
    const idsOf = (change: object) =>
      policyFromFiles(signerFiles(settings, allowed), {
        tonic: { ...asked, networks: { 'tonic/mainnet': { contracts: {}, spenders: [], feeCapRaw: '1', chainId: 146, ...change } } },
      }).networks.flatMap(({ chain, ...each }) => (chain === 'tonic' && 'chainId' in each ? [each.chainId] : []))
    expect(idsOf({})).to.deep.equal([146])
    expect(idsOf({ chainId: 1 }), "Ethereum's").to.deep.equal([])
    expect(idsOf({ local: true }), 'well-known keys').to.deep.equal([])
  })

  it('makes no second chain with one chain id: the chain that has code stays, and nothing is signed for the other', async () => {
    plantChain()
    const other = inHome('own', 'sonata')
    mkdirSync(other)
    writeFileSync(path.join(other, 'plugin.yml'), stringify({ ...chainOf(), name: 'sonata' }))
    writeFileSync(path.join(other, 'tokens.json'), JSON.stringify(tokens))
    for (const chain of ['tonic', 'sonata']) await home.write(`conf/chains/${chain}.yml`, nodes)
    const tonic = await allow('tonic')
    expect(await allow('sonata').then(String, String)).to.match(/A chain id of sonata is that of the chain tonic$/)
    // As where one of the two was changed later.
    const sonata: LockedPlugin = {
      ...tonic,
      sha256: readPluginFiles(other).sha256,
      networks: { 'sonata/mainnet': tonic.networks['tonic/mainnet'] ?? expect.fail() },
    }
    await record('sonata', sonata, settingsOf(), undefined)
    const asked = { sonata, tonic }
    const { loaded, reasons, allowed, settings } = await load()
    expect(loaded.map(({ name }) => name))
      .to.include('sonata')
      .and.not.include('tonic')
    expect(reasons).to.deep.equal([
      'tonic: create: networks.mainnet.chainId is 146, which is that of the chain sonata → Use sonata, or correct the chain id of tonic.',
    ])
    const signedFor = (lock: Readonly<Record<string, LockedPlugin>>) =>
      policyFromFiles(signerFiles(settings, allowed), lock).networks.flatMap((each) =>
        'chainId' in each && each.chainId === 146 ? [each.chain] : [],
      )
    expect(signedFor(asked)).to.deep.equal([])
    expect(signedFor({ ...asked, sonata: { ...asked.sonata, tier: 'trusted' } })).to.deep.equal(['sonata'])
  })

  describe('fails, with file, line and field,', () => {
    const fork = (from: string | RegExp, to: string) => () => plantFork((text) => text.replace(from, to))
    const chain = (change: object, files?: Readonly<Record<string, string>>) => () => plantChain(chainOf({ ...network, ...change }), files)
    const rules = (from: RegExp, to: string) => () => {
      plantFork()
      const file = inHome('own', 'rillswap', 'defaults.yml')
      writeFileSync(file, readFileSync(file, 'utf8').replace(from, to))
    }
    for (const [what, plant, message] of [
      [
        'with a slippage that leaves its trades no bound worth the name',
        rules(/^allowedSlippage: .*/m, 'allowedSlippage: 1/19'),
        /configuration: allowedSlippage 1\/19 is more than a plugin may have .* → Write at most 1\/20/,
      ],
      ['with trades that wait for hours', rules(/^ttl: .*/m, 'ttl: 7200'), /ttl 7200 is more than .* → Write at most 3600/],
      [
        'with trades that wait for years',
        rules(/^ttl: .*/m, 'ttl: 999999999'),
        /ttl: must be <= 86400 → Write a whole number from 1 to 86400/,
      ],
      [
        'of a kit that is not there',
        fork('kit: uniswap-v2', 'kit: uniswap-v4'),
        /manifest: rillswap.plugin\.yml:3 kit is no kit .* → Did you mean "uniswap-v[23]"/,
      ],
      [
        'without a kit',
        fork('kit: uniswap-v2\n', ''),
        /plugin\.yml kit is missing → Use one of: uniswap-v2, uniswap-v3, algebra, weighted, evm\./,
      ],
      [
        'with an address cut off',
        fork(/0x8f375d\w+/, '0x8f375d'),
        /plugin\.yml:12 networks\.ethereum\/local\.factory is not written in the expected form → Write text \(an address, quoted\)/,
      ],
      [
        'with a wrong checksum',
        fork('0x8f375d', '0x8F375d'),
        /plugin\.yml:12 networks\.ethereum\/local\.factory is an address with a wrong checksum → Copy it again/,
      ],
      [
        'with a key that is none',
        fork('fee: 3/1000', 'fee: 3/1000\nfees: 1/1000'),
        /plugin\.yml:9 fees is not a known key → Did you mean "fee"/,
      ],
      ['without its fee', fork('fee: 3/1000', ''), /plugin\.yml fee is missing → Add it/],
      [
        'with a fee of all',
        fork('fee: 3/1000', 'fee: 1000/1000'),
        /plugin\.yml: fee is 1000\/1000, and has to be less than the whole input/,
      ],
      ['with a variable of the environment', fork('version: 0.1.0', 'version: ${HOME}'), /plugin\.yml:6 version .*environment/],
      [
        'with an amount of the devnet that is a number',
        fork("'500'", '500'),
        /plugin\.yml:17 devnet\.pools\[0\]\[1\] is of the wrong type/,
      ],
      [
        'of another name than its folder',
        fork('name: rillswap', 'name: brook'),
        /The manifest's name 'brook' is not the folder's, 'rillswap'/,
      ],
      ['for a newer interface', fork("'1.0'", "'9.0'"), /manifest: .*interface 9\.0/],
      ['that is no YAML', fork('kind: fork', 'kind: [fork'), /plugin\.yml:\d+ is not valid YAML/],
      [
        'of a chain that brings nodes',
        chain({}, { 'defaults.yml': nodes }),
        /configuration: tonic\/defaults\.yml: a chain that is data alone brings no settings.*conf\/chains\/tonic\.yml/,
      ],
      [
        "of a chain with the id of one of the release's",
        chain({ chainId: 1, tokens: ['WETH'] }),
        /create: networks\.mainnet\.chainId is 1, which is that of the chain ethereum of this release/,
      ],
      ['of a chain on which well-known keys would sign', chain({ local: true }), /networks\.mainnet\.local is not a known key/],
      ['of a chain whose token is not in its list', chain({ tokens: ['USDC'] }), /tokens\.json has no USDC for chain id 146/],
      [
        'of a chain whose list is wrong',
        chain({}, { 'tokens.json': '{"tokens": [{"chainId": 146}]}' }),
        /tonic.tokens\.json tokens\[0\]\.address is missing/,
      ],
      [
        'of a chain with a number as text',
        chain({ confirmations: '3' }),
        /networks\.mainnet\.confirmations is of the wrong type → Write a whole number from 1 to 10000/,
      ],
    ] as const) {
      it(what, async () => {
        plant()
        await home.write('conf/server.yml', 'devnet: { enabled: true }\n')
        await home.write('conf/chains/tonic.yml', nodes)
        const [name = ''] = readdirSync(inHome('own'))
        const failure = await allow(name).then(
          () => '',
          (error: Error & { step: string; remedy: string }) => `${error.step}: ${error.message} → ${error.remedy}`,
        )
        expect(failure).to.match(message)
      })
    }
  })
})
