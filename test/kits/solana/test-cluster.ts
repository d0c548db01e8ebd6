import { generateKeyPairSigner } from '@solana/kit'
import type { KeyPairSigner } from '@solana/kit'
import type { Chain } from '../../../core/contracts/index.ts'
import { solanaChain, type Solana, type SolanaChainConfig, type SolanaNetwork } from '../../../kits/solana/index.ts'
import { startSolana, type Solana as Cluster, type SolanaOptions } from '../../../tools/solana-node/start-solana.ts'

export const soon = () => ({ signal: AbortSignal.timeout(60_000) })
export const silent = { info() {}, warn() {} }

export interface TestCluster {
  cluster: Cluster
  chain: Chain<Solana>
  wallet: KeyPairSigner
  /** What the chain asked nodes for since this was last called. */
  asked: () => string[]
  stop(): Promise<void>
}

/** The kit over any nodes. */
export function chainOver(
  config: SolanaChainConfig,
  definition: Partial<SolanaNetwork> = {},
): { chain: Chain<Solana>; asked: () => string[] } {
  const methods: string[] = []
  const meter = { rpc: (method: string) => void methods.push(method) }
  const venue = { chain: 'solana', network: 'local', config: { pollingSeconds: 0.05, ...config }, log: silent, meter }
  return { chain: solanaChain(venue, { chainId: 104, local: true, ...definition }), asked: () => methods.splice(0) }
}

/** A cluster in which time passes when the test lets it, and a wallet with 5 SOL. */
export async function startCluster(options: Partial<SolanaOptions> = {}, config: SolanaChainConfig = {}): Promise<TestCluster> {
  const cluster = await startSolana({ slotMs: 'by hand', ...options })
  const wallet = await generateKeyPairSigner()
  await cluster.fund(wallet.address, 5_000_000_000n)
  cluster.blocks(1)
  // On a slow machine the node answers late, and there is no other one.
  const { chain, asked } = chainOver({ rpcUrls: [cluster.url], requestTimeoutSeconds: 60, ...config })
  return {
    cluster,
    chain,
    wallet,
    asked,
    async stop() {
      await chain.stop?.()
      await cluster.stop()
    },
  }
}
