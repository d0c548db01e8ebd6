import path from 'node:path'
import { makeHome } from '../../../test/plugins/solana/real-server.ts'
import type { Mint } from '../../solana-node/seeds/mints.ts'
import { startSolana, type Solana, type SolanaNode } from '../../solana-node/start-solana.ts'
import { createRecorder } from '../bots/recorder.ts'
import { checkHistory } from '../checker/check-history.ts'
import type { History } from '../history.ts'
import { startFaultProxy, type FaultProxy } from '../proxy/fault-proxy.ts'
import type { Random } from '../random.ts'
import type { Home } from '../servers/home.ts'
import { compiledServer } from '../servers/patched/compiled-tree.ts'
import { createStage, type JudgedStage } from '../stage.ts'
import { accountsMadeOnce } from './accounts-made-once.ts'
import { settleSolana } from './settle-solana.ts'

/** Quick, so that what has to be final soon is, and long enough for a server to start again within the life of a blockhash. */
const slotMs = 80

/** A cluster of Solana, one of its nodes, what stands between that and the server, and what the bots saw. */
export interface SolanaStage extends JudgedStage {
  proxy: FaultProxy
  cluster: Solana
  /** The one that the server asks. */
  node: SolanaNode
  mints: readonly Mint[]
  /** How many requests came through to the node. */
  asked(): number
}

export async function createSolanaStage({ random, mints: count }: { random: Random; mints: number }): Promise<SolanaStage> {
  const recorder = createRecorder()
  const cluster = await startSolana({ slotMs, seed: String(random.fork('cluster').next()), skipped: 0.1 })
  const mints: Mint[] = []
  for (let made = 0; made < count; made += 1) mints.push(await cluster.createMint({ symbol: `T${made}`, decimals: 6 }))
  const node = await cluster.addNode({})
  let asked = 0
  const proxy = await startFaultProxy({
    target() {
      asked += 1
      return node.url
    },
    sending: { method: 'sendTransaction', rawOf: (wire) => `0x${Buffer.from(String(wire), 'base64').toString('hex')}` },
    random: random.fork('proxy'),
    clock: () => recorder.clock(),
  })
  const patches = ['points']
  const plugins = path.join(path.dirname(await compiledServer(patches)), '../../../plugins')
  const { wallet, ...home } = await homeOn({ cluster, rpcUrl: proxy.url, plugins }, mints)
  const stage = createStage({
    random: random.fork('server'),
    place: { chain: 'solana', network: 'local' },
    wallets: [wallet],
    wishes: mints.map(({ symbol }) => ({ op: 'create-token', token: symbol })),
    proxy,
    home,
    recorder,
    server: { patches },
  })
  const judged: SolanaStage = Object.assign(stage, {
    proxy,
    cluster,
    node,
    mints,
    asked: () => asked,
    settle: (own: Random) => settleSolana(judged, own),
    async judge(history: History) {
      // Each stands for itself: none takes turns with another.
      return [...checkHistory(history, []), ...(await accountsMadeOnce(judged, history))]
    },
    async stop() {
      await Promise.all(stage.servers.map(async (each) => each?.stop()))
      await proxy.stop()
      await cluster.stop()
      await home.remove()
    },
  })
  try {
    await judged.start(0)
  } catch (error) {
    await judged.stop()
    throw error
  }
  return judged
}

/** @param plugins those of the server's own build */
async function homeOn(
  { cluster, rpcUrl, plugins }: { cluster: Solana; rpcUrl: string; plugins: string },
  mints: readonly Mint[],
): Promise<Home & { wallet: string }> {
  const { folder, wallet, remove } = await makeHome(cluster, { rpcUrls: [rpcUrl] }, mints)
  await cluster.fund(wallet.address, 100_000_000_000n)
  cluster.blocks(1)
  const [confDir, certsDir, dataDir] = ['conf', 'certs', 'data'].map((name) => path.join(folder, name)) as [string, string, string]
  return {
    folder,
    confDir,
    certsDir,
    dataDir,
    flags: { 'server.requestTimeoutSeconds': 8, 'data.dir': dataDir, 'plugins.folders': [path.join(plugins, 'solana')] },
    env: { SLUICE_WALLET_PASSPHRASE_FILE: path.join(folder, 'passphrase') },
    wallet: wallet.address,
    remove,
  }
}
