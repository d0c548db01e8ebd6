import type { Logger } from 'pino'
import type { Settings } from '../config/index.ts'
import { StartError } from '../start-error.ts'
import { getPassphrase, keystoreHasKeys, startSigner, type Signer, type SignerPolicy } from '../wallet/index.ts'

/** The signer's process with the keystore unlocked; asks for the passphrase only when there is a real key. */
export async function openSigner({ settings, log }: { settings: Settings; log: Logger }, policy: SignerPolicy): Promise<Signer> {
  const dataDir = settings.data.dir
  try {
    const passphrase = keystoreHasKeys(dataDir) ? await getPassphrase('Passphrase of the keystore: ') : undefined
    return await startSigner({ dataDir, passphrase, devnet: settings.devnet.enabled, policy, log })
  } catch (error) {
    throw new StartError(error instanceof Error ? error.message : String(error))
  }
}
