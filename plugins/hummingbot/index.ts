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
        defaultNetworks: { type: 'object', additionalProperties: { type: 'string' } },
      },
      required: ['networks', 'defaultNetworks'],
    },
  },
  // Most servers do not listen for it.
  create: async ({ config }) => (await import('./interface.ts')).createInterface(config),
})
