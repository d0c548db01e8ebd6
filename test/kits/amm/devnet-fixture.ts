import { setTimeout as sleep } from 'node:timers/promises'
import { Contract, ContractFactory, JsonRpcProvider, MaxUint256, Wallet, type BaseContract, type TransactionReceipt } from 'ethers'
import type { At, Chain, Plan, Token, Venue } from '../../../core/contracts/index.ts'
import { readArtifact } from '../../../core/devnet/build-state.ts'
import { startDevnet } from '../../../core/devnet/start-devnet.ts'
import type { Evm, EvmChainConfig, EvmReceipt } from '../../../kits/evm/index.ts'
import ethereum from '../../../plugins/ethereum/index.ts'
import { addresses } from '../../devnet/addresses.ts'
import { devnetFiles, keptDataDir } from '../../devnet/test-devnet.ts'
import type { NodeFront } from './walk/consistent-reads.ts'

// Account 0 of anvil's well-known mnemonic.
const traderKey = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const silent = { info() {}, warn() {} }
const artifactsOfTokens = new URL('../../../plugins/ethereum/devnet.ts', import.meta.url).href

/** No shorter than a test may take: a question that waits for a busy machine is not a failure. */
export const at = (): At => ({ signal: AbortSignal.timeout(120_000) })

const token = (symbol: keyof typeof addresses.tokens): Token => ({ symbol, ...addresses.tokens[symbol] })
export const tokens = { WETH: token('WETH'), USDC: token('USDC'), DAI: token('DAI'), WBTC: token('WBTC'), USDT: token('USDT') }

export type DevnetFixture = Awaited<ReturnType<typeof openDevnetFixture>>

/**
 * The devnet with its real exchanges, the chain's own reader over it, and a wallet that carries plans out.
 * @param before what all of them ask in place of the node
 */
export async function openDevnetFixture(
  files: readonly string[] = devnetFiles,
  config: EvmChainConfig = {},
  before?: (rpcUrl: string) => Promise<NodeFront>,
) {
  const started = await startDevnet({ port: 0, dataDir: keptDataDir(files), devnetFiles: files })
  const front = await before?.(started.rpcUrl)
  const devnet = { ...started, rpcUrl: front?.url ?? started.rpcUrl }
  const provider = new JsonRpcProvider(devnet.rpcUrl, devnet.chainId, {
    staticNetwork: true,
    cacheTimeout: -1,
    pollingInterval: 30,
    batchMaxCount: 1,
  })
  const trader = new Wallet(traderKey, provider)
  const counted = { rpc: 0 }
  const chain: Chain<Evm> = ethereum.create({
    chain: 'ethereum',
    network: 'local',
    config: { rpcUrls: [devnet.rpcUrl], ...config },
    log: silent,
    meter: { rpc: () => void (counted.rpc += 1) },
  })
  await chain.start?.(at().signal)

  const venue = (contracts: Readonly<Record<string, string>>): Venue<Evm> => ({
    chain: 'ethereum',
    network: 'local',
    config: {},
    contracts,
    reader: chain.reader,
    nativeCurrency: chain.nativeCurrency,
    tokens: Object.values(tokens),
    log: silent,
  })

  /** Polls: a wait for the next block would never end without one. */
  const mined = async (hash: string): Promise<EvmReceipt> => {
    for (let tries = 0; tries < 1_500; tries += 1) {
      const receipt = (await chain.find(hash, at()))?.receipt
      // anvil has a block's receipts and state a moment before calls see its number.
      if (receipt && (await chain.reader.read([], at())).head.number >= BigInt(receipt.blockNumber)) return receipt
      await sleep(20)
    }
    throw new Error(`No receipt of ${hash}.`)
  }

  /** Sends a plan as it is, without simulating it. */
  const execute = async ({ steps: [{ to, data, value }] }: Plan<Evm>): Promise<EvmReceipt> =>
    mined((await trader.sendTransaction({ to, data, value, gasLimit: 1_000_000n })).hash)

  const approve = async (token: string, spender: string): Promise<void> => {
    const contract = new Contract(token, ['function approve(address spender, uint256 value)'], trader)
    await mined((await contract.getFunction('approve')(spender, MaxUint256)).hash)
  }

  const deploy = async (name: string, ...args: unknown[]): Promise<BaseContract> => {
    const { abi, bytecode } = await readArtifact(name, artifactsOfTokens)
    const contract = await new ContractFactory(abi, bytecode, trader).deploy(...args)
    return contract.waitForDeployment()
  }

  /** A new token with a balance of the trader, and a pool of it with another token on Uniswap. */
  const list = async (artifact: string, symbol: string, tokenRaw: bigint, other: Token, otherRaw: bigint): Promise<Token> => {
    const contract = await deploy(artifact, symbol, symbol, 18)
    const address = await contract.getAddress()
    await wait(contract.getFunction('mint')(trader.address, tokenRaw * 1000n))
    await pool(address, tokenRaw, other.address, otherRaw)
    return { symbol, address, decimals: 18 }
  }

  const pool = async (tokenA: string, rawA: bigint, tokenB: string, rawB: bigint): Promise<void> => {
    const { router } = addresses.exchanges.uniswap
    await approve(tokenA, router)
    await approve(tokenB, router)
    const abi = ['function addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)']
    await wait(
      new Contract(router, abi, trader).getFunction('addLiquidity')(tokenA, tokenB, rawA, rawB, 0n, 0n, trader.address, MaxUint256),
    )
  }

  const balance = async (token: Token, owner = trader.address): Promise<bigint> => (await chain.balances(owner, [token], at()))[0] ?? 0n

  const close = async (): Promise<void> => {
    await chain.stop?.()
    provider.destroy()
    await front?.stop()
    await devnet.stop()
  }

  return { devnet, provider, trader, counted, chain, venue, execute, approve, deploy, list, pool, balance, close, mined }
}

async function wait(sending: Promise<{ wait(): Promise<TransactionReceipt | null> }>): Promise<void> {
  await (await sending).wait()
}
