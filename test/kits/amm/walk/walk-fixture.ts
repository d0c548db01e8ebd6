import { Interface, MaxUint256, toQuantity } from 'ethers'
import type { AMM, Plan, Token } from '../../../../core/contracts/index.ts'
import { maxTick } from '../../../../kits/amm/v3/math.ts'
import { v3DevnetAddresses } from '../../../../kits/amm/v3/devnet.ts'
import { deployerAddress } from '../../../../core/devnet/build-state.ts'
import type { Evm, EvmReader, EvmReceipt } from '../../../../kits/evm/index.ts'
import uniswap from '../../../../plugins/uniswap/index.ts'
import { addresses } from '../../../devnet/addresses.ts'
import { devnetFiles } from '../../../devnet/test-devnet.ts'
import { rpcTo } from '../../evm/test-chain.ts'
import { at, openDevnetFixture, tokens } from '../devnet-fixture.ts'
import { consistentReads } from './consistent-reads.ts'
import { rangeManager, type RangeManager } from './range-manager.ts'
import { poolsAmong, spacings, type WalkPool } from './walk-pools.ts'

const ether = 10n ** 18n
const plenty = 2n ** 160n
// Nodes compute the cost of a transaction with 128 bits.
const plentyWei = 2n ** 127n
// Enough to cross several pools from end to end.
export const maxGas = 500_000_000n
const { WETH, USDC, DAI } = tokens
const tokenAbi = new Interface(['function mint(address, uint256)', 'function approve(address, uint256)', 'function deposit() payable'])

export type WalkFixture = Awaited<ReturnType<typeof openWalkFixture>>

/**
 * Uniswap's own versions on the devnet, which makes a block for every transaction and none else; two tokens more, one with
 * coarse units and one whose liquidity has gaps; and plenty of everything.
 */
export async function openWalkFixture() {
  const fixture = await openDevnetFixture(devnetFiles, { pollingSeconds: 0.05 }, consistentReads)
  const { reader, nativeCurrency } = fixture.chain
  const trader = fixture.trader.address
  const rpc = rpcTo(fixture.devnet.rpcUrl)
  const own = async (symbol: string, decimals: number): Promise<Token> => {
    const address = await (await fixture.deploy('TestToken', symbol, symbol, decimals)).getAddress()
    return { symbol, address, decimals }
  }
  // Still with interval mining: a wait for the next block would never end without one.
  const coarse = await own('CENT', 2)
  const gappy = await own('GAP', 18)
  await rpc('evm_setIntervalMining', 0)
  await rpc('evm_setAutomine', false)
  await rpc('evm_setBlockGasLimit', toQuantity(maxGas))
  await rpc('anvil_setBalance', trader, toQuantity(plentyWei))

  const send = async (to: string, data: string, value = 0n): Promise<EvmReceipt> => {
    const call = { from: trader, to, data, value: toQuantity(value), gas: toQuantity(maxGas) }
    const hash = String(await rpc('eth_sendTransaction', call))
    await rpc('evm_mine')
    const receipt = (await fixture.chain.find(hash, at()))?.receipt
    if (!receipt) throw new Error(`No receipt of ${hash}.`)
    return receipt
  }
  const succeed = async (to: string, name: string, args: readonly unknown[], value = 0n): Promise<void> => {
    const receipt = await send(to, tokenAbi.encodeFunctionData(name, args), value)
    if (receipt.status !== 1) throw new Error(`${name} failed.`)
  }

  const all: readonly Token[] = [...Object.values(tokens), coarse, gappy]
  const { v3Router, v2Router, positionManager } = {
    v2Router: addresses.exchanges.uniswap.router,
    v3Router: addresses.rangeExchanges.uniswap.router,
    positionManager: addresses.rangeExchanges.uniswap.positionManager,
  }
  await succeed(WETH.address, 'deposit', [], plentyWei / 2n)
  for (const { address } of all) {
    if (address !== WETH.address) await succeed(address, 'mint', [trader, plenty])
    for (const spender of [v2Router, v3Router, positionManager]) await succeed(address, 'approve', [spender, MaxUint256])
  }

  const manager: RangeManager = rangeManager(positionManager, trader, send)
  const pair = new Interface(['function addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)'])
  const addPair = async (a: Token, rawA: bigint, b: Token, rawB: bigint) => {
    const args = [a.address, b.address, rawA, rawB, 0n, 0n, trader, MaxUint256]
    if ((await send(v2Router, pair.encodeFunctionData('addLiquidity', args))).status !== 1) throw new Error('No pair was made.')
  }
  // One hundredth is worth a dollar: prices of its smallest unit are large, and dust has value.
  await addPair(coarse, 10n ** 8n, USDC, 10n ** 12n)
  await manager.open(coarse.address, WETH.address, 3000, priceTick(coarse, 100n, WETH, ether / 3000n))
  await manager.open(gappy.address, WETH.address, 10_000, 0)
  await manager.open(gappy.address, DAI.address, 500, 0)
  for (const [from, to] of [
    [-30, -20],
    [-12, -2],
    [3, 9],
    [25, 40],
  ] as const) {
    await manager.mint(gappy.address, WETH.address, 10_000, from * 200, to * 200, 1000n * ether)
    await manager.mint(gappy.address, DAI.address, 500, from * 10, to * 10, 1000n * ether)
  }
  await manager.mint(coarse.address, WETH.address, 3000, -887_220, 887_220, 10_000n * ether)

  const ammBy = (through: EvmReader): AMM<Evm> => {
    const venue = fixture.venue({ v2RouterAddress: v2Router, v3RouterAddress: v3Router, positionManagerAddress: positionManager })
    const rules = { allowedSlippage: '0/1', ttl: 600 }
    const { AMM } = uniswap.create({
      ...venue,
      config: { ...rules, contractAddresses: {}, versions: { v2: rules, v3: rules } },
      reader: through,
    })
    if (!AMM) throw new Error('The connector trades no AMM.')
    return AMM
  }
  const contracts = v3DevnetAddresses(deployerAddress('uniswap'))
  const pools = [...(await poolsAmong(all, contracts, rpc))]

  /** A v2 pool, or a pool of a fee tier with one position over all prices, with about this much of both tokens. */
  const addPool = async (a: Token, rawA: bigint, b: Token, rawB: bigint, fee: number | undefined): Promise<void> => {
    if (fee === undefined) await addPair(a, rawA, b, rawB)
    else {
      const { [fee]: spacing = 1 } = spacings
      const end = Math.floor(maxTick / spacing) * spacing
      await manager.openWhole(a.address, b.address, fee, priceTick(a, rawA, b, rawB), end, rawA > rawB ? rawA : rawB)
    }
    const known = new Set(pools.map(({ address }) => address))
    for (const pool of await poolsAmong([a, b], contracts, rpc)) if (!known.has(pool.address)) pools.push(pool)
  }

  return {
    tokens: [...all, nativeCurrency],
    wrapped: WETH.address,
    between: reader.intermediates.map(({ address }) => address),
    chain: fixture.chain,
    amm: ammBy(reader),
    /** As if gas were free: the best route is the one that gives most. */
    gasless: ammBy({ ...reader, gasPriceRaw: () => 0n }),
    contracts: { ...contracts, v2Router },
    /** Grows by `addPool`. */
    pools: pools as readonly WalkPool[],
    addPool,
    rpc,
    send,
    manager,
    trader,
    carryOut: ({ steps: [{ to, data, value }] }: Plan<Evm>) => send(to, data, BigInt(value)),
    close: fixture.close,
  }
}

/** The price at which these amounts are worth the same. */
function priceTick(a: Token, rawA: bigint, b: Token, rawB: bigint): number {
  const [raw0, raw1] = a.address.toLowerCase() < b.address.toLowerCase() ? [rawA, rawB] : [rawB, rawA]
  return Math.round(Math.log(Number(raw1) / Number(raw0)) / Math.log(1.0001))
}
