const slippage = {
  type: 'string',
  pattern: '^\\d+/[1-9]\\d*$',
  description: 'A fraction such as 1/100: how far the price may move against the caller',
} as const
const ttl = { type: 'integer', minimum: 1, description: 'Seconds that a trade is valid for' } as const
const networkKey = '^\\w+$'

const addresses = (required: readonly string[], optional: readonly string[] = []) => ({
  type: 'object',
  patternProperties: {
    [networkKey]: {
      type: 'object',
      properties: Object.fromEntries([...required, ...optional].map((key) => [key, { type: 'string' }])),
      required,
      additionalProperties: false,
    },
  },
  additionalProperties: false,
})

/** Configuration of an exchange of one version: `allowedSlippage`, `ttl`, and all of these addresses per network. */
export const addressesSchema = <const Keys extends readonly string[]>(...keys: Keys) =>
  ({
    type: 'object',
    properties: { allowedSlippage: slippage, ttl, contractAddresses: addresses(keys) },
    required: ['allowedSlippage', 'ttl', 'contractAddresses'],
    additionalProperties: false,
  }) as const

/** Configuration of an exchange with one router: its `routerAddress` per network. */
export const singleRouterSchema = addressesSchema('routerAddress')

/**
 * Configuration of an exchange with several protocol versions: `versions` holds each one's slippage and ttl, and
 * a network's addresses hold those of the listed versions.
 * @param byVersion version label → the address keys that it requires, e.g. `{ v2: ['v2RouterAddress'] }`
 */
export function versionedSchema(byVersion: Readonly<Record<string, readonly string[]>>) {
  const keys = Object.values(byVersion).flat()
  return {
    type: 'object',
    properties: {
      allowedSlippage: slippage,
      ttl,
      contractAddresses: addresses([], keys),
      versions: {
        type: 'object',
        properties: Object.fromEntries(
          Object.keys(byVersion).map((version) => [
            version,
            {
              type: 'object',
              properties: { allowedSlippage: slippage, ttl },
              required: ['allowedSlippage', 'ttl'],
              additionalProperties: false,
            },
          ]),
        ),
        minProperties: 1,
        additionalProperties: false,
      },
    },
    required: ['allowedSlippage', 'ttl', 'contractAddresses', 'versions'],
    additionalProperties: false,
    allOf: Object.entries(byVersion).map(([version, required]) => ({
      if: { properties: { versions: { required: [version] } } },
      // eslint-disable-next-line unicorn/no-thenable -- `then` is a keyword of JSON Schema
      then: { properties: { contractAddresses: { additionalProperties: { required } } } },
    })),
  }
}
