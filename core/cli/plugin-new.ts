// `sluice plugin new`: writes the folder of a new plugin, from the templates of the release. Each template is a plugin that works.
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { getCreateAddress } from 'ethers'
import { suggestion } from '../config/problems.ts'
import type { PluginKind } from '../contracts/plugin.ts'
import { devnetNetwork, type Settings } from '../config/settings.ts'
import { chainId } from '../devnet/anvil.ts'
import { deployerAddress } from '../devnet/build-state.ts'
import { isObject } from '../base/json.ts'
import { builtInPlugins, bundledCode, codeRoot, command, developmentVersions, devnetRoot, entryPoints, version } from '../base/layout.ts'
import { findPlugins, namePattern } from '../plugins/index.ts'
import { printResult } from './output.ts'
import { reasonOf } from '../base/errors.ts'

interface Template {
  /** Its folder in templates/, which is also the name of the plugin there. */
  readonly name: string
  /** In the help. */
  readonly what: string
  readonly about: string
  /** What its author changes, in order. */
  readonly steps: readonly string[]
  /** Absent: a connector. */
  readonly kind?: PluginKind
  /** The same kind for other families of chains than that of Ethereum. */
  readonly families?: Readonly<Record<string, Template>>
}

const constants = '`deployments.ts` has what is the same for every operator, by `<chain>/<network>`. Say where each constant comes from.'
const addresses = '`defaults.yml` has the addresses that an operator may change. They are complete, quoted, and have their checksum.'
const devnet = '`devnet.ts` deploys the exchange on the local chain, for the tests. Deploy its real contracts there.'

const templates: Readonly<Record<string, Template>> = {
  amm: {
    name: 'ferryswap',
    what: 'an exchange of its own kind, which is asked for each price',
    about: 'A connector of Sluice for an exchange that swaps tokens. It asks the exchange for every price.',
    steps: [
      '`amm.ts` has the three methods: `quote` asks for a price, `swap` says what to call and what that needs, `fill` reads the receipt.',
      '`index.ts` has the manifest: name, version, networks.',
      addresses,
      devnet,
    ],
  },
  'amm-range': {
    name: 'lakeswap',
    what: "an exchange of concentrated liquidity, with positions, by Uniswap v3's kit",
    about: 'A connector of Sluice for an exchange of concentrated liquidity, with positions: a fork of Uniswap v3.',
    steps: [constants, '`index.ts` has the manifest, and how the fork differs: options of `uniswapV3`.', addresses, devnet],
  },
  pool: {
    name: 'brookswap',
    what: 'an exchange with pools of a new kind: you write their arithmetic, routes and memory are there',
    about: 'A connector of Sluice for an exchange with pools of its own kind. It has the arithmetic of the pools; Sluice finds the routes.',
    steps: [
      '`pairs.ts` has the arithmetic of a pool, to the unit as its contract rounds, and how a pool follows the logs.',
      '`router.ts` turns a quote into a call, `fill.ts` a receipt into what was traded.',
      constants,
      addresses,
      devnet,
    ],
    families: {
      solana: {
        name: 'creekswap',
        what: 'the same on Solana: you write what the accounts of a pool hold, its arithmetic and its swap',
        about:
          'A connector of Sluice for an exchange on Solana with pools of its own kind. It has what their accounts hold, and their arithmetic.',
        steps: [
          "`pools.ts` has the layout of a pool's accounts, its arithmetic, to the unit as its program rounds, and the instruction of a swap.",
          '`deployments.ts` has the accounts of the pools, by network.',
          '`defaults.yml` has the address of the program.',
          '`devnet.ts` asks the program itself, on the local network, what it would do: quotes are compared with that.',
        ],
      },
    },
  },
  clob: {
    name: 'tidebook',
    what: "an order book on chain, by Oasis' kit",
    about: 'A connector of Sluice for an order book that is entirely on chain: a matching market of the kind of Oasis.',
    steps: ['`index.ts` has the manifest and the markets: base and quote of each, by `<chain>/<network>`.', addresses, devnet],
  },
  perp: {
    name: 'reefperp',
    what: "perpetual contracts, by Perpetual Protocol v2's kit",
    about: 'A connector of Sluice for perpetual contracts on chain: an exchange of the kind of Perpetual Protocol v2.',
    steps: ['`markets.ts` has the base token of each market, by `<chain>/<network>`.', '`index.ts` has the manifest.', addresses, devnet],
  },
  chain: {
    name: 'sonic',
    what: 'a chain of the family of Ethereum',
    about: 'A chain of Sluice, of the family of Ethereum.',
    steps: [
      '`index.ts` has what holds for every operator: chain id, coin, time between blocks, blocks until a transaction is final.',
      '`tokens.json` lists the tokens, first of all the one that wraps the coin.',
      '`defaults.yml` names at least two nodes of different providers that need no key.',
    ],
    kind: 'chain',
  },
  fork: {
    name: 'rillswap',
    what: 'a fork of a constant-product exchange, in one call',
    about: 'A connector of Sluice for a fork of Uniswap v2: its constants, and one call of a kit.',
    steps: [
      '`index.ts` has the manifest, what a pool keeps of the input, and the constants by `<chain>/<network>`. Say where each comes from.',
      addresses,
      devnet,
    ],
  },
  interface: {
    name: 'pair-prices',
    what: 'other paths to the same server, on a port of their own: the dialect of a bot',
    about: 'An interface of Sluice: paths, shapes and errors of its own, answered by the endpoints of the server.',
    steps: [
      '`index.ts` has the manifest, the paths and what an error looks like. `examples` of a request are what the cards send: requests that succeed on the devnet.',
      '`defaults.yml` has what an operator may change in `conf/interfaces/{{name}}.yml`. The port is the operator’s alone: without one it is off.',
    ],
    kind: 'interface',
  },
}

export interface NewOptions {
  readonly kind?: string
  readonly family?: string
  readonly in: string
}

const kindLines = Object.entries(templates).flatMap(([kind, { what, families = {} }]) => [
  `  ${kind.padEnd(10)} ${what}`,
  ...Object.entries(families).map(([family, each]) => `  ${kind.padEnd(10)} with --family ${family}: ${each.what}`),
])
const familyOfEthereum = 'evm'
const familyNames = [familyOfEthereum, ...new Set(Object.values(templates).flatMap(({ families = {} }) => Object.keys(families)))]

export function newCommand(settingsOf: () => Settings): Command {
  return new Command('new')
    .description('write the folder of a new plugin: code that works on the devnet, contract tests, a CI file')
    .argument('<name>', 'of the plugin and its folder: lower-case letters, digits and hyphens')
    .option('--kind <kind>', `what it is: ${Object.keys(templates).join(', ')}`)
    .option('--family <family>', `of the chains that it is on: ${familyNames.join(', ')}`, familyOfEthereum)
    .option('--in <folder>', 'the folder to put it into (default: this one)', '.')
    .addHelpText('after', `\nThe kinds:\n${kindLines.join('\n')}`)
    .action((name: string, options: NewOptions) => printResult(() => writeNew(name, options, settingsOf())))
}

/** @returns what to type next @throws Error where nothing was written */
export async function writeNew(name: string, options: NewOptions, settings: Settings): Promise<string> {
  const template = templateOf(options.kind, options.family)
  refuseName(name, settings)
  const parent = path.resolve(options.in)
  const folder = path.join(parent, name)
  if (!existsSync(parent)) throw new Error(`There is no folder ${parent}: make it, or name another with --in.`)
  if (existsSync(folder) && !(statSync(folder).isDirectory() && readdirSync(folder).length === 0))
    throw new Error(`${folder} is there already, and is not an empty folder: choose another name, or move it away.`)
  if (devnetRoot() === undefined)
    throw new Error(
      `The exchanges for its tests are a package of their own, which is not installed: npm install ./sluice-devnet-${version}.tgz`,
    )
  await writeFolder(folder, await filesOf(name, template, folder))
  const others = options.in === '.' ? name : path.join(options.in, name)
  // A checkout has the packages once they are packed.
  const pack = ['sluice', 'sluice-devnet'].every((each) => isThere(specOf(each, folder), folder)) ? '' : '  npm run pack\n'
  return `Wrote ${folder}. Next:\n\n${pack}  cd ${others}\n  npm install\n  npm test\n\nREADME.md says what to change in which file.`
}

/** @throws Error that lists the kinds, or the families */
function templateOf(kind: string | undefined, family = familyOfEthereum): Template {
  if (kind === undefined)
    throw new Error(
      `Say what it is, with --kind <kind>:\n${kindLines.join('\n')}\nFor example: ${command} plugin new my-exchange --kind amm`,
    )
  const template = Object.hasOwn(templates, kind) ? templates[kind] : undefined
  if (template === undefined) throw new Error(`There is no kind '${kind}'. ${suggestion(kind, Object.keys(templates), 'Use one of')}`)
  if (family === familyOfEthereum) return template
  const { families = {} } = template
  const other = Object.hasOwn(families, family) ? families[family] : undefined
  if (other === undefined)
    throw new Error(
      `There is no template of the kind '${kind}' for the family '${family}'. ${suggestion(family, [familyOfEthereum, ...Object.keys(families)], 'Use one of')}`,
    )
  return other
}

function refuseName(name: string, { plugins }: Settings): void {
  if (!namePattern.test(name))
    throw new Error(
      `'${name}' is not a valid name of a plugin: use lower-case letters, digits and hyphens, at most 64, such as my-exchange. The name any stands for all connectors; constructor is not allowed either.`,
    )
  const { found } = findPlugins([builtInPlugins, ...plugins.folders.filter((each) => existsSync(each))], [])
  const rival = found.find((each) => each.name === name)
  if (rival)
    throw new Error(
      `There is a plugin '${name}' already, ${rival.builtIn ? 'of this release' : `in ${rival.folder}`}: choose another name.`,
    )
}

const isThere = (spec: string, folder: string) => !spec.startsWith('file:') || existsSync(path.resolve(folder, spec.slice('file:'.length)))

/** All of it or nothing: it is written beside its place first. @throws Error */
async function writeFolder(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  const unfinished = path.join(path.dirname(folder), `.${path.basename(folder)}.${randomUUID()}.tmp`)
  try {
    await mkdir(unfinished)
    for (const [file, content] of files) {
      const target = path.join(unfinished, file)
      await mkdir(path.dirname(target), { recursive: true })
      await writeFile(target, content)
    }
    await rename(unfinished, folder)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    const reason = reasonOf(error)
    throw new Error(`${folder} cannot be written, and nothing was: ${reason}. Name a folder where you may write with --in.`, {
      cause: error,
    })
  }
}

/** By their paths in the plugin's folder. */
async function filesOf(name: string, template: Template, folder: string): Promise<ReadonlyMap<string, string>> {
  const own = await filled(template, name)
  const common = readTemplate('common')
  const { kind = 'connector' } = template
  return new Map([
    ...own,
    ['contract.test.ts', testOf(`${kind}Contract`)],
    ['package.json', `${JSON.stringify(packageOf(name, template, folder), null, 2)}\n`],
    ['tsconfig.json', common.get('tsconfig.json') ?? ''],
    ['.gitignore', common.get('gitignore') ?? ''],
    ['.github/workflows/test.yml', common.get('ci.yml') ?? ''],
    ['README.md', readmeOf(name, template, common.get('README.md') ?? '')],
  ])
}

const templatesFolder = fileURLToPath(new URL('templates', codeRoot))

function readTemplate(name: string): ReadonlyMap<string, string> {
  const from = path.join(templatesFolder, name)
  return new Map(readdirSync(from).map((file) => [file, readFileSync(path.join(from, file), 'utf8')]))
}

/** The template's files with the plugin's name in place of its own, and the addresses on the devnet that follow from the name. */
async function filled({ name: from }: Template, name: string): Promise<readonly [string, string][]> {
  const files = [...readTemplate(from)]
  const ofKits = await Promise.all(kitsIn(files).map(deployedBy))
  const addressesOf = (plugin: string) => {
    const deployer = deployerAddress(plugin)
    return [...nonces.map((nonce) => getCreateAddress({ from: deployer, nonce })), ...ofKits.flatMap((each) => each(deployer))]
  }
  const replaced = new Map(addressesOf(from).map((address, index) => [address, index]))
  const own = addressesOf(name)
  return files.map(([file, text]) => [
    file,
    text
      .replaceAll(/0x[0-9a-fA-F]{40}\b/g, (address) => own[replaced.get(address) ?? -1] ?? address)
      .replaceAll(new RegExp(`\\b${from}\\b`, 'g'), name),
  ])
}

/** Kits deploy their contracts from these on. */
const nonces = [0, 1000].flatMap((first) => Array.from({ length: 10 }, (_, index) => first + index))

type DeployedBy = (deployer: string) => readonly string[]

const kitsIn = (files: readonly [string, string][]): readonly string[] =>
  files.flatMap(([, text]) => [...text.matchAll(/from '(sluice\/[\w-]+\/devnet)'/g)].map(([, kit = '']) => kit))

/** What a kit deploys at addresses that do not follow from a nonce alone. */
async function deployedBy(kit: string): Promise<DeployedBy> {
  const module: unknown = await import(entryPoints()[kit] ?? kit)
  const named = isObject(module) ? module['devnetAddresses'] : undefined
  return typeof named === 'function' ? (deployer) => named(deployer, localTokens()) : () => []
}

/** The tokens of the devnet. */
function localTokens(): readonly string[] {
  const list: unknown = JSON.parse(readFileSync(path.join(builtInPlugins, devnetNetwork.chain, 'tokens.json'), 'utf8'))
  const tokens = isObject(list) && Array.isArray(list['tokens']) ? list['tokens'] : []
  return tokens.flatMap((each: unknown) => (isObject(each) && each['chainId'] === chainId ? [String(each['address'])] : []))
}

const testOf = (contract: string): string =>
  `import { ${contract} } from 'sluice/testing'\n\n${contract}({ folder: import.meta.dirname })\n`

function packageOf(name: string, { kind = 'connector' }: Template, folder: string) {
  const { mocha, tsx, typescript, '@types/mocha': mochaTypes, '@types/node': node } = developmentVersions
  return {
    name,
    version: '0.1.0',
    description: `${kind === 'interface' ? 'An' : 'A'} ${kind} for Sluice`,
    license: 'UNLICENSED',
    keywords: ['sluice', 'sluice-plugin'],
    type: 'module',
    files: ['*.ts', '!*.test.ts', '*.json', '*.yml', '!tsconfig.json', 'artifacts'],
    scripts: { test: 'mocha --import=tsx --exit *.test.ts', types: 'tsc' },
    devDependencies: {
      '@types/mocha': mochaTypes,
      '@types/node': node,
      mocha,
      sluice: specOf('sluice', folder),
      'sluice-devnet': specOf('sluice-devnet', folder),
      tsx,
      typescript,
    },
  }
}

/** Where this Sluice was installed from: a version of the registry, or the tarball. */
function specOf(name: string, folder: string): string {
  if (command === 'bin/sluice') return `file:${path.join(bundledCode, 'packages', `${name}-${version}.tgz`)}`
  const modules = path.resolve(bundledCode, '..', '..')
  const lock = path.join(modules, '.package-lock.json')
  if (!existsSync(lock)) return version
  const installed: unknown = JSON.parse(readFileSync(lock, 'utf8'))
  const packages = isObject(installed) && isObject(installed['packages']) ? installed['packages'] : {}
  const entry = packages[`node_modules/${name}`]
  const resolved = isObject(entry) ? entry['resolved'] : undefined
  if (typeof resolved !== 'string' || !resolved.startsWith('file:')) return version
  const file = path.resolve(path.dirname(modules), decodeURI(resolved.slice('file:'.length)))
  return `file:${path.relative(folder, file).replaceAll('\\', '/')}`
}

function readmeOf(name: string, { about, steps, kind = 'connector' }: Template, text: string): string {
  const values: Readonly<Record<string, string>> = {
    about,
    steps: steps.map((step, index) => `${index + 1}. ${step}`).join('\n'),
    ...readmeWords[kind],
  }
  const whole = text.replaceAll(/\{\{(\w+)\}\}/g, (all, key: string) => values[key] ?? all)
  return whole.replaceAll('{{name}}', name)
}

/** What of README.md differs by kind. */
const readmeWords: Readonly<Record<PluginKind, Readonly<Record<string, string>>>> = {
  connector: {
    devnet: ', and the exchange of `devnet.ts` on a local chain,',
    nameToo: ', in `devnet.ts`',
    trusted: '',
    load: 'It shows what the plugin may do, and asks. A running server takes it up by itself,\nand deploys on its devnet what `devnet.ts` says.',
  },
  chain: {
    devnet: '',
    nameToo: '',
    trusted: '--trusted ',
    load: 'The code of a chain runs in the server: its operator has to trust it,\nand a running server takes it up when it is restarted.',
  },
  interface: {
    devnet: ', and the exchanges of the release on a local chain,',
    nameToo: '',
    trusted: '',
    load: 'It is off until `<home>/conf/interfaces/{{name}}.yml` has a `port`,\nand a running server takes it up when it is restarted.',
  },
}
