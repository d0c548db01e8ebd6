// The server's side of the signer service: has it sign, and connects again whenever the connection ends. Of what it says only messages are taken.
import { connect, type Socket } from 'node:net'
import { pause } from '../../base/async.ts'
import { reasonOf, SluiceError } from '../../base/errors.ts'
import { command, version } from '../../base/layout.ts'
import type { Stop } from '../../config/stops.ts'
import { createPendingCalls, failureOf, unavailable } from '../pending-calls.ts'
import type { Signer, SignerLog } from '../signer.ts'
import { stopsToTell, type SignRequest, type StopsMessage, type Wallet } from '../signer-messages.ts'
import { bytesOf, frameOf, maxAnswerBytes, maxRequestBytes, protocol, readFrames, readFromService, wireRequest } from './protocol.ts'
import type { FromService, ServiceState, ToService, Welcome } from './protocol.ts'

interface SignerServiceClientOptions {
  readonly socket: string
  readonly log: SignerLog
  /** Called with what it says of itself, at each connection. */
  readonly onWelcome?: (welcome: Welcome) => void
  /** How long the first connection may take: the service may be starting. */
  readonly waitMs?: number
}

/** The signer's own time is 10 s: its answer says more. */
const signTimeoutMs = 12_000
const firstBackoffMs = 100
const maxBackoffMs = 5_000
const beatMs = 500
/** Without any message for so long it is silent; for so long the connection is given up. */
const silentAfterMs = 5_000
const givenUpAfterMs = 30_000
const usualWaitMs = 30_000
const welcomeMs = 5_000
/** Around a request in its message. */
const spareBytes = 1_000

/** The service refuses this server, which no waiting changes. */
class RefusalOfService extends Error {
  override readonly name = 'RefusalOfService'
}

/** @throws Error where the signer refuses this server, or is not there in time */
export async function connectSigner(options: SignerServiceClientOptions): Promise<Signer> {
  const { socket: address, log, onWelcome, waitMs = usualWaitMs } = options
  const calls = createPendingCalls(signTimeoutMs)
  let current: Socket | undefined
  let wallets: readonly Wallet[] = []
  let locked: readonly string[] = []
  let state: ServiceState = { isReady: false }
  let isSilent = false
  let lastHeardMs = 0
  let why = `it cannot be reached at ${address}`
  let held: StopsMessage = { type: 'stops', stops: [] }
  const stopping = new AbortController()

  function send(message: ToService): void {
    current?.write(frameOf(message))
  }

  function receive(message: FromService): void {
    lastHeardMs = performance.now()
    if (isSilent) log.info({}, 'The signer answers again')
    isSilent = false
    if (message.type === 'signed') calls.resolve(message.id, bytesOf(message.signature))
    else if (message.type === 'failed') calls.reject(message.id, failureOf(message))
    else if (message.type === 'pong') noteState(message)
    else if (message.type === 'refused') throw new RefusalOfService(message.reason)
    else throw new Error('it greets twice')
  }

  function noteState(now: ServiceState): void {
    logChanges(log, state, now)
    state = now
  }

  /** Settles when the connection is over. @throws Error that says why it did not come about */
  async function connection(onConnected: () => void): Promise<void> {
    const { socket, welcome } = await greeted(address, stopping.signal)
    current = socket
    lastHeardMs = performance.now()
    isSilent = false
    ;({ wallets, locked } = welcome)
    state = welcome
    onWelcome?.(welcome)
    // Before anything is asked of it.
    send(held)
    onConnected()
    const beats = setInterval(beat, beatMs).unref()
    why = await new Promise<string>((resolve) => {
      socket.on('close', () => resolve('it closed the connection'))
      readFrames(
        socket,
        maxAnswerBytes,
        (json) => receive(readFromService(json)),
        (broken) => {
          resolve(broken.message)
          socket.destroy()
        },
      )
      socket.resume()
    }).finally(() => clearInterval(beats))
    current = undefined
    calls.rejectAll('The connection to the signer ended before it answered: nothing was signed that could be sent. Try again in a moment.')
  }

  function beat(): void {
    const silentMs = performance.now() - lastHeardMs
    if (silentMs >= givenUpAfterMs) return void current?.destroy()
    send({ type: 'ping' })
    if (isSilent || silentMs < silentAfterMs) return
    isSilent = true
    log.error({ socket: address }, 'The signer gives no sign of life')
    calls.rejectAll('The signer does not answer: nothing was signed that could be sent. Try again in a moment.')
  }

  /** @param onFirst called at the first connection, and with an error that no waiting changes */
  async function keepConnected(onFirst: (error?: Error) => void): Promise<void> {
    let backoffMs = firstBackoffMs
    let told = ''
    while (!stopping.signal.aborted) {
      try {
        await connection(() => {
          onFirst()
          if (told !== '') log.info({ wallets: wallets.length }, 'The signer is connected again')
          told = ''
          backoffMs = firstBackoffMs
        })
      } catch (error) {
        why = reasonOf(error)
        if (error instanceof RefusalOfService) onFirst(error)
      }
      if (stopping.signal.aborted) return
      if (told !== why) log.error({ socket: address, reason: why }, 'The signer is not connected')
      told = why
      await pause(backoffMs, stopping.signal)
      backoffMs = Math.min(backoffMs * 2, maxBackoffMs)
    }
  }

  function stop(): void {
    stopping.abort()
    current?.destroy()
    current = undefined
    calls.rejectAll('The server is stopping: nothing was signed that could be sent.')
  }

  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`The signer at ${address} is not there after ${waitMs / 1000} s: ${why}.`)), waitMs)
    void keepConnected((error) => {
      clearTimeout(timer)
      if (error) reject(new Error(`The signer at ${address} refuses this server: ${error.message}.`))
      else resolve()
    })
  }).catch((error: unknown) => {
    stop()
    throw error
  })

  const isConnected = () => current !== undefined && !isSilent
  return {
    wallets: () => wallets,
    locked: () => locked,
    hold(stops: readonly Stop[]) {
      held = stopsToTell(stops)
      send(held)
    },
    isReady: () => isConnected() && state.isReady,
    failing() {
      if (!current) return why
      return isSilent ? 'it does not answer' : state.failing
    },
    addKey,
    countProblem: () => (isConnected() ? state.countProblem : undefined),
    processId: () => undefined,
    async sign(request: SignRequest) {
      if (stopping.signal.aborted) throw unavailable('The server is stopping and does not sign any more.')
      if (!current) throw unavailable('The signer is not connected: nothing was signed. Try again in a moment.')
      if (isSilent) throw unavailable('The signer does not answer: nothing was signed. Try again in a moment.')
      const wire = wireRequest(request)
      if (JSON.stringify(wire).length > maxRequestBytes - spareBytes)
        throw new SluiceError('FORBIDDEN', 'The signer takes no request of this size: nothing was signed.')
      return calls.call((id) => send({ type: 'sign', id, request: wire }))
    },
    async stop() {
      stop()
    },
  }
}

function logChanges(log: SignerLog, before: ServiceState, { isReady, failing, countProblem: problem }: ServiceState): void {
  if (before.isReady !== isReady)
    log[isReady ? 'info' : 'error']({ failing }, isReady ? 'The signer can sign again' : 'The signer cannot sign')
  if (before.countProblem === problem) return
  if (problem === undefined) log.info({}, 'The signer signs for wallets with limits again')
  else log.error({ problem }, 'The signer signs nothing for wallets with limits')
}

/** What the signer at a socket says of itself. @throws Error that says why it is not there, or refuses */
export async function askSigner(address: string): Promise<Welcome> {
  const { socket, welcome } = await greeted(address)
  socket.destroy()
  return welcome
}

/** Connects and greets. The socket is paused then. */
async function greeted(address: string, stopped?: AbortSignal): Promise<{ readonly socket: Socket; readonly welcome: Welcome }> {
  const socket = connect(address)
  const timeout = AbortSignal.timeout(welcomeMs)
  const give = () => socket.destroy()
  timeout.addEventListener('abort', give)
  stopped?.addEventListener('abort', give)
  try {
    const first = await new Promise<FromService>((resolve, reject) => {
      socket.once('connect', () => socket.write(frameOf({ type: 'hello', protocol, version })))
      socket.on('error', (error) => reject(new Error(`it cannot be reached at ${address} (${error.message})`)))
      socket.on('close', () => reject(new Error(timeout.aborted ? 'it does not answer' : 'it closed the connection')))
      readFrames(
        socket,
        maxAnswerBytes,
        (json) => {
          resolve(readFromService(json))
          socket.pause()
        },
        reject,
      )
    })
    if (first.type === 'refused') throw new RefusalOfService(first.reason)
    if (first.type !== 'welcome') throw new Error('it does not answer as a signer')
    if (first.protocol !== protocol)
      throw new RefusalOfService(
        `the signer is of Sluice ${first.version} (protocol ${first.protocol}), this server of ${version} (protocol ${protocol}): run both from one release`,
      )
    socket.removeAllListeners('data')
    socket.removeAllListeners('close')
    return { socket, welcome: first }
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    timeout.removeEventListener('abort', give)
    stopped?.removeEventListener('abort', give)
  }
}

/** Who took a server over could give it keys. */
async function addKey(): Promise<never> {
  throw new SluiceError(
    'FORBIDDEN',
    `The keys are those of the signer service (signer.socket), which takes none from a server: add it there, with \`${command} wallet add\`.`,
  )
}
