import { evm } from 'sluice/evm'
import { defineConnector } from 'sluice/plugin'
import { schema } from './config.ts'
import { createExchange } from './exchange.ts'
import { agentKind, plainDomain, plainKinds } from './actions.ts'
import { margin, perpetual, spot } from './trading.ts'

const { withdraw3, usdClassTransfer } = plainKinds

export default defineConnector({
  family: evm,
  manifest: {
    name: 'hyperliquid',
    apiVersion: '1.0',
    trading_type: ['CLOB', 'MARGIN_CLOB', 'PERP_CLOB'],
    available_networks: [{ chain: 'hyperliquid', networks: ['mainnet', 'testnet'] }],
    schema,
    signs: [
      agentKind,
      { domain: plainDomain, primaryType: withdraw3.primaryType, own: ['destination'] },
      { domain: plainDomain, primaryType: usdClassTransfer.primaryType },
    ],
  },
  create(venue: Parameters<typeof createExchange>[0]) {
    const exchange = createExchange(venue)
    const { actions, start, stop } = exchange
    const spenders = { hyperliquid: exchange.coreDepositWallet }
    return { CLOB: spot(exchange), MARGIN_CLOB: margin(exchange), PERP_CLOB: perpetual(exchange), spenders, actions, start, stop }
  },
})
