// A process between the server and the signer. It holds the passphrases, so that the server does not have to, and starts the signer
// again when it ends; a signer that hangs is killed first. It passes every other message on without reading it, and it never sees a key.
import { takeSecret } from '../keys/passphrase.ts'
import { serveParent, supervise, tellParent } from './supervisor.ts'

const stopGraceMs = 2_000

let open: object | undefined
/** Their bytes, where the server gave any. */
let secrets: Promise<Uint8Array | undefined> | undefined

const signer = supervise({
  module: 'signer-process',
  // Of this process's own arguments.
  variables: process.argv.slice(2),
  whenStopped: 'kill',
  onMessage(message) {
    if (!(message instanceof Object)) return
    // What the signer read stays between the two: one that is started later goes by it, and not by conf that changed meanwhile.
    if ('type' in message && message.type === 'read' && 'state' in message) open = { ...open, read: message.state }
    else tellParent(message)
  },
  onSilent: () => tellParent({ type: 'silent' }),
  onAnswering: () => tellParent({ type: 'answering' }),
  onExit: (reason) => tellParent({ type: 'down', reason }),
  onRestart() {
    void sendOpen()
  },
})

async function sendOpen(): Promise<void> {
  if (!open) return
  const secret = await secrets
  // Where the server ended before it gave it, there is none.
  signer.send(secret ? open : { ...open, passphraseBytes: undefined, sealBytes: undefined }, secret)
}

function lengthIn(message: object, field: 'passphraseBytes' | 'sealBytes'): number {
  const length: unknown = Reflect.get(message, field)
  return typeof length === 'number' ? length : 0
}

process.on('message', (message) => {
  if (!(message instanceof Object) || !('type' in message)) return
  if (message.type === 'open') {
    // Once: who holds the channel later does not say again what the signer goes by. What was read is never the server's word.
    if (open) return
    open = Object.assign({}, message, { read: undefined })
    const bytes = lengthIn(message, 'passphraseBytes') + lengthIn(message, 'sealBytes')
    if (bytes > 0) secrets = takeSecret(bytes)
    return void sendOpen()
  }
  // The heartbeat is the keeper's own.
  if (message.type !== 'ping') signer.send(message)
})

serveParent(() => {
  void signer.stop(stopGraceMs).then(() => process.exit(0))
})
