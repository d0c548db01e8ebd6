// What a plugin declares before it is allowed. The process that says so has run the plugin's code, and no channel keeps that code from answering in
// its place: all of it may be the plugin's own word. So it is read by a closed schema, field by field. Where the plugin runs, which files it has, where
// it came from, when and by whom it was allowed are never read from it.
import * as Type from 'typebox'
import type { Static } from 'typebox'
import { firstProblem, fits, type SchemaProblem } from '../../base/schema-check.ts'
import type { LockedPlugin } from '../../config/lock.ts'
import { dottedPath } from '../../config/tree.ts'
import { isObject } from '../../base/json.ts'
import { named } from '../../base/printable.ts'
import { chainDecides, PluginFault, remedies, signedActions, steps, trustedOnly, type Step } from '../refusal.ts'

const closed = { additionalProperties: false }
const [maxNetworks, maxContracts, maxSigns, maxDeposits, maxPaths] = [500, 1_000, 100, 1_000, 500]
/** Of a record, as JSON: sluice.lock has room for several of them, and people read what they allow. */
const maxRecordBytes = 100_000

const version = Type.Optional(Type.String({ minLength: 1, maxLength: 64 }))
const chainName = '[a-z0-9][a-z0-9-]{0,63}'
const networkName = '\\w{1,64}'
const on = Type.String({ pattern: `^${chainName}/${networkName}$` })
const label = Type.String({ pattern: '^[\\s\\S]{1,200}$' })
/** Of any family of chains. */
const address = Type.String({ pattern: '^[!-~]{1,200}$', description: 'an address' })
const text = Type.String({ maxLength: 1_000 })

const typedData = Type.Object(
  {
    domain: text,
    primaryType: text,
    chainId: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    own: Type.Optional(Type.Array(text, { maxItems: 100 })),
  },
  closed,
)
const ofChain = Type.Object(
  {
    contracts: Type.Record(label, address, { ...closed, maxProperties: 0 }),
    spenders: Type.Array(address, { maxItems: 0 }),
    chainId: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    feeCapRaw: Type.String({ pattern: '^[0-9]{1,40}$' }),
    local: Type.Optional(Type.Boolean()),
  },
  closed,
)
const ofConnector = Type.Object(
  {
    contracts: Type.Record(label, address, { ...closed, maxProperties: maxContracts }),
    spenders: Type.Array(address, { maxItems: maxContracts }),
  },
  closed,
)
const deposit = Type.Object(
  {
    chain: Type.String({ pattern: `^${chainName}$` }),
    network: Type.String({ pattern: `^${networkName}$` }),
    token: address,
    recipient: address,
  },
  closed,
)

const chain = Type.Object(
  {
    version,
    kind: Type.Literal('chain'),
    keys: Type.Union([Type.Literal('secp256k1'), Type.Literal('ed25519')]),
    networks: Type.Record(on, ofChain, { ...closed, maxProperties: maxNetworks }),
    signs: Type.Array(typedData, { maxItems: maxSigns }),
  },
  closed,
)
const connector = Type.Object(
  {
    version,
    kind: Type.Literal('connector'),
    networks: Type.Record(on, ofConnector, { ...closed, maxProperties: maxNetworks }),
    signs: Type.Array(typedData, { maxItems: maxSigns }),
    deposits: Type.Array(deposit, { maxItems: maxDeposits }),
  },
  closed,
)
const interfaceSchema = Type.Object(
  {
    version,
    kind: Type.Literal('interface'),
    networks: Type.Record(on, ofConnector, { ...closed, maxProperties: 0 }),
    signs: Type.Array(typedData, { maxItems: 0 }),
    calls: Type.Optional(Type.Record(label, Type.Array(label, { maxItems: 200 }), { ...closed, maxProperties: maxPaths })),
    decides: Type.Optional(Type.Array(label, { maxItems: maxPaths })),
  },
  closed,
)
const byKind = { chain, connector, interface: interfaceSchema } as const

type Declaration = Static<typeof chain> | Static<typeof connector> | Static<typeof interfaceSchema>

export type Examination =
  | { readonly is: 'examined'; /** Not checked yet. */ readonly what: unknown }
  | { readonly is: 'refused'; readonly step: Step; readonly reason: string; readonly remedy: string }

const examined = Type.Object({ is: Type.Literal('examined'), what: Type.Unknown() }, closed)
const refused = Type.Object({ is: Type.Literal('refused'), step: Type.Enum(steps), reason: Type.String(), remedy: Type.String() }, closed)

/** What the process answered; undefined where that is nothing that this release answers. */
export function readExamination(said: string): Examination | undefined {
  let answer: unknown
  try {
    answer = JSON.parse(said)
  } catch {
    return undefined
  }
  if (fits(examined, answer)) return { is: 'examined', what: answer.what }
  if (!fits(refused, answer)) return undefined
  const { step, reason, remedy } = answer
  return { is: 'refused', step, reason, remedy }
}

/** What this process knows of the plugin by itself. */
export type KnownOfRecord = Pick<LockedPlugin, 'tier' | 'sha256' | 'hosts'>

/** The record of a plugin. @param what it declares, unchecked @throws PluginFault */
export function recordOf(name: string, what: unknown, { tier, sha256, hosts }: KnownOfRecord): LockedPlugin {
  const declared = readDeclaration(what)
  // The process says the same where the plugin's code has not spoken in its place.
  if (tier === 'contained' && declared.kind === 'chain') throw trustedOnly(name, chainDecides)
  if (tier !== 'trusted' && declared.signs.length > 0) throw trustedOnly(name, signedActions)
  const record: LockedPlugin = {
    ...(declared.version !== undefined && { version: declared.version }),
    sha256,
    tier,
    kind: declared.kind,
    ...(declared.kind === 'chain' && { keys: declared.keys }),
    networks: declared.networks,
    signs: declared.signs,
    ...(declared.kind === 'connector' && { deposits: declared.deposits }),
    ...(declared.kind === 'interface' && declared.calls && { calls: declared.calls }),
    ...(declared.kind === 'interface' && declared.decides && { decides: declared.decides }),
    hosts,
  }
  const bytes = Buffer.byteLength(JSON.stringify(record))
  if (bytes > maxRecordBytes)
    throw new PluginFault(
      'manifest',
      `What it may touch has ${bytes} bytes as JSON: at most ${maxRecordBytes} are recorded`,
      'Name in contractAddresses the contracts that wallets call or approve, and no others: pools and tokens are found on the chain.',
    )
  return record
}

/** @throws PluginFault that names the field */
function readDeclaration(what: unknown): Declaration {
  const kind = isObject(what) ? what['kind'] : undefined
  if (kind !== 'chain' && kind !== 'connector' && kind !== 'interface') throw wrong('its kind is not chain, connector or interface')
  const declared = structuredClone(what)
  if (!isDeclaration(declared)) throw wrong(problemOf(kind, firstProblem(byKind[kind], declared)))
  for (const [network, { contracts, spenders }] of Object.entries(declared.networks)) {
    const other = spenders.find((each) => !Object.values(contracts).includes(each))
    if (other !== undefined) throw wrong(`networks.${network}.spenders: ${named(other)} is not one of its contracts there`)
  }
  return declared
}

const isDeclaration = (value: unknown): value is Declaration => Object.values(byKind).some((schema) => fits(schema, value))

function problemOf(kind: string, problem: SchemaProblem | undefined): string {
  const { instancePath = '', keyword = '', message = 'is wrong', params = {} } = problem ?? {}
  const place = named(dottedPath(instancePath))
  if (keyword === 'additionalProperties') return `${place} is not something that a plugin of the kind ${kind} declares`
  if (keyword === 'maxProperties' || keyword === 'maxItems')
    return `${place} has too many entries: at most ${String(params['limit'])} are recorded`
  return instancePath === '' ? message : `${place} ${message}`
}

const wrong = (reason: string): PluginFault => new PluginFault('manifest', `What it declares is wrong: ${reason}`, remedies.correct)
