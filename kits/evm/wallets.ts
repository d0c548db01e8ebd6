import { id } from 'ethers/hash'
import type { Followed, Head, KnownOf } from '../../core/contracts/index.ts'
import type { Rpc, RpcAnswer } from '../nodes/dialect.ts'
import { invalidAnswer } from '../nodes/rpc.ts'
import { nativeAddress, quantityOf, addressInTopic, wordAt, wordCount } from './encoding.ts'
import { addressWord, word } from './multicall.ts'
import { allowanceCall, balanceOfCall, uintOf } from './tokens.ts'
import type { Evm, FoundLog, EvmReader } from './types.ts'

/** What a wallet has of the native coin, and how many transactions it has made, as a block had it that was read for it. */
export interface Account {
  /** Of the block. */
  readonly number: bigint
  readonly nativeRaw: bigint
  readonly latest: number
  /** With what waited to be mined at that moment. */
  readonly pending: number
}

export const isAccount = (state: unknown): state is Account => typeof state === 'object' && state !== null && 'nativeRaw' in state

/** Calls for one wallet. */
const callsEach = 3
/** Stands where logs have the hash of an event: none is called so. */
const newsTopic = 'account'

/** By the hash of the block, so that no other can answer: https://eips.ethereum.org/EIPS/eip-1898 */
export function accountCalls(wallets: readonly string[], { hash }: Head) {
  const block = { blockHash: hash }
  return wallets.flatMap((wallet) => [
    { method: 'eth_getTransactionCount', params: [wallet, block] },
    { method: 'eth_getTransactionCount', params: [wallet, 'pending'] },
    { method: 'eth_getBalance', params: [wallet, block] },
  ])
}

/** What was read of each wallet; undefined of one that the node could not tell. */
export function accountsOf(wallets: readonly string[], answers: readonly RpcAnswer[], { number }: Head): readonly (Account | undefined)[] {
  return wallets.map((_, index) => {
    const said = answers.slice(index * callsEach, (index + 1) * callsEach).map((answer) => quantityOf(answer.result))
    const [latest, pending, nativeRaw] = said
    if (latest === undefined || pending === undefined || nativeRaw === undefined) return undefined
    return { number, nativeRaw, latest: Number(latest), pending: Number(pending) }
  })
}

/** What was read of a wallet beside a block's logs, told as if the block had logged it: of the zero address, which logs nothing. */
export function accountChange(wallet: string, { number, nativeRaw, latest, pending }: Account): FoundLog {
  return {
    address: nativeAddress,
    topics: [newsTopic, `0x${addressWord(wallet)}`],
    data: `0x${word(nativeRaw)}${word(latest)}${word(pending)}`,
    transactionHash: '0x',
    blockNumber: Number(number),
  }
}

/** The wallets themselves, by their addresses in lower case. */
export function followedAccounts(rpc: Rpc): Followed<Evm, Account> {
  return {
    follow: [],
    followOf: (wallet) => [walletFollow(wallet)],
    emitters: () => [],
    keysOf: ({ topics }) => (topics[0] === newsTopic ? [addressInTopic(topics[1])] : []),
    async load(wallets, after, at) {
      const answers = await rpc.batch(accountCalls(wallets, after), at)
      const read = accountsOf(wallets, answers, after).map((account, index) => {
        if (!account) throw invalidAnswer(rpc, 'did not say what a wallet has and has made at a block')
        return [wallets[index] ?? '', account] as const
      })
      return { head: after, states: new Map(read) }
    },
    apply: (_state, { data }, { number }) => ({
      number,
      nativeRaw: wordAt(data, 0),
      latest: Number(wordAt(data, 1)),
      pending: Number(wordAt(data, 2)),
    }),
    // What waits differs from moment to moment.
    same: (known, loaded) => known.number < loaded.number || (known.nativeRaw === loaded.nativeRaw && known.latest === loaded.latest),
  }
}

/** First topics: https://eips.ethereum.org/EIPS/eip-20 */
const transferTopic = id('Transfer(address,address,uint256)')
const approvalTopic = id('Approval(address,address,uint256)')
/** A coin's wrapper tells so, and by no transfer, that it made tokens or took them back: WETH9. */
const depositTopic = id('Deposit(address,uint256)')
const withdrawalTopic = id('Withdrawal(address,uint256)')

const walletPrefix = 'wallet:'

/** What is asked of every block for a wallet's sake: its count of transactions, its coins, and what is logged of its tokens. */
const walletFollow = (owner: string): string => `${walletPrefix}${owner.toLowerCase()}`

/** What is asked of a block: the first topics of logs, and wallets in lower case. */
export function parseInterest(follow: readonly string[]): { readonly topics: readonly string[]; readonly wallets: readonly string[] } {
  const isWallet = (each: string) => each.startsWith(walletPrefix)
  return {
    topics: follow.filter((each) => !isWallet(each)),
    wallets: follow.filter(isWallet).map((each) => each.slice(walletPrefix.length)),
  }
}

/** What finds all logs that are asked for: of tokens only those that name one of the wallets, for there are thousands in a block. */
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

/** What a wallet has of a token, and what others may take of it: by what was logged since it was read, never more than that. */
export interface Holding {
  /** In lower case, as all addresses here. */
  readonly owner: string
  readonly token: string
  readonly balanceRaw: bigint
  /** By spender. */
  readonly allowances: ReadonlyMap<string, bigint>
}

export const isHolding = (state: unknown): state is Holding => typeof state === 'object' && state !== null && 'allowances' in state

interface Holdings {
  /** By owner and token. `about` and `more` are spenders. */
  readonly followed: Followed<Evm, Holding>
  keyOf(owner: string, token: string): string
  /** Whether wallets were found to have less of a token than it logged: its logs are not to be relied on. */
  hasUnreliableLogs(token: string): boolean
}

const keyOf = (owner: string, token: string) => `${owner.toLowerCase()}/${token.toLowerCase()}`

function partsOf(key: string): { owner: string; token: string } {
  const [owner = '', token = ''] = key.split('/')
  return { owner, token }
}

export function createHoldings(reader: Pick<EvmReader, 'read' | 'wrapped'>): Holdings {
  const wrapped = reader.wrapped.address.toLowerCase()
  const untold = new Set<string>()

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
      const wanted = keys.map((key) => ({ key, ...partsOf(key), spenders: spendersIn(known?.get(key)) }))
      const calls = wanted.flatMap(({ owner, token, spenders }) => [
        balanceOfCall(token, owner),
        ...spenders.map((spender) => allowanceCall(token, owner, spender)),
      ])
      const { head, results } = await reader.read(calls, at, after)
      // What has no balances holds none.
      const amounts = results.map((result) => uintOf(result) ?? 0n).values()
      const next = () => amounts.next().value ?? 0n
      const states = wanted.map(({ key, owner, token, spenders }): [string, Holding] => {
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
    foundWrong: ({ token }) => void untold.add(token),
  }
  return { followed, keyOf, hasUnreliableLogs: (token) => untold.has(token.toLowerCase()) }
}

function spendersIn(known: KnownOf | undefined): readonly string[] {
  const said = known ? [known.about, ...known.more] : []
  return [...new Set(said.flatMap((each) => (typeof each === 'string' ? [each.toLowerCase()] : [])))]
}

/** Tokens take nothing off such an allowance, or too little to be noticed. */
const boundlessRaw = 2n ** 255n

/**
 * What a wallet has after a log of its token. Few tokens log what a spender took off its allowance, so that all that leaves the wallet counts
 * against every one: what is left is never more than the chain has.
 * @param wrapped the coin's wrapper, in lower case: of another contract nobody knows whether what it calls a deposit is its own token
 */
function applyTokenLog(holding: Holding, { address, topics, data }: FoundLog, wrapped: string): Holding | 'reload' {
  const [event, one, other] = topics
  if (wordCount(data) !== 1) return 'reload'
  const amountRaw = wordAt(data, 0)
  const { owner, balanceRaw, allowances } = holding
  if (event === transferTopic) {
    const isIn = addressInTopic(other) === owner
    if (addressInTopic(one) !== owner) return isIn ? { ...holding, balanceRaw: balanceRaw + amountRaw } : holding
    const left = mapped(allowances, (raw) => (raw >= boundlessRaw ? raw : less(raw, amountRaw)))
    return { ...holding, balanceRaw: isIn ? balanceRaw : less(balanceRaw, amountRaw), allowances: left }
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

const mapped = (amounts: ReadonlyMap<string, bigint>, change: (raw: bigint) => bigint): ReadonlyMap<string, bigint> =>
  new Map([...amounts].map(([name, raw]) => [name, change(raw)]))
