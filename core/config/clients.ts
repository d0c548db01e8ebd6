import { permissions, type Permission } from '../api/endpoint.ts'
import * as Type from 'typebox'
import type { ConfigProblem } from './problems.ts'
import { checkFile, compile } from './check.ts'
import type { Environment, Section } from './tree.ts'
import type { YamlFile } from './yaml.ts'

const bounds = {
  requestsPerSecond: Type.Optional(Type.Number({ exclusiveMinimum: 0, description: 'Its own rate limit' })),
  inFlight: Type.Optional(Type.Integer({ minimum: 1, description: 'Its own limit, in place of limits.clientInFlight' })),
  connections: Type.Optional(Type.Integer({ minimum: 1, description: 'Its own limit, in place of limits.clientConnections' })),
  streams: Type.Optional(Type.Integer({ minimum: 1, description: 'Its own limit, in place of limits.clientStreams' })),
}

/** `conf/clients.yml`: by the common name of a client certificate, or by its SHA-256 fingerprint. */
const clientsSchema = Type.Object(
  {
    clients: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object(
          {
            permissions: Type.Array(Type.Enum(permissions), { uniqueItems: true, description: 'What the certificate may do' }),
            wallets: Type.Optional(
              Type.Union(
                [Type.Literal('all'), Type.Array(Type.String({ minLength: 1 }), { uniqueItems: true, description: 'wallet addresses' })],
                {
                  description: 'The wallets that it may use and see',
                },
              ),
            ),
            sendTo: Type.Optional(
              Type.Record(Type.String(), Type.Array(Type.String({ minLength: 1 }), { uniqueItems: true, description: 'addresses' }), {
                description: 'With the permission send: by the address of a wallet, the addresses that it may send to',
              }),
            ),
            ...bounds,
          },
          { additionalProperties: false },
        ),
      ),
    ),
    unlisted: Type.Optional(Type.Object(bounds, { additionalProperties: false, description: 'Of each certificate that is not listed' })),
  },
  { additionalProperties: false },
)
const validate = compile(clientsSchema)

/** What one certificate may use at once; absent: what `limits` say. */
export interface ClientBounds {
  readonly requestsPerSecond?: number
  readonly inFlight?: number
  readonly connections?: number
  readonly streams?: number
}

/** The rights of one certificate. */
export interface Client extends ClientBounds {
  /** The key in clients.yml: common name or fingerprint. */
  readonly name: string
  /** SHA-256 of the certificate, lower-case hex without colons, where the key is one. */
  readonly fingerprint?: string
  readonly permissions: readonly Permission[]
  readonly wallets: 'all' | readonly string[]
  /** By the address of a wallet, the addresses to which it may send: as they are written. */
  readonly sendTo?: ReadonlyMap<string, readonly string[]>
}

export function readClients(
  yaml: YamlFile | undefined,
  file: string,
  env: Environment,
  problems: ConfigProblem[],
): { clients: readonly Client[]; unlisted: ClientBounds; shown: Section } | undefined {
  const checked = checkFile(validate, { file, yaml }, env, problems)
  if (!checked) return undefined
  const clients = Object.entries(checked.value.clients ?? {}).map(([name, { wallets = [], sendTo, ...rest }]): Client => {
    const fingerprint = fingerprintOf(name)
    const recipients = sendTo && new Map(Object.entries(sendTo))
    return { name, ...(fingerprint === undefined ? {} : { fingerprint }), ...rest, wallets, ...(recipients && { sendTo: recipients }) }
  })
  const twice = clients.find(
    (one, index) => one.fingerprint !== undefined && clients.findIndex((other) => other.fingerprint === one.fingerprint) < index,
  )
  if (twice)
    problems.push({
      file,
      path: `clients.${twice.name}`,
      problem: 'repeats the fingerprint of an entry above in another spelling',
      cure: 'Keep one of the two.',
    })
  return twice ? undefined : { clients, unlisted: checked.value.unlisted ?? {}, shown: checked.shown }
}

/** The entry of a certificate: by its fingerprint, else by its common name; undefined where it is not listed. */
export function clientOf(clients: readonly Client[], certificate: { commonName: string; fingerprint256: string }): Client | undefined {
  const fingerprint = fingerprintOf(certificate.fingerprint256)
  return (
    clients.find((client) => client.fingerprint !== undefined && client.fingerprint === fingerprint) ??
    clients.find((client) => client.fingerprint === undefined && client.name === certificate.commonName)
  )
}

function fingerprintOf(text: string): string | undefined {
  const hex = text.replaceAll(':', '').toLowerCase()
  return /^[0-9a-f]{64}$/.test(hex) ? hex : undefined
}
