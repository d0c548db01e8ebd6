// What a server of the devnet's first chain alone is started with: also of benches, which no test runner starts.
import { existsSync, readdirSync } from 'node:fs'

/** One chain is enough here, and quick. */
const plugins = new URL('../../plugins/', import.meta.url)
const otherChains = readdirSync(plugins).filter((name) => name !== 'ethereum' && existsSync(new URL(`${name}/tokens.json`, plugins)))
/** Connectors that serve no other network than that of such a chain would be refused. */
const ofOtherChains = ['hyperliquid', 'meteora', 'raydium']
export const nobody = { rpcUrls: ['http://127.0.0.1:1'] }

/** A server of the one chain. */
export const oneChain = {
  settings: { 'plugins.disabled': [...otherChains, ...ofOtherChains] },
  // The outside networks are away, whether this machine has an Internet or not.
  conf: { 'chains/ethereum.yml': { mainnet: nobody, sepolia: nobody, local: { required: true, feeCap: 300 } } },
}
