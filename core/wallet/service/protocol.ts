// What a server and the signer service say to each other. Neither believes the other: frames of JSON within bounds, checked by these schemas.
import type { Socket } from 'node:net'
import * as Type from 'typebox'
import type { Static, TSchema } from 'typebox'
import { isObject } from '../../base/json.ts'
import { fits } from '../../base/schema-check.ts'
import { failedMessage, isSignRequest, stopsMessage, walletSchema, type SignRequest } from '../signer-messages.ts'

/** Changes when either side would misunderstand the other. */
export const protocol = 1
/** A frame is its length in four bytes, the highest first, and so many bytes of JSON. Two transactions of 128 kB fit in base64. */
export const maxRequestBytes = 524_288
export const maxAnswerBytes = 4_194_304
const headBytes = 4
/** What a connection may take for its first message. */
export const helloMs = 5_000

const closed = { additionalProperties: false }
const id = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const text = (maxLength: number) => Type.String({ maxLength })
const hello = Type.Object({ type: Type.Literal('hello'), protocol: Type.Integer(), version: text(64) })

/**
 * Messages of a server. The first is `hello`. There is none by which keys, limits, the policy or the count could be read or changed: a server has
 * things signed, lists addresses, and stops.
 */
const toService = Type.Union([
  hello,
  Type.Object({ type: Type.Literal('sign'), id, request: Type.Unknown() }, closed),
  stopsMessage,
  Type.Object({ type: Type.Literal('ping') }, closed),
])
export type ToService = Static<typeof toService>

const state = {
  /** Why it cannot sign, or not with every key. */
  failing: Type.Optional(text(4_000)),
  /** Whether it can sign now. */
  isReady: Type.Boolean(),
  /** Why it signs nothing for wallets with limits. */
  countProblem: Type.Optional(text(4_000)),
}

const welcome = Type.Object({
  type: Type.Literal('welcome'),
  protocol: Type.Integer(),
  version: text(64),
  wallets: Type.Array(walletSchema),
  /** Of each key that could not be opened. */
  locked: Type.Array(text(4_000)),
  /** So many wallets have limits. */
  limits: Type.Integer({ minimum: 0 }),
  /** Who can change files that its bounds depend on. */
  changers: Type.Array(
    Type.Object({
      uid: Type.Optional(Type.Integer()),
      gid: Type.Optional(Type.Integer()),
      file: text(4_096),
      /** So many others. */
      more: Type.Integer({ minimum: 0 }),
    }),
    { maxItems: 1_000 },
  ),
  ...state,
})
export type Welcome = Static<typeof welcome>
export type ServiceState = Pick<Welcome, keyof typeof state>

const fromService = Type.Union([
  welcome,
  Type.Object({ type: Type.Literal('refused'), reason: text(4_000) }),
  Type.Object({ type: Type.Literal('signed'), id, signature: Type.String({ pattern: '^[A-Za-z0-9+/]{86,88}={0,2}$' }) }),
  failedMessage,
  Type.Object({ type: Type.Literal('pong'), ...state }),
])
export type FromService = Static<typeof fromService>

/** @throws Error for what is no message */
export const readToService = (json: string): ToService => parsed(json, toService)
export const readFromService = (json: string): FromService => parsed(json, fromService)

function parsed<S extends TSchema>(json: string, schema: S): Static<S> {
  const value: unknown = JSON.parse(json)
  if (!fits(schema, value)) throw new Error('a message that says nothing known')
  return value
}

/** @returns the frame of a message */
export function frameOf(message: ToService | FromService): Buffer {
  const json = Buffer.from(JSON.stringify(message))
  const head = Buffer.alloc(headBytes)
  head.writeUInt32BE(json.length)
  return Buffer.concat([head, json])
}

/**
 * Calls back with the JSON of each frame, until the socket is destroyed. What is longer than the bound is refused by its length, before any of it is
 * kept; a frame takes no more memory than its length, in whatever pieces it comes.
 */
export function readFrames(socket: Socket, maxBytes: number, onFrame: (json: string) => void, onBroken: (why: Error) => void): void {
  const head = Buffer.alloc(headBytes)
  let body: Buffer | undefined
  let filled = 0

  function read(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && !socket.destroyed;) {
      const target = body ?? head
      const copied = chunk.copy(target, filled, at)
      at += copied
      filled += copied
      if (filled < target.length) return
      filled = 0
      if (body) {
        const json = body.toString('utf8')
        body = undefined
        onFrame(json)
      } else {
        const length = head.readUInt32BE()
        if (length === 0 || length > maxBytes) throw new Error(`a message of ${length} bytes, where 1 to ${maxBytes} are taken`)
        body = Buffer.allocUnsafe(length)
      }
    }
  }

  socket.on('data', (chunk) => {
    try {
      if (!socket.destroyed) read(chunk)
    } catch (error) {
      onBroken(error instanceof Error ? error : new Error('a message cannot be read'))
    }
  })
}

/** Typed data of an exchange has a few levels. What is deeper could exhaust the stack of a process that it is passed on to. */
const maxDepth = 32

function isShallow(value: unknown, left = maxDepth): boolean {
  if (typeof value !== 'object' || value === null) return true
  return left > 0 && Object.values(value).every((each) => isShallow(each, left - 1))
}

/** Bytes cross as base64. */
export function wireRequest({ draft, ...request }: SignRequest): unknown {
  if (draft.scheme === 'eip712' || draft.scheme === 'permit2' || draft.scheme === 'new-account') return { ...request, draft }
  const replaces = draft.scheme === 'secp256k1' ? draft.replaces : undefined
  return { ...request, draft: { ...draft, bytes: base64(draft.bytes), ...(replaces && { replaces: base64(replaces) }) } }
}

/** @returns undefined for what is no request */
export function requestOfWire(wire: unknown): SignRequest | undefined {
  if (!isShallow(wire) || !isObject(wire) || !isObject(wire['draft'])) return undefined
  const draft = Object.fromEntries(
    Object.entries(wire['draft']).map(([name, value]) =>
      ['bytes', 'replaces'].includes(name) && typeof value === 'string' ? [name, bytesOf(value)] : [name, value],
    ),
  )
  const request: unknown = { ...wire, draft }
  return isSignRequest(request) ? request : undefined
}

export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
/** Never in the pool that small buffers share: they are handed to another process. */
export const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'base64'))
