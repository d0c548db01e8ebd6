import { address, signBytes } from '@solana/kit'
import type { KeyPairSigner, Signature } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import type { Plan } from '../../../core/contracts/index.ts'
import { fromKit, type Solana, type SolanaChainConfig } from '../../../kits/solana/index.ts'
import type { Entry } from '../../../core/transactions/entry.ts'
import type { SubmitRequest, Sign } from '../../../core/transactions/submit-request.ts'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import type { SolanaOptions } from '../../../tools/solana-node/start-solana.ts'
import { transactionsOn, until } from '../../transactions/site.ts'
import { startCluster, type TestCluster } from './test-cluster.ts'

export interface SolanaSite extends TestCluster {
  network: SubmitRequest['network']
  /** Signs as the signer process does, by the wallet's key. */
  sign: Sign
}

export async function startSolanaSite(options: Partial<SolanaOptions> = {}, config: SolanaChainConfig = {}): Promise<SolanaSite> {
  const cluster = await startCluster(options, config)
  return { ...cluster, network: { chain: 'solana', network: 'local', impl: cluster.chain }, sign: signBy(cluster.wallet) }
}

export const signBy =
  ({ keyPair }: KeyPairSigner): Sign =>
  async ({ signable }) =>
    signBytes(keyPair.privateKey, signable.bytes)

/** A server's transactions on it. */
export const transactionsAt = (site: SolanaSite, more: Parameters<typeof transactionsOn>[0] = {}) =>
  transactionsOn({ sign: site.sign, sites: [site.network], ...more })

let requests = 0

/** @param more a plan, and whatever else is not as usual */
export function orderOf(site: SolanaSite, more: Partial<SubmitRequest> & Pick<SubmitRequest, 'plan'>): SubmitRequest {
  requests += 1
  const outlines = more.plan.steps.map((step) => site.chain.rail.outline(step as Solana['intent']))
  return {
    network: site.network,
    address: site.wallet.address,
    caller: { id: 'client' },
    requestId: `request-${requests}`,
    feeOverrides: {},
    kind: 'token-account',
    commitment: { gives: {} },
    scope: {
      contracts: outlines.flatMap(({ contracts }) => contracts),
      valueRaw: outlines.reduce((sum, { valueRaw }) => sum + valueRaw, 0n),
    },
    touches: () => ({ action: 'swap', tokens: [] }),
    answer: () => ({}),
    ...more,
  }
}

/** Sends lamports to somebody. */
export function transfer({ wallet }: Pick<SolanaSite, 'wallet'>, to: string, lamports: bigint): Plan<Solana> {
  const instruction = fromKit(getTransferSolInstruction({ source: wallet, destination: address(to), amount: lamports }))
  return { steps: [{ payer: wallet.address, instructions: [instruction], value: String(lamports), rent: '0' }], needs: [], memo: null }
}

export const entryOf = (transactions: Transactions, txHash: string): Promise<Entry | undefined> =>
  transactions.find('solana', 'local', txHash)

/** Lets blocks come until it is in that state; where that is MINED no more than it takes, for with some more it is final. */
export async function comesTo({ cluster }: SolanaSite, transactions: Transactions, txHash: string, state: string): Promise<void> {
  const isConfirmed = () => {
    const found = cluster.ledger.find(txHash as Signature)
    return found !== undefined && cluster.ledger.tip.height > found.block.height
  }
  let last = ''
  await until(`${txHash} is ${state}`, async () => {
    last = (await entryOf(transactions, txHash))?.state ?? 'unknown'
    if (last !== state && !(state === 'MINED' && isConfirmed())) cluster.blocks(1)
    return last === state
  }).catch(() => {
    throw new Error(`${txHash} did not become ${state}; it is ${last}.`)
  })
}

/** Lets the watcher look at what is now, and as blocks come, one for each look; `still`: at the same block again. */
export async function looks({ asked, cluster }: SolanaSite, { times = 3, still = false } = {}): Promise<void> {
  let [seen, made] = [0, 0]
  asked()
  await until('the watcher looks', async () => {
    // In every look, once.
    seen += asked().filter((method) => method === 'getLatestBlockhash').length
    // However slow looks are: what is to be seen is often so many blocks away.
    if (!still && seen < times && made <= seen) {
      cluster.blocks(1)
      made += 1
    }
    return seen >= times
  })
}
