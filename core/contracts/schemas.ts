const slippage = {
  type: 'string',
  pattern: '^\\d+/[1-9]\\d*$',
  description: 'A fraction such as 1/100: how far the price may move against the caller',
} as const
/** At most a day: more is a number of milliseconds, or a trade that nobody expects any more. */
const ttl = { type: 'integer', minimum: 1, maximum: 86_400, description: 'Seconds that a trade is valid for' } as const
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

const bridge = {
  type: 'object',
  properties: {
    network: { type: 'string', pattern: networkKey, description: 'Of the chain that deposits come from' },
    token: { type: 'string', description: 'Its address there' },
    recipient: { type: 'string', description: "The exchange's own address there: what is sent to it is credited to the sender" },
  },
  required: ['network', 'token', 'recipient'],
  additionalProperties: false,
} as const

/** JSON Schema of the key `bridges`, for exchanges that take deposits from other chains. */
export const bridgesSchema = {
  type: 'object',
  patternProperties: { [networkKey]: { type: 'object', patternProperties: { '^[\\w-]+$': bridge }, additionalProperties: false } },
  additionalProperties: false,
  description: 'Network, as in contractAddresses → chain that deposits come from → the transfer there that is a deposit',
} as const

/** Configuration of an exchange of one version: `allowedSlippage`, `ttl`, and all of these addresses per network. */
export const addressesSchema = <const Keys extends readonly string[]>(...keys: Keys) =>
  ({
    type: 'object',
    properties: { allowedSlippage: slippage, ttl, contractAddresses: addresses(keys) },
    required: ['allowedSlippage', 'ttl', 'contractAddresses'],
    additionalProperties: false,
  }) as const

/** The same with further addresses that a network may have. */
export const withOptionalAddresses = (required: readonly string[], optional: readonly string[]) => ({
  ...addressesSchema(...required),
  properties: { allowedSlippage: slippage, ttl, contractAddresses: addresses(required, optional) },
})

/** Configuration of an exchange with one router: its `routerAddress` per network. */
export const singleRouterSchema = addressesSchema('routerAddress')

/**
 * Configuration of an exchange with several protocol versions: `versions` has slippage and ttl of each version, and each network has the
 * addresses of the listed versions.
 * @param byVersion version label → the address keys that it requires, e.g. `{ v2: ['v2RouterAddress'] }`
 * @param further optional settings beside these: their schemas by name.
 * @param optional keys of addresses that a network may have.
 */
export function versionedSchema(
  byVersion: Readonly<Record<string, readonly string[]>>,
  further: Readonly<Record<string, object>> = {},
  optional: readonly string[] = [],
) {
  const keys = [...Object.values(byVersion).flat(), ...optional]
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
      ...further,
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
