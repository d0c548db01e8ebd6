import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { installedChains } from '../../core/cli/chains.ts'
import { walletCommand } from '../../core/cli/wallet.ts'
import { writeLock } from '../../core/config/lock.ts'
import { loadSettings } from '../../core/config/settings.ts'
import { findWallets, listWallets } from '../../core/keys/keystore.ts'
import { keystoreFolder, moveFormerFolders } from '../../core/keys/keystore-files.ts'
import { readReleasePolicy } from '../../core/wallet/release-policy.ts'
import { book } from './example-files.ts'
import { temporaryFolder } from './temporary-folder.ts'

const docs = new URL('../../docs/', import.meta.url)
/** The chains that the documentation adds keys for. */
const documented = new Set(
  readdirSync(docs, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .flatMap((name) =>
      [...readFileSync(new URL(name, docs), 'utf8').matchAll(/wallet add --chain ([\w-]+)/g)].map(([, chain = '']) => chain),
    ),
)

describe('the names of chains', () => {
  const folder = temporaryFolder()
  const settingsIn = (name: string, env = {}) => {
    const confDir = path.join(folder, name, 'conf')
    mkdirSync(confDir, { recursive: true })
    return loadSettings({ confDir, env })
  }

  it('are those that requests have, also where the plugin has another one', async () => {
    const released = Object.values(readReleasePolicy().chains)
    const chains = await installedChains(settingsIn('released'))
    expect([...chains.keys()].toSorted()).to.deep.equal(released.map(({ chain }) => chain).toSorted())
    for (const { chain, keys } of released) expect(chains.get(chain)?.curve, chain).to.equal(keys)
    expect(path.basename(chains.get('hyperliquid')?.folder ?? '')).to.equal('hyperliquid-chain')
    expect([...chains.keys()]).to.include('binance-smart-chain')
    expect([...chains.keys()]).to.not.include('hyperliquid-chain')
  })

  it('of plugins of third parties are those of their records', async () => {
    const settings = settingsIn('third')
    for (const name of ['acme-chain', 'plain', 'unknown']) {
      mkdirSync(path.join(folder, 'third', 'plugins', name), { recursive: true })
      writeFileSync(path.join(folder, 'third', 'plugins', name, 'index.ts'), '')
    }
    const record = (chain: string) => ({
      ...book,
      kind: 'chain' as const,
      keys: 'ed25519' as const,
      networks: { [`${chain}/mainnet`]: { contracts: {}, spenders: [] } },
    })
    await writeLock(settings.confDir, { 'acme-chain': record('acme'), plain: record('plain') })
    const chains = await installedChains(loadSettings({ confDir: settings.confDir, env: {} }))
    expect(chains.get('acme')?.curve).to.equal('ed25519')
    expect([...chains.keys()]).to.include('plain')
    for (const name of ['acme-chain', 'unknown']) expect([...chains.keys()]).to.not.include(name)
  })

  it('are those of each command that the documentation has', async () => {
    expect([...documented]).to.include.members(['hyperliquid', 'solana', 'arbitrum'])
    const settings = settingsIn('documented')
    const chains = new Map([...(await installedChains(settings))].map(([name, { curve }]) => [name, curve]))
    const wallet = () =>
      walletCommand(async () => ({ dataDir: settings.data.dir, chains: async () => chains, passphrase: 'correct horse' })).exitOverride()
    for (const chain of documented) expect(chains.has(chain), chain).to.equal(true)
    // What is added is found under the name that requests have. To encrypt a key takes a second: that is done for each documented chain.
    const names = [...documented]
    for (const chain of names) await wallet().parseAsync(['add', '--chain', chain, '--new'], { from: 'user' })
    const added = listWallets(settings.data.dir)
    expect(added.map(({ chain }) => chain)).to.have.members(names)
    for (const { chain, address } of added) {
      expect(address, chain).to.match(chains.get(chain) === 'ed25519' ? /^[1-9A-HJ-NP-Za-km-z]{32,44}$/ : /^0x[0-9a-fA-F]{40}$/)
      expect(findWallets(settings.data.dir, address).map((each) => each.chain)).to.deep.equal([chain])
    }
  })

  it('of folders of the keystore that had those of plugins are mended, and no key is replaced or lost', () => {
    const dataDir = path.join(folder, 'former')
    const [one, other] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`]
    const put = (chain: string, address: string, content = chain) => {
      mkdirSync(path.join(keystoreFolder(dataDir), chain), { recursive: true })
      writeFileSync(path.join(keystoreFolder(dataDir), chain, `${address}.json`), content)
    }
    put('hyperliquid-chain', one)
    put('hyperliquid-chain', other)
    put('hyperliquid', other)
    put('binance-smart-chain', one)
    put('gone-chain', one)
    const chains = new Set(['ethereum', 'hyperliquid', 'binance-smart-chain', 'binance-smart'])
    expect(moveFormerFolders(dataDir, chains)).to.deep.equal([])
    const read = (chain: string, address: string) => readFileSync(path.join(keystoreFolder(dataDir), chain, `${address}.json`), 'utf8')
    expect(read('hyperliquid', one)).to.equal('hyperliquid-chain')
    expect(read('hyperliquid', other)).to.equal('hyperliquid')
    expect(findWallets(dataDir, one).map((each) => each.chain)).to.have.members(['hyperliquid', 'binance-smart-chain', 'gone-chain'])
    expect(findWallets(dataDir, other).map((each) => each.chain)).to.have.members(['hyperliquid', 'hyperliquid-chain'])
    moveFormerFolders(dataDir, chains)
    expect(listWallets(dataDir)).to.have.length(5)
  })
})
