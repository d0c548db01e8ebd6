import { createRpc } from '../nodes/rpc.ts'
import type { Rpc } from '../../core/kits/nodes/types.ts'
import type { RpcOptions } from '../nodes/rpc.ts'
import { evmDialect } from '../../core/kits/evm/rpc/evm-dialect.ts'

/** The nodes of one EVM network. */
export function evmRpc({ chainId, ...options }: Omit<RpcOptions, 'dialect'> & { chainId: number }): Rpc {
  return createRpc({ ...options, dialect: evmDialect(chainId) })
}
