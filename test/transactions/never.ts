import type { Rpc } from '../../core/kits/evm/types.ts'

const refuse = () => Promise.reject(new Error('What is pure asks nobody.'))

/** For parts that decide without a node. */
export const never: Rpc = {
  request: refuse,
  batch: refuse,
  broadcast: refuse,
  url: () => '',
  behind: () => 0,
  distrust: () => {},
  nodes: () => [],
  stop: async () => {},
}
