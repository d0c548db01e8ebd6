import type { Logger } from 'pino'
import { readLock } from '../config/lock.ts'
import { StartError } from '../config/problems.ts'
import type { Settings } from '../config/settings.ts'
import { recipientOf } from '../config/wrong-addresses.ts'
import { limitsFile } from '../config/limits-file.ts'
import { SluiceError, type Permit, type Signable } from '../contracts/index.ts'
import { devnetSetting } from '../keys/devnet-keys.ts'
import { mayHaveRealKeys, needsPassphrase } from '../keys/sources.ts'
import { namedVariables, type SignerFiles } from './policy-files.ts'
import { readReleasePolicy } from './release-policy.ts'
import type { Passphrase } from '../keys/passphrase.ts'
import { getSecret, sealSecret } from '../keys/get-passphrase.ts'
import { readTypedData, type SignRequest } from './signer-messages.ts'
import { boundProblem } from './service/bound.ts'
import { connectSigner } from './service/client.ts'
import { readSigningLimits, unboundWallets, type SigningLimits } from './signing-networks.ts'
import { startSigner, type Signer } from './signer.ts'
import type { WatchOrder } from './server-watch.ts'
import { reasonOf } from '../base/errors.ts'

/** Where the signer reads what it signs, for the plugins that may run. It is said once, before code of plugins runs. */
export function signerFiles(
  { confDir, wallet, plugins, clients }: Settings,
  { found, tried }: { readonly found: readonly { readonly name: string }[]; readonly tried: readonly string[] },
): SignerFiles {
  return {
    confDir,
    plugins: found.map(({ name }) => name),
    allowedSpenders: [...wallet.allowedSpenders],
    recipients: recipientsOf(clients),
    environment: namedVariables(confDir, process.env),
    disabled: [...plugins.disabled],
    tries: tried.length > 0,
  }
}

/**
 * Where the signer service reads what it signs: for the plugins of the release, and those whose records in sluice.lock hold. It loads none of them.
 * @throws ConfigError where the lock cannot be read
 */
export function serviceFiles(settings: Settings): SignerFiles {
  const { chains, connectors } = readReleasePolicy()
  const named = [...Object.keys(chains), ...Object.keys(connectors), ...Object.keys(readLock(settings.confDir))]
  const found = [...new Set(named)].filter((name) => !settings.plugins.disabled.includes(name)).map((name) => ({ name }))
  return signerFiles(settings, { found, tried: [] })
}

/** The signer does not know who asks: it signs for what any client may have a wallet send. */
function recipientsOf(clients: Settings['clients']): Record<string, string[]> {
  const all = new Map<string, Set<string>>()
  for (const { permissions, sendTo } of clients)
    for (const [wallet, recipients] of permissions.includes('send') && sendTo ? sendTo : []) {
      const key = recipientOf(wallet)
      if (key !== undefined) all.set(key, new Set([...(all.get(key) ?? []), ...recipients.flatMap((each) => recipientOf(each) ?? [])]))
    }
  return Object.fromEntries([...all].map(([wallet, recipients]) => [wallet, [...recipients]]))
}

interface SignerParts {
  settings: Settings
  log: Logger
  passphrase: Passphrase | undefined
  files: SignerFiles
  /** Chains beside the devnet's own on which its wallets sign. */
  devnetChains?: readonly string[]
  /** Clients may send keys. */
  acceptsKeys?: boolean
  /** The signer's keeper ends this process where its event loop is blocked. */
  watch?: WatchOrder | undefined
}

/**
 * Asks for the passphrase where it opens keys, before code of plugins runs beside the prompt. One for keys that may come is read of its file alone: a
 * new one has to be typed twice.
 */
export async function askPassphrase({ data, wallet, signer }: Settings, acceptsKeys = false): Promise<Uint8Array | undefined> {
  if (signer.socket !== undefined) return undefined
  const isNeeded = needsPassphrase(wallet.keySources, data.dir)
  if (!isNeeded && (!acceptsKeys || wallet.passphraseFile === undefined)) return undefined
  try {
    return await getSecret('Passphrase of the keystore: ', { SLUICE_WALLET_PASSPHRASE_FILE: wallet.passphraseFile })
  } catch (error) {
    return refuseStart(error)
  }
}

/** Connects to the signer service, or starts the signer's process, which reads what it signs and unlocks its keys. */
export function openSigner(parts: SignerParts): Promise<Signer> {
  const { socket } = parts.settings.signer
  const opening = socket === undefined ? openBesideServer(parts) : openService(socket, parts)
  // The start awaits it later: until then a failure must not become an unhandled rejection.
  opening.catch(() => {})
  return opening
}

const notHeld = 'The limits of wallets do not hold against a server that was taken over'

function openBesideServer(parts: SignerParts): Promise<Signer> {
  const { confDir } = parts.settings
  if (Object.keys(limitsAtStart(confDir).limits).length > 0)
    parts.log.warn(
      { file: limitsFile(confDir) },
      `${notHeld}: the signer and its count are the same user's. The setting signer.socket is for that`,
    )
  return openKeys(parts)
}

const openService = (socket: string, { settings: { data, wallet }, log }: SignerParts): Promise<Signer> => {
  if (mayHaveRealKeys([], data.dir))
    log.warn(
      { folder: data.dir },
      'The keys in the data folder of this server are not used: the signer service has its own. Take them away',
    )
  if (wallet.passphraseFile !== undefined)
    log.warn({ file: wallet.passphraseFile }, 'This server needs no passphrase: the signer service has its own. Take it away')
  if (wallet.sealPassphraseFile !== undefined)
    log.warn(
      { file: wallet.sealPassphraseFile },
      'This server needs no passphrase of the seals: the signer service has its own. Take it away',
    )
  return connectSigner({
    socket,
    log,
    onWelcome({ limits, changers, version }) {
      const problem = boundProblem(socket, changers)
      const fields = { socket, version, wallets: limits }
      if (limits === 0) log.info(fields, 'The signer service is connected')
      else if (problem === undefined) log.info(fields, 'The limits of wallets hold against a server that was taken over')
      else log.warn({ ...fields, problem }, notHeld)
    },
  }).catch(refuseStart)
}

/** The signer reads them by itself; what is wrong with them is said here. @throws StartError */
export function limitsAtStart(confDir: string): SigningLimits {
  try {
    return readSigningLimits(confDir)
  } catch (error) {
    return refuseStart(error)
  }
}

/** Starts the signer's process, with the keys of these settings. @throws StartError */
export const openKeys = async ({
  settings,
  log,
  passphrase,
  files,
  devnetChains = [],
  acceptsKeys = false,
  watch,
}: SignerParts): Promise<Signer> => {
  const { data, devnet, wallet } = settings
  try {
    const signer = await startSigner({
      dataDir: data.dir,
      keySources: [...devnetChains.map(devnetSetting), ...wallet.keySources],
      passphrase,
      ofSeals: sealSecret(wallet),
      devnet: devnet.enabled,
      files,
      acceptsKeys,
      watch,
      log,
    })
    const { limits } = limitsAtStart(settings.confDir)
    for (const problem of unboundWallets(limits, signer)) log.error({ problem, file: limitsFile(settings.confDir) }, problem)
    return signer
  } catch (error) {
    return refuseStart(error)
  }
}

function refuseStart(error: unknown): never {
  throw new StartError(reasonOf(error))
}

/** @param newAccounts ids of those that sign too, in the order of `signers` @param signsAs the one whose signature is asked for */
export interface DraftOptions {
  readonly replaces?: Uint8Array | undefined
  readonly newAccounts?: readonly string[] | undefined
  readonly signsAs?: number | undefined
}

/** The signer's request for bytes that a rail drafted. @param replaces the signed transaction that it replaces @throws SluiceError where typed data is invalid, which is a defect of the plugin */
export function draftOf(
  { scheme, bytes, signers = [] }: Signable,
  { replaces, newAccounts = [], signsAs }: DraftOptions = {},
): SignRequest['draft'] {
  if (signers.length !== newAccounts.length || (signers.length > 0 && scheme !== 'solana-message'))
    throw new SluiceError(
      'UNSUPPORTED',
      `The transaction needs the signatures of ${signers.join(', ')}, and not all of them are new accounts whose keys this server makes: nothing was signed.`,
    )
  if (scheme === 'evm-transaction') return { scheme: 'secp256k1', bytes, ...(replaces && { replaces }) }
  if (scheme === 'solana-message')
    return {
      scheme: 'ed25519',
      bytes,
      ...(newAccounts.length > 0 && { newAccounts: [...newAccounts] }),
      ...(signsAs !== undefined && { signsAs }),
    }
  const typedData = readTypedData(bytes)
  if (typedData) return { scheme: 'eip712', typedData }
  throw new SluiceError(
    'UNKNOWN_ERROR',
    'The plugin drafted invalid typed data (EIP-712), so nothing was signed. This is a defect of the plugin.',
  )
}

/** The signer's request for a permit: the server's own, which no plugin can draft. @param chainId of the network */
export const permitDraft = ({ amountRaw, ...permit }: Permit, chainId: number): SignRequest['draft'] => ({
  scheme: 'permit2',
  permit: { ...permit, amountRaw: amountRaw.toString(), chainId },
})
