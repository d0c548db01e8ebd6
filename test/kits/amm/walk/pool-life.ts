import { Interface, toQuantity } from 'ethers'
import borrower from '../../../fixtures/uniswap-v3/FlashBorrower.json' with { type: 'json' }
import type { Random } from './any-swap.ts'
import { makePool } from './new-pools.ts'
import type { MintedPosition } from './range-manager.ts'
import { maxGas, type WalkFixture } from './walk-fixture.ts'
import { spacings, type WalkPool } from './walk-pools.ts'

const mostMinted = 30
const abi = new Interface([
  'function slot0() view returns (uint160, int24 tick, uint16, uint16, uint16, uint8, bool)',
  'function borrow(address pool, uint256 amount0, uint256 amount1)',
  'function mint(address to, uint256 value)',
  'function transfer(address to, uint256 value)',
])

/** Changes of pools besides trades: positions opened and closed, fees collected, flash loans, new pools; each in turn. */
export async function poolLife(fixture: WalkFixture, { below, bits }: Random) {
  const { manager, rpc, send, trader, tokens, wrapped } = fixture
  const minted: MintedPosition[] = []
  const counted = { minted: 0, burnt: 0, collected: 0, lent: 0, made: 0 }
  const ranged = (from: readonly WalkPool[]) => from.filter(({ version }) => version === 'v3')
  const oneOf = <T>(from: readonly T[]): T | undefined => from[below(from.length)]

  const hash = await rpc('eth_sendTransaction', { from: trader, data: borrower.bytecode, gas: toQuantity(maxGas) })
  await rpc('evm_mine')
  const purse = String(Reflect.get(Object(await rpc('eth_getTransactionReceipt', hash)), 'contractAddress'))
  for (const { native, address } of tokens) {
    if (native) continue
    if (address === wrapped) await send(address, abi.encodeFunctionData('transfer', [purse, 10n ** 24n]))
    else await send(address, abi.encodeFunctionData('mint', [purse, 2n ** 120n]))
  }
  // A flash loan repays by a transfer that returns whether it succeeded.
  const silent = new Set(tokens.filter(({ symbol }) => symbol === 'USDT').map(({ address }) => address))

  /** A tick near a pool's price. */
  async function mint(): Promise<void> {
    const pool = oneOf(ranged(fixture.pools))
    if (!pool) return
    const slot0 = await rpc('eth_call', { to: pool.address, data: abi.encodeFunctionData('slot0') }, 'latest').catch(() => '0x')
    // A reorganisation may have taken the pool with it.
    if (slot0 === '0x') return
    const tick = Number(abi.decodeFunctionResult('slot0', String(slot0)).getValue('tick'))
    const spacing = spacings[pool.fee] ?? 1
    const lower = Math.floor(tick / spacing) + below(61) - 40
    const upper = lower + 1 + below(40)
    const [a, b] = pool.tokens
    const made = await manager.mint(a, b, pool.fee, lower * spacing, upper * spacing, 1n + bits(70))
    if (!made) return
    minted.push(made)
    counted.minted += 1
  }

  /** All liquidity of a position. A reorganisation may have removed older ones. */
  async function burn(): Promise<void> {
    const left = minted.splice(minted.length - 1 - below(Math.min(2, minted.length)), 1)[0]
    if (left && (await manager.withdraw(left))) counted.burnt += 1
  }

  async function collect(): Promise<void> {
    const from = oneOf(minted)
    if (from && (await manager.collect(from))) counted.collected += 1
  }

  async function lend(): Promise<void> {
    const pool = oneOf(ranged(fixture.pools).filter((each) => !each.tokens.some((token) => silent.has(token))))
    if (pool && (await send(purse, abi.encodeFunctionData('borrow', [pool.address, bits(20), bits(20)]))).status === 1) counted.lent += 1
  }

  async function make(): Promise<void> {
    if (await makePool(fixture, below)) counted.made += 1
  }

  const deeds = [mint, make, collect, lend, mint, burn]
  let turn = 0
  return {
    counted,
    async next(): Promise<void> {
      const deed = minted.length > mostMinted ? burn : deeds[turn % deeds.length]
      turn += 1
      await deed?.()
    },
  }
}
