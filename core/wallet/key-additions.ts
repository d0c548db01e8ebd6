// The server's side of keys that clients send: each goes to the signer by the pipe beside the messages, and is wiped here.
import { SluiceError } from '../base/errors.ts'
import type { CurveName } from '../keys/curves.ts'
import { createPendingCalls, failureOf, unavailable } from './pending-calls.ts'
import type { AddKeyMessage } from './add-key-message.ts'
import type { FromSigner, Wallet } from './signer-messages.ts'

/** A private key that a client sent. */
export interface SentKey {
  /** That the key is for: chains of one curve. */
  readonly chains: readonly string[]
  readonly curve: CurveName
  /** As people paste it. It is handed on and not kept here. */
  readonly text: string
}

/** To encrypt a key takes a second, and those that wait go one after the other. */
const timeoutMs = 30_000
const maxAtOnce = 8
const maxKeyBytes = 1_024
const notKnown = 'whether the key is kept is not known. Send it again: it is kept once'

interface KeyAdditionsParts {
  /** Whether the operator lets clients send keys. */
  readonly accepts: boolean
  isReady(): boolean
  send(message: AddKeyMessage, key: Uint8Array, onWritten: () => void): void
  onAdded(wallets: readonly Wallet[]): void
}

export function createKeyAdditions({ accepts, isReady, send, onAdded }: KeyAdditionsParts) {
  const calls = createPendingCalls<readonly Wallet[]>(timeoutMs, notKnown)
  let waiting = 0

  return {
    /** @throws SluiceError as `addKey` of the signer */
    async add({ chains, curve, text }: SentKey): Promise<readonly Wallet[]> {
      if (!accepts) throw new SluiceError('FORBIDDEN', 'Keys of clients are not accepted here: an operator adds them on the server.')
      const keyBytes = Buffer.byteLength(text)
      if (keyBytes === 0 || keyBytes > maxKeyBytes)
        throw new SluiceError('INCOMPLETE_PARAMS', `A private key has 1 to ${maxKeyBytes} characters.`)
      if (!isReady()) throw unavailable('The signer does not answer: the key was not taken. Try again in a moment.')
      if (waiting >= maxAtOnce) throw unavailable('Other keys are being added: this one was not taken. Try again in a moment.')
      waiting += 1
      try {
        const key = Buffer.alloc(keyBytes)
        key.write(text)
        const added = await calls.call((id) => {
          send({ type: 'add-key', id, chains: [...chains], curve, keyBytes }, key, () => key.fill(0))
        })
        onAdded(added)
        return added
      } finally {
        waiting -= 1
      }
    },
    take(message: Extract<FromSigner, { type: 'key-added' | 'key-refused' }>): void {
      if (message.type === 'key-added') calls.resolve(message.id, message.wallets)
      else calls.reject(message.id, failureOf(message))
    },
    /** @param why that the signer does not answer any more */
    rejectAll: (why: string) => calls.rejectAll(`${why}: ${notKnown}.`),
  }
}
