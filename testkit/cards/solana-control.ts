// What the cards read of a cluster of Solana: by its node alone, never by what a plugin or the server says.
import { addressFrom, wrappedMint } from '../../kits/solana/index.ts'
import { isObject } from '../../core/base/json.ts'
import { waitFor } from './expect.ts'
import { nodeCall, type ChainControl, type TestVenue, type WalletChanges } from './venue.ts'

/** Of the 150 for which a blockhash lives. Source: solana-clock, MAX_PROCESSING_AGE. */
const lateBlocks = 100

/** What the cards do to a cluster of `tools/solana-node`, whose node has methods for it. */
export function solanaControl(rpcUrl: () => string): ChainControl {
  const ask = (method: string, ...params: unknown[]) => nodeCall({ rpcUrl: rpcUrl() }, method, ...params)
  /** Nothing is on its way any more, and the server may know it: it goes by what is confirmed. */
  const settled = async () => {
    const isEmpty = (all: unknown) => Array.isArray(all) && all.length === 0
    await waitFor('no transaction waits for a block', () => ask('sluice_waiting'), isEmpty)
    const newest = Number(await ask('getSlot', { commitment: 'processed' }))
    const confirmed = async () => Number(await ask('getSlot', { commitment: 'confirmed' }))
    await waitFor(`slot ${newest} is confirmed`, confirmed, (slot) => slot >= newest)
  }
  const held = async (during: () => Promise<void>, then: () => Promise<unknown>) => {
    await ask('sluice_lead', [])
    try {
      await during()
      await then()
    } finally {
      await ask('sluice_lead', 'all')
      // What was sent before an error, too: it must not come between a quote and a trade of the next card.
      await settled()
    }
  }
  return {
    tokens: ['BASE', 'USDC'],
    feeToken: 'FEES',
    // What a wallet signs moves its tokens: nobody else is let.
    approve: async () => {},
    first: {},
    passTime: async () => void (await ask('sluice_passBlocks', lateBlocks)),
    // Nothing goes by the fee here: what came last is taken first.
    inOneBlock: (during) =>
      held(during, async () => {
        const waiting = await ask('sluice_waiting')
        const last: unknown = Array.isArray(waiting) && waiting.length > 1 ? waiting.at(-1) : undefined
        if (last === undefined) throw new Error('There are no two to choose from.')
        await ask('sluice_lead', [last])
        const rest = async () => (await ask('sluice_waiting')) as readonly unknown[]
        await waitFor('the second one is in a block', rest, (all) => !all.includes(last))
      }),
    walletChanges: (wallet, signature) => readSolanaChanges({ rpcUrl: rpcUrl() }, wallet, signature),
  }
}

interface TokenBalance {
  readonly accountIndex: number
  readonly mint: string
  readonly owner: string
  readonly uiTokenAmount: { readonly amount: string }
}

interface TransactionOnChain {
  readonly slot: number
  readonly meta: {
    readonly err: unknown
    readonly fee: number
    readonly computeUnitsConsumed: number
    readonly preBalances: readonly number[]
    readonly postBalances: readonly number[]
    readonly preTokenBalances: readonly TokenBalance[]
    readonly postTokenBalances: readonly TokenBalance[]
    readonly loadedAddresses?: { readonly writable: readonly string[]; readonly readonly: readonly string[] }
  }
  readonly transaction: { readonly message: { readonly accountKeys: readonly string[] } }
}

/** What a transaction that is in a confirmed block changed of a wallet: its coin, its token accounts, and who else may move what is in them. */
async function readSolanaChanges(node: Pick<TestVenue, 'rpcUrl'>, wallet: string, signature: string): Promise<WalletChanges> {
  const options = { commitment: 'confirmed', encoding: 'json', maxSupportedTransactionVersion: 0 }
  const found = (await nodeCall(node, 'getTransaction', signature, options)) as TransactionOnChain | null
  if (!found) throw new Error(`${signature} is in no confirmed block.`)
  const { slot, meta, transaction } = found
  const { writable = [], readonly = [] } = meta.loadedAddresses ?? {}
  const keys = [...transaction.message.accountKeys, ...writable, ...readonly]
  const isOwn = ({ owner }: TokenBalance) => owner === wallet
  const gains = new Map<string, bigint>()
  const add = ({ mint, uiTokenAmount: { amount } }: TokenBalance, sign: bigint) =>
    gains.set(mint, (gains.get(mint) ?? 0n) + sign * BigInt(amount))
  for (const each of meta.preTokenBalances.filter(isOwn)) add(each, -1n)
  for (const each of meta.postTokenBalances.filter(isOwn)) add(each, 1n)

  const own = new Set([...meta.preTokenBalances, ...meta.postTokenBalances].filter(isOwn).map(({ accountIndex }) => accountIndex))
  const more = (index: number) => BigInt((meta.postBalances[index] ?? 0) - (meta.preBalances[index] ?? 0))
  // What is lent to an account of the wallet's own as rent is the wallet's still.
  const lamports = [keys.indexOf(wallet), ...own].reduce((sum, index) => sum + (index < 0 ? 0n : more(index)), 0n)
  const paidFee = keys[0] === wallet ? BigInt(meta.fee) : 0n
  return {
    status: meta.err === null ? 1 : 0,
    block: slot,
    gasUsed: BigInt(meta.computeUnitsConsumed),
    gains,
    nativeRaw: lamports + paidFee - (gains.get(wrappedMint) ?? 0n),
    grants: (await Promise.all([...own].map((index) => grantsOf(node, wallet, keys[index] ?? '')))).flat(),
  }
}

// https://github.com/solana-program/token, state.rs, Account: mint, owner, amount u64, an optional delegate, state, an optional amount of rent, the
// delegated amount, and an optional address that may close it. What is optional has 4 bytes before it.
const [ownerAt, delegateAt, closerAt, tokenSize] = [32, 72, 129, 165]

/** Who else than the wallet has rights over one of its token accounts. */
async function grantsOf(node: Pick<TestVenue, 'rpcUrl'>, wallet: string, account: string): Promise<readonly string[]> {
  const answer = await nodeCall(node, 'getAccountInfo', account, { commitment: 'confirmed', encoding: 'base64' })
  const value = isObject(answer) ? answer['value'] : undefined
  const [base64] = isObject(value) && Array.isArray(value['data']) ? value['data'] : []
  // A closed account gives no rights.
  if (typeof base64 !== 'string') return []
  const data = Buffer.from(base64, 'base64')
  if (data.length < tokenSize) return []
  const addressAt = (at: number) => addressFrom(Uint8Array.from(data.subarray(at, at + 32)))
  const optional = (at: number) => (data.readUInt32LE(at) === 0 ? undefined : addressAt(at + 4))
  const [owner, delegate, closer] = [addressAt(ownerAt), optional(delegateAt), optional(closerAt)]
  return [
    ...(owner === wallet ? [] : [`${owner} owns ${account}`]),
    ...(delegate === undefined ? [] : [`${delegate} may move tokens of ${account}`]),
    ...(closer === undefined || closer === wallet ? [] : [`${closer} may close ${account}`]),
  ]
}
