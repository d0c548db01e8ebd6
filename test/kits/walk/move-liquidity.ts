import { Interface } from 'ethers'
import type { randomBits } from '../uniswap-v3/math/random-bits.ts'
import type { Minted } from './range-manager.ts'
import type { WalkFloor } from './walk-floor.ts'

const spacings: Readonly<Record<number, number>> = { 100: 1, 500: 10, 3000: 60, 10_000: 200 }
const mostMinted = 30
const abi = new Interface(['function slot0() view returns (uint160, int24 tick, uint16, uint16, uint16, uint8, bool)'])

/** Each time a position somewhere about a pool's price, and the end of one that has been there for a while. */
export function moveLiquidity({ pools, manager, rpc }: WalkFloor, { below, bits }: ReturnType<typeof randomBits>): () => Promise<void> {
  const ranged = pools.filter(({ version }) => version === 'v3')
  const minted: Minted[] = []
  return async () => {
    const pool = ranged[below(ranged.length)]
    if (!pool) return
    const slot0 = String(await rpc('eth_call', { to: pool.address, data: abi.encodeFunctionData('slot0') }, 'latest'))
    const tick = Number(abi.decodeFunctionResult('slot0', slot0).getValue('tick'))
    const spacing = spacings[pool.fee] ?? 1
    const lower = Math.floor(tick / spacing) + below(61) - 40
    const upper = lower + 1 + below(40)
    const [a, b] = pool.tokens
    const made = await manager.mint(a, b, pool.fee, lower * spacing, upper * spacing, 1n + bits(70))
    if (made) minted.push(made)
    const left = minted.length > mostMinted ? minted.splice(below(minted.length), 1)[0] : undefined
    if (left) await manager.withdraw(left)
  }
}
