import type { EvmReceipt } from 'sluice/evm'
import * as json from 'sluice/json'
import type { Fill, Json } from 'sluice/plugin'

/** The keccak256 of `Transfer(address,address,uint256)`. */
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const swapMemo = json.object({ tokenIn: json.string, tokenOut: json.string, recipient: json.string })

/** What the wallet paid and what it got, from the transfers in the receipt. */
export function readFill({ status, logs, from }: EvmReceipt, memo: Json): Fill | undefined {
  if (status !== 1 || !json.is(swapMemo, memo)) return undefined
  const sum = (token: string, side: 1 | 2, who: string) =>
    logs
      .filter(({ address, topics }) => same(address, token) && topics[0] === transferTopic && same(`0x${topics[side]?.slice(-40)}`, who))
      .reduce((total, { data }) => total + BigInt(data), 0n)
  const amountInRaw = sum(memo.tokenIn, 1, from)
  const amountOutRaw = sum(memo.tokenOut, 2, memo.recipient)
  return amountInRaw > 0n && amountOutRaw > 0n ? { amountInRaw, amountOutRaw } : undefined
}

const same = (address: string, other: string) => address.toLowerCase() === other.toLowerCase()
