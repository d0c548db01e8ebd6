// A server's process with nothing but its side of the signer service: it says what a start says, and has a payment of 1 wei signed.
import { askPassphrase, openSigner, signerFiles } from '../../../core/wallet/signing.ts'
import { createLog } from '../../../core/config/log.ts'
import { loadSettings } from '../../../core/config/settings.ts'
import { requestOf, stranger, transaction } from '../example-policy.ts'

const [socket = '', address = ''] = process.argv.slice(2)
const settings = loadSettings({ home: '/', flags: { 'signer.socket': socket }, env: {} })
const signer = await openSigner({
  settings,
  log: createLog({ settings }),
  passphrase: await askPassphrase(settings),
  files: signerFiles(settings, { found: [], tried: [] }),
})
const signature = await signer.sign(requestOf(address, transaction({ to: stranger, data: '0x', gasLimit: 21_000n })))
console.log(`signed ${signature.length} bytes`)
await signer.stop()
