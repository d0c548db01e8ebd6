import type { Logger } from 'pino'
import type { Settings } from '../config/index.ts'
import { StartError } from '../start-error.ts'
import { getPassphrase, keystoreHasKeys, startSigner, type Signer } from '../wallet/index.ts'

/**
 * The signer's process with the keystore unlocked; asks for the passphrase only when there is a real key. It signs nothing
 * until it is told what the loaded plugins declare.
 */
export async function openSigner({ settings, log }: { settings: Settings; log: Logger }): Promise<Signer> {
  const dataDir = settings.data.dir
  try {
    const passphrase = keystoreHasKeys(dataDir) ? await getPassphrase('Passphrase of the keystore: ') : undefined
    return await startSigner({ dataDir, passphrase, devnet: settings.devnet.enabled, policy: { networks: [], allowedSpenders: [] }, log })
  } catch (error) {
    throw new StartError(error instanceof Error ? error.message : String(error))
  }
}
