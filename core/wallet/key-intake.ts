// Private keys that clients of an interface send: whose are taken, before they go to the signer.
import { SluiceError } from '../base/errors.ts'
import { curves, type CurveName } from '../keys/curves.ts'
import { curveOf } from './release-policy.ts'
import type { Signer, SignerLog } from './signer.ts'

/** Who sends a key. */
interface KeySender {
  /** The interface that it came by. */
  readonly interface: string
  readonly client: string
  mayUse(address: string): boolean
}

export interface KeyIntake {
  /**
   * @param chains of one kind of keys
   * @returns the address, which signs from now on on these chains
   * @throws SluiceError FORBIDDEN (the operator does not accept keys, or gave the client no wallet of this address), INCOMPLETE_PARAMS (it is no
   * key), or what the signer refuses with. None of them repeats the key.
   */
  add(key: string, chains: readonly string[], by: KeySender): Promise<string>
}

interface KeyIntakeParts {
  /** Interfaces whose clients may send keys. */
  readonly acceptedBy: readonly string[]
  readonly signer: Pick<Signer, 'addKey'>
  readonly log: Pick<SignerLog, 'warn'>
}

export const createKeyIntake = ({ acceptedBy, signer, log }: KeyIntakeParts): KeyIntake => ({
  async add(key, chains, { interface: name, client, mayUse }) {
    if (!acceptedBy.includes(name))
      throw new SluiceError(
        'FORBIDDEN',
        `This server takes no private keys over the network. An operator may allow it: keys: accept in conf/interfaces/${name}.yml.`,
      )
    const [curve, ...others] = new Set(chains.map(curveOf))
    if (curve === undefined || others.length > 0) throw new Error('a key is for chains of one kind of keys')
    const address = addressOf(key, curve)
    if (!mayUse(address))
      throw new SluiceError(
        'FORBIDDEN',
        `${address} is no wallet of this client, and its key was not taken. An operator gives it to the client first: wallets of "${client}" in conf/clients.yml. Then send the key again.`,
      )
    await signer.addKey({ chains, curve, text: key })
    log.warn({ interface: name, client, address, chains }, 'A client sent a private key: the keystore has it')
    return address
  },
})

function addressOf(key: string, curve: CurveName): string {
  let privateKey: string
  try {
    privateKey = curves[curve].parse(key)
  } catch (error) {
    // They say what the text seems to be, and never repeat it.
    throw new SluiceError('INCOMPLETE_PARAMS', error instanceof Error ? error.message : 'This is no private key.')
  }
  return curves[curve].addressOf(privateKey)
}
