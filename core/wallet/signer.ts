import { SluiceError } from '../errors.ts'
import { readPolicy, type SignerPolicy } from './policy.ts'
import { readFromSigner, type FromSigner, type ToSigner, type Wallet, type SignRequest } from './signer-messages.ts'
import { supervise } from './supervisor.ts'

/** What the signer logs through: pino's shape. */
interface SignerLog {
  info(fields: object, message?: string): void
  warn(fields: object, message?: string): void
  error(fields: object, message?: string): void
}

export interface SignerOptions {
  readonly dataDir: string
  /** Opens the keystore; needed only when it has keys. It is handed to another process and not kept here. */
  readonly passphrase?: string | undefined
  /** Adds the devnet's well-known wallets, which sign on `local` networks only. */
  readonly devnet: boolean
  readonly policy: SignerPolicy
  readonly log: SignerLog
}

export interface Signer {
  /** The wallets that were unlocked at start. */
  wallets(): readonly Wallet[]
  /**
   * @returns 65 bytes with a key of secp256k1: r, s and the parity of y; 64 with one of ed25519
   * @throws SluiceError FORBIDDEN (the policy does not allow it), LOAD_WALLET, SERVICE_UNINITIALIZED (the signer is being
   * started again). After any of them nothing was signed that could be sent.
   */
  sign(request: SignRequest): Promise<Uint8Array>
  /** Resolves when no later signature is made under the old policy. @throws Error when the policy is malformed */
  setPolicy(policy: SignerPolicy): Promise<void>
  /** Whether it can sign now; for health checks. */
  isReady(): boolean
  /** Of the process that holds the keys; undefined while there is none. */
  processId(): number | undefined
  stop(): Promise<void>
}

const signTimeoutMs = 10_000

/**
 * Starts the signer's process and unlocks the keystore in it. Takes as long as scrypt does (about half a second per key and
 * processor) without holding up this process: await it beside the rest of the start.
 * @throws Error naming each key file that cannot be opened
 */
export async function startSigner({ dataDir, passphrase, devnet, policy, log }: SignerOptions): Promise<Signer> {
  readPolicy(policy)
  const signer = superviseSigner({ dataDir, devnet, policy, log })
  signer.send({ type: 'open', dataDir, ...(passphrase === undefined ? {} : { passphrase }), devnet, policy })
  const problems = await signer.firstReady.catch(async (error: unknown) => {
    await signer.stop()
    throw error
  })
  if (problems.length === 0) return signer
  await signer.stop()
  throw new Error(problems.join('\n'))
}

function superviseSigner({ dataDir, devnet, policy: firstPolicy, log }: Omit<SignerOptions, 'passphrase'>) {
  const calls = createPendingCalls(signTimeoutMs)
  let policy = firstPolicy
  let wallets: readonly Wallet[] | undefined
  let signerProcessId: number | undefined
  let stopped = false
  let onFirstReady: (problems: readonly string[]) => void
  let onStartFailed: (error: Error) => void
  const firstReady = new Promise<readonly string[]>((resolve, reject) => {
    onFirstReady = resolve
    onStartFailed = reject
  })

  const ready = ({ processId, wallets: unlocked, problems }: Extract<FromSigner, { type: 'ready' }>): void => {
    signerProcessId = processId
    if (wallets) {
      log.info({ wallets: unlocked.length }, 'The signer is up again')
      for (const problem of problems) log.error({ problem }, 'A wallet is locked; restart the server to unlock it')
    }
    wallets ??= unlocked
    onFirstReady(problems)
  }

  const down = (reason: string): void => {
    signerProcessId = undefined
    if (wallets) log.error({ reason }, 'The signer ended; it is being started again')
    else onStartFailed(new Error(`The signer's process ended as it started (${reason}); the lines above say why.`))
    calls.rejectAll('The signer ended before it answered: nothing was signed that could be sent. Try again in a moment.')
  }

  const receive = (message: FromSigner): void => {
    if (message.type === 'ready') ready(message)
    else if (message.type === 'down') down(message.reason)
    else if (message.type === 'log') log[message.level](message.fields, message.message)
    else if (message.type === 'failed') calls.reject(message.id, new SluiceError(message.name, message.message))
    else calls.resolve(message.id, message.type === 'signed' ? message.signature : undefined)
  }

  const keeper = supervise({
    module: 'signer-keeper',
    onMessage: (received) => {
      const message = readFromSigner(received)
      if (message) receive(message)
    },
    onExit: (reason) => down(`its keeper: ${reason}`),
    // The passphrase went with the keeper: real keys stay locked until the server is restarted, devnet wallets do not.
    onRestart: () => send({ type: 'open', dataDir, devnet, policy }),
  })
  const send = (message: ToSigner): void => keeper.send(message)

  return {
    firstReady,
    send,
    wallets: () => wallets ?? [],
    isReady: () => signerProcessId !== undefined,
    processId: () => signerProcessId,
    async sign(request: SignRequest) {
      if (stopped) throw unavailable('The server is stopping and signs nothing any more.')
      if (signerProcessId === undefined) throw unavailable('The signer is being started again; try again in a moment.')
      const signature = await calls.call((id) => send({ type: 'sign', id, request }), false)
      if (!signature) throw unavailable('The signer gave no signature; try again.')
      return signature
    },
    async setPolicy(next: SignerPolicy) {
      readPolicy(next)
      policy = next
      const tell = (id: number): void => send({ type: 'policy', id, policy: next })
      // While the signer is down nobody answers, and nobody need: it starts with the newest policy.
      if (signerProcessId === undefined) tell(0)
      else await calls.call(tell, true)
    },
    async stop() {
      stopped = true
      signerProcessId = undefined
      await keeper.stop(4_000)
      calls.rejectAll('The server is stopping: nothing was signed that could be sent.')
    },
  }
}

/** Nothing can be signed now, and nothing was. */
const unavailable = (message: string): SluiceError => new SluiceError('SERVICE_UNINITIALIZED', message, { retryAfterSeconds: 1 })

interface OpenCall {
  resolve(signature: Uint8Array | undefined): void
  reject(error: unknown): void
  readonly survivesRestart: boolean
}

interface PendingCalls {
  /** Calls `send` with a new id, and waits for what becomes of it. `survivesRestart`: it is done even when the signer ends before it says so. */
  call(send: (id: number) => void, survivesRestart: boolean): Promise<Uint8Array | undefined>
  resolve(id: number, signature: Uint8Array | undefined): void
  reject(id: number, error: Error): void
  /** The other side is gone: every call ends in a definite way. */
  rejectAll(message: string): void
}

/** The calls to another process that have no answer yet; none waits longer than the timeout. */
function createPendingCalls(timeoutMs: number): PendingCalls {
  const open = new Map<number, OpenCall>()
  let lastId = 0

  const take = (id: number): OpenCall | undefined => {
    const call = open.get(id)
    open.delete(id)
    return call
  }

  return {
    call(send, survivesRestart) {
      const id = ++lastId
      return new Promise<Uint8Array | undefined>((resolve, reject) => {
        const timer = setTimeout(() => {
          take(id)?.reject(unavailable(`The signer did not answer within ${timeoutMs / 1000} s: nothing was signed that could be sent.`))
        }, timeoutMs)
        open.set(id, {
          resolve: (signature) => {
            clearTimeout(timer)
            resolve(signature)
          },
          reject: (error) => {
            clearTimeout(timer)
            reject(error)
          },
          survivesRestart,
        })
        try {
          send(id)
        } catch (error) {
          take(id)?.reject(error)
        }
      })
    },
    resolve: (id, signature) => take(id)?.resolve(signature),
    reject: (id, error) => take(id)?.reject(error),
    rejectAll(message) {
      for (const id of open.keys()) {
        const call = take(id)
        if (call?.survivesRestart) call.resolve(undefined)
        else call?.reject(unavailable(message))
      }
    },
  }
}

export { curves } from './keys.ts'
export { keystoreHasKeys, listWallets } from './keystore.ts'
export { getPassphrase, passphraseFromFile } from './prompt.ts'
export type { NetworkPolicy, SignerPolicy } from './policy.ts'
export { readTypedData, type SignRequest } from './signer-messages.ts'
