import { altchainCreateToken } from '../handlers/altchain.ts'
import { ammEstimateGas } from './amm/estimate-gas.ts'
import { ammLiquidityAdd } from '../handlers/amm/range-changes.ts'
import { ammLiquidityCollectFees } from './amm/liquidity/collect-fees.ts'
import { ammLiquidityPosition } from './amm/liquidity/position.ts'
import { ammLiquidityPositions } from '../handlers/amm/range-positions.ts'
import { ammLiquidityPrice } from './amm/liquidity/price.ts'
import { ammLiquidityRemove } from './amm/liquidity/remove.ts'
import { ammPrice } from '../handlers/amm/price.ts'
import { ammTrade } from '../handlers/amm/trade.ts'
import { bookVerbs } from '../handlers/handlers.ts'
import { connectorConfig } from './connector/config.ts'
import type { Verbs } from '../handlers/context.ts'
import { evmAllowances } from './evm/allowances.ts'
import { evmApprove } from '../handlers/evm.ts'
import { evmCancel } from './evm/cancel.ts'
import { evmNonce } from './evm/nonce.ts'
import { evmSpeedUp } from './evm/speed-up.ts'
import { networkBalances } from './network/balances.ts'
import { networkChainConfig } from './network/chain-config.ts'
import { networkPoll } from '../handlers/poll.ts'
import { networkStatus } from '../handlers/network.ts'
import { networkTokens } from './network/tokens.ts'
import { perpVerbs } from './perp-amm/index.ts'
import { serviceVerbs } from './service/index.ts'

/** The function behind each endpoint. One that is missing does not compile. */
export const verbs: Verbs = {
  ...serviceVerbs,
  ...perpVerbs,
  ...bookVerbs,
  NetworkStatus: networkStatus,
  NetworkChainConfig: networkChainConfig,
  NetworkTokens: networkTokens,
  NetworkBalances: networkBalances,
  NetworkPoll: networkPoll,
  EVMAllowances: evmAllowances,
  EVMNonce: evmNonce,
  EVMCancel: evmCancel,
  EVMSpeedUp: evmSpeedUp,
  EVMApprove: evmApprove,
  AltchainCreateToken: altchainCreateToken,
  ConnectorConfig: connectorConfig,
  AMMPrice: ammPrice,
  AMMTrade: ammTrade,
  AMMEstimateGas: ammEstimateGas,
  AMMLiquidityAdd: ammLiquidityAdd,
  AMMLiquidityRemove: ammLiquidityRemove,
  AMMLiquidityCollectFees: ammLiquidityCollectFees,
  AMMLiquidityPrice: ammLiquidityPrice,
  AMMLiquidityPosition: ammLiquidityPosition,
  AMMLiquidityPositions: ammLiquidityPositions,
}
