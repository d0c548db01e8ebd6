import { createRpc } from '../../nodes/index.ts'
import type { Rpc, RpcOptions } from '../../nodes/index.ts'
import { evmDialect } from './evm-dialect.ts'

/** The nodes of one EVM network. */
export function evmRpc({ chainId, ...options }: Omit<RpcOptions, 'dialect'> & { chainId: number }): Rpc {
  return createRpc({ ...options, dialect: evmDialect(chainId) })
}
