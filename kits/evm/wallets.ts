import type { Followed, Head, KnownOf } from '../../core/contracts/index.ts'
import type { RpcAnswer } from '../nodes/dialect.ts'
import { invalidAnswer, type Rpc } from '../nodes/rpc.ts'
import {
  addressInTopic,
  addressWord,
  approvalTopic,
  depositTopic,
  nativeAddress,
  quantityOf,
  transferTopic,
  withdrawalTopic,
  word,
  wordAt,
  wordCount,
} from './encoding.ts'
import { allowanceCall, balanceOfCall, uintOf } from './tokens.ts'
import type { Evm, FoundLog, EvmReader } from './types.ts'
import { isObject } from '../../core/base/json.ts'

/** A wallet's native coin and nonce counts, as read at a block. */
export interface Account {
  /** Of the block. */
  readonly number: bigint
  readonly nativeRaw: bigint
  readonly latest: number
  /** With the transactions that were in the mempool at that moment. */
  readonly pending: number
  /** The same by the node's newest block, where it was asked for. */
  readonly newest?: Pick<Account, 'nativeRaw' | 'latest'>
}

export const isAccount = (state: unknown): state is Account => isObject(state) && 'nativeRaw' in state

/** Calls for one wallet. */
const callsPerWallet = 3
/** In place of the hash of an event: no event has it. */
const accountTopic = 'account'

/** Reads by the hash of the block, so that no other block can answer: https://eips.ethereum.org/EIPS/eip-1898 */
export function accountCalls(wallets: readonly string[], { hash }: Head) {
  const block = { blockHash: hash }
  return wallets.flatMap((wallet) => [
    { method: 'eth_getTransactionCount', params: [wallet, block] },
    { method: 'eth_getTransactionCount', params: [wallet, 'pending'] },
    { method: 'eth_getBalance', params: [wallet, block] },
  ])
}

/** The same by the newest block, for comparisons. */
const newestCalls = (wallets: readonly string[]) =>
  wallets.flatMap((wallet) => [
    { method: 'eth_getTransactionCount', params: [wallet, 'latest'] },
    { method: 'eth_getBalance', params: [wallet, 'latest'] },
  ])

function newestOf(index: number, answers: readonly RpcAnswer[]): Pick<Account, 'newest'> {
  const [latest, nativeRaw] = answers.slice(2 * index, 2 * index + 2).map((answer) => quantityOf(answer.result))
  return latest === undefined || nativeRaw === undefined ? {} : { newest: { nativeRaw, latest: Number(latest) } }
}

/** Each wallet as it was read. Undefined for one that the node did not tell. */
export function accountsOf(wallets: readonly string[], answers: readonly RpcAnswer[], { number }: Head): readonly (Account | undefined)[] {
  return wallets.map((_, index) => {
    const ofWallet = answers.slice(index * callsPerWallet, (index + 1) * callsPerWallet)
    const [latest, pending, nativeRaw] = ofWallet.map((answer) => quantityOf(answer.result))
    if (latest === undefined || pending === undefined || nativeRaw === undefined) return undefined
    return { number, nativeRaw, latest: Number(latest), pending: Number(pending) }
  })
}

/** An account that was read with a block's logs, as if the block had logged it. The emitter is the zero address, which logs nothing. */
export function accountChange(wallet: string, { number, nativeRaw, latest, pending }: Account): FoundLog {
  return {
    address: nativeAddress,
    topics: [accountTopic, `0x${addressWord(wallet)}`],
    data: `0x${word(nativeRaw)}${word(latest)}${word(pending)}`,
    transactionHash: '0x',
    blockNumber: Number(number),
  }
}

/** How accounts are followed, by their addresses in lower case. */
export function followedAccounts(rpc: Rpc): Followed<Evm, Account> {
  return {
    follow: [],
    followOf: (wallet) => [walletFollow(wallet)],
    emitters: () => [],
    keysOf: ({ topics }) => (topics[0] === accountTopic ? [addressInTopic(topics[1])] : []),
    async load(wallets, after, at) {
      const calls = accountCalls(wallets, after)
      const answers = await rpc.batch([...calls, ...newestCalls(wallets)], at)
      const ofNewest = answers.slice(calls.length)
      const read = accountsOf(wallets, answers, after).map((account, index) => {
        if (!account) throw invalidAnswer(rpc, 'did not tell balance and nonce counts of a wallet at a block')
        return [wallets[index] ?? '', { ...account, ...newestOf(index, ofNewest) }] as const
      })
      return { head: after, states: new Map(read) }
    },
    apply: (_state, { data }, { number }) => ({
      number,
      nativeRaw: wordAt(data, 0),
      latest: Number(wordAt(data, 1)),
      pending: Number(wordAt(data, 2)),
    }),
    // The mempool differs from moment to moment. A node that takes up a block answers by it what it is asked of the block before: what is known may be of
    // the newest block already, and is no error then.
    same: (known, loaded) =>
      known.number < loaded.number ||
      (['nativeRaw', 'latest'] as const).every((each) => known[each] === loaded[each] || known[each] === loaded.newest?.[each]),
  }
}

/** First topics: https://eips.ethereum.org/EIPS/eip-20 */

const walletPrefix = 'wallet:'

/** Asks every block for a wallet's nonce counts, its coins, and the logs of its tokens. */
const walletFollow = (owner: string): string => `${walletPrefix}${owner.toLowerCase()}`

/** What to ask of a block: the first topics of logs, and wallets in lower case. */
export function parseInterest(follow: readonly string[]): { readonly topics: readonly string[]; readonly wallets: readonly string[] } {
  const isWallet = (each: string) => each.startsWith(walletPrefix)
  return {
    topics: follow.filter((each) => !isWallet(each)),
    wallets: follow.filter(isWallet).map((each) => each.slice(walletPrefix.length)),
  }
}

/** Filters that find all these logs. A block has thousands of token logs, so they find only those that name one of the wallets. */
export function logFilters(topics: readonly string[], wallets: readonly string[]): readonly object[] {
  const owners = wallets.map((wallet) => `0x${addressWord(wallet)}`)
  return [
    ...(topics.length > 0 ? [[topics]] : []),
    ...(wallets.length > 0
      ? [
          [[transferTopic, approvalTopic, depositTopic, withdrawalTopic], owners],
          [[transferTopic], null, owners],
        ]
      : []),
  ].map((filter) => ({ topics: filter }))
}

/** A wallet's balance and allowances of a token, by what was logged since they were read. They are never more than on the chain. */
export interface Holding {
  /** In lower case, like all addresses here. */
  readonly owner: string
  readonly token: string
  readonly balanceRaw: bigint
  /** By spender. */
  readonly allowances: ReadonlyMap<string, bigint>
}

export const isHolding = (state: unknown): state is Holding => isObject(state) && 'allowances' in state

interface Holdings {
  /** By owner and token. `about` and `more` are spenders. */
  readonly followed: Followed<Evm, Holding>
  keyOf(owner: string, token: string): string
  /** Whether some wallet turned out to have less of the token than its logs say. */
  hasUnreliableLogs(token: string): boolean
}

const keyOf = (owner: string, token: string) => `${owner.toLowerCase()}/${token.toLowerCase()}`

function partsOf(key: string): { owner: string; token: string } {
  const [owner = '', token = ''] = key.split('/')
  return { owner, token }
}

export function createHoldings(reader: Pick<EvmReader, 'read' | 'wrapped'>): Holdings {
  const wrapped = reader.wrapped.address.toLowerCase()
  const unreliable = new Set<string>()

  const followed: Followed<Evm, Holding> = {
    follow: [],
    followOf: (key) => [walletFollow(partsOf(key).owner)],
    emitters: (keys) => keys.map((key) => partsOf(key).token),
    keysOf({ address, topics: [event, one, other] }) {
      if (event === transferTopic) return [...new Set([one, other].map((party) => keyOf(addressInTopic(party), address)))]
      const isOwners = event === approvalTopic || event === depositTopic || event === withdrawalTopic
      return isOwners ? [keyOf(addressInTopic(one), address)] : []
    },
    async load(keys, after, at, known) {
      const parts = keys.map((key) => ({ key, ...partsOf(key), spenders: spendersIn(known?.get(key)) }))
      const calls = parts.flatMap(({ owner, token, spenders }) => [
        balanceOfCall(token, owner),
        ...spenders.map((spender) => allowanceCall(token, owner, spender)),
      ])
      const { head, results } = await reader.read(calls, at, after)
      // A contract without balances holds none.
      const amounts = results.map((result) => uintOf(result) ?? 0n).values()
      const next = () => amounts.next().value ?? 0n
      const states = parts.map(({ key, owner, token, spenders }): [string, Holding] => {
        const balanceRaw = next()
        return [key, { owner, token, balanceRaw, allowances: new Map(spenders.map((spender) => [spender, next()])) }]
      })
      return { head, states: new Map(states) }
    },
    apply: (holding, log) => applyTokenLog(holding, log, wrapped),
    same(known, loaded) {
      const isCovered = (spender: string, raw: bigint) => raw <= (loaded.allowances.get(spender) ?? raw)
      return known.balanceRaw <= loaded.balanceRaw && [...known.allowances].every(([spender, raw]) => isCovered(spender, raw))
    },
    foundWrong: ({ token }) => void unreliable.add(token),
  }
  return { followed, keyOf, hasUnreliableLogs: (token) => unreliable.has(token.toLowerCase()) }
}

function spendersIn(known: KnownOf | undefined): readonly string[] {
  const all = known ? [known.about, ...known.more] : []
  return [...new Set(all.flatMap((each) => (typeof each === 'string' ? [each.toLowerCase()] : [])))]
}

/** Tokens do not reduce such an allowance, or not noticeably. */
const unlimitedRaw = 2n ** 255n

/**
 * A holding after a log of its token. Few tokens log how much of an allowance a spender used, so everything that leaves the wallet reduces
 * every allowance: what is left is never more than on the chain.
 * @param wrapped the coin's wrapper, in lower case. A deposit that another contract logs need not be of its own token
 */
function applyTokenLog(holding: Holding, { address, topics, data }: FoundLog, wrapped: string): Holding | 'reload' {
  const [event, one, other] = topics
  if (wordCount(data) !== 1) return 'reload'
  const amountRaw = wordAt(data, 0)
  const { owner, balanceRaw, allowances } = holding
  if (event === transferTopic) {
    const isIn = addressInTopic(other) === owner
    if (addressInTopic(one) !== owner) return isIn ? { ...holding, balanceRaw: balanceRaw + amountRaw } : holding
    const left = [...allowances].map(([spender, raw]) => [spender, raw >= unlimitedRaw ? raw : less(raw, amountRaw)] as const)
    return { ...holding, balanceRaw: isIn ? balanceRaw : less(balanceRaw, amountRaw), allowances: new Map(left) }
  }
  if (event === approvalTopic) {
    const spender = addressInTopic(other)
    return allowances.has(spender) ? { ...holding, allowances: new Map([...allowances, [spender, amountRaw]]) } : holding
  }
  if (event === withdrawalTopic) return { ...holding, balanceRaw: less(balanceRaw, amountRaw) }
  if (event === depositTopic && address.toLowerCase() === wrapped) return { ...holding, balanceRaw: balanceRaw + amountRaw }
  return holding
}

const less = (raw: bigint, amountRaw: bigint) => (raw > amountRaw ? raw - amountRaw : 0n)
