import { address, signBytes } from '@solana/kit'
import type { KeyPairSigner, Signature } from '@solana/kit'
import { getTransferSolInstruction, SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import type { Plan } from '../../../core/contracts/index.ts'
import { fromKit, type Solana, type SolanaChainConfig, type SolanaInstruction } from '../../../kits/solana/index.ts'
import type { Entry } from '../../../core/transactions/entry.ts'
import type { SubmitRequest, Sign } from '../../../core/transactions/submit-request.ts'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import { checkMessage } from '../../../core/wallet/policy-solana.ts'
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

/** The same for what the real signer would sign, given the programs that connectors declare, and the accounts whose keys it makes. */
export const signChecked =
  (wallet: KeyPairSigner, contracts: () => readonly string[]) =>
  async (request: Parameters<Sign>[0], newAccounts: readonly string[] = []): Promise<Uint8Array> => {
    const rules = {
      keys: 'ed25519' as const,
      name: 'solana/local',
      feeCapRaw: 10n ** 9n,
      local: true,
      contracts: new Set(contracts()),
      contained: new Set<string>(),
    }
    checkMessage(request.signable.bytes, wallet.address, rules, newAccounts)
    return signBytes(wallet.keyPair.privateKey, request.signable.bytes)
  }

/** A server's transactions on it. */
export const transactionsAt = (site: SolanaSite, more: Parameters<typeof transactionsOn>[0] = {}) =>
  transactionsOn({ sign: site.sign, sites: [site.network], ...more })

let requests = 0

/** Allows transfers of SOL, and no other program. @param more a plan, and whatever else is not as usual */
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
      contracts: [SYSTEM_PROGRAM_ADDRESS],
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

/** Of a program that does nothing with its accounts where it has nothing to verify: the new account signs beside the wallet. */
export const signedBy = (account: string): SolanaInstruction => ({
  program: verifier,
  accounts: [{ address: account, writable: false, signer: true }],
  data: Buffer.from([0, 0]).toString('base64'),
})
export const verifier = 'Ed25519SigVerify111111111111111111111111111'

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
