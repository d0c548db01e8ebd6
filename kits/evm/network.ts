import type { Token } from '../../core/contracts/index.ts'

/** What is true of a network whoever runs the server: a chain plugin's part. */
export interface EvmNetwork {
  chainId: number
  /** Symbol of the coin that pays for gas; it has 18 decimals on every EVM chain. */
  nativeCurrency: string
  /** The token that wraps it. */
  wrapped: Token
  /** Tokens that routes usually pass through. */
  intermediates: readonly Token[]
  /** Multicall3. */
  multicall: string
  /** The usual time between blocks. */
  blockSeconds: number
  /** After how many blocks a transaction counts as final, unless the settings say otherwise. */
  confirmations: number
  /** By how many percent its nodes want both fees of a replacement raised; 10 where absent, as in geth. */
  leastBumpPercent?: number
  /** The least tip that its validators or nodes take, in gwei; 0 where absent. */
  minTipGwei?: number
  /** The most a request may offer per gas, in gwei, unless the settings say otherwise; 500 where absent. */
  feeCapGwei?: number
  /** Blocks have no base fee, and transactions are of type 0. */
  legacyFees?: boolean
  /** The most gas that one transaction may have (EIP-7825); only the block's limit where absent. */
  mostGas?: bigint
  /** What is charged on top of gas: `op-stack`, the data fee of layer 1 and the operator fee, as its GasPriceOracle says. */
  rollup?: 'op-stack'
  /** Gas has in it what layer 1 costs, so that the same call takes more of it at another time (Arbitrum). */
  gasPaysLayer1?: boolean
  /** A transaction pays for its whole gas limit, used or not (Monad). */
  gasLimitIsPaid?: boolean
  /** Asked for the block's number where the opcode gives that of another chain, as Arbitrum's gives layer 1's. */
  blockNumberCall?: { readonly to: string; readonly data: string }
  /** The native coin is itself a token, `wrapped`: nothing wraps it, and it is traded as that token (Celo). */
  coinIsToken?: boolean
  /** A network of one's own machine, where well-known keys may be used. */
  local?: boolean
}

/** Multicall3 lies at this address on every chain that has it: https://github.com/mds1/multicall3 */
export const multicall3 = '0xcA11bde05977b3631167028862bE2a173976CA11'
