// How the server and a host talk over their socket pair: frames of JSON, each a list of messages, with its length in front.
import { setMaxListeners } from 'node:events'
import type { Duplex } from 'node:stream'
import { isAbortName } from '../../base/async.ts'
import { errorTable, SluiceError, type ErrorName } from '../../base/errors.ts'
import { hasMoreParts, isObject } from '../../base/json.ts'
import { saidBy } from '../../base/printable.ts'
import { readableError } from '../code/thrown.ts'
import { createFrames, createMeter, lengthBytes, type Bounds } from './frames.ts'

/** The other end, of which nothing is believed: each message is checked by who reads it. */
export interface Channel {
  /**
   * @param maxBytes of the answer, as JSON
   * @throws what the other end threw, or Error where the channel is closed
   */
  ask(method: string, args: readonly unknown[], signal?: AbortSignal, maxBytes?: number): Promise<unknown>
  /** Without an answer. */
  tell(method: string, args: readonly unknown[]): void
  close(why: Error): void
}

interface ChannelOptions {
  socket: Duplex
  /** Answers a question of the other end. */
  answer(method: string, args: readonly unknown[], signal: AbortSignal): unknown
  onTold(method: string, args: readonly unknown[]): void
  /** Once: the other end broke the rules, or the socket is closed. */
  onClosed(why: Error): void
  /** Bytes of a frame that comes in. */
  maxFrameBytes: number
  /** Questions of the other end that are under way. */
  maxQuestions: number
  /** What is beyond closes it. Absent: the other end is trusted. */
  bounds?: Bounds
  /** Of an end that serves requests: whether a question is part of one that is under way. Its answers to them are as long as clients ask for. */
  expects?(): ((method: string, args: readonly unknown[]) => boolean) | undefined
  /** Bytes that were said to the other end and not read by it; for a moment it may be more. */
  maxUnreadBytes?: number
  /** Bytes of a frame that the other end takes: a longer answer is told to be so in its place. Absent: it takes any. */
  maxSentBytes?: number
  /** The plugin at the other end: the words of its errors are its own. Absent: the other end is trusted. */
  plugin?: string
}

// The first entry of a message.
const [question, answerTo, failureOf, notice, cancellation] = [0, 1, 2, 3, 4]

interface PendingQuestion {
  resolve(value: unknown): void
  reject(error: unknown): void
  stop?: () => void
  readonly maxBytes: number
}

/** So many are remembered whose answers come too late. */
const maxLate = 1_000

/** Messages that are longer together have a frame each: a frame has a bound. */
const maxJoined = 256 * 1024

/** How long `maxUnreadBytes` may be exceeded, and by how many times. */
const [maxUnreadMs, maxUnreadInOneTurn] = [5_000, 4]

/** Several long answers in one turn are read a moment later, by who reads at all. @returns whether too much was not read for too long */
function createUnreadBound(maxUnreadBytes: number): (unread: number) => boolean {
  let since: number | undefined
  return (unread) => {
    const now = performance.now()
    if (unread <= maxUnreadBytes) since = undefined
    else since ??= now
    return unread > maxUnreadInOneTurn * maxUnreadBytes || now - (since ?? now) > maxUnreadMs
  }
}

/** @param text of a frame with the message alone @returns an answer that is too long as its refusal */
function longFrame(message: unknown, text: string, maxSentBytes: number): string {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxSentBytes || !Array.isArray(message) || message[0] !== answerTo) return text
  const words = `The answer has ${bytes} bytes, and a plugin in a process of its own sends ${maxSentBytes} at most: ask for less at once.`
  return JSON.stringify([[failureOf, message[1], encode(failureFields(new SluiceError('UNSUPPORTED', words)))]])
}

/** Answers that are too much together are read later: who asks for them keeps nobody from the other end. */
function rest(socket: ChannelOptions['socket'], ms: number): void {
  if (ms <= 0 || socket.destroyed) return
  socket.pause()
  setTimeout(() => {
    if (!socket.destroyed) socket.resume()
  }, ms)
}

/** Why a channel is closed whose socket was: how the process at the other end ended says more. */
export const otherEndGone = 'the other end is gone'
const goneCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE'])

export function openChannel(options: ChannelOptions): Channel {
  const { socket, answer, onTold, onClosed, maxFrameBytes, maxQuestions, bounds, expects } = options
  const { maxUnreadBytes = Number.POSITIVE_INFINITY, maxSentBytes = Number.POSITIVE_INFINITY, plugin } = options
  const waiting = new Map<number, PendingQuestion>()
  /** Nobody waits any more: how long the answers may be. */
  const late = new Map<number, number>()
  const answering = new Map<number, AbortController>()
  let lastId = 0
  let closed: Error | undefined
  let outgoing: unknown[] = []
  const isUnread = createUnreadBound(maxUnreadBytes)
  /** What the answers may have that are to come. */
  let askedBytes = 0
  /** The same of those that came with the frame that is read. */
  let answeredBytes = 0
  const maxBytes = () => (bounds ? Math.min(maxFrameBytes, bounds.maxUnaskedFrameBytes + askedBytes) : maxFrameBytes)
  const meter = bounds && createMeter(bounds)
  const takeBytes = createFrames(maxBytes, bounds?.maxFrameMs ?? Number.POSITIVE_INFINITY, takeFrame)

  function send(message: readonly unknown[]): void {
    if (closed) return
    // What is said in one turn goes in one frame, where it is not long.
    if (outgoing.length === 0) setImmediate(flush)
    outgoing.push(message)
  }

  function flush(): void {
    if (closed) return
    const messages = outgoing
    outgoing = []
    const text = JSON.stringify(messages)
    if (text.length <= maxJoined) write(text)
    else for (const message of messages) write(longFrame(message, messages.length === 1 ? text : JSON.stringify([message]), maxSentBytes))
    if (isUnread(socket.writableLength)) close(new Error(`it has not read ${socket.writableLength} bytes that were said to it`))
  }

  function write(text: string): void {
    const length = Buffer.byteLength(text)
    const frame = Buffer.allocUnsafe(lengthBytes + length)
    frame.writeUInt32BE(length)
    frame.write(text, lengthBytes)
    socket.write(frame)
  }

  function close(why: Error): void {
    if (closed) return
    closed = why
    socket.destroy()
    for (const { reject, stop } of waiting.values()) {
      stop?.()
      reject(why)
    }
    waiting.clear()
    for (const controller of answering.values()) controller.abort(why)
    answering.clear()
    onClosed(why)
  }

  function read(chunk: Buffer): void {
    if (closed) return
    const startedAt = performance.now()
    try {
      takeBytes(chunk)
      meter?.read(performance.now() - startedAt)
      if (meter && !expects?.()) rest(socket, meter.restMs(chunk.length))
    } catch (error) {
      close(error instanceof Error ? error : new Error('a frame cannot be read'))
    }
  }

  /** @returns whether there may be others */
  function takeFrame(text: string, length: number): boolean {
    answeredBytes = 0
    const most = bounds ? partsOf(bounds, length) : Infinity
    if (hasMoreParts(text, most)) throw new Error(`a frame of more than ${most} lists, objects and fields`)
    const messages: unknown = JSON.parse(text)
    if (!Array.isArray(messages)) throw new Error('a frame that is no list of messages')
    if (messages.length === 0) throw new Error('a frame without a message')
    for (const message of messages) take(message)
    meter?.bytes(Math.max(0, length - answeredBytes))
    meter?.frame(length, answeredBytes)
    return closed === undefined
  }

  const partsOf = ({ maxParts }: Bounds, length: number) =>
    expects?.() ? maxParts.ofServing : maxParts.ofServing + Math.floor(length * maxParts.perByte)

  function take(message: unknown): void {
    if (!Array.isArray(message)) throw new Error('a message that is no list')
    const [kind, id, ...rest]: unknown[] = message
    if (kind === answerTo || kind === failureOf) return settle(id, kind === answerTo, rest[0])
    if (kind === question) meter?.question(isExpected(rest[0], rest[1]))
    else meter?.message()
    if (kind === notice && typeof id === 'string') return onTold(id, argumentsOf(rest[0]))
    if (kind === cancellation && typeof id === 'number') return answering.get(id)?.abort(new Error('nobody waits any more'))
    const [method, args] = rest
    if (kind !== question || typeof id !== 'number' || typeof method !== 'string' || answering.has(id))
      throw new Error('a message of no known kind')
    if (answering.size >= maxQuestions) throw new Error(`more than ${maxQuestions} questions at once`)
    const controller = new AbortController()
    setMaxListeners(0, controller.signal)
    answering.set(id, controller)
    void reply(id, method, argumentsOf(args), controller.signal)
  }

  const isExpected = (method: unknown, args: unknown): boolean =>
    typeof method === 'string' && Array.isArray(args) && expects?.()?.(method, args) === true

  function settle(id: unknown, succeeded: boolean, value: unknown): void {
    const pending = typeof id === 'number' ? waiting.get(id) : undefined
    if (!pending) return settleLate(id)
    // What cannot be decoded closes the channel, which rejects this one, too.
    const decoded = decode(value)
    waiting.delete(Number(id))
    isAnswered(pending.maxBytes)
    pending.stop?.()
    if (succeeded) pending.resolve(decoded)
    else pending.reject(errorOf(decoded, plugin))
  }

  function isAnswered(maxBytesOfAnswer: number): void {
    askedBytes -= maxBytesOfAnswer
    answeredBytes += maxBytesOfAnswer
    meter?.answer(maxBytesOfAnswer)
  }

  /** Nobody waits any more, or nobody ever asked. */
  function settleLate(id: unknown): void {
    const maxBytesOfAnswer = typeof id === 'number' ? late.get(id) : undefined
    if (maxBytesOfAnswer === undefined) {
      meter?.message()
      if (typeof id === 'number' && id <= lastId) return
      throw new Error('an answer that nobody asked for')
    }
    late.delete(Number(id))
    isAnswered(maxBytesOfAnswer)
  }

  function giveUp(id: number): void {
    const pending = waiting.get(id)
    if (!pending) return
    waiting.delete(id)
    late.set(id, pending.maxBytes)
    const [oldest] = late
    if (late.size <= maxLate || !oldest) return
    late.delete(oldest[0])
    askedBytes -= oldest[1]
  }

  async function reply(id: number, method: string, args: readonly unknown[], signal: AbortSignal): Promise<void> {
    try {
      // After all that came with it: what it takes to answer is no part of reading.
      const value = await Promise.resolve().then(() => answer(method, args, signal))
      send(value === undefined ? [answerTo, id] : [answerTo, id, encode(value)])
    } catch (thrown) {
      send([failureOf, id, encodedFailure(thrown)])
    } finally {
      answering.delete(id)
    }
  }

  socket.on('data', read)
  // A process that ended before it had read all resets the connection. How it ended says more.
  socket.on('error', (error: NodeJS.ErrnoException) => close(goneCodes.has(error.code ?? '') ? new Error(otherEndGone) : error))
  socket.on('close', () => close(new Error(otherEndGone)))

  return {
    ask: (method, args, signal, maxBytesOfAnswer = maxFrameBytes) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(closed)
        if (signal?.aborted) return reject(signal.reason)
        const encoded = args.map(encodeEntry)
        const id = (lastId += 1)
        const pending: PendingQuestion = { resolve, reject, maxBytes: Math.min(maxBytesOfAnswer, maxFrameBytes) }
        if (signal) {
          const abort = () => {
            giveUp(id)
            send([cancellation, id])
            reject(signal.reason)
          }
          // A plugin may ask any number of things at a time. Node warns from the eleventh listener on.
          setMaxListeners(0, signal)
          signal.addEventListener('abort', abort, { once: true })
          pending.stop = () => signal.removeEventListener('abort', abort)
        }
        waiting.set(id, pending)
        askedBytes += pending.maxBytes
        send([question, id, method, encoded])
      }),
    tell: (method, args) => send([notice, method, args.map(encodeEntry)]),
    close,
  }
}

const argumentsOf = (args: unknown): readonly unknown[] => (Array.isArray(args) ? args.map((each) => decode(each)) : [])

// A bigint is text after this mark, and so is text that begins with it: what is encoded is JSON that says everything.
const mark = '#'
/** In a list, such as an argument that was left out. */
const absent = '#-'
/** The largest number that a contract allows has 2,048 bits. */
const maxDigits = 700

/** Plain data as JSON. What is undefined, in an object, is left out. @throws Error for a bigint that the other end would not read */
export function encode(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const text = mark + value
    if (text.length > maxDigits) throw new Error('a number that is too large')
    return text
  }
  if (typeof value === 'string') return value.startsWith(mark) ? mark + value : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(encodeEntry)
  const fields: Record<string, unknown> = {}
  for (const key of Object.keys(value)) fields[key] = encode(Reflect.get(value, key))
  return fields
}

const encodeEntry = (value: unknown): unknown => (value === undefined ? absent : encode(value))

/** What a contract allows is less deep. */
const maxDepth = 100

/** In place: what JSON.parse made has no other owner. @throws Error where it is not what `encode` writes */
export function decode(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return value.startsWith(mark) ? decodeText(value) : value
  if (typeof value !== 'object' || value === null) return value
  if (depth > maxDepth) throw new Error(`values that are nested more than ${maxDepth} deep`)
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) value[index] = decode(value[index], depth + 1)
    return value
  }
  const fields: Record<string, unknown> = value as Record<string, unknown>
  for (const key of Object.keys(fields)) {
    const field = fields[key]
    if (typeof field === 'object' || (typeof field === 'string' && field.startsWith(mark))) fields[key] = decode(field, depth + 1)
  }
  return fields
}

function decodeText(text: string): string | bigint | undefined {
  if (text.startsWith(mark, 1)) return text.slice(1)
  if (text === absent) return undefined
  if (text.length > maxDigits || !/^#-?\d+$/.test(text)) throw new Error('a number that is none, or is too large')
  return BigInt(text.slice(1))
}

/** Without its details, where these cannot be encoded: who asked waits for an answer. */
function encodedFailure(thrown: unknown): unknown {
  const fields = failureFields(thrown)
  try {
    return encode(fields)
  } catch {
    return encode({ ...fields, details: undefined })
  }
}

/** What is said of an error: with its details where it is one for callers. */
function failureFields(thrown: unknown): object {
  const { name, message } = readableError(thrown)
  if (isAbortName(name)) return { name, message }
  if (!(thrown instanceof SluiceError)) return { message: name === 'Error' ? message : `${name}: ${message}` }
  const { details, retryAfterSeconds, http } = thrown
  return { name, message, details, retryAfterSeconds, http }
}

function errorOf(failure: unknown, plugin: string | undefined): Error {
  if (!isObject(failure) || typeof failure['message'] !== 'string') return new Error('it failed without a reason')
  const { name, details, retryAfterSeconds, http } = failure
  const message = plugin === undefined ? failure['message'] : saidBy(plugin, failure['message'])
  if (isAbortName(name)) return new DOMException(message, name)
  if (typeof name !== 'string' || !isErrorName(name)) return new Error(message)
  return new SluiceError(name, message, {
    details,
    ...(typeof retryAfterSeconds === 'number' && { retryAfterSeconds }),
    ...(typeof http === 'number' && { http }),
  })
}

const isErrorName = (name: string): name is ErrorName => Object.hasOwn(errorTable, name)
