import { Ajv } from 'ajv'
import { bridgesSchema, type ConnectorConfig } from '../contracts/index.ts'
import { PluginFault } from './refusal.ts'

const rules = {
  allowedSlippage: { type: 'string', pattern: '^\\d{1,9}/[1-9]\\d{0,8}$' },
  ttl: { type: 'integer', minimum: 1 },
} as const

/** The keys that the kernel itself trades by, whatever the manifest's schema asks for. */
const isBase = new Ajv({ allErrors: true }).compile<ConnectorConfig>({
  type: 'object',
  properties: {
    ...rules,
    contractAddresses: { type: 'object' },
    bridges: bridgesSchema,
    versions: { type: 'object', additionalProperties: { type: 'object', properties: rules, required: Object.keys(rules) } },
  },
  required: [...Object.keys(rules), 'contractAddresses'],
})

/** Throws PluginFault. */
export function checkBaseKeys(name: string, config: unknown): asserts config is ConnectorConfig {
  if (!isBase(config)) {
    const wrong = (isBase.errors ?? []).map(({ instancePath, params, message }) => {
      const place = [...instancePath.split('/').slice(1), params.missingProperty ?? []].flat().join('.')
      return `${place}: ${message ?? 'is wrong'}`
    })
    throw new PluginFault(
      'configuration',
      [...new Set(wrong)].join('; '),
      `Every connector has these keys: write them in conf/connectors/${name}.yml, or in the plugin's defaults.yml.`,
    )
  }
  checkSlippage(name, 'allowedSlippage', config.allowedSlippage)
  for (const [version, { allowedSlippage }] of Object.entries(config.versions ?? {})) {
    checkSlippage(name, `versions.${version}.allowedSlippage`, allowedSlippage)
  }
}

/** A slippage of all or more leaves a SELL without a bound; such a fraction is most likely written upside down. */
function checkSlippage(name: string, key: string, slippage: string): void {
  const [numerator = '', denominator = ''] = slippage.split('/')
  if (BigInt(numerator) < BigInt(denominator)) return
  throw new PluginFault(
    'configuration',
    `${key} ${slippage} is the whole price or more: trades would have no bound`,
    `Write a fraction below 1 in conf/connectors/${name}.yml, such as 1/100 for one percent.`,
  )
}
