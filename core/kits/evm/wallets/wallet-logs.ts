import { id } from 'ethers/hash'
import { addressWord } from '../../../../kits/evm/multicall.ts'

/** First topics: https://eips.ethereum.org/EIPS/eip-20 */
export const transferTopic = id('Transfer(address,address,uint256)')
export const approvalTopic = id('Approval(address,address,uint256)')
/** A coin's wrapper tells so, and by no transfer, that it made tokens or took them back: WETH9. */
export const depositTopic = id('Deposit(address,uint256)')
export const withdrawalTopic = id('Withdrawal(address,uint256)')

const walletPrefix = 'wallet:'

/** What is asked of every block for a wallet's sake: its count of transactions, its coins, and what is logged of its tokens. */
export const walletFollow = (owner: string): string => `${walletPrefix}${owner.toLowerCase()}`

/** What is asked of a block: the first topics of logs, and wallets in lower case. */
export function askedOf(follow: readonly string[]): { readonly topics: readonly string[]; readonly wallets: readonly string[] } {
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
