// A process between the server and the signer. It holds the passphrases, so that the server does not have to, and starts the signer
// again when it ends; a signer that hangs is killed first. It ends a server that hangs, where the server asks for it. It passes every other message on
// without reading it, and it has no key: the text of one that a client sent goes through it to the signer, with the passphrase that the signer encrypts
// it with.
import { takeSecret } from '../keys/passphrase.ts'
import { readAddKey, type AddKeyMessage } from './add-key-message.ts'
import { readWatchMessage, watchServer } from './server-watch.ts'
import { serveParent, supervise, tellParent } from './supervisor.ts'

const stopGraceMs = 2_000

let open: object | undefined
/** Their bytes, where the server gave any. */
let secrets: Promise<Uint8Array | undefined> | undefined
/** Of these the first are the keystore's passphrase. */
let passphraseBytes = 0
/** What comes by the pipe is read in the order of its messages. */
let lastRead: Promise<unknown> = Promise.resolve()
/** Whether the signer that runs was told what to open: it reads that from the pipe first. */
let isOpening = false
let serverWatch: ReturnType<typeof watchServer> | undefined

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
  onExit(reason) {
    isOpening = false
    tellParent({ type: 'down', reason })
  },
  onRestart() {
    void sendOpen()
  },
})

async function sendOpen(): Promise<void> {
  if (!open) return
  const secret = await secrets
  // Where the server ended before it gave it, there is none.
  signer.send(secret ? open : { ...open, passphraseBytes: undefined, sealBytes: undefined }, secret)
  isOpening = true
}

/** Hands a key on. Where the signer has just ended it is dropped: the server hears of the end. */
async function passKey({ keyBytes, ...message }: AddKeyMessage): Promise<void> {
  const reading = lastRead.then(() => takeSecret(keyBytes, { more: true }))
  lastRead = reading
  const [key, all] = [await reading, await secrets]
  if (!key) return
  const passphrase = all?.subarray(0, passphraseBytes) ?? new Uint8Array()
  const both = Buffer.alloc(passphrase.length + key.length)
  both.set(passphrase)
  both.set(key, passphrase.length)
  key.fill(0)
  if (!isOpening) return void both.fill(0)
  const lengths = { keyBytes, passphraseBytes: passphrase.length === 0 ? undefined : passphrase.length }
  signer.send({ ...message, ...lengths }, both, () => both.fill(0))
}

function lengthIn(message: object, field: 'passphraseBytes' | 'sealBytes'): number {
  const length: unknown = Reflect.get(message, field)
  return typeof length === 'number' ? length : 0
}

function receive(message: unknown): void {
  if (!(message instanceof Object) || !('type' in message)) return
  if (message.type === 'open') {
    // Once: who holds the channel later does not say again what the signer goes by. What was read is never the server's word.
    if (open) return
    open = Object.assign({}, message, { read: undefined })
    passphraseBytes = lengthIn(message, 'passphraseBytes')
    const bytes = passphraseBytes + lengthIn(message, 'sealBytes')
    const more = 'acceptsKeys' in message && message.acceptsKeys === true
    if (bytes > 0) lastRead = secrets = takeSecret(bytes, { more })
    return void sendOpen()
  }
  if (message.type === 'add-key') {
    const asked = readAddKey(message)
    if (asked) void passKey(asked)
    return
  }
  if (message.type === 'watch') {
    const asked = readWatchMessage(message)
    if (asked) serverWatch ??= watchServer(asked)
    return
  }
  signer.send(message)
}

serveParent({
  onMessage: receive,
  onPing: (beingDebugged) => serverWatch?.hear(beingDebugged),
  onParentGone: () => void signer.stop(stopGraceMs).then(() => process.exit(0)),
})
