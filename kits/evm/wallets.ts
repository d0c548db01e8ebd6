import type { Followed, Head } from '../../core/contracts/index.ts'
import { nodeLied } from '../../core/kits/nodes/ask.ts'
import type { Rpc, RpcAnswer } from '../../core/kits/nodes/types.ts'
import { nativeAddress } from '../../core/kits/evm/address.ts'
import { quantityOf } from '../../core/kits/evm/quantity.ts'
import { addressWord, word } from './multicall.ts'
import type { Evm, FoundLog } from './types.ts'
import { addressInTopic, wordAt } from './encoding.ts'
import { walletFollow } from '../../core/kits/evm/wallets/wallet-logs.ts'

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
export function accountNews(wallet: string, { number, nativeRaw, latest, pending }: Account): FoundLog {
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
        if (!account) throw nodeLied(rpc, 'did not say what a wallet has and has made at a block')
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
