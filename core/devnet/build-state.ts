import { gunzipSync, gzipSync } from 'node:zlib'
import { JsonRpcProvider, isHexString } from 'ethers'
import type { DevnetPlugin, DevnetSite, DevnetToken, DevnetTokenSymbol, DevnetTokens, MintableToken } from '../contracts/devnet.ts'
import { DevnetError } from './devnet-error.ts'
import { devnetSite } from './devnet-site.ts'
import { chainId, startAnvil } from './anvil.ts'

const pluginTimeoutMs = 60_000

/** A plugin's own deployment failed, not the devnet. */
export class DeploymentFailure extends DevnetError {
  readonly plugin: DevnetPlugin

  constructor(plugin: DevnetPlugin, cause: unknown) {
    super(`The devnet.ts of ${plugin.name} failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.plugin = plugin
  }
}

/** Deploys everything on a fresh chain of its own and gives the state of that chain, as anvil dumps it (JSON, gzipped). */
export async function buildState(plugins: readonly DevnetPlugin[]): Promise<Buffer> {
  const [chain, ...others] = plugins.filter((plugin) => plugin.tokens)
  if (!chain?.tokens || others.length > 0)
    throw new DevnetError('The devnet needs exactly one devnet.ts with `tokens`: the one of its chain.')
  const anvil = await startAnvil(0)
  const provider = new JsonRpcProvider(anvil.rpcUrl, chainId, {
    staticNetwork: true,
    batchMaxCount: 1,
    cacheTimeout: -1,
    pollingInterval: 4,
  })
  try {
    const tokens = await deployed(chain, chain.tokens(await devnetSite(chain.name, provider)))
    for (const plugin of plugins) {
      const site = await devnetSite(plugin.name, provider)
      if (plugin.deploy) await deployed(plugin, plugin.deploy({ ...site, tokens: mintedBy(site, tokens) }))
    }
    const dump = await anvil.rpc('anvil_dumpState')
    if (!isHexString(dump)) throw new DevnetError('anvil gave no state to keep.')
    return withoutTraces(Buffer.from(dump.slice(2), 'hex'))
  } finally {
    provider.destroy()
    await anvil.stop()
  }
}

/**
 * Nobody asks how the transactions ran that deployed it, and these traces are most of the state, which each start loads.
 */
function withoutTraces(dump: Buffer): Buffer {
  const state: unknown = JSON.parse(gunzipSync(dump).toString())
  return gzipSync(JSON.stringify(state, (key, value: unknown) => (key === 'traces' ? [] : value)))
}

async function deployed<T>(plugin: DevnetPlugin, work: Promise<T>): Promise<T> {
  let limit: NodeJS.Timeout | undefined
  const tooLong = new Promise<never>((_, reject) => {
    limit = setTimeout(() => reject(new Error(`deploying took more than ${pluginTimeoutMs / 1000} seconds`)), pluginTimeoutMs)
  })
  try {
    return await Promise.race([work, tooLong])
  } catch (cause) {
    throw new DeploymentFailure(plugin, cause)
  } finally {
    clearTimeout(limit)
  }
}

function mintedBy(site: DevnetSite, tokens: Record<DevnetTokenSymbol, MintableToken>): DevnetTokens {
  const bind = ({ address, decimals, mint }: MintableToken): DevnetToken => ({
    address,
    decimals,
    mint: (to, amountRaw) => mint(site, to, amountRaw),
  })
  return { WETH: bind(tokens.WETH), USDC: bind(tokens.USDC), DAI: bind(tokens.DAI), WBTC: bind(tokens.WBTC), USDT: bind(tokens.USDT) }
}
