import { devnetSetting } from '../keys/devnet-keys.ts'
import type { Stop } from '../config/stops.ts'
import type { KeySourceSetting } from '../keys/key-source.ts'
import { defaultKeySources, variablesOf } from '../keys/sources.ts'
import { createKeyAdditions, type SentKey } from './key-additions.ts'
import { createPendingCalls, failureOf, unavailable } from './pending-calls.ts'
import type { SignerFiles } from './policy-files.ts'
import {
  readFromSigner,
  secretBytesOf,
  stopsToTell,
  type FromSigner,
  type OpenMessage,
  type SignRequest,
  type StopsMessage,
  type ToSigner,
  type Wallet,
} from './signer-messages.ts'
import { passphraseBytes, type Passphrase } from '../keys/passphrase.ts'
import type { WatchMessage, WatchOrder } from './server-watch.ts'
import { supervise } from './supervisor.ts'

/** Where the signer logs. A pino logger fits. */
export interface SignerLog {
  info(fields: object, message?: string): void
  warn(fields: object, message?: string): void
  error(fields: object, message?: string): void
}

export interface SignerOptions {
  readonly dataDir: string
  /** Where signatures come from. The keystore where absent. */
  readonly keySources?: readonly KeySourceSetting[]
  /** Opens the keystore. It is needed only when the keystore has keys. It is handed to another process and not kept here: bytes are wiped. */
  readonly passphrase?: Passphrase | undefined
  /** Of the seals of sluice.lock. Absent: the keystore's makes them. */
  readonly ofSeals?: Passphrase | undefined
  /** Adds the devnet's well-known wallets, which sign on `local` networks only. */
  readonly devnet: boolean
  /** Where its process reads what it signs. It goes by nothing else. */
  readonly files: SignerFiles
  /** Clients may send keys, which it keeps. */
  readonly acceptsKeys?: boolean
  /** Its keeper ends this process where the event loop is blocked. Absent: a thread watches it. */
  readonly watch?: WatchOrder | undefined
  readonly log: SignerLog
}

export interface Signer {
  /** The wallets that were unlocked at start. */
  wallets(): readonly Wallet[]
  /** Why other wallets could not be unlocked at start, for people. */
  locked(): readonly string[]
  /**
   * @returns with secp256k1 65 bytes (r, s, the parity of y), with ed25519 64 bytes
   * @throws SluiceError FORBIDDEN (the policy does not allow it), LOAD_WALLET (there is no key), SERVICE_UNINITIALIZED (the key is locked),
   * OVERLOADED (the signer hangs or is being started again). After any of them nothing was signed that could be sent.
   */
  sign(request: SignRequest): Promise<Uint8Array>
  /**
   * Keeps a key in the keystore, encrypted: it signs from now on, and after each start. One that is there stays.
   * @returns its wallet of each chain
   * @throws SluiceError FORBIDDEN (keys of clients are not accepted), INCOMPLETE_PARAMS (it is no key), SERVICE_UNINITIALIZED (there is no
   * passphrase), OVERLOADED (whether it was kept is not known: the same again tells)
   */
  addKey(key: SentKey): Promise<readonly Wallet[]>
  /** Tells it what the store has stopped, and tells it again whenever it was started again. What is of a client is the server's to hold. */
  hold(stops: readonly Stop[]): void
  /** Whether it can sign now. */
  isReady(): boolean
  /** Why it cannot sign, or not with every key; for health checks. */
  failing(): string | undefined
  /** Why nothing is signed for wallets with limits: their count cannot be used. */
  countProblem(): string | undefined
  /** Of the process that holds the keys. Undefined while there is none. */
  processId(): number | undefined
  stop(): Promise<void>
}

const signTimeoutMs = 10_000
const stopGraceMs = 4_000

/**
 * Starts the signer's process and opens the sources of keys in it. For the keystore that takes about half a second per key and
 * processor, without blocking this process: await it beside the rest of the start.
 * A key that cannot be opened is locked, and the others sign; where none of a source can be, it is no start.
 * @throws Error that names each key that cannot be opened
 */
export async function startSigner({ passphrase, ofSeals, ...options }: SignerOptions): Promise<Signer> {
  const signer = superviseSigner(options)
  const secrets = secretsOf(passphrase, ofSeals)
  const { problems, isRefused } = await signer
    .open(secrets)
    .catch(async (error: unknown) => {
      await signer.stop()
      throw error
    })
    .finally(() => secrets?.bytes.fill(0))
  if (!isRefused) {
    for (const problem of problems)
      options.log.error({ problem }, 'A wallet is locked, and the others sign: mend it and restart the server')
    return signer
  }
  await signer.stop()
  throw new Error(problems.join('\n'))
}

interface Secrets {
  readonly lengths: Pick<OpenMessage, 'passphraseBytes' | 'sealBytes'>
  /** One after the other. */
  readonly bytes: Uint8Array
}

/** Bytes that were given are wiped. */
function secretsOf(passphrase: Passphrase | undefined, ofSeals: Passphrase | undefined): Secrets | undefined {
  const [own, seals] = [passphrase, ofSeals].map((each) => (typeof each === 'string' ? passphraseBytes(each) : each))
  const lengths = { ...(own && { passphraseBytes: own.length }), ...(seals && { sealBytes: seals.length }) }
  const bytes = Buffer.alloc(secretBytesOf(lengths))
  bytes.set(own ?? [])
  bytes.set(seals ?? [], own?.length ?? 0)
  for (const each of [own, seals]) each?.fill(0)
  return bytes.length === 0 ? undefined : { lengths, bytes }
}

type FirstReady = Pick<Extract<FromSigner, { type: 'ready' }>, 'problems' | 'isRefused'>

function superviseSigner({
  dataDir,
  keySources = defaultKeySources,
  devnet,
  files,
  acceptsKeys = false,
  watch,
  log,
}: Omit<SignerOptions, 'passphrase' | 'ofSeals'>) {
  const opened = [...(devnet ? [devnetSetting()] : []), ...keySources]
  const calls = createPendingCalls(signTimeoutMs)
  let wallets: readonly Wallet[] | undefined
  let signerProcessId: number | undefined
  /** Those that give no sign of life: they hang, or the machine is too busy. */
  const silent = new Set<'signer' | 'keeper'>()
  /** Those that were locked from the start on. */
  let lockedAtStart: readonly string[] | undefined
  let locked = 0
  let countProblem: string | undefined
  let stopped = false
  let held: StopsMessage = { type: 'stops', stops: [] }
  let onFirstReady: (first: FirstReady) => void
  let onStartFailed: (error: Error) => void
  const firstReady = new Promise<FirstReady>((resolve, reject) => {
    onFirstReady = resolve
    onStartFailed = reject
  })

  function receive(message: FromSigner): void {
    if (message.type === 'ready') ready(message)
    else if (message.type === 'down') down(message.reason)
    else if (message.type === 'silent') fallSilent('signer')
    else if (message.type === 'answering') answering('signer')
    else if (message.type === 'log') log[message.level](message.fields, message.message)
    else if (message.type === 'failed') calls.reject(message.id, failureOf(message))
    else if (message.type === 'key-added' || message.type === 'key-refused') additions.take(message)
    else if (message.type === 'count') countProblem = message.problem
    else calls.resolve(message.id, message.signature)
  }

  function ready({ processId, wallets: unlocked, problems, isRefused }: Extract<FromSigner, { type: 'ready' }>): void {
    // Before anything is asked of it.
    send(held)
    signerProcessId = processId
    silent.delete('signer')
    lockedAtStart ??= problems
    const newlyLocked = problems.filter((problem) => !lockedAtStart?.includes(problem))
    locked = newlyLocked.length
    if (wallets) {
      log.info({ wallets: unlocked.length }, 'The signer was restarted')
      for (const problem of newlyLocked) log.error({ problem }, 'A wallet is locked; restart the server to unlock it')
    }
    wallets ??= unlocked
    onFirstReady({ problems, isRefused })
  }

  function down(reason: string): void {
    signerProcessId = undefined
    countProblem = undefined
    silent.delete('signer')
    if (wallets) log.error({ reason }, 'The signer ended; it is being started again')
    else onStartFailed(new Error(`The signer's process ended as it started (${reason}); the lines above say why.`))
    calls.rejectAll('The signer ended before it answered: nothing was signed that could be sent. Try again in a moment.')
    additions.rejectAll('The signer ended before it answered')
  }

  /** What waits for a signature gets a definite answer. A signature that comes later is dropped, since nobody waits for it. */
  function fallSilent(who: 'signer' | 'keeper'): void {
    silent.add(who)
    log.error({ processId: signerProcessId }, `The ${who === 'signer' ? 'signer' : "signer's keeper"} gives no sign of life`)
    calls.rejectAll('The signer does not answer: nothing was signed that could be sent. Try again in a moment.')
  }

  function answering(who: 'signer' | 'keeper'): void {
    silent.delete(who)
    log.info({ processId: signerProcessId }, `The ${who === 'signer' ? 'signer' : "signer's keeper"} answers again`)
  }

  const keeper = supervise({
    module: 'signer-keeper',
    variables: variablesOf(opened),
    whenStopped: 'continue',
    onSilent: () => fallSilent('keeper'),
    onAnswering: () => answering('keeper'),
    onMessage(received) {
      const message = readFromSigner(received)
      if (message) receive(message)
    },
    onExit(reason) {
      silent.clear()
      // It ends with its keeper, but not while it is stopped: and then it would hold the keys for as long as it is.
      if (signerProcessId !== undefined) kill(signerProcessId)
      down(`its keeper: ${reason}`)
    },
    // The passphrase is lost with the keeper: keys of the keystore stay locked until the server is restarted. Devnet wallets do not.
    onRestart: () => sendOpen(undefined),
  })
  const isReady = (): boolean => signerProcessId !== undefined && silent.size === 0
  const send = (message: ToSigner): void => keeper.send(message)
  const additions = createKeyAdditions({
    accepts: acceptsKeys,
    isReady: () => !stopped && isReady(),
    send: (message, key, onWritten) => keeper.send(message, key, onWritten),
    onAdded: (added) => void (wallets = withAdded(wallets ?? [], added)),
  })
  const sendOpen = (secrets: Secrets | undefined): void => {
    if (watch) keeper.send({ type: 'watch', ...watch } satisfies WatchMessage)
    const goesBy = { keySources: opened, dataDir, files, ...(acceptsKeys && { acceptsKeys }) }
    keeper.send({ type: 'open', ...goesBy, ...secrets?.lengths } satisfies ToSigner, secrets?.bytes)
  }

  return {
    /** @returns why keys could not be opened */
    open(secrets: Secrets | undefined) {
      sendOpen(secrets)
      return firstReady
    },
    wallets: () => wallets ?? [],
    locked: () => lockedAtStart ?? [],
    addKey: additions.add,
    hold(stops: readonly Stop[]) {
      held = stopsToTell(stops)
      if (signerProcessId !== undefined) send(held)
    },
    isReady,
    failing() {
      if (signerProcessId === undefined) return 'it is restarting'
      if (silent.size > 0) return 'it does not answer'
      return notWithEveryKey(locked, countProblem)
    },
    countProblem: () => countProblem,
    processId: () => signerProcessId,
    async sign(request: SignRequest) {
      if (stopped) throw unavailable('The server is stopping and does not sign any more.')
      if (signerProcessId === undefined) throw unavailable('The signer is being started again: nothing was signed. Try again in a moment.')
      if (!isReady()) throw unavailable('The signer does not answer: nothing was signed. Try again in a moment.')
      return calls.call((id) => send({ type: 'sign', id, request }))
    },
    async stop() {
      stopped = true
      signerProcessId = undefined
      await keeper.stop(stopGraceMs)
      calls.rejectAll('The server is stopping: nothing was signed that could be sent.')
      additions.rejectAll('The server is stopping')
    },
  }
}

function withAdded(known: readonly Wallet[], added: readonly Wallet[]): readonly Wallet[] {
  const isKnown = ({ chain, address }: Wallet) => known.some((each) => each.chain === chain && each.address === address)
  return [...known, ...added.filter((each) => !isKnown(each))]
}

function notWithEveryKey(locked: number, countProblem: string | undefined): string | undefined {
  const ofKeys = locked === 0 ? [] : [`${locked} of its keys are locked: restart the server to unlock them`]
  const ofCount = countProblem === undefined ? [] : [withoutCount(countProblem)]
  return [...ofKeys, ...ofCount].join('; ') || undefined
}

const withoutCount = (problem: string): string => `it signs nothing for wallets with limits: ${problem}`

function kill(processId: number): void {
  try {
    process.kill(processId, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
