// The signer's process: the only one that decrypts keys and holds them. It loads no plugin and talks to its parent only.
import { devnetWallets, createKeyring, type Keyring } from './key-source.ts'
import { exitWithParent, tellParent } from './supervisor.ts'
import { Refusal, readPolicy, type SignerRules } from './policy.ts'
import { useNativeScrypt, unlockKeystore, type UnlockedWallet } from './keystore.ts'
import { readToSigner, type FromSigner, type OpenMessage, type ToSigner, isSignRequest } from './signer-messages.ts'

let keyring: Keyring | undefined
let rules: SignerRules = new Map()

const tell = (message: FromSigner): void => tellParent(message)

async function unlock({ dataDir, passphrase, devnet, policy }: OpenMessage): Promise<void> {
  rules = readPolicy(policy)
  const { wallets, locked } = await unlockKeystore(dataDir, passphrase)
  const all = [...(devnet ? devnetWallets() : []), ...wallets]
  keyring = await createKeyring(all, locked)
  tell({ type: 'ready', processId: process.pid, wallets: all.map(withoutKey), problems: locked.map(({ problem }) => problem) })
}

const withoutKey = ({ chain, address, label, devnet }: UnlockedWallet) => ({
  chain,
  address,
  ...(label === undefined ? {} : { label }),
  ...(devnet ? { devnet } : {}),
})

function sign(request: unknown): Uint8Array {
  if (!isSignRequest(request)) throw new Refusal('the request is malformed')
  if (!keyring) throw new Refusal('the keystore is not open yet', 'SERVICE_UNINITIALIZED')
  try {
    return keyring.sign(request, rules)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { chain, network, address } = request
    tell({ type: 'log', level: 'warn', fields: { chain, network, address, reason: error.message }, message: 'The signer refused to sign' })
    throw error
  }
}

function answer(message: ToSigner): void {
  if (message.type === 'open') return void unlock(message)
  const { id } = message
  try {
    if (message.type === 'sign') return tell({ type: 'signed', id, signature: sign(message.request) })
    rules = readPolicy(message.policy)
    tell({ type: 'done', id })
  } catch (error) {
    if (error instanceof Refusal) tell({ type: 'failed', id, name: error.errorName, message: `The signer refused: ${error.message}.` })
    else tell({ type: 'failed', id, name: 'UNKNOWN_ERROR', message: `The signer failed (${describe(error)}); nothing was signed.` })
  }
}

// Messages of unexpected errors may quote what they were about; their names do not.
const describe = (error: unknown): string => (error instanceof Error ? error.name : typeof error)

process.on('uncaughtException', (error) => {
  tell({ type: 'log', level: 'error', fields: { error: describe(error) }, message: 'The signer ends on an unexpected error' })
  setImmediate(() => process.exit(1))
})

useNativeScrypt()
exitWithParent(() => process.exit(0))
process.on('message', (received) => {
  const message = readToSigner(received)
  if (message) answer(message)
})
