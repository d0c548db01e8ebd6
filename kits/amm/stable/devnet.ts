// "sluice/stable/devnet". Loaded on the devnet only.
import { Contract, MaxUint256, getCreateAddress, parseUnits } from 'ethers'
import type { DevnetPlugin, DevnetSite, DevnetTokenSymbol, Quoter, QuoterHop, QuoterSite } from '../../../core/contracts/devnet.ts'
import { routerAbi, routerDeployment } from './router.ts'

export { routerDeployment }

export interface StableDevnetOptions {
  readonly name: string
  /** Whole tokens of DAI, USDC, USDT, and of a token that exists only here, in place of sUSD. */
  readonly amounts: readonly [dai: string, usdc: string, usdt: string, other: string]
  /** In the contract's own unit. */
  readonly amplification: bigint
  /** In 10^-10. */
  readonly fee: bigint
}

const coins = ['DAI', 'USDC', 'USDT'] as const satisfies readonly DevnetTokenSymbol[]

/** Puts Curve's pool of DAI, USDC, USDT and sUSD on the devnet, and the router. */
export function stableDevnet({ name, amounts, amplification, fee }: StableDevnetOptions): DevnetPlugin {
  return {
    name,
    async deploy(site) {
      const token = await site.artifact('CurvePoolERC20', import.meta.url)
      const shares = await site.deploy(token, 'Curve.fi DAI/USDC/USDT/sUSD', 'crvPlain3andSUSD', 18, 0)
      const other = await site.deploy(token, 'Synthetic USD', 'sUSD', 18, 3n * BigInt(amounts[3]))
      const addresses = [...coins.map((symbol) => site.tokens[symbol].address), await other.getAddress()]
      const artifact = await site.artifact('Stableswap', import.meta.url)
      const pool = await site.deploy(artifact, addresses, addresses, await shares.getAddress(), amplification, fee)
      await site.send(shares, 'set_minter', await pool.getAddress())

      const rawAmounts = [
        ...coins.map((symbol, at) => parseUnits(amounts[at] ?? '0', site.tokens[symbol].decimals)),
        parseUnits(amounts[3], 18),
      ]
      for (const [at, symbol] of coins.entries()) {
        // Twice: the second half stays with the signer, whose simulated swaps are the quoter.
        await site.tokens[symbol].mint(site.signer.address, 2n * (rawAmounts[at] ?? 0n))
        await approve(site, site.tokens[symbol].address, await pool.getAddress())
        await approve(site, site.tokens[symbol].address, routerDeployment.address)
      }
      await approve(site, await other.getAddress(), await pool.getAddress())
      await site.send(pool, 'add_liquidity', rawAmounts, 0n)

      await (await site.signer.sendTransaction({ to: routerDeployment.to, data: routerDeployment.data })).wait()
      // The chain gives its wallets the other coins.
      for (const wallet of site.wallets)
        await site.send(other, 'transfer', wallet, parseUnits(amounts[3], 18) / BigInt(site.wallets.length))
    },
    quoter: swapQuoter,
    shares: {
      tokens: ({ deployer }) => [...coins, stableDevnetAddresses(deployer).other],
      spender: 'susd',
      noDeadline: true,
      noAllowance: true,
    },
  }
}

/** The addresses of the pool, of the token of its shares and of its fourth coin, by the order of transactions above. */
export function stableDevnetAddresses(deployer: string): { shares: string; pool: string; other: string } {
  return {
    shares: getCreateAddress({ from: deployer, nonce: 0 }),
    other: getCreateAddress({ from: deployer, nonce: 1 }),
    pool: getCreateAddress({ from: deployer, nonce: 2 }),
  }
}

/**
 * Simulates swaps of the signer's. `get_dy` is no oracle: it may promise one unit more than `exchange` gives, and nothing tells the input for an
 * exact output, which is searched by the output.
 */
function swapQuoter({ provider, deployer }: QuoterSite): Quoter {
  const { pool, other } = stableDevnetAddresses(deployer)
  const router = new Contract(routerDeployment.address, routerAbi, provider)
  const poolContract = new Contract(pool, ['function coins(int128) view returns (address)'], provider)
  let known: Promise<string[]> | undefined
  const coinsOf = () => (known ??= Promise.all([0, 1, 2].map(async (at) => String(await poolContract.getFunction('coins')(at)))))

  const exactIn = async (route: readonly QuoterHop[], amountInRaw: bigint, blockTag: number): Promise<bigint> => {
    const indexed = [...(await coinsOf()), other]
    const hops = route.map((hop) => [hop.pool, indexed.indexOf(hop.tokenIn), indexed.indexOf(hop.tokenOut), hop.tokenOut])
    const terms = [route[0]?.tokenIn, deployer, false, MaxUint256]
    return BigInt(await router.getFunction('sell').staticCall(terms, amountInRaw, 0n, hops, { from: deployer, blockTag }))
  }
  return {
    exactIn,
    async exactOut(route, amountOutRaw, block) {
      const gives = async (amountInRaw: bigint) => (await exactIn(route, amountInRaw, block)) >= amountOutRaw
      let [below, enough] = [0n, 1n]
      while (!(await gives(enough))) [below, enough] = [enough, enough * 2n]
      while (enough - below > 1n) {
        const middle = (below + enough) / 2n
        if (await gives(middle)) enough = middle
        else below = middle
      }
      return enough
    },
  }
}

async function approve(site: DevnetSite, token: string, spender: string): Promise<void> {
  // The ABI has no return value, because some tokens return none.
  await site.send(new Contract(token, ['function approve(address spender, uint256 value)']), 'approve', spender, MaxUint256)
}
