import path from 'node:path'
import type { Logger } from 'pino'
import { StartError } from '../config/problems.ts'
import type { Settings } from '../config/settings.ts'
import { readWalletLimits } from '../config/wallet-limits.ts'
import { SluiceError, type Permit, type Signable } from '../contracts/index.ts'
import { curves } from '../keys/curves.ts'
import { devnetSetting } from '../keys/devnet-keys.ts'
import { needsPassphrase } from '../keys/sources.ts'
import { namedVariables, type SignerFiles } from './policy-files.ts'
import type { Passphrase } from '../keys/passphrase.ts'
import { getSecret } from './prompt.ts'
import { readTypedData, type SignRequest } from './signer-messages.ts'
import { startSigner, type Signer } from './signer.ts'

/**
 * The settings without spenders and recipients that are not addresses: what is sent to a wrong one is lost. Each closes itself, and `closed` says
 * so. Addresses of clients' wallets stay: they match no wallet.
 */
export function closeWrongAddresses(settings: Settings): Settings {
  const closed = [...settings.closed]
  const close = (file: string, where: string, what: string) =>
    void closed.push({
      file: path.join(path.basename(settings.confDir), file),
      path: where,
      problem: 'is not an address of an EVM chain that may be used',
      remedy: 'Copy it again, complete and with the right checksum, or write it in lower case.',
      closed: what,
    })
  const allowedSpenders = settings.wallet.allowedSpenders.filter((text, index) => {
    const isRight = curves.secp256k1.address(text) !== undefined
    if (!isRight) close('server.yml', `wallet.allowedSpenders[${index}]`, 'nobody may be approved by it')
    return isRight
  })
  const clients = settings.clients.map((client) => {
    const { name, permissions, sendTo } = client
    if (!permissions.includes('send') || !sendTo) return client
    const what = `it gives the client "${name}" nothing`
    const at = `clients.${name}.sendTo`
    const right = [...sendTo].flatMap(([wallet, recipients]): [string, readonly string[]][] => {
      if (recipientOf(wallet) === undefined) {
        close('clients.yml', `${at}.${wallet}`, what)
        return []
      }
      return [
        [
          wallet,
          recipients.filter((each, index) => {
            const isRight = recipientOf(each) !== undefined
            if (!isRight) close('clients.yml', `${at}.${wallet}[${index}]`, what)
            return isRight
          }),
        ],
      ]
    })
    return { ...client, sendTo: new Map(right) }
  })
  return { ...settings, clients, wallet: { ...settings.wallet, allowedSpenders }, closed }
}

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

function recipientOf(text: string): string | undefined {
  const address = curves.secp256k1.address(text)
  return address !== undefined && BigInt(address) !== 0n ? address : undefined
}

interface SignerParts {
  settings: Settings
  log: Logger
  passphrase: Passphrase | undefined
  files: SignerFiles
  /** Chains beside the devnet's own on which its wallets sign. */
  devnetChains?: readonly string[]
}

/** Asks for the passphrase where it opens keys, before code of plugins runs beside the prompt. */
export async function askPassphrase({ data, wallet }: Settings): Promise<Uint8Array | undefined> {
  if (!needsPassphrase(wallet.keySources, data.dir)) return undefined
  try {
    return await getSecret('Passphrase of the keystore: ', { SLUICE_WALLET_PASSPHRASE_FILE: wallet.passphraseFile })
  } catch (error) {
    return refuseStart(error)
  }
}

/** Starts the signer's process, which reads what it signs and unlocks its keys. */
export function openSigner(parts: SignerParts): Promise<Signer> {
  refuseWrongLimits(parts.settings.confDir)
  const opening = open(parts)
  // The start awaits it later: until then a failure must not become an unhandled rejection.
  opening.catch(() => {})
  return opening
}

/** The signer reads them by itself; what is wrong with them is said here. */
function refuseWrongLimits(confDir: string): void {
  try {
    readWalletLimits(confDir)
  } catch (error) {
    refuseStart(error)
  }
}

const open = ({ settings: { data, devnet, wallet }, log, passphrase, files, devnetChains = [] }: SignerParts): Promise<Signer> =>
  startSigner({
    dataDir: data.dir,
    keySources: [...devnetChains.map(devnetSetting), ...wallet.keySources],
    passphrase,
    devnet: devnet.enabled,
    files,
    log,
  }).catch(refuseStart)

function refuseStart(error: unknown): never {
  throw new StartError(error instanceof Error ? error.message : String(error))
}

/** The signer's request for bytes that a rail drafted. @param replaces the signed transaction that it replaces @throws SluiceError where typed data is invalid, which is a defect of the plugin */
export function draftOf({ scheme, bytes, signers = [] }: Signable, replaces?: Uint8Array): SignRequest['draft'] {
  if (signers.length > 0)
    throw new SluiceError(
      'UNSUPPORTED',
      `The transaction needs the signatures of new accounts (${signers.join(', ')}), and this server makes no keys for accounts: nothing was signed.`,
    )
  if (scheme === 'evm-transaction') return { scheme: 'secp256k1', bytes, ...(replaces && { replaces }) }
  if (scheme === 'solana-message') return { scheme: 'ed25519', bytes }
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
