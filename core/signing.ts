import type { Logger } from 'pino'
import { StartError } from './config/problems.ts'
import type { Settings } from './config/settings.ts'
import { SluiceError, type Permit, type Signable } from './contracts/index.ts'
import type { AllowedPlugins } from './loader/consent.ts'
import { curves } from './wallet/keys.ts'
import { keystoreHasKeys } from './wallet/keystore.ts'
import { namedVariables, type SignerFiles } from './wallet/policy-files.ts'
import type { Passphrase } from './wallet/passphrase.ts'
import { getSecret } from './wallet/prompt.ts'
import { readTypedData, type SignRequest } from './wallet/signer-messages.ts'
import { startSigner, type Signer } from './wallet/signer.ts'

/**
 * Where the signer reads what it signs, for the plugins that may run. It is said once, before code of plugins runs.
 * @throws StartError for a spender of the settings that is not an address
 */
export function signerFiles(
  { confDir, wallet, plugins, clients }: Settings,
  { found, tried }: Pick<AllowedPlugins, 'found' | 'tried'>,
): SignerFiles {
  for (const text of wallet.allowedSpenders)
    if (curves.secp256k1.address(text) === undefined)
      throw new StartError(
        `wallet.allowedSpenders in conf/server.yml holds "${text}", which is not an address: copy it again, complete and with the right checksum, or write it in lower case.`,
      )
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
 * The signer does not know who asks: it signs for what any client may have a wallet send.
 * @throws StartError for what is not an address: what is sent to a wrong one is lost
 */
function recipientsOf(clients: Settings['clients']): Record<string, string[]> {
  const all = new Map<string, Set<string>>()
  for (const { name, permissions, sendTo } of clients)
    for (const [wallet, recipients] of permissions.includes('send') && sendTo ? sendTo : []) {
      const addresses = recipients.map((each) => recipientOf(each, name))
      const key = recipientOf(wallet, name)
      all.set(key, new Set([...(all.get(key) ?? []), ...addresses]))
    }
  return Object.fromEntries([...all].map(([wallet, recipients]) => [wallet, [...recipients]]))
}

function recipientOf(text: string, client: string): string {
  const address = curves.secp256k1.address(text)
  if (address !== undefined && BigInt(address) !== 0n) return address
  throw new StartError(
    `sendTo of the client ${client} in conf/clients.yml holds "${text}", which is not an address of an EVM chain that can be sent to: copy it again, complete and with the right checksum, or write it in lower case.`,
  )
}

interface SignerParts {
  settings: Settings
  log: Logger
  passphrase: Passphrase | undefined
  files: SignerFiles
  /** Chains beside the devnet's own on which its wallets sign. */
  devnetChains?: readonly string[]
}

/** Asks for the passphrase where the keystore has keys, before code of plugins runs beside the prompt. */
export async function askPassphrase({ data, wallet }: Settings): Promise<Uint8Array | undefined> {
  if (!wallet.keySources.includes('keystore') || !keystoreHasKeys(data.dir)) return undefined
  try {
    return await getSecret('Passphrase of the keystore: ', { SLUICE_WALLET_PASSPHRASE_FILE: wallet.passphraseFile })
  } catch (error) {
    return refuseStart(error)
  }
}

/** Starts the signer's process, which reads what it signs and unlocks its keys. */
export function openSigner(parts: SignerParts): Promise<Signer> {
  const opening = open(parts)
  // The start awaits it later: until then a failure must not become an unhandled rejection.
  opening.catch(() => {})
  return opening
}

const open = ({ settings: { data, devnet, wallet }, log, passphrase, files, devnetChains = [] }: SignerParts): Promise<Signer> =>
  startSigner({
    dataDir: data.dir,
    keySources: [...devnetChains.map((chain) => `devnet:${chain}`), ...wallet.keySources],
    passphrase,
    devnet: devnet.enabled,
    files,
    log,
  }).catch(refuseStart)

function refuseStart(error: unknown): never {
  throw new StartError(error instanceof Error ? error.message : String(error))
}

/** The signer's request for bytes that a rail drafted. @param replaces the signed transaction that it replaces @throws SluiceError where typed data is invalid, which is a defect of the plugin */
export function draftOf({ scheme, bytes }: Signable, replaces?: Uint8Array): SignRequest['draft'] {
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
