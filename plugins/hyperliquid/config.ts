import { addressesSchema, bridgesSchema } from 'sluice/plugin'
import type { ConnectorConfig } from 'sluice/plugin'

/** Where one network of the exchange is reached. */
export interface Urls {
  readonly apiUrl: string
  readonly wsUrl: string
}

export interface HyperliquidConfig extends ConnectorConfig {
  readonly networks: Readonly<Record<string, Urls>>
  /** Wallet → the agent that it allowed at the exchange, and whose key signs for it. */
  readonly agents: Readonly<Record<string, string>>
  readonly requestWeightPerMinute: number
  readonly marketsSeconds: number
}

const url = (scheme: string) => ({ type: 'string', pattern: `^${scheme}s?://[^/]` })
const address = '^0x[0-9a-fA-F]{40}$'
const urls = {
  type: 'object',
  properties: { apiUrl: url('http'), wsUrl: url('ws') },
  required: ['apiUrl', 'wsUrl'],
  additionalProperties: false,
}

export const schema = {
  type: 'object',
  properties: {
    allowedSlippage: {
      type: 'string',
      pattern: '^\\d+/[1-9]\\d*$',
      description: 'A fraction such as 1/100: how far a MARKET order without limitPrice may move the price',
    },
    ttl: { type: 'integer', minimum: 1, description: 'Seconds after which the exchange refuses an action that did not reach it' },
    contractAddresses: addressesSchema('coreDepositWallet').properties.contractAddresses,
    bridges: bridgesSchema,
    networks: {
      type: 'object',
      properties: { mainnet: urls, testnet: urls },
      required: ['mainnet', 'testnet'],
      additionalProperties: false,
      description: 'Where the exchange is reached',
    },
    agents: {
      type: 'object',
      patternProperties: { [address]: { type: 'string', pattern: address } },
      additionalProperties: false,
      default: {},
      description: "A wallet's address → that of the agent (API wallet) which signs for it, whose key the server holds too",
    },
    requestWeightPerMinute: {
      type: 'integer',
      minimum: 100,
      default: 1200,
      description: "The exchange's limit for one IP address; less where others share the address",
    },
    marketsSeconds: { type: 'integer', minimum: 1, default: 60, description: 'How long the list of markets is kept' },
  },
  required: ['allowedSlippage', 'ttl', 'contractAddresses', 'networks'],
  additionalProperties: false,
} as const
