import { expect } from 'chai'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { getCreateAddress } from 'ethers'
import { writeNew } from '../../core/cli/plugin-new.ts'
import { loadSettings } from '../../core/config/settings.ts'
import { deployerAddress } from '../../core/devnet/build-state.ts'
import { perpDevnetContracts } from '../../kits/perp/devnet.ts'
import { signerOf } from '../../tools/solana-node/faucet.ts'
import { kinds } from '../docs/kinds.ts'
import { fencesOf, readPage, root } from '../docs/page.ts'

describe('sluice plugin new', () => {
  let base: string
  let home: string
  beforeEach(() => {
    base = mkdtempSync(path.join(os.tmpdir(), 'sluice-plugin-new-'))
    home = path.join(base, 'here')
    for (const folder of ['here', 'conf']) mkdirSync(path.join(base, folder))
  })
  afterEach(() => rmSync(base, { recursive: true, force: true }))

  const settings = () => loadSettings({ confDir: path.join(base, 'conf'), env: {}, flags: { 'plugins.folders': [path.join(home, 'own')] } })
  const make = (name: string, kind: string, into = home, family?: string) =>
    writeNew(name, { kind, ...(family !== undefined && { family }), in: into }, settings())
  const nameOf = ({ kind, family }: { kind: string; family?: string | undefined }) => ['my', kind, family].filter(Boolean).join('-')
  const read = (...names: readonly string[]) => readFileSync(path.join(home, ...names), 'utf8')

  it('writes a folder of each kind and family, in which nothing has the name of the template', async () => {
    for (const { kind, family, name: template } of kinds) {
      const name = nameOf({ kind, family })
      expect(await make(name, kind, home, family)).to.include(path.join(home, name))
      const files = readdirSync(path.join(home, name))
      expect(files).to.include.members([
        '.github',
        '.gitignore',
        'README.md',
        'contract.test.ts',
        'defaults.yml',
        'package.json',
        'tsconfig.json',
      ])
      for (const file of files.filter((each) => each !== '.github')) {
        expect(read(name, file), file)
          .to.not.match(new RegExp(`\\b${template}\\b`))
          .and.not.include('{{')
      }
      const { scripts, devDependencies, ...manifest } = JSON.parse(read(name, 'package.json'))
      expect(manifest).to.include({ name, type: 'module' })
      // Tests of the author's own run too, and have types.
      expect(scripts.test).to.include(' *.test.ts')
      expect(devDependencies).to.include.keys('mocha', '@types/mocha', 'tsx', 'sluice', 'sluice-devnet')
      expect(read(name, 'README.md'))
        .to.match(new RegExp(`^# ${name}\n`))
        .and.match(
          new RegExp(`^npx sluice --home <home> plugin add ${kind === 'chain' ? '--trusted ' : ''}\\./${name}-0\\.1\\.0\\.tgz$`, 'm'),
        )
    }
    expect(readdirSync(home)).to.have.members(kinds.map(nameOf))
    // Each template is of a kind: the packages' tests write them all.
    expect(readdirSync(path.join(root, 'templates'))).to.have.members([...kinds.map(({ name }) => name), 'common'])
  })

  it('writes the addresses that the devnet gives to contracts of a plugin of this name', async () => {
    const at = (name: string, nonce: number) => getCreateAddress({ from: deployerAddress(name), nonce })
    await make('one', 'amm')
    expect(read('one', 'defaults.yml')).to.include(`routerAddress: '${at('one', 1)}'`)
    await make('two', 'amm-range')
    expect(read('two', 'deployments.ts')).to.include(at('two', 1000))
    await make('three', 'perp')
    const perp = perpDevnetContracts(deployerAddress('three'))
    expect(read('three', 'defaults.yml')).to.include(perp.exchange('ClearingHouse')).and.include(perp.exchange('Vault'))
    expect(read('three', 'markets.ts')).to.include(perp.market(1).base.address)
    await make('four', 'pool')
    expect(read('four', 'deployments.ts')).to.not.include('0x6d4C1D5032a5f638B228aBde7455e310B09141FC')
  })

  it('writes what the guides show, word by word', async () => {
    const guides = ['connector', 'liquidity-connector', 'chain'].map((name) => `writing-a-${name}`)
    const pages = [...guides, 'writing-an-exchange', 'writing-an-order-book-connector', 'writing-an-interface'].map(
      (name) => `docs/authors/${name}.md`,
    )
    const shown = (await Promise.all(pages.map(readPage))).flatMap(fencesOf)
    const compared: string[] = []
    for (const { name } of kinds) {
      for (const file of readdirSync(path.join(root, 'templates', name))) {
        const fence = shown.find((each) => each.file === `${name}/${file}`)
        if (fence) expect(readFileSync(path.join(root, 'templates', name, file), 'utf8'), fence.file).to.equal(fence.text)
        if (fence) compared.push(name)
      }
    }
    expect(new Set(compared)).to.deep.equal(new Set(['ferryswap', 'lakeswap', 'tidebook', 'sonic', 'rillswap', 'pair-prices']))
  })

  it('writes a connector on Solana, whose program and pools solana/local has', async () => {
    await make('mine', 'pool', home, 'solana')
    for (const file of ['index.ts', 'devnet.ts'])
      expect(read('mine', file))
        .to.include("name: 'mine'")
        .and.not.match(/creekswap/)
    const program = await signerOf('creekswap pool program')
    for (const file of ['defaults.yml', 'devnet.ts']) expect(read('mine', file)).to.include(program.address)
    for (const pair of ['BASE USDC', 'USDC BASE', 'FEES USDC'])
      expect(read('mine', 'deployments.ts')).to.include((await signerOf(`creekswap pool ${pair}`)).address)
    // What is changed of a kit of the release is changed here too.
    const own = readFileSync(path.join(root, 'plugins/poolswap/pool.ts'), 'utf8')
    const body = (text: string) => text.slice(text.indexOf('const [vaultsAt')).replaceAll(/\/\*\*.*\*\/\n/g, '')
    expect(body(read('mine', 'pools.ts'))).to.equal(body(own))
  })

  it('names the families of a kind where there is no template for one', async () => {
    const refused = (kind: string, family: string) =>
      make('mine', kind, home, family).then(
        () => '',
        (error: Error) => error.message,
      )
    expect(await refused('pool', 'solna')).to.match(/no template of the kind 'pool' for the family 'solna'.*solana/)
    expect(await refused('perp', 'solana')).to.match(/no template of the kind 'perp' for the family 'solana'.*evm/)
    expect(readdirSync(home)).to.deep.equal([])
  })

  it('takes an empty folder that is there', async () => {
    mkdirSync(path.join(home, 'mine'))
    await make('mine', 'fork')
    expect(readdirSync(path.join(home, 'mine'))).to.include('package.json')
  })

  describe('writes nothing, and says what to do', () => {
    const readOnly = process.platform === 'linux' ? '/proc' : '/'
    beforeEach(() => {
      for (const folder of ['own/theirs', 'full']) mkdirSync(path.join(home, folder), { recursive: true })
      writeFileSync(path.join(home, 'own', 'theirs', 'index.ts'), 'export default {}\n')
      writeFileSync(path.join(home, 'full', 'notes.txt'), 'mine\n')
      writeFileSync(path.join(home, 'a-file'), '')
    })
    for (const [what, name, kind, into, message] of [
      ['where the kind is unknown', 'mine', 'nft', '.', /no kind 'nft'.*amm, amm-range, pool, clob, perp, chain, fork, interface/],
      ['where the kind is misspelt', 'mine', 'amm-rnage', '.', /no kind 'amm-rnage'. Did you mean "amm-range"\?/],
      [
        'where the name is that of a plugin of the release',
        'uniswap',
        'amm',
        '.',
        /'uniswap' already, of this release: choose another name/,
      ],
      ["where the name is that of an operator's plugin", 'theirs', 'amm', '.', /'theirs' already, in .*own.theirs: choose another name/],
      ['where the name has capitals', 'MySwap', 'amm', '.', /'MySwap' is not a valid name .* lower-case letters/],
      ['where the name leads out of the folder', '../mine', 'amm', '.', /'\.\.\/mine' is not a valid name/],
      ['where the folder has files', 'full', 'amm', '.', /full is there already, and is not an empty folder/],
      ['where there is a file of that name', 'a-file', 'amm', '.', /a-file is there already/],
      ['where the folder to put it into is not there', 'mine', 'amm', 'away', /no folder .*away: make it/],
      [
        'where nobody may write',
        'mine',
        'amm',
        readOnly,
        /cannot be written, and nothing was: .*Name a folder where you may write with --in/,
      ],
    ] as const) {
      it(what, async () => {
        const before = readdirSync(home, { recursive: true })
        const failure = await make(name, kind, path.resolve(home, into)).then(String, (error: Error) => error.message)
        expect(failure).to.match(message)
        expect(readdirSync(home, { recursive: true })).to.deep.equal(before)
      })
    }
  })
})
