// A server's process with nothing but the signer, for tests that look into it from outside.
import { writeHeapSnapshot } from 'node:v8'
import type { SignerFiles } from '../../core/wallet/policy-files.ts'
import { getSecret } from '../../core/keys/get-passphrase.ts'
import { startSigner, type SignerOptions } from '../../core/wallet/signer.ts'
import { requestOf, transaction } from './example-policy.ts'

const [dataDir = '', passphraseFile = '', address = '', files = ''] = process.argv.slice(2)
const print = (fields: object, message = ''): void => console.log(message, JSON.stringify(fields))
const options = async (): Promise<SignerOptions> => ({
  dataDir,
  passphrase: await getSecret('', { SLUICE_WALLET_PASSPHRASE_FILE: passphraseFile }),
  devnet: true,
  files: JSON.parse(files) as SignerFiles,
  log: { info: print, warn: print, error: print },
})

const signer = await startSigner(await options())
await signer.sign(requestOf(address, transaction()))
process.send?.({ signerProcessId: signer.processId() })

process.on('message', (asked) => void (asked === 'who' ? tellOnceReady() : snapshot(String(asked))))

async function tellOnceReady(): Promise<void> {
  while (!signer.isReady()) await new Promise((resolve) => setTimeout(resolve, 20))
  process.send?.({ signerProcessId: signer.processId() })
}

async function snapshot(file: string): Promise<void> {
  // The signer is killed and started again first: that must not bring the passphrase here either.
  const before = signer.processId()
  process.kill(before ?? 0, 'SIGKILL')
  while (!signer.isReady() || signer.processId() === before) await new Promise((resolve) => setTimeout(resolve, 20))
  await signer.sign(requestOf(address, transaction()))
  writeHeapSnapshot(file)
  process.send?.({ signerProcessId: signer.processId() })
}
