import type { Logger } from 'pino'
import type { Settings } from '../config/settings.ts'
import { StartError } from '../start-error.ts'
import { getPassphrase, passphraseFromFile } from '../wallet/prompt.ts'
import { keystoreHasKeys } from '../wallet/keystore.ts'
import { startSigner, type Signer } from '../wallet/signer.ts'

interface SignerParts {
  settings: Settings
  log: Logger
  passphrase: string | undefined
}

/** Asked for only when there is a real key, and before any plugin's code runs beside the prompt. */
export async function askPassphrase({ data, wallet }: Settings): Promise<string | undefined> {
  if (!keystoreHasKeys(data.dir)) return undefined
  try {
    return await getPassphrase('Passphrase of the keystore: ', passphraseFromFile({ SLUICE_WALLET_PASSPHRASE_FILE: wallet.passphraseFile }))
  } catch (error) {
    return refuseStart(error)
  }
}

/**
 * The signer's process with the keystore unlocked. It signs nothing until it is told what the loaded plugins declare.
 */
export function openSigner(parts: SignerParts): Promise<Signer> {
  const opening = open(parts)
  // It is awaited later, after other steps of the start: until then a failure is nobody's unhandled rejection.
  opening.catch(() => {})
  return opening
}

const open = ({ settings: { data, devnet }, log, passphrase }: SignerParts): Promise<Signer> =>
  startSigner({ dataDir: data.dir, passphrase, devnet: devnet.enabled, policy: { networks: [], allowedSpenders: [] }, log }).catch(
    refuseStart,
  )

function refuseStart(error: unknown): never {
  throw new StartError(error instanceof Error ? error.message : String(error))
}
