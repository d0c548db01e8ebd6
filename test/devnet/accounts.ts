// Transactions of accounts whose keys nobody asks for: the node takes them without a signature.
import { concat, dataLength, dataSlice, Interface, toBeHex, toQuantity } from 'ethers'
import type { Rpc } from '../../core/devnet/anvil.ts'

export interface Call {
  /** Absent: a contract is made. */
  readonly to?: string
  readonly data: string
  readonly value?: bigint
  /** In wei; absent: the node's choice. */
  readonly fees?: Readonly<Record<'maxFeePerGas' | 'maxPriorityFeePerGas', bigint>>
}

export interface Receipt {
  readonly transactionHash: string
  readonly contractAddress: string | null
  readonly logs: readonly { readonly topics: readonly string[] }[]
}

/** Of one transaction, and of one that makes many calls: a chain takes no more than 2²⁴. */
const [mostGas, mostGasTogether] = [8_000_000n, 16_000_000n]

/** @param signature such as `deposit()` */
export const callOf = (to: string, signature: string, args: readonly unknown[] = [], value = 0n): Call & { readonly to: string } => ({
  to,
  data: new Interface([`function ${signature}`]).encodeFunctionData(signature.slice(0, signature.indexOf('(')), args),
  value,
})

const requestOf = (from: string, { to, data, value = 0n, fees }: Call, gas = mostGas) => ({
  from,
  ...(to !== undefined && { to }),
  data,
  value: toQuantity(value),
  gas: toQuantity(gas),
  ...(fees && { maxFeePerGas: toQuantity(fees.maxFeePerGas), maxPriorityFeePerGas: toQuantity(fees.maxPriorityFeePerGas) }),
})

/** From then on the node signs for the account, which has this much of the coin. */
export async function takeAccount(rpc: Rpc, address: string, balanceRaw: bigint): Promise<void> {
  await rpc('anvil_setBalance', address, toQuantity(balanceRaw))
  await rpc('anvil_impersonateAccount', address)
}

/** Sends a transaction of an account that was taken. @returns its hash, at once */
export const submitFrom = async (rpc: Rpc, from: string, call: Call): Promise<string> =>
  String(await rpc('eth_sendTransaction', requestOf(from, call)))

/** The same, once it is in a block. @throws Error where it fails */
export async function sendFrom(rpc: Rpc, from: string, call: Call): Promise<Receipt> {
  const receipt = Object(await rpc('eth_sendTransactionSync', requestOf(from, call)))
  if (receipt.status !== '0x1') throw new Error(`${receipt.transactionHash} of ${from} to ${call.to} failed.`)
  return receipt
}

/** Each of these accounts makes all of these calls: one transaction for an account, all of them in one block. @param by an account that was taken */
export async function callTogether(
  rpc: Rpc,
  by: string,
  accounts: readonly string[],
  calls: readonly (Call & { to: string })[],
): Promise<void> {
  const code = codeOf(calls)
  for (const account of accounts) await rpc('anvil_setCode', account, code)
  await rpc('evm_setAutomine', false)
  const sent: string[] = []
  for (const to of accounts) sent.push(String(await rpc('eth_sendTransaction', requestOf(by, { to, data: '0x' }, mostGasTogether))))
  await rpc('evm_mine')
  await rpc('evm_setAutomine', true)
  for (const account of accounts) await rpc('anvil_setCode', account, '0x')
  for (const hash of sent)
    if (Object(await rpc('eth_getTransactionReceipt', hash)).status !== '0x1') throw new Error(`${hash} of calls together failed.`)
}

/** What an account runs that makes these calls one after the other, and fails where one of them does. */
function codeOf(calls: readonly (Call & { to: string })[]): string {
  const length = (bytes: string) => toBeHex(dataLength(bytes), 2)
  /** Bytes of the steps of one call, which end with the jump to the failure. */
  const stepsOf = ({ to, data, value = 0n }: Call & { to: string }, dataAt: number, failAt: number) =>
    concat([
      // CODECOPY(0, dataAt, length)
      concat(['0x61', length(data), '0x61', toBeHex(dataAt, 2), '0x600039']),
      // CALL(all gas, to, value, 0, length, 0, 0)
      concat(['0x6000600061', length(data), '0x60007f', toBeHex(value, 32), '0x73', to, '0x5af1']),
      // JUMPI(failAt) where it gave 0
      concat(['0x1561', toBeHex(failAt, 2), '0x57']),
    ])
  const stepsLength = calls.reduce((sum, call) => sum + dataLength(stepsOf(call, 0, 0)), 0)
  // STOP, and what a failure jumps to: JUMPDEST, REVERT(0, 0).
  const ends = '0x005b60006000fd'
  let dataAt = stepsLength + dataLength(ends)
  const steps = calls.map((call) => {
    const own = stepsOf(call, dataAt, stepsLength + dataLength(dataSlice(ends, 0, 1)))
    dataAt += dataLength(call.data)
    return own
  })
  return concat([...steps, ends, ...calls.map(({ data }) => data)])
}
