// `sluice hummingbot import`: what a Hummingbot Gateway has set up becomes part of this home, after it was shown and agreed to.
import { createDecipheriv, pbkdf2Sync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Command } from 'commander'
import { isObject, parseJson } from '../base/json.ts'
import { command } from '../base/layout.ts'
import { maskUrl } from '../config/mask.ts'
import type { Settings } from '../config/settings.ts'
import { getAt } from '../config/tree.ts'
import { mergedFiles, readTextFile } from '../config/yaml.ts'
import { curves } from '../keys/curves.ts'
import { decryptKey, findWallets, saveKey } from '../keys/keystore.ts'
import { ask, askHidden, hasTerminal } from '../base/terminal.ts'
import { passphraseForNewKey } from '../keys/get-passphrase.ts'
import { moveFormerFolders } from '../keys/keystore-files.ts'
import { installedChains } from './chains.ts'
import { createConfEdits, type ConfEdits } from './conf-edits.ts'
import { readGatewayFolder, type GatewayFolder } from './hummingbot-folder.ts'
import { planImport, type ImportPlan, type ImportSite, type KeyPlan } from './hummingbot-plan.ts'
import { hummingbotPositionsCommand, interfaceFile, interfaceSection } from './hummingbot-positions.ts'
import { tokenFile, tokenSite } from './hummingbot-tokens.ts'
import { examples, isYes, printResult } from './output.ts'
import type { WalletContext } from './wallet.ts'

interface ImportOptions {
  readonly chain: readonly string[]
  readonly passphraseFile?: string
  readonly keys: boolean
  readonly dryRun?: true
  readonly yes?: true
}

interface Parts {
  readonly settings: Settings
  readonly wallets: WalletContext
}

export function hummingbotCommand(partsOf: () => Promise<Parts>, settingsOf: () => Settings): Command {
  const hummingbot = new Command('hummingbot').description('moving here from Hummingbot’s Gateway, and back')
  hummingbot.addCommand(hummingbotPositionsCommand(settingsOf))
  hummingbot
    .command('import')
    .description('take over tokens, nodes, default networks and keys of a Gateway; shows all of it and asks first')
    .argument('<folder>', 'the folder of the Gateway, or its folder conf')
    .option(
      '--chain <chain>',
      'a chain of this server that gets the keys, too; may be repeated',
      (each, all: readonly string[]) => [...all, each],
      [],
    )
    .option('--passphrase-file <file>', 'the passphrase of the Gateway (GATEWAY_PASSPHRASE); asked for without it')
    .option('--no-keys', 'leave the keys')
    .option('--dry-run', 'show it, and write nothing')
    .option('--yes', 'do not ask')
    .addHelpText('after', examples('hummingbot import ~/gateway', 'hummingbot import ~/gateway --chain arbitrum --dry-run'))
    .action((folder: string, options: ImportOptions) => printResult(async () => importFolder(folder, options, await partsOf())))
  return hummingbot
}

async function importFolder(given: string, options: ImportOptions, { settings, wallets }: Parts): Promise<string> {
  const folder = readGatewayFolder(given)
  const { confDir } = settings
  const plan = await planImport(options.keys ? folder : { ...folder, wallets: [] }, await siteOf(settings, wallets, options))
  const report = reportOf(given, folder, plan, options.dryRun ? Infinity : mostShown)
  const isNothing = plan.nodes.length + plan.tokens.length + plan.keys.length + plan.defaultNetworks.size === 0
  if (isNothing || options.dryRun) return `${report}\n\nNothing was written.`
  if (plan.keys.length > 0 && wallets.signerSocket !== undefined)
    throw new Error(
      `${report}\n\nThe keys are those of the signer service at ${wallets.signerSocket}: import them as its user (with its --home and without signer.socket), and the rest here with --no-keys. Nothing was written.`,
    )
  if (!options.yes) {
    if (!hasTerminal()) throw new Error(`${report}\n\nThere is no terminal to ask at; say --yes to write this. Nothing was written.`)
    if (!isYes(await ask(`${report}\n\nWrite this? Type yes: `))) throw new Error('Nothing was written.')
  }
  const { keys, problems } = await openKeys(plan.keys, options)
  const edits = editsOf(plan, confDir)
  await saveKeys(keys, wallets)
  await edits.write()
  const written =
    problems.length === 0 ? 'All of it was written.' : `All of it was written, but for these keys:\n  ${problems.join('\n  ')}\n${again}`
  return `${options.yes ? `${report}\n\n` : ''}${written} Restart the server: \`${command} doctor\` says before whether it can start.`
}

const again = 'Run the command again with the passphrase of such a key: what was written is not new any more.'

async function siteOf(settings: Settings, { dataDir }: WalletContext, { chain }: ImportOptions): Promise<ImportSite> {
  const { confDir, plugins } = settings
  const { findPlugins } = await import('../plugins/index.ts')
  const { found } = findPlugins(plugins.folders, plugins.disabled)
  const folderOf = new Map(found.filter(({ builtIn }) => builtIn).map(({ name, folder }) => [name, folder]))
  const all = await installedChains(settings)
  moveFormerFolders(dataDir, new Set(all.keys()))
  const unknown = chain.find((each) => !all.has(each))
  if (unknown !== undefined) throw new Error(`There is no chain "${unknown}": there are ${[...all.keys()].join(', ')}.`)
  const own = mergedFiles([path.join(confDir, interfaceFile)])
  const sectionOf = (key: string) => interfaceSection(settings, folderOf.get('hummingbot') ?? '', key)
  return {
    ...tokenSite(settings, (name) => all.get(name)?.folder),
    confDir,
    chains: all,
    networks: sectionOf('networks'),
    defaultNetworks: sectionOf('defaultNetworks'),
    hasOwnDefault: (name) => getAt(own, `/defaultNetworks/${name}`) !== undefined,
    moreChains: chain,
    plugins: new Set(found.map(({ name }) => name)),
    hasWallet: (name, address) => findWallets(dataDir, address, name).length > 0,
  }
}

/** Of a list. A dry run shows all. */
const mostShown = 25

function reportOf(given: string, { networks, wallets }: GatewayFolder, plan: ImportPlan, most: number): string {
  const first = (all: readonly string[], between: string) =>
    [...all.slice(0, most), ...(all.length > most ? [`and ${all.length - most} more, which --dry-run shows`] : [])].join(between)
  const section = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : ['', title, `  ${first(lines, '\n  ')}`])
  return [
    `${given}: ${networks.length} networks, ${wallets.length} wallets.`,
    ...section('New here:', [
      ...plan.nodes.map(({ chain, network, url }) => `conf/chains/${chain}.yml: ${network} asks ${maskUrl(url)} alone`),
      ...plan.tokens.map(
        ({ chain, network, tokens }) =>
          `conf/${tokenFile(chain, network)}: ${first(
            tokens.map(({ symbol, address, decimals }) => `${symbol} ${address} (${decimals} decimals)`),
            ', ',
          )}`,
      ),
      ...[...plan.defaultNetworks].map(([chain, network]) => `conf/${interfaceFile}: the default network of ${chain} is ${network}`),
      ...plan.keys.map(({ wallet, chains }) => `the key of ${wallet.address} for ${chains.join(', ')}`),
    ]),
    ...section('Differs, and stays as it is here:', plan.differs),
    ...section('Left:', plan.left),
  ].join('\n')
}

interface OpenedKey {
  readonly plan: KeyPlan
  readonly privateKey: string
}

/**
 * All of them, before anything is written. Those that do not open are told.
 * @throws Error where none opens: then the passphrase is mistyped
 */
async function openKeys(plans: readonly KeyPlan[], { passphraseFile }: ImportOptions) {
  const keys: OpenedKey[] = []
  const problems: string[] = []
  if (plans.length === 0) return { keys, problems }
  const passphrase = await gatewayPassphrase(passphraseFile)
  const opened = await Promise.allSettled(plans.map(async (plan) => openKey(plan, passphrase)))
  for (const [index, each] of opened.entries())
    if (each.status === 'fulfilled') keys.push(each.value)
    else problems.push(`${plans[index]?.wallet.address}: ${each.reason instanceof Error ? each.reason.message : 'it does not open'}`)
  if (keys.length === 0) throw new Error(`${problems.join('\n')}\nNothing was written.`)
  return { keys, problems }
}

/** @throws Error */
async function openKey(plan: KeyPlan, passphrase: string): Promise<OpenedKey> {
  const { file, address } = plan.wallet
  const json = readFileSync(file, 'utf8')
  const privateKey = solanaKey(json, passphrase, file) ?? (await decryptKey(json, passphrase, file)).privateKey
  const curve = curves.secp256k1.address(address) === undefined ? 'ed25519' : 'secp256k1'
  if (curves[curve].addressOf(privateKey) !== (curves[curve].address(address) ?? ''))
    throw new Error(`${file} holds another key than that of its name.`)
  return { plan, privateKey }
}

async function gatewayPassphrase(file: string | undefined): Promise<string> {
  if (file !== undefined) {
    const read = readTextFile(file)
    if (read.is !== 'text') throw new Error(`${file} cannot be read; correct its name or mode. Nothing was written.`)
    return read.text.replace(/\r?\n$/, '')
  }
  if (hasTerminal()) return askHidden('Passphrase of the Gateway (GATEWAY_PASSPHRASE): ')
  throw new Error(
    'There is no terminal to ask for the passphrase of the Gateway: name a file with it in --passphrase-file. Nothing was written.',
  )
}

/** How the Gateway encrypts keys of Solana: AES-256 in counter mode, by PBKDF2 of 5,000 rounds. Source: `encrypt` in its src/chains/solana/solana.ts. */
function solanaKey(json: string, passphrase: string, file: string): string | undefined {
  const { algorithm, iv, salt, encrypted } = Object(parseJson(json)) as Record<string, unknown>
  const [vector, saltBytes, bytes] = [iv, salt, encrypted].map(bytesOf)
  if (algorithm !== 'aes-256-ctr' || !vector || !saltBytes || !bytes) return undefined
  const decipher = createDecipheriv('aes-256-ctr', pbkdf2Sync(passphrase, saltBytes, 5000, 32, 'sha512'), vector)
  const text = Buffer.concat([decipher.update(bytes), decipher.final()]).toString('latin1')
  // Counter mode opens with any passphrase: only a key whose halves fit is one.
  try {
    return curves.ed25519.parse(text)
  } catch (error) {
    throw new Error(`The passphrase does not open ${file}.`, { cause: error })
  }
}

/** As Node.js writes a buffer in JSON. */
const bytesOf = (value: unknown): Buffer | undefined =>
  isObject(value) && value['type'] === 'Buffer' && Array.isArray(value['data']) ? Buffer.from(value['data'].map(Number)) : undefined

async function saveKeys(keys: readonly OpenedKey[], { dataDir, passphrase: given, chains }: WalletContext): Promise<void> {
  if (keys.length === 0) return
  const passphrase = await passphraseForNewKey(dataDir, given)
  const curveOf = await chains()
  for (const { plan, privateKey } of keys) {
    const [chain, ...alsoFor] = plan.chains
    if (chain === undefined) continue
    await saveKey({ dataDir, chain, alsoFor, curve: curveOf.get(chain) ?? 'secp256k1', privateKey, passphrase, label: 'gateway' })
  }
}

/** @throws Error where a file is not as it can be added to */
function editsOf({ nodes, tokens: lists, defaultNetworks }: ImportPlan, confDir: string): ConfEdits {
  const edits = createConfEdits()
  try {
    for (const { chain, network, url } of nodes) edits.setYaml(path.join(confDir, 'chains', `${chain}.yml`), [network, 'rpcUrls'], [url])
    for (const { chain, network, chainId, tokens } of lists)
      edits.addTokens(
        path.join(confDir, tokenFile(chain, network)),
        `${chain} ${network}`,
        tokens.map(({ symbol, address, decimals }) => ({ chainId, symbol, address, decimals, name: symbol })),
      )
    for (const [chain, network] of defaultNetworks) edits.setYaml(path.join(confDir, interfaceFile), ['defaultNetworks', chain], network)
    return edits
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : 'A file cannot be changed.'} Nothing was written.`, { cause: error })
  }
}
