import { Interface, JsonRpcProvider, parseEther } from 'ethers'
import { devnetSite, readArtifact } from '../../../../core/devnet/build-state.ts'
import { rpcTo, startAnvil } from '../../../../core/devnet/anvil.ts'
import { newPool, type WeightedPoolKind, deployVault } from '../../../../kits/amm/weighted/devnet.ts'

export interface PoolSpec {
  readonly kind: WeightedPoolKind
  readonly swapFee: string
  /** One for each of the tokens. */
  readonly weights: readonly string[]
  readonly decimals: readonly number[]
}

/** A swap as the Vault asks a pool about it, with the pool's balances. */
export interface SwapQuery {
  readonly exact: 'in' | 'out'
  readonly amountRaw: bigint
  readonly into: number
  readonly outOf: number
  readonly balanceInRaw: bigint
  readonly balanceOutRaw: bigint
}

const chainId = 31337
const plentyOfGas = 2n ** 40n
const mostCallsAtOnce = 1000
// Many calls on a busy machine take long.
const timeoutMs = 60_000
const request =
  '(uint8 kind, address tokenIn, address tokenOut, uint256 amount, bytes32 poolId, uint256 lastChangeBlock, address from, address to, bytes userData)'
const poolAbi = new Interface([`function onSwap(${request} request, uint256 balanceTokenIn, uint256 balanceTokenOut) returns (uint256)`])
const multicall = new Interface([
  'function aggregate3((address target, bool allowFailure, bytes callData)[]) returns ((bool ok, bytes data)[])',
])
const artifactsOfChain = new URL('../../../../plugins/ethereum/devnet.ts', import.meta.url).href
// Later than any block, so that pools with an oracle write nothing.
const lastChangeBlock = 2n ** 32n

/** Pools on a test chain. A contract in the Vault's place asks them many things at once, because they answer to nobody else. */
export async function realPools() {
  const anvil = await startAnvil(0, ['--gas-limit', String(plentyOfGas)])
  const rpc = rpcTo(anvil.rpcUrl, timeoutMs)
  const provider = new JsonRpcProvider(anvil.rpcUrl, chainId, {
    staticNetwork: true,
    batchMaxCount: 1,
    cacheTimeout: -1,
    pollingInterval: 50,
  })
  const site = await devnetSite('weighted', provider)
  const place = await deployVault(site, site.signer.address)
  const vault = await place.vault.getAddress()
  const tokenArtifact = await readArtifact('TestToken', artifactsOfChain)

  const deploy = async ({ kind, swapFee, weights, decimals }: PoolSpec) => {
    const tokens: string[] = []
    for (const each of decimals) tokens.push(await (await site.deploy(tokenArtifact, 'T', 'T', each)).getAddress())
    const order = [...tokens.keys()].toSorted((a, b) => ((tokens[a] ?? '').toLowerCase() < (tokens[b] ?? '').toLowerCase() ? -1 : 1))
    const sorted = <T>(values: readonly T[]) => order.flatMap((index) => values.slice(index, index + 1))
    const terms = {
      kind,
      name: kind,
      tokens: sorted(tokens),
      weights: sorted(weights).map((each) => parseEther(each)),
      swapFee: parseEther(swapFee),
    }
    const pool = await newPool(place, terms)
    const id: string = await pool.getFunction('getPoolId')()
    return { ...terms, id, address: await pool.getAddress(), decimals: sorted(decimals) }
  }
  type DeployedPool = Awaited<ReturnType<typeof deploy>>

  const askSome = async ({ address, id, tokens }: DeployedPool, asked: readonly SwapQuery[]) => {
    const calls = asked.map(({ exact, amountRaw, into, outOf, balanceInRaw, balanceOutRaw }) => {
      const swap = [exact === 'in' ? 0 : 1, tokens[into], tokens[outOf], amountRaw, id, lastChangeBlock, vault, vault, '0x']
      return [address, true, poolAbi.encodeFunctionData('onSwap', [swap, balanceInRaw, balanceOutRaw])]
    })
    const call = { to: vault, data: multicall.encodeFunctionData('aggregate3', [calls]), gas: `0x${plentyOfGas.toString(16)}` }
    const [answers] = multicall.decodeFunctionResult('aggregate3', String(await rpc('eth_call', call, 'latest')))
    return [...answers].map(({ ok, data }) => (ok ? BigInt(data) : undefined))
  }

  return {
    deploy,
    async takeThePlaceOfTheVault() {
      const { bytecode } = await readArtifact('Multicall3', artifactsOfChain)
      await anvil.rpc('anvil_setCode', vault, await anvil.rpc('eth_call', { data: bytecode }, 'latest'))
    },
    /** The answer of the pool's contract; undefined where it reverts. */
    async ask(pool: DeployedPool, asked: readonly SwapQuery[]): Promise<readonly (bigint | undefined)[]> {
      const answers = []
      for (let from = 0; from < asked.length; from += mostCallsAtOnce)
        answers.push(...(await askSome(pool, asked.slice(from, from + mostCallsAtOnce))))
      return answers
    },
    async stop() {
      provider.destroy()
      await anvil.stop()
    },
  }
}
