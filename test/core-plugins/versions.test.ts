import { expect } from 'chai'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { builtInPlugins } from '../../core/base/layout.ts'
import { findPlugins } from '../../core/plugins/discover/find.ts'
import { fixtures, goodPlugins, load } from './fixtures.ts'

const ethereum = path.join(builtInPlugins, 'ethereum')
const templates = path.join(builtInPlugins, '..', 'templates')

describe('versions of the plugin interface', function () {
  this.timeout(120_000)
  let folder: string
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'sluice-versions-')))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  /** The good plugin with changes to its files. */
  function plant(name: string, changes: Record<string, readonly (readonly [string, string])[]>): string {
    const planted = path.join(folder, name)
    cpSync(path.join(goodPlugins, 'fixture-swap'), planted, { recursive: true })
    for (const [file, all] of Object.entries<readonly (readonly [string, string])[]>({ 'index.ts': [], ...changes })) {
      const text = readFileSync(path.join(planted, file), 'utf8').replaceAll('fixture-swap', name)
      writeFileSync(
        path.join(planted, file),
        all.reduce((before, [from, to]) => {
          if (!before.includes(from)) throw new Error(`${file} has no ${from}`)
          return before.replace(from, to)
        }, text),
      )
    }
    return planted
  }

  it('loads a chain, and an exchange with a rail of its own, as trusted ones only', async () => {
    const folders = [ethereum, path.join(templates, 'sonic'), path.join(fixtures, '..', 'signed-actions')]
    const { found, refused: none } = findPlugins(folders, [])

    const { loaded, refused } = await load(folders, { plugins: { found, refused: none } })

    expect(loaded.map(({ name }) => name)).to.deep.equal(['ethereum'])
    expect(refused.map(({ name, step, remedy }) => `${name} ${step} ${/plugin trust/.test(remedy)}`)).to.have.members([
      'sonic consent true',
      'fixture-exchange consent true',
    ])
  })

  it('refuses a manifest without version, and a short name of no network, with what to write', async () => {
    plant('without-version', { 'index.ts': [['    version: facts.version,\n', '']] })
    plant('of-no-network', { 'index.ts': [['schema:', "shortNames: { mainnet: 'fixture-chian' },\n    schema:"]] })

    const { refused } = await load([path.join(goodPlugins, 'fixture-chain'), folder])

    const told = Object.fromEntries(refused.map(({ name, step, reason, remedy }) => [name, `${step}: ${reason}. ${remedy}`]))
    expect(told['without-version']).to.equal("manifest: It has no version. Add the plugin's own version: version: '0.1.0'.")
    expect(told['of-no-network']).to.match(/^manifest: shortNames\.mainnet: available_networks has no mainnet of fixture-chian\./)
  })

  describe('an update that brings a second network of one name', () => {
    const second = [
      ["networks: ['mainnet', 'testnet'] }]", "networks: ['mainnet', 'testnet'] }, { chain: 'newer-chain', networks: ['mainnet'] }]"],
    ] as const
    const defaults = [
      ['  mainnet:', '  fixture_chain_mainnet:'],
      ['  testnet:', "  newer_chain_mainnet: { routerAddress: '0xBB01' }\n  testnet:"],
    ] as const

    const routers = async (index: readonly (readonly [string, string])[], conf: string) => {
      plant('updated', { 'index.ts': index, 'defaults.yml': defaults })
      cpSync(path.join(goodPlugins, 'fixture-chain'), path.join(folder, 'newer-chain'), { recursive: true })
      const file = path.join(folder, 'newer-chain', 'index.ts')
      writeFileSync(file, readFileSync(file, 'utf8').replaceAll("'fixture-chain'", "'newer-chain'"))
      mkdirSync(path.join(folder, 'conf', 'connectors'), { recursive: true })
      writeFileSync(path.join(folder, 'conf', 'connectors', 'updated.yml'), conf)
      const { loaded, refused } = await load(
        [path.join(goodPlugins, 'fixture-chain'), path.join(folder, 'updated'), path.join(folder, 'newer-chain')],
        {
          confDir: path.join(folder, 'conf'),
        },
      )
      const updated = loaded.find(({ name }) => name === 'updated')
      return {
        reason: refused[0]?.reason,
        remedy: refused[0]?.remedy,
        deprecated: updated?.deprecated,
        routers: updated?.venues.map(({ chain, network, contracts }) => `${chain}/${network} ${contracts['routerAddress']}`),
      }
    }
    const conf = "contractAddresses:\n  mainnet:\n    routerAddress: '0xCC01'\n"

    it('leaves the file of the operator as it was understood, where the manifest says whose the short name is', async () => {
      const told = await routers([...second, ['schema:', "shortNames: { mainnet: 'fixture-chain' },\n    schema:"]], conf)

      expect(told.routers).to.deep.equal(['fixture-chain/mainnet 0xcc01', 'fixture-chain/testnet 0xaa02', 'newer-chain/mainnet 0xbb01'])
      expect(told.deprecated).to.deep.equal([
        'conf/connectors/updated.yml:2 contractAddresses.mainnet is read as fixture_chain_mainnet, as its defaults have it now: write that',
      ])
    })

    it('fails where nothing says so, with the line of the file and what to write', async () => {
      const told = await routers(second, conf)

      expect(told.reason).to.equal(
        'conf/connectors/updated.yml:2 contractAddresses.mainnet is ambiguous, it may be any of fixture_chain_mainnet, newer_chain_mainnet',
      )
      expect(told.remedy).to.equal(
        'Write one of these instead of mainnet in conf/connectors/updated.yml; its author may say which of them it is: shortNames in the manifest.',
      )
    })
  })

  it('lays the file of the operator over the defaults, whichever of the two names of a network each of them uses', async () => {
    plant('renamed', { 'defaults.yml': [['  mainnet:', '  fixture_chain_mainnet:']] })
    mkdirSync(path.join(folder, 'conf', 'connectors'), { recursive: true })
    writeFileSync(
      path.join(folder, 'conf', 'connectors', 'renamed.yml'),
      "contractAddresses:\n  mainnet: { routerAddress: '0xCC01' }\n  fixture_chain_testnet: { routerAddress: '0xCC02' }\n",
    )

    const { loaded } = await load([path.join(goodPlugins, 'fixture-chain'), path.join(folder, 'renamed')], {
      confDir: path.join(folder, 'conf'),
    })

    const renamed = loaded.find(({ name }) => name === 'renamed')
    expect(renamed?.venues.map(({ contracts }) => contracts['routerAddress'])).to.deep.equal(['0xcc01', '0xcc02'])
  })
})
