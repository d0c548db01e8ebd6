// Pools that a configuration lists: at addresses of their own, or of classes that the connector does not derive.
import { addressesSchema } from '../../../core/contracts/index.ts'
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

/** Those of a network. @throws Error where one is no address */
export function listedPoolsOf(config: object, network: string): readonly string[] {
  const { pools } = config as { readonly pools?: unknown }
  const listed = isObject(pools) ? pools[network] : undefined
  if (!Array.isArray(listed)) return []
  return listed.map((each: unknown) => {
    if (typeof each !== 'string' || canonicalAddress(each) !== each)
      throw new Error(`pools lists ${String(each)} on ${network}, which is no address of Solana: correct it.`)
    return each
  })
}
