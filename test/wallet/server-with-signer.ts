// A server's process with nothing but the signer, for tests that look into it from outside.
import { readFileSync } from 'node:fs'
import { writeHeapSnapshot } from 'node:v8'
import { startSigner, type SignerOptions } from '../../core/wallet/signer.ts'
import { exampleFiles } from './example-files.ts'
import { requestOf, transaction } from './example-policy.ts'

const [dataDir = '', passphraseFile = '', address = ''] = process.argv.slice(2)
const print = (fields: object, message = ''): void => console.log(message, JSON.stringify(fields))
const options = async (): Promise<SignerOptions> => ({
  dataDir,
  passphrase: readFileSync(passphraseFile, 'utf8'),
  devnet: true,
  files: await exampleFiles(dataDir, { passphrase: readFileSync(passphraseFile, 'utf8') }),
  log: { info: print, warn: print, error: print },
})

const signer = await startSigner(await options())
await signer.sign(requestOf(address, transaction()))
process.send?.({ signerProcessId: signer.processId() })

process.on('message', (file) => void snapshot(String(file)))

async function snapshot(file: string): Promise<void> {
  // The signer is killed and started again first: that must not bring the passphrase here either.
  const before = signer.processId()
  process.kill(before ?? 0, 'SIGKILL')
  while (!signer.isReady() || signer.processId() === before) await new Promise((resolve) => setTimeout(resolve, 20))
  await signer.sign(requestOf(address, transaction()))
  writeHeapSnapshot(file)
  process.send?.({ signerProcessId: signer.processId() })
}
