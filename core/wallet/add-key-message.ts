// The message that hands a client's key on. The keeper reads it as well as the signer, and loads nothing else of what signs: it idles for as long as the
// server runs, and the library that describes the other messages would be most of what it holds.
import { array, is, literal, object, validator, type Infer } from '../base/json.ts'

/** How long what comes by the pipe may be. */
export const maxSecretBytes = 262_144
const maxKeyBytes = 1_024
const maxChains = 100

const integer = (least: number, most: number) =>
  validator<number>((value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most)
const chain = validator<string>((value) => typeof value === 'string' && /^[a-z0-9][a-z0-9-]{0,63}$/.test(value))
const fewChains = array(chain)

/** A private key that a client sent, for chains of one curve. Its text comes by the pipe, from the keeper after the keystore's passphrase. */
const addKey = object(
  {
    type: literal('add-key'),
    id: validator<number>(Number.isInteger),
    chains: validator<readonly string[]>((value) => is(fewChains, value) && value.length >= 1 && value.length <= maxChains),
    curve: literal('secp256k1', 'ed25519'),
    keyBytes: integer(1, maxKeyBytes),
  },
  {
    /** The keeper's word alone. */
    passphraseBytes: integer(1, maxSecretBytes),
  },
)
export type AddKeyMessage = Infer<typeof addKey>

export const readAddKey = (message: unknown): AddKeyMessage | undefined => (is(addKey, message) ? message : undefined)
