import { Interface, type JsonRpcProvider, type Result } from 'ethers'
import type { FoundLog } from '../../../../kits/evm/index.ts'

// What pools of three coins log: 3pool/StableSwap3Pool.vy and pool-templates/base/SwapTemplateBase.vy.
const curve = new Interface([
  'event TokenExchange(address indexed buyer, int128 sold_id, uint256 tokens_sold, int128 bought_id, uint256 tokens_bought)',
  'event AddLiquidity(address indexed provider, uint256[3] token_amounts, uint256[3] fees, uint256 invariant, uint256 token_supply)',
  'event RemoveLiquidity(address indexed provider, uint256[3] token_amounts, uint256[3] fees, uint256 token_supply)',
  'event RemoveLiquidityImbalance(address indexed provider, uint256[3] token_amounts, uint256[3] fees, uint256 invariant, uint256 token_supply)',
  'event RemoveLiquidityOne(address indexed provider, uint256 token_amount, uint256 coin_amount, uint256 token_supply)',
  'event NewFee(uint256 fee, uint256 admin_fee)',
  'event RampA(uint256 old_A, uint256 new_A, uint256 initial_time, uint256 future_time)',
  'event StopRampA(uint256 A, uint256 t)',
])

export interface Fees {
  fee: bigint
  adminFee: bigint
}

/** The logs of the port's pool in a block, translated to Curve's. `fees` are those before, and afterwards those after it. */
export async function portLogs(
  provider: JsonRpcProvider,
  port: Interface,
  address: string,
  block: number,
  fees: Fees,
): Promise<FoundLog[]> {
  return (await provider.getLogs({ address, fromBlock: block, toBlock: block })).map(({ topics, data, transactionHash }) => {
    const parsed = port.parseLog({ topics: [...topics], data })
    if (!parsed) throw new Error(`The port says ${topics[0]}.`)
    return { address, transactionHash, blockNumber: block, ...curve.encodeEventLog(...told(parsed.name, parsed.args, fees)) }
  })
}

function told(name: string, args: Result, fees: Fees): readonly [name: string, args: readonly unknown[]] {
  const [first, second, third, fourth, fifth]: readonly unknown[] = [...args]
  switch (name) {
    case 'TokenSwap':
      // buyer, tokensSold, tokensBought, soldId, boughtId
      return ['TokenExchange', [first, fourth, second, fifth, third]]
    case 'RemoveLiquidity':
      // provider, tokenAmounts, lpTokenSupply
      return [name, [first, second, [0n, 0n, 0n], third]]
    case 'RemoveLiquidityOne':
      // provider, lpTokenAmount, lpTokenSupply, boughtId, tokensBought
      return [name, [first, second, fifth, third]]
    // Curve changes both together.
    case 'NewSwapFee':
      fees.fee = BigInt(String(first))
      return ['NewFee', [fees.fee, fees.adminFee]]
    case 'NewAdminFee':
      fees.adminFee = BigInt(String(first))
      return ['NewFee', [fees.fee, fees.adminFee]]
    default:
      return [name, [...args]]
  }
}
