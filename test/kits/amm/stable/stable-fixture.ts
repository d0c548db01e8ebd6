import { Contract, ContractFactory, MaxUint256, parseUnits, type BaseContract } from 'ethers'
import type { AMM, Token } from '../../../../core/contracts/index.ts'
import { readArtifact } from '../../../../core/devnet/build-state.ts'
import type { Evm } from '../../../../kits/evm/index.ts'
import { poolAMM } from '../../../../kits/amm/index.ts'
import { stableSwap, type StablePool } from '../../../../kits/amm/stable/index.ts'
import { routerDeployment } from '../../../../kits/amm/stable/router.ts'
import { devnetFiles } from '../../../devnet/test-devnet.ts'
import { consistentReads } from '../walk/consistent-reads.ts'
import { openDevnetFixture, tokens, type DevnetFixture } from '../devnet-fixture.ts'

const kit = new URL('../../../../kits/amm/stable/devnet.ts', import.meta.url).href
const { WETH, USDC, DAI, USDT } = tokens

export interface StableFixture extends DevnetFixture {
  readonly pools: readonly [stable: StablePool, wrapped: StablePool]
  /** The tokens of their shares. */
  readonly shareTokens: readonly string[]
  readonly router: Contract
  readonly amm: AMM<Evm>
  /** An exchange of these pools behind any router address. */
  ammOf(pools: readonly StablePool[], router: string): AMM<Evm>
}

/** Two pools of Curve, one with the wrapped coin, and a trader with allowances for all tokens. */
export async function openStableFixture(): Promise<StableFixture> {
  const fixture = await openDevnetFixture(devnetFiles, { pollingSeconds: 0.05 }, consistentReads)
  const { trader } = fixture
  const deploy = async (name: string, ...args: unknown[]): Promise<BaseContract> => {
    const { abi, bytecode } = await readArtifact(name, kit)
    return (await new ContractFactory(abi, bytecode, trader).deploy(...args)).waitForDeployment()
  }
  const listed = async (name: string, decimals: number): Promise<Token> => {
    const address = await (await deploy('CurvePoolERC20', name, name, decimals, 10n ** 9n)).getAddress()
    return { symbol: name, address, decimals }
  }
  const shareTokens: string[] = []
  const fill = async (coins: readonly Token[], amounts: readonly string[]): Promise<StablePool> => {
    const shares = await deploy('CurvePoolERC20', 'shares', 'shares', 18, 0n)
    shareTokens.push(await shares.getAddress())
    const places = coins.map(({ address }) => address)
    const pool = await deploy('Stableswap', places, places, await shares.getAddress(), 256n, 4_000_000n)
    const address = await pool.getAddress()
    await (await shares.getFunction('set_minter')(address)).wait()
    for (const coin of coins) await fixture.approve(coin.address, address)
    const raw = coins.map(({ decimals }, index) => parseUnits(amounts[index] ?? '0', decimals))
    await (await pool.getFunction('add_liquidity')(raw, 0n)).wait()
    return { address, kind: 'first', coins: coins.map((coin) => ({ address: coin.address, decimals: coin.decimals })) }
  }
  await (await trader.sendTransaction({ to: routerDeployment.to, data: routerDeployment.data })).wait()

  const [sUSD, other, sETH] = [await listed('sUSD', 18), await listed('other', 6), await listed('sETH', 18)]
  const pools = [
    await fill([DAI, USDC, USDT, sUSD], ['20000', '14000', '17000', '16000']),
    // No real pool is like it: it serves routes through two pools, and the coin.
    await fill([WETH, USDC, other, sETH], ['40', '60', '50', '45']),
  ] as const
  for (const { address } of [WETH, USDC, DAI]) await fixture.approve(address, routerDeployment.address)
  const usdt = new Contract(USDT.address, ['function approve(address, uint256)'], trader)
  await (await usdt.getFunction('approve')(routerDeployment.address, MaxUint256)).wait()

  const ammOf = (some: readonly StablePool[], routerAddress: string) =>
    poolAMM(fixture.venue({ routerAddress }), stableSwap(fixture.venue({ routerAddress }), { pools: { 'ethereum/local': some } }))
  const { abi } = await readArtifact('StableRouter', kit)
  const router = new Contract(routerDeployment.address, abi, trader)
  return { ...fixture, pools, shareTokens, router, ammOf, amm: ammOf(pools, routerDeployment.address) }
}
