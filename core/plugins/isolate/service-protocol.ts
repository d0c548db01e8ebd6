// What a server and the plugin-host service say to each other. Each believes the other nothing: lines of JSON within bounds, checked by these schemas.
import type { Duplex } from 'node:stream'
import Type, { type Static, type TSchema } from 'typebox'
import { fits } from '../../base/schema-check.ts'
import { namePattern } from '../discover/find.ts'

// A control connection carries lines: one request of the server, and what the service says to it. It lives as long as the process that it starts.
// A channel connection carries one line, a token, and then what the process and the server say to each other: the process gets this very
// connection as its channel, so that the service does not stand in the way of what they say.

/** Changes when either side would misunderstand the other. */
export const protocol = 1
export const maxLineBytes = 16_384
/** What one connection may take to say its first line. */
export const firstLineMs = 5_000

const hostFlags = ['--max-old-space-size=256', '--max-semi-space-size=2', '--v8-pool-size=1', '--no-addons']

/** What the service starts, by name: a server never names a file to run. */
export const scripts = {
  host: { file: 'core/plugins/isolate/host-process.js', flags: hostFlags },
  devnet: { file: 'core/devnet/outside-process.js', flags: hostFlags },
  examine: { file: 'core/plugins/consent/examine-process.js', flags: ['--no-addons'] },
} as const
export type Script = keyof typeof scripts

const closed = { additionalProperties: false }
const keptPlugin = Type.Object(
  { sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }), name: Type.String({ pattern: namePattern.source }) },
  closed,
)
export type KeptPlugin = Static<typeof keptPlugin>

const start = Type.Object(
  {
    script: Type.Union([Type.Literal('host'), Type.Literal('devnet'), Type.Literal('examine')]),
    plugins: Type.Array(keptPlugin, { minItems: 1, maxItems: 64 }),
  },
  closed,
)
const request = Type.Union([
  Type.Object({ protocol: Type.Integer(), version: Type.String({ maxLength: 64 }), start: Type.Optional(start) }, closed),
  Type.Object({ channel: Type.String({ pattern: '^[0-9a-f]{32}$' }) }, closed),
])
export type ServiceRequest = Static<typeof request>

const folder = Type.String({ pattern: '^/[^\\u0000]{0,500}$' })
const folders = Type.Object(
  {
    /** The copies of plugins. */
    folder,
    /** The release. */
    code: folder,
  },
  closed,
)
export type ServiceFolders = Static<typeof folders>

const count = Type.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const text = Type.String({ maxLength: 4_000 })
const said = Type.Union([
  Type.Object({ ready: folders }, closed),
  Type.Object({ refused: text }, closed),
  Type.Object({ channel: Type.String({ pattern: '^[0-9a-f]{32}$' }) }, closed),
  Type.Object({ started: Type.Literal(true) }, closed),
  Type.Object({ use: Type.Object({ processes: count, residentBytes: count, processorMs: count }, closed) }, closed),
  Type.Object({ ended: Type.Object({ status: Type.Optional(Type.Integer()), reason: text, said: text }, closed) }, closed),
])
export type ServiceMessage = Static<typeof said>

export const readRequest = (line: string): ServiceRequest => parsed(line, request)
export const readMessage = (line: string): ServiceMessage => parsed(line, said)

function parsed<S extends TSchema>(line: string, schema: S): Static<S> {
  const value: unknown = JSON.parse(line)
  if (!fits(schema, value)) throw new Error('a line that says nothing known')
  return value
}

export const writeLine = (socket: Duplex, message: ServiceRequest | ServiceMessage): void =>
  void socket.write(`${JSON.stringify(message)}\n`)

/** Calls back with each line, until the returned function is called, which gives back what came after the last line. */
export function readLines(socket: Duplex, onLine: (line: string) => void, onBroken: (why: Error) => void): () => Buffer {
  let rest: Buffer = Buffer.alloc(0)
  const read = (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    try {
      for (let end = rest.indexOf(10); end >= 0 && socket.listeners('data').includes(read); end = rest.indexOf(10)) {
        const line = rest.toString('utf8', 0, end)
        rest = rest.subarray(end + 1)
        onLine(line)
      }
      if (rest.length > maxLineBytes) throw new Error(`a line of more than ${maxLineBytes} bytes`)
    } catch (error) {
      socket.off('data', read)
      onBroken(error instanceof Error ? error : new Error('a line cannot be read'))
    }
  }
  socket.on('data', read)
  return () => {
    socket.off('data', read)
    socket.pause()
    return rest
  }
}
