import { evmRail } from '../../kits/evm/rail.ts'
import type { Rpc } from '../../kits/nodes/rpc.ts'

const refuse = () => Promise.reject(new Error('What is pure asks nobody.'))

/** For parts that decide without a node. */
export const never: Rpc = {
  request: refuse,
  batch: refuse,
  broadcast: refuse,
  onEveryNode: refuse,
  url: () => '',
  answered: () => '',
  behind: () => 0,
  hasRelays: false,
  markUnhealthy: () => {},
  nodes: () => [],
  onRecovery: () => {},
  isolated: () => {
    throw new Error('Nobody is asked.')
  },
  stop: async () => {},
}

export const native = { symbol: 'ETH', address: '0x0', decimals: 18 }

/** A rail of which only what is pure may be used. */
export const pureRail = evmRail({
  rpc: never,
  chainId: 1,
  network: 'n',
  nativeCurrency: native,
  multicall: '0x0',
  confirmations: 1,
  feeCapRaw: 10n,
  token: async () => undefined,
})
