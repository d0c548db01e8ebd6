import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { HDNodeWallet, Interface, getBytes, keccak256, toQuantity } from 'ethers'
import type { Chain, Plan } from '../../core/contracts/index.ts'
import { startAnvil } from '../../core/devnet/anvil.ts'
import { evmChain, multicall3 } from '../../kits/evm/index.ts'
import { openStore } from '../../core/store/open-store.ts'
import type { Store } from '../../core/store/store.ts'
import { createTransactions, type Transactions } from '../../core/transactions/transactions.ts'
import { sqlJournal } from '../../core/transactions/journal/sql-journal.ts'
import { givesNothing, type Budgets } from '../../core/transactions/budgets.ts'
import { sqlLeases } from '../../core/transactions/leases.ts'
import type { Entry, Kind } from '../../core/transactions/entry.ts'
import type { Journal } from '../../core/transactions/journal/journal.ts'
import type { SubmitRequest, Sign, SignPermit, TransactionTarget } from '../../core/transactions/submit-request.ts'
import { startRelay, type Relay } from './relay.ts'

const mnemonic = 'test test test test test test test test test test test junk'
export const wallets = Array.from({ length: 10 }, (_, index) => HDNodeWallet.fromPhrase(mnemonic, undefined, `m/44'/60'/0'/0/${index}`))
export const addressOf = (index: number): string => wallets[index]?.address ?? ''
export const nowhere = '0x000000000000000000000000000000000000dEaD'
export const gwei = 10n ** 9n

export interface TestSite {
  chain: Chain
  network: SubmitRequest['network']
  relay: Relay
  /** Where the chain has two nodes. */
  secondRelay?: Relay
  rpc(method: string, ...params: readonly unknown[]): Promise<unknown>
  mine(blocks?: number): Promise<void>
  /** Lets everything through again and waits until the server has noticed. */
  heal(): Promise<void>
  stop(): Promise<void>
}

/** A chain for one test file. With `--no-mining` a block comes when the test mines one. */
export async function startSite({
  confirmations = 1,
  flags = [],
  bumpAfterSeconds,
  feeCap = 500,
  hasTwoNodes = false,
  relaysOf,
}: {
  confirmations?: number
  flags?: readonly string[]
  bumpAfterSeconds?: number
  feeCap?: number
  hasTwoNodes?: boolean
  /** Starts private relays for the chain, and gives their URLs. */
  relaysOf?: (rpc: TestSite['rpc']) => Promise<readonly string[]>
} = {}): Promise<TestSite> {
  const anvil = await startAnvil(0, flags)
  const relay = await startRelay(anvil.rpcUrl)
  const secondRelay = hasTwoNodes ? await startRelay(anvil.rpcUrl) : undefined
  const privateUrls = await relaysOf?.(anvil.rpc)
  const artifact: unknown = JSON.parse(await readFile(new URL('../../plugins/ethereum/artifacts/Multicall3.json', import.meta.url), 'utf8'))
  const code = await anvil.rpc('eth_call', { data: Reflect.get(Object(artifact), 'bytecode') }, 'latest')
  await anvil.rpc('anvil_setCode', multicall3, code)
  const wrapped = { symbol: 'WETH', address: nowhere, decimals: 18 }
  const chain = evmChain(
    {
      chain: 'ethereum',
      network: 'local',
      config: {
        rpcUrls: [relay, secondRelay].flatMap((each) => each?.url ?? []),
        ...(privateUrls && { privateUrls }),
        confirmations,
        pollingSeconds: 0.05,
        feeCap,
        requestTimeoutSeconds: 30,
        ...(bumpAfterSeconds !== undefined && { feePolicy: { bumpAfterSeconds } }),
      },
      log: silent,
      meter: { rpc: () => {} },
    },
    {
      chainId: 31337,
      nativeCurrency: 'ETH',
      wrapped,
      intermediates: [],
      multicall: multicall3,
      blockSeconds: 1,
      confirmations,
      local: true,
    },
  )
  return {
    chain,
    network: { chain: 'ethereum', network: 'local', impl: chain },
    relay,
    ...(secondRelay && { secondRelay }),
    rpc: anvil.rpc,
    async mine(blocks = 1) {
      await anvil.rpc('anvil_mine', toQuantity(blocks))
    },
    async heal() {
      relay.meddle = () => 'pass'
      relay.edit = undefined
      await until('the node is used again', () =>
        chain.head({ signal: soon() }).then(
          () => true,
          () => false,
        ),
      )
    },
    async stop() {
      await chain.stop?.()
      await relay.stop()
      await secondRelay?.stop()
      await anvil.stop()
    },
  }
}

export const silent = { info: () => {}, warn: () => {}, error: () => {} }

/** Signs as the signer process does, with Anvil's well-known keys. */
export const sign: Sign = async ({ address, signable }) => {
  const wallet = wallets.find((each) => each.address === address)
  if (!wallet) throw new Error(`No key for ${address}.`)
  return getBytes(wallet.signingKey.sign(keccak256(signable.bytes)).serialized)
}

/** A store in a folder of its own. */
export async function freshStore(): Promise<Store> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'sluice-store-'))
  const store = await openStore({ dataDir, serverName: 'test', log: silent })
  return {
    ...store,
    async close() {
      await store.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

interface TransactionsOn {
  /** A store that outlives them; absent: a new one. */
  store?: Store
  budgets?: Budgets
  /** Wraps the journal, to make it fail. */
  journalOf?: (journal: Journal) => Journal
  sites?: readonly TransactionTarget[]
  sign?: Sign
  signPermit?: SignPermit
  newAccount?: Parameters<typeof createTransactions>[0]['newAccount']
  walletQueue?: number
  mayClaim?: Parameters<typeof createTransactions>[0]['mayClaim']
  log?: Parameters<typeof createTransactions>[0]['log']
  onChange?: (entry: Entry, before?: Entry) => void
  readOutcome?: Parameters<typeof createTransactions>[0]['readOutcome']
  nowMs?: () => number
  steadyMs?: () => number
  ageSeconds?: () => number
}

/** A server's transactions, as the kernel makes them. */
export async function transactionsOn({
  store: given,
  budgets,
  journalOf = (journal) => journal,
  sites = [],
  sign: signer = sign,
  signPermit,
  newAccount,
  walletQueue = 256,
  mayClaim,
  log = silent,
  onChange,
  readOutcome,
  nowMs,
  steadyMs,
  ageSeconds,
}: TransactionsOn = {}): Promise<Transactions> {
  const store = given ?? (await freshStore())
  const leases = sqlLeases({ store, serverId: randomUUID(), serverName: 'test', log: silent })
  const journal = journalOf(sqlJournal(store, silent, budgets && [budgets]))
  const told = {
    ...(signPermit && { signPermit }),
    ...(newAccount && { newAccount }),
    ...(mayClaim && { mayClaim }),
    ...(onChange && { onChange }),
    ...(readOutcome && { readOutcome }),
    ...(nowMs && { nowMs }),
    ...(steadyMs && { steadyMs }),
    ...(ageSeconds && { ageSeconds }),
  }
  const transactions = createTransactions({ journal, leases, targets: sites, sign: signer, walletQueue, log, ...told })
  await transactions.recovered
  return {
    ...transactions,
    async stop(drainMs) {
      await transactions.stop(drainMs)
      if (!given) await store.close()
    },
  }
}

let requests = 0

/** A transfer of one wei, unless the test says otherwise. */
export function order(site: TestSite, more: Partial<SubmitRequest> & { kind?: Kind } = {}): SubmitRequest {
  requests += 1
  const plan = more.plan ?? planOf({ to: nowhere, data: '0x', value: '1' })
  return {
    network: site.network,
    address: addressOf(0),
    caller: { id: 'client' },
    requestId: `request-${requests}`,
    feeOverrides: {},
    kind: 'trade',
    plan,
    commitment: givesNothing,
    scope: scopeOf(plan, site.chain),
    touches: () => ({ action: 'swap', tokens: [] }),
    answer: () => ({}),
    ...more,
  }
}

/** A scope that allows the plan, whatever it does. */
function scopeOf({ steps }: Pick<Plan, 'steps'>, { rail }: Chain): SubmitRequest['scope'] {
  const outlines = steps.map((step) => rail.outline(step))
  return { contracts: outlines.flatMap(({ contracts }) => contracts), valueRaw: outlines.reduce((sum, { valueRaw }) => sum + valueRaw, 0n) }
}

export function planOf(...steps: Plan['steps']): Plan {
  return { steps, needs: [], memo: null }
}

/** A deadline for a test's request, like the server's. */
export const soon = (milliseconds = 120_000): AbortSignal => AbortSignal.timeout(milliseconds)

/** Waits until the condition holds. @throws Error that names it if it never does */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 180_000
  // To ask costs as much as what is tested: what takes long is asked for less often.
  for (let pauseMs = 10; performance.now() < end; pauseMs = Math.min(pauseMs * 1.5, 80)) {
    if (await holds()) return
    await new Promise((done) => setTimeout(done, pauseMs))
  }
  throw new Error(`It did not come to pass: ${what}.`)
}

export async function stateOf(transactions: Transactions, txHash: string): Promise<string> {
  return (await transactions.find('ethereum', 'local', txHash))?.state ?? 'none'
}

export async function reaches(transactions: Transactions, txHash: string, state: string): Promise<void> {
  let last = ''
  try {
    await until(state, async () => (last = await stateOf(transactions, txHash)) === state)
  } catch {
    throw new Error(`${txHash} did not become ${state}; it is ${last}.`)
  }
}

/** A transaction of another program with the same key. */
export async function sendForeign(
  site: TestSite,
  nonce: number,
  fees: { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint },
): Promise<string> {
  const raw = await wallets[0]?.signTransaction({ type: 2, chainId: 31337, nonce, to: nowhere, value: 5, gasLimit: 21_000, ...fees })
  return String(await site.rpc('eth_sendRawTransaction', raw))
}

export const erc20 = new Interface([
  'function approve(address spender, uint256 amount) returns (bool)',
  'function transfer(address to, uint256 amount) returns (bool)',
])

export async function rejection(work: Promise<unknown>): Promise<{ name: string; message: string; details?: unknown }> {
  try {
    await work
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('It was expected to fail.')
}

/** `pass` settles when `open` is called. */
export function gate(): { pass: Promise<void>; open: () => void } {
  const opening = new AbortController()
  const pass = new Promise<void>((done) => opening.signal.addEventListener('abort', () => done()))
  return { pass, open: () => opening.abort() }
}
