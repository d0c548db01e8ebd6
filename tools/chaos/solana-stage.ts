import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findAssociatedTokenPda } from '@solana-program/token'
import { address } from '@solana/kit'
import { makeHome } from '../../test/plugins/solana/real-server.ts'
import { takesAll } from '../solana-node/ledger/leaders.ts'
import { largestAge, finalizedDepth } from '../solana-node/ledger/ledger.ts'
import { readWire } from '../solana-node/ledger/read-wire.ts'
import type { Mint } from '../solana-node/mints.ts'
import { startSolana, type Solana, type SolanaNode } from '../solana-node/start-solana.ts'
import { startFaultProxy, type FaultProxy } from './chain/fault-proxy.ts'
import { checkHistory } from './checker/check-history.ts'
import { signedBytes, violation, type Violation } from './checker/known.ts'
import { createRecorder, type History } from './history.ts'
import type { Random } from './random.ts'
import type { Home } from './servers/home.ts'
import { compiledServer } from './servers/compiled-tree.ts'
import { settle } from './settle.ts'
import { createStage, type JudgedStage } from './stage.ts'

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
  const { folder, wallet, remove } = await makeHome(cluster, { rpcUrls: [rpcUrl], requestTimeoutSeconds: 2 }, mints)
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

/** I6: what no leader took is over when the last block that could have it is final; some more, since several come between two looks. */
const allowed = Number(largestAge + finalizedDepth) + 40
const blocksAtOnce = 8
/** The head, the look that follows from it, and one that was under way before. */
const requestsOfALook = 3
const patienceMs = 15_000

async function settleSolana(stage: SolanaStage, random: Random): Promise<History> {
  const { cluster, proxy, wallets } = stage
  cluster.pause()
  cluster.lead(takesAll)
  const seen = await settle(stage, random, {
    allowed,
    async pass() {
      cluster.blocks(blocksAtOnce)
      const seen = stage.asked() + requestsOfALook
      for (const end = performance.now() + patienceMs; stage.asked() < seen && performance.now() < end;) await sleep(50)
      return blocksAtOnce
    },
  })
  const signed = signedBytes({ journal: seen.journal, sent: proxy.sent }, readSolana)
  const { blocks, tip } = cluster.ledger
  const landed = blocks.flatMap(({ height, landed }) => landed.map((each) => ({ ...each, height })))
  return {
    ...seen,
    mined: landed
      .filter(({ wire }) => wallets.includes(wire.payer))
      .map(({ signature, wire, outcome, height }) => ({
        txHash: signature,
        from: wire.payer,
        to: '',
        nonce: 0,
        valueRaw: 0n,
        block: Number(height),
        ok: outcome.error === null,
      })),
    nextNonces: new Map(),
    signed,
    live: new Set(signed.flatMap(({ txHash, blockhash = '' }) => (cluster.ledger.isRecent(blockhash, tip) ? txHash : []))),
  }
}

function readSolana(raw: string) {
  const { signature, payer, message } = readWire(Buffer.from(raw.slice(2), 'hex'))
  return { txHash: signature, from: payer, nonce: 0, valueRaw: 0n, blockhash: message.lifetimeToken }
}

/** Every account that was asked for, and whose transaction is final, is there; it was made once; and there are no others. */
async function accountsMadeOnce({ cluster, mints, wallets }: SolanaStage, history: History): Promise<readonly Violation[]> {
  const { blocks, svm } = cluster.ledger
  // Making an account takes calls of other programs; finding it there takes none.
  const making = blocks.flatMap(({ landed }) =>
    landed.filter(({ wire, outcome }) => wallets.includes(wire.payer) && outcome.error === null && outcome.innerInstructions.length > 0),
  )
  const confirmed = new Set(history.journal.flatMap(({ state, requestId }) => (state === 'CONFIRMED' ? requestId : [])))
  const calls = new Map(history.requests.map(({ id }) => [id, history.calls.filter(({ request }) => request === id)]))
  const found: Violation[] = []
  for (const owner of wallets)
    for (const { symbol, address: mint, program } of mints) {
      const [account] = await findAssociatedTokenPda({ owner: address(owner), mint, tokenProgram: program })
      const isThere = svm.getAccount(account).exists
      const madeBy = making.filter(({ wire }) => wire.message.staticAccounts.includes(account)).map(({ signature }) => signature)
      const requests = history.requests.filter(({ wallet, token }) => wallet === owner && token === symbol)
      const isFinal = requests.some(({ id }) => calls.get(id)?.some(({ requestId }) => confirmed.has(requestId)))
      const evidence = { account, symbol, madeBy, requests }
      if (madeBy.length > 1) found.push(violation('I1', 'an account was made more than once', evidence))
      if (isThere && requests.length === 0) found.push(violation('I1', 'an account was made that nobody asked for', evidence))
      if (isThere !== madeBy.length > 0)
        found.push(violation('I1', 'an account is there, or is not, against what the blocks say', evidence))
      if (isFinal && !isThere) found.push(violation('I1', 'an account is not there though what makes it is final', evidence))
    }
  return found
}
