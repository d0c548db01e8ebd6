import { Command } from 'commander'
import { closest } from 'fastest-levenshtein'
import { devnetNetwork } from '../config/settings.ts'
import { command } from '../base/layout.ts'
import { importKey, type KeyInput } from '../wallet/import-key.ts'
import { walletAddress, type CurveName, containsKey, looksLikeSecret } from '../keys/curves.ts'
import { findWallets, listWallets, removeKey, saveKey } from '../keys/keystore.ts'
import { keystoreFolder, moveFormerFolders } from '../keys/keystore-files.ts'
import { ask, hasTerminal } from '../base/terminal.ts'
import { passphraseForNewKey } from '../keys/get-passphrase.ts'
import { isYes, printError, printResult } from './output.ts'
import { reasonOf } from '../base/errors.ts'

export interface WalletContext {
  readonly dataDir: string
  /** The chains that a key can be for, with the curve of their keys. */
  chains(): Promise<ReadonlyMap<string, CurveName>>
  readonly passphrase?: string
  /** Of the signer service that has the keys of these settings. */
  readonly signerSocket?: string
}

interface AddOptions {
  chain: string
  label?: string
  keyFile?: string
  keystoreFile?: string
  keystorePassphraseFile?: string
  new?: true
}

const burnt =
  "A private key or seed phrase was given as an argument. It is now in the shell's history and was visible to every program on this machine: " +
  'consider it burnt, and move what it holds to a new one. Sluice asks for keys at a hidden prompt or reads them from a file (--key-file).'

/** `sluice wallet add|list|remove`: the only way that keys go in and out. Nothing ever prints one. */
export function walletCommand(getContext: () => Promise<WalletContext>): Command {
  const wallet = new Command('wallet').description('the keys that the server trades with')
  // Commander quotes unknown arguments, which may be keys.
  wallet.configureOutput({ outputError: (text, write) => write(containsKey(text) ? `error: ${burnt}\n` : text) })

  wallet
    .command('add')
    .description('add a key: asked for at a hidden prompt, read from a file, or made new')
    .option('--chain <chain>', 'the chain of the key', devnetNetwork.chain)
    .option('--label <label>', 'a name for people')
    .option(
      '--key-file <file>',
      'read the private key from a file (64 hexadecimal digits; of Solana base58, or id.json of solana-keygen); - is standard input',
    )
    .option('--keystore-file <file>', 'import an encrypted key file (version 3 JSON of ethers, geth and others, or of Sluice)')
    .option('--keystore-passphrase-file <file>', 'the passphrase of that file, when it is not that of the keystore')
    .option('--new', 'make a new key')
    .allowExcessArguments()
    .action((options: AddOptions, command: Command) => run(command, 0, async () => add(options, await getContext())))

  wallet
    .command('list')
    .description('list the wallets; needs no passphrase')
    .allowExcessArguments()
    .action((_options: object, command: Command) => run(command, 0, async () => list(await getContext())))

  wallet
    .command('remove')
    .description('delete the key of a wallet for good')
    .argument('<address>', 'the address of the wallet')
    .option('--chain <chain>', 'the chain, where several have this address')
    .option('--yes', 'do not ask')
    .allowExcessArguments()
    .action((address: string, options: { chain?: string; yes?: true }, command: Command) =>
      run(command, 1, async () => remove(address, options, await getContext())),
    )

  return wallet
}

async function run(command: Command, argumentCount: number, action: () => Promise<string>): Promise<void> {
  const given = [...Object.values(command.opts()), ...command.args, command.args.join(' ')]
  if (given.some((value) => typeof value === 'string' && looksLikeSecret(value))) return printError(burnt)
  if (command.args.length > argumentCount)
    return printError(`"${command.name()}" takes ${argumentCount === 0 ? 'no argument' : 'one argument'}, and got ${command.args.length}.`)
  await printResult(action)
}

/** A server may not ask the service for it: who took it over could. */
function refuseOfService(signerSocket: string | undefined): void {
  if (signerSocket !== undefined) throw new Error(keysOfService(signerSocket))
}

const keysOfService = (socket: string): string =>
  `The keys are those of the signer service at ${socket} (signer.socket), and the server's settings reach none of them: run this as the user of the service, with its --home and without signer.socket.`

async function add(options: AddOptions, { dataDir, chains: loadChains, passphrase: given, signerSocket }: WalletContext): Promise<string> {
  refuseOfService(signerSocket)
  const { chain, label } = options
  const chains = await loadChains()
  moveFormerFolders(dataDir, new Set(chains.keys()))
  const curve = chains.get(chain)
  if (curve === undefined) {
    const names = [...chains.keys()]
    throw new Error(
      `There is no chain "${chain}"; ${names.length === 0 ? 'no chain is set up.' : `did you mean "${closest(chain, names)}"? There are: ${names.join(', ')}.`}`,
    )
  }
  if (label !== undefined && !/^[^\p{C}]{1,64}$/u.test(label)) throw new Error('--label takes 1 to 64 characters without line breaks.')
  const source = sourceOf(options)
  const passphrase = await passphraseForNewKey(dataDir, given)
  const privateKey = await importKey(source, curve, passphrase)
  const address = await saveKey({ dataDir, chain, curve, privateKey, passphrase, ...(label === undefined ? {} : { label }) })
  return [
    `Added ${address} for ${chain}. Restart the server to use it.`,
    `Keep a copy of ${keystoreFolder(dataDir)} and the passphrase: without both the key is lost.`,
    ...(source.is === 'keyFile' && source.file !== '-' ? [`${source.file} still holds the bare key: delete it.`] : []),
  ].join('\n')
}

function sourceOf({ new: fresh, keyFile, keystoreFile, keystorePassphraseFile }: AddOptions): KeyInput {
  const sources: KeyInput[] = []
  if (fresh) sources.push({ is: 'new' })
  if (keyFile !== undefined) sources.push({ is: 'keyFile', file: keyFile })
  if (keystoreFile !== undefined) sources.push({ is: 'keystoreFile', file: keystoreFile, passphraseFile: keystorePassphraseFile })
  if (sources.length > 1) throw new Error('Give one of --new, --key-file and --keystore-file: the key comes from one place.')
  return sources[0] ?? { is: 'prompt' }
}

async function list({ dataDir, chains, signerSocket }: WalletContext): Promise<string> {
  if (signerSocket === undefined) moveFormerFolders(dataDir, new Set((await chains()).keys()))
  const wallets = signerSocket === undefined ? listWallets(dataDir) : await walletsOfService(signerSocket)
  if (signerSocket !== undefined && wallets.length === 0) return `The signer service at ${signerSocket} has no wallets.`
  if (wallets.length === 0)
    return `There are no wallets in ${keystoreFolder(dataDir)}. Add one with: ${command} wallet add (The devnet's are never here: they live in memory.)`
  const width = Math.max(...wallets.map(({ chain }) => chain.length))
  return wallets
    .map(({ chain, address, label, problem }) =>
      `${chain.padEnd(width)}  ${address}  ${label ?? ''}${problem === undefined ? '' : `  ! ${problem}`}`.trimEnd(),
    )
    .join('\n')
}

async function walletsOfService(socket: string): Promise<ReturnType<typeof listWallets>> {
  const { askSigner } = await import('../wallet/service/client.ts')
  const { wallets } = await askSigner(socket).catch((error: unknown) => {
    throw new Error(`The signer service cannot be asked: ${reasonOf(error)}.`)
  })
  return wallets.map((each) => ({ ...each, file: '' }))
}

async function remove(
  given: string,
  { chain, yes }: { chain?: string; yes?: true },
  { dataDir, chains, signerSocket }: WalletContext,
): Promise<string> {
  refuseOfService(signerSocket)
  const address = walletAddress(given)
  if (address === undefined)
    throw new Error(
      `That is no address (0x and 40 hexadecimal digits, or 32 bytes in base58, each letter in its own case); "${command} wallet list" shows them.`,
    )
  moveFormerFolders(dataDir, new Set((await chains()).keys()))
  const [found, ...others] = findWallets(dataDir, address, chain)
  if (!found)
    throw new Error(
      `There is no wallet ${address}${chain === undefined ? '' : ` for ${chain}`}; "${command} wallet list" shows what there is.`,
    )
  if (others.length > 0)
    throw new Error(`${address} is there for ${[found, ...others].map((each) => each.chain).join(', ')}: say which with --chain.`)
  if (!yes) {
    if (!hasTerminal()) throw new Error('There is no terminal to ask at; say --yes to delete the key for good.')
    const answer = await ask(`This deletes ${found.file}, and with it the key of ${address} unless you have a copy. Type yes to go on: `)
    if (!isYes(answer)) throw new Error('Not removed.')
  }
  await removeKey(found.file)
  return `Removed ${address} of ${found.chain}. A running server uses it until it is restarted.`
}
