// Pools that a configuration lists: at addresses of their own, or of classes that the connector does not derive.
import { addressesSchema, type Venue } from '../../../core/contracts/index.ts'
import { isObject } from '../../../core/base/json.ts'
import { canonicalAddress } from '../types.ts'

/** `conf/connectors/<name>.yml` of an exchange of one program. */
export const poolsSchema = {
  ...addressesSchema('programAddress'),
  properties: {
    ...addressesSchema('programAddress').properties,
    pools: {
      type: 'object',
      patternProperties: { '^\\w+$': { type: 'array', items: { type: 'string' }, maxItems: 1_000, uniqueItems: true } },
      additionalProperties: false,
      description: 'Network, as in contractAddresses → addresses of pools beside those that the connector finds by itself',
    },
  },
} as const

/** The same, where quotes are of some bytes of the program. @param versions those that the exchange has arithmetic of */
export const programSchema = (versions: readonly string[]) =>
  ({
    ...poolsSchema,
    properties: {
      ...poolsSchema.properties,
      programs: {
        type: 'object',
        propertyNames: { pattern: '^[0-9a-f]{64}$' },
        additionalProperties: { enum: versions },
        description:
          "The sha256 of a program's bytes → the version of the arithmetic that quotes its pools, beside those that the connector knows",
      },
    },
  }) as const

/** The bytes of programs that the operator says are of a version. */
export function programsOf<V extends string>(config: object, versions: readonly V[]): Readonly<Record<string, V>> {
  const { programs } = config as { readonly programs?: unknown }
  const isVersion = (value: unknown): value is V => versions.some((each) => each === value)
  return Object.fromEntries(
    Object.entries(isObject(programs) ? programs : {}).flatMap(([of, version]) => (isVersion(version) ? [[of, version]] : [])),
  )
}

/** As configuration names the networks of Solana: with the chain's name, or without it. */
const networkKey = /^(solana_)?(mainnet|testnet|devnet|local)$/

/** Those of a network. @throws Error where one is no address, or some are of a network that there is not */
export function listedPoolsOf(config: object, network: string): readonly string[] {
  const { pools } = config as { readonly pools?: unknown }
  const unknown = isObject(pools) ? Object.keys(pools).find((each) => !networkKey.test(each)) : undefined
  if (unknown !== undefined) throw new Error(`pools has the network ${unknown}, which Solana has not: correct it.`)
  const listed = isObject(pools) ? (pools[`solana_${network}`] ?? pools[network]) : undefined
  if (!Array.isArray(listed)) return []
  return listed.map((each: unknown) => {
    if (typeof each !== 'string' || canonicalAddress(each) !== each)
      throw new Error(`pools lists ${String(each)} on ${network}, which is no address of Solana: correct it.`)
    return each
  })
}

/**
 * For exchanges whose arithmetic is of one program: the signer's policy follows the configuration, and plans call that program.
 * @throws Error where the configuration names another
 */
export function requireProgram(program: string, { contracts, network }: Pick<Venue, 'contracts' | 'network'>): void {
  const { programAddress } = contracts
  if (programAddress !== undefined && programAddress !== program)
    throw new Error(
      `contractAddresses of ${network} has the program ${programAddress}, and quotes and trades are of ${program}: remove it.`,
    )
}
