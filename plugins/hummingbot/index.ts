import { defineInterface } from 'sluice/interface'
import type { HummingbotConfig } from './networks.ts'

/** What the clients of Hummingbot 2.16 and 2.17 and of hummingbot-api ask their gateway, answered by the endpoints of Sluice. */
export default defineInterface<HummingbotConfig>({
  manifest: {
    name: 'hummingbot',
    apiVersion: '1.0',
    trading_type: [],
    available_networks: [],
    schema: {
      type: 'object',
      properties: {
        networks: {
          type: 'object',
          propertyNames: { pattern: '^[a-z0-9]+-[a-z0-9-]+$' },
          additionalProperties: { type: 'string', pattern: '^[a-z0-9-]+/\\w+$' },
        },
        receiptSeconds: { type: 'number', minimum: 0, maximum: 250 },
        positionSeconds: { type: 'number', minimum: 0, maximum: 290 },
        staleSeconds: { type: 'number', minimum: 1, maximum: 3600 },
        quoteSeconds: { type: 'number', minimum: 1, maximum: 3600 },
        collectSeconds: { type: 'number', minimum: 1, maximum: 3600 },
        defaultNetworks: { type: 'object', additionalProperties: { type: 'string' } },
      },
      required: ['networks', 'defaultNetworks', 'receiptSeconds', 'positionSeconds', 'staleSeconds', 'collectSeconds', 'quoteSeconds'],
    },
  },
  // Most servers do not listen for it.
  create: async ({ config }) => (await import('./interface.ts')).createInterface(config),
})
