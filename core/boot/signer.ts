import type { Logger } from 'pino'
import type { Settings } from '../config/index.ts'
import { StartError } from '../start-error.ts'
import { getPassphrase, keystoreHasKeys, passphraseFromFile, startSigner, type Signer } from '../wallet/index.ts'

interface SignerParts {
  settings: Settings
  log: Logger
}

/**
 * The signer's process with the keystore unlocked; asks for the passphrase only when there is a real key. It signs nothing
 * until it is told what the loaded plugins declare.
 */
export function openSigner(parts: SignerParts): Promise<Signer> {
  const opening = open(parts)
  // It is awaited later, after other steps of the start: until then a failure is nobody's unhandled rejection.
  opening.catch(() => {})
  return opening
}

async function open({ settings: { data, devnet, wallet }, log }: SignerParts): Promise<Signer> {
  const dataDir = data.dir
  try {
    const passphrase = keystoreHasKeys(dataDir) ? await getPassphrase('Passphrase of the keystore: ', passphraseFromFile({ SLUICE_WALLET_PASSPHRASE_FILE: wallet.passphraseFile })) : undefined
    return await startSigner({ dataDir, passphrase, devnet: devnet.enabled, policy: { networks: [], allowedSpenders: [] }, log })
  } catch (error) {
    throw new StartError(error instanceof Error ? error.message : String(error))
  }
}
