// What the `devnet.ts` of third parties may do to the local chain and to the server: each stands in a table with what must happen to it.
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { getCreateAddress } from 'ethers'
import { rpcTo } from '../../core/devnet/anvil.ts'
import { deployerAddress } from '../../core/devnet/build-state.ts'
import { startOutside, type OutsidePlugin } from '../../core/devnet/outside.ts'
import { bringUpDevnet, startDevnet, type Devnet } from '../../core/devnet/start-devnet.ts'
import { loadSettings } from '../../core/config/settings.ts'
import { builtInPlugins } from '../../core/base/layout.ts'
import { allowedPlugins } from '../../core/plugins/consent/consent.ts'
import { findPlugins } from '../../core/plugins/discover/find.ts'
import { freePort } from '../free-port.ts'
import { fixtures } from '../core-plugins/fixtures.ts'
import { requireDeployed } from '../../testkit/devnet-operators.ts'
import { addresses } from './addresses.ts'
import { devnetFiles, temporaryFolder } from './test-devnet.ts'

const { router, factory } = addresses.exchanges.uniswap
const secret = fileURLToPath(new URL('../../package.json', import.meta.url))
/** Of the first trading wallet; everybody knows it. */
const walletKey = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

/** By the name of the plugin: statements of its `deploy`, and the reason why nothing of it is deployed. */
const hostile: Readonly<Record<string, { what: string; deploy?: string; whole?: string; reason: RegExp }>> = {
  throws: {
    what: 'fails',
    deploy: `throw new Error('no such market')`,
    reason: /^The devnet\.ts of throws failed: devnet\.ts:3: no such market$/,
  },
  exits: { what: 'ends its process', deploy: `process.exit(3)`, reason: /its process ended: it ended with the status 3/ },
  loops: { what: 'never ends', deploy: `for (;;);`, reason: /not done after 8 s of processor time: an endless loop/ },
  'loops-at-import': {
    what: 'never ends to be imported',
    whole: `for (;;);`,
    reason: /not done after 8 s of processor time: an endless loop/,
  },
  malformed: { what: 'exports something else', whole: `export default { deploy: 5 }`, reason: /must be defineDevnet/ },
  'another-name': {
    what: "has another plugin's name, and so its account",
    whole: `export default { name: 'uniswap', deploy: (site) => site.provider.send('anvil_setNonce', [site.signer.address, '0x3e8']) }`,
    reason: /its name is 'uniswap', and has to be the plugin's own, 'another-name'/,
  },
  'other-tokens': {
    what: 'brings tokens of its own for all exchanges',
    whole: `export default { name: 'other-tokens', tokens: async () => ({}), deploy: async () => {} }`,
    reason: /it has `tokens`, and the chain of the devnet has them already/,
  },
  'key-of-another': {
    what: 'signs with the key of another exchange',
    deploy: `await new Wallet(id('sluice devnet: uniswap'), site.provider).sendTransaction({ to: '${factory}', gasLimit: 100000n })`,
    reason: /does not let a plugin do this: a transaction that its own account 0x\w+ has not signed/,
  },
  'account-of-a-wallet': {
    what: 'has a wallet of the node send something',
    deploy: `await site.provider.send('eth_sendTransaction', [{ from: site.wallets[0], to: site.signer.address, value: '0x1' }])`,
    reason: /does not let a plugin do this: eth_sendTransaction/,
  },
  'acts-for-a-wallet': {
    what: 'acts for a wallet whose key is known (EIP-7702)',
    deploy: `const authorization = await new Wallet('${walletKey}', site.provider).authorize({ address: '${router}' })
      await site.signer.sendTransaction({ type: 4, to: site.wallets[0], gasLimit: 100000n, authorizationList: [authorization] })`,
    reason: /does not let a plugin do this: a transaction/,
  },
  'other-code': {
    what: "replaces an exchange's code",
    deploy: `await site.provider.send('anvil_setCode', ['${router}', '0x00'])`,
    reason: /does not let a plugin do this: anvil_setCode/,
  },
  'other-storage': {
    what: "replaces an exchange's storage",
    deploy: `await site.provider.send('anvil_setStorageAt', ['${factory}', '0x' + '0'.repeat(64), '0x' + '0'.repeat(63) + '1'])`,
    reason: /does not let a plugin do this: anvil_setStorageAt of a contract that is not its own/,
  },
  'other-clock': {
    what: 'sets the clock',
    deploy: `await site.provider.send('evm_increaseTime', [1e9])`,
    reason: /does not let a plugin do this: evm_increaseTime/,
  },
  'other-reserves': {
    what: "changes an exchange's pool by calls that everybody may make",
    deploy: `const factory = new Contract('${factory}', ['function getPair(address, address) view returns (address)'], site.provider)
      const pair = await factory.getPair(site.tokens.WETH.address, site.tokens.USDC.address)
      await site.tokens.USDC.mint(pair, 10n ** 12n)
      await site.send(new Contract(pair, ['function sync()'], site.signer), 'sync')`,
    reason: /it changed 0x\w+, which is not its own/,
  },
  reads: {
    what: 'reads a file of the server',
    deploy: `const { readFileSync } = await import('node:fs')
      throw new Error('read ' + readFileSync('${secret}', 'utf8').length)`,
    reason: /ENOENT/,
  },
  listens: {
    what: 'connects to the node by itself',
    deploy: `const { connect } = await import('node:net')
      await new Promise((resolve, reject) => connect(8545, '127.0.0.1', resolve).on('error', reject))`,
    reason: /ENETUNREACH|EADDRNOTAVAIL|ECONNREFUSED/,
  },
}

describe('the devnet.ts of a third party', function () {
  this.timeout(900_000)
  let place: Awaited<ReturnType<typeof temporaryFolder>>
  let devnet: Devnet
  const said: string[] = []

  before(async () => {
    place = await temporaryFolder()
    const plugins = path.join(place.folder, 'plugins')
    mkdirSync(plugins)
    symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), path.join(place.folder, 'node_modules'))
    const plant = (name: string, source: string) => {
      mkdirSync(path.join(plugins, name))
      writeFileSync(path.join(plugins, name, 'index.ts'), '')
      writeFileSync(path.join(plugins, name, 'devnet.ts'), source)
    }
    for (const [name, { deploy, whole }] of Object.entries(hostile))
      plant(
        name,
        whole ??
          `${/Contract|Wallet/.test(deploy ?? '') ? "import { Contract, id, Wallet } from 'ethers'" : ''}
export default { name: '${name}', async deploy(site) {
${deploy}
} }`,
      )
    plant(
      'riverbed',
      `import { uniswapV2Devnet } from 'sluice/uniswap-v2/devnet'
export default uniswapV2Devnet({ name: 'riverbed', pools: [['WETH', '10', 'USDC', '30000']] })`,
    )
    plant('refused', `export default { name: 'refused', deploy: (site) => site.send('nothing') }`)
    const settings = loadSettings({
      confDir: fileURLToPath(new URL('../../conf', import.meta.url)),
      env: {},
      flags: { 'data.dir': path.join(place.folder, 'data') },
    })
    const outside = findPlugins([plugins], []).found.map((plugin): OutsidePlugin => ({
      plugin,
      file: path.join(plugin.folder, 'devnet.ts'),
    }))
    devnet = await startDevnet({
      port: 0,
      dataDir: place.folder,
      devnetFiles,
      log: (line) => said.push(line),
      outside: {
        plugins: outside,
        start: (plugin) => startOutside(plugin, settings),
        budget: { processorMs: 8_000, clockMs: 400_000 },
        accepted: async () => ({
          plugins: outside.filter(({ plugin: { name } }) => name !== 'refused'),
          refused: [{ file: '', reason: 'refused is refused' }],
        }),
      },
    })
  })
  after(async () => {
    await devnet?.stop()
    await place.remove()
  })

  const code = (address: string) => rpcTo(devnet.rpcUrl)('eth_getCode', address, 'latest')

  it('deploys its contracts in a process of its own, at the addresses that follow from its name', async () => {
    expect(String(await code(getCreateAddress({ from: deployerAddress('riverbed'), nonce: 1 })))).to.have.length.above(1_000)
  })

  for (const [name, { what, reason }] of Object.entries(hostile))
    it(`leaves nothing where it ${what}, and is named`, async () => {
      const refusal = devnet.refused.find(({ file }) => file.includes(`/${name}/`))
      expect(refusal?.reason).to.match(reason)
      expect(refusal?.reason).to.contain(`The devnet.ts of ${name} failed: `)
      expect(await rpcTo(devnet.rpcUrl)('eth_getTransactionCount', deployerAddress(name), 'latest')).to.equal('0x0')
    })

  it('ends the contract tests of its plugin with the same reason, and those of no other', () => {
    expect(() => requireDeployed({ devnet }, 'throws')).to.throw('The devnet.ts of throws failed: devnet.ts:3: no such market')
    expect(() => requireDeployed({ devnet }, 'riverbed')).not.to.throw()
  })

  it('is not run where its plugin is refused', () => {
    expect(devnet.refused.map(({ reason }) => reason)).to.include('refused is refused')
    expect(devnet.refused).to.have.length(Object.keys(hostile).length + 1)
  })

  it('comes onto the state of the release, which is saved by itself for starts with other plugins', async () => {
    const release = await startDevnet({ port: 0, dataDir: place.folder, devnetFiles })
    try {
      expect(release.built).to.equal(false)
      const riverbed = getCreateAddress({ from: deployerAddress('riverbed'), nonce: 1 })
      expect(await rpcTo(release.rpcUrl)('eth_getCode', riverbed, 'latest')).to.equal('0x')
      expect(String(await rpcTo(release.rpcUrl)('eth_getCode', router, 'latest'))).to.have.length.above(1_000)
    } finally {
      await release.stop()
    }
  })

  it('leaves the exchanges of the release as they were', async () => {
    for (const { address } of Object.values(addresses.tokens)) expect(String(await code(address))).to.have.length.above(1_000)
    for (const address of [router, factory, addresses.exchanges.sushiswap.router])
      expect(String(await code(address))).to.have.length.above(1_000)
    expect(await rpcTo(devnet.rpcUrl)('eth_getTransactionCount', deployerAddress('uniswap'), 'latest')).not.to.equal('0x3e8')
  })
})

describe('the devnet.ts of a plugin that a start refuses', function () {
  this.timeout(300_000)
  it('is not run, and that of one which it accepts is', async () => {
    const place = await temporaryFolder()
    const plant = (name: string, apiVersion: string) => {
      const folder = path.join(place.folder, 'plugins', name)
      cpSync(path.join(fixtures, 'contained', 'plain-swap'), folder, { recursive: true })
      const entry = path.join(folder, 'index.ts')
      const code = readFileSync(entry, 'utf8').replaceAll('plain-swap', name)
      expect(code).to.contain("apiVersion: '1.0'")
      writeFileSync(entry, code.replace("apiVersion: '1.0'", `apiVersion: '${apiVersion}'`))
      const deploy = 'deploy: async (site) => void (await site.signer.sendTransaction({ to: site.signer.address }))'
      writeFileSync(path.join(folder, 'devnet.ts'), `export default { name: '${name}', ${deploy} }\n`)
    }
    plant('early', '1.0')
    plant('late', '9.0')
    mkdirSync(path.join(place.folder, 'conf'))
    const folders = [path.join(builtInPlugins, 'ethereum'), path.join(place.folder, 'plugins')]
    const flags = { 'plugins.folders': folders, 'devnet.enabled': true, 'devnet.port': await freePort(), 'data.dir': place.folder }
    const settings = loadSettings({ confDir: path.join(place.folder, 'conf'), env: {}, flags })
    const devnet = await bringUpDevnet(settings, () => {}, { allowed: await allowedPlugins(settings) })
    try {
      expect(devnet.refused.map(({ reason }) => reason)).to.have.length(1)
      expect(devnet.refused[0]?.reason).to.match(/^The devnet\.ts of late is not run: the plugin is refused: .*interface 9\.0/)
      const sent = (name: string) => rpcTo(devnet.rpcUrl)('eth_getTransactionCount', deployerAddress(name), 'latest')
      expect([await sent('early'), await sent('late')]).to.deep.equal(['0x1', '0x0'])
    } finally {
      await devnet.stop()
      await place.remove()
    }
  })
})

describe('the devnet.ts of a plugin in a host', function () {
  this.timeout(300_000)
  it('does not delay the start: it runs once the host is there, and what fails then is named', async () => {
    const place = await temporaryFolder()
    const plant = (name: string, deploy: string) => {
      const folder = path.join(place.folder, 'plugins', name)
      cpSync(path.join(fixtures, 'contained', 'plain-swap'), folder, { recursive: true })
      writeFileSync(path.join(folder, 'devnet.ts'), `export default { name: '${name}', deploy: async (site) => { ${deploy} } }\n`)
    }
    plant('good', 'await site.signer.sendTransaction({ to: site.signer.address })')
    plant('wrong', "throw new Error('no such pool')")
    mkdirSync(path.join(place.folder, 'conf'))
    const folders = [path.join(builtInPlugins, 'ethereum'), path.join(place.folder, 'plugins')]
    const flags = { 'plugins.folders': folders, 'devnet.enabled': true, 'devnet.port': await freePort(), 'data.dir': place.folder }
    const settings = loadSettings({ confDir: path.join(place.folder, 'conf'), env: {}, flags })
    const allowed = await allowedPlugins(settings)
    const devnet = await bringUpDevnet(settings, () => {}, { allowed, hostsLater: true })
    try {
      const sent = (name: string) => rpcTo(devnet.rpcUrl)('eth_getTransactionCount', deployerAddress(name), 'latest')
      expect([devnet.refused, await sent('good')]).to.deep.equal([[], '0x0'])
      await Promise.all(allowed.found.filter(({ builtIn }) => !builtIn).map((plugin) => devnet.deployAdded(plugin)))
      expect([await sent('good'), await sent('wrong')]).to.deep.equal(['0x1', '0x0'])
      expect(devnet.refused.map(({ reason }) => reason)).to.deep.equal(['The devnet.ts of wrong failed: devnet.ts:1: no such pool'])
    } finally {
      await devnet.stop()
      await place.remove()
    }
  })
})
