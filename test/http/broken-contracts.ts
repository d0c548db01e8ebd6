import type { Rpc } from '../../core/devnet/anvil.ts'

const words = (count: number) =>
  Array.from({ length: count }, (_, index) => `7f${'ff'.repeat(32)}61${(index * 32).toString(16).padStart(4, '0')}52`).join('')

/** What a contract may be in place of what is expected there. */
export const brokenContracts = {
  'is gone': '0x',
  'reverts without a reason': '0x60006000fd',
  'reverts with data': '0x63deadbeef6000526004601cfd',
  'uses up its gas': '0xfe',
  // JUMPDEST, GAS, BALANCE, POP, PUSH1 0, JUMP: another address in each turn, which costs a node a fifth of the time that a jump alone does.
  'never ends': '0x5b5a3150600056',
  'returns nonsense': `0x${words(32)}6104006000f3`,
  'returns a megabyte': '0x620f42406000f3',
} as const

/** While other code is at an address. */
export async function withContract(rpc: Rpc, address: string, code: string, check: () => Promise<void>): Promise<void> {
  const before = await rpc('eth_getCode', address, 'latest')
  await rpc('anvil_setCode', address, code)
  await rpc('evm_mine')
  try {
    await check()
  } finally {
    await rpc('anvil_setCode', address, before)
    await rpc('evm_mine')
  }
}
