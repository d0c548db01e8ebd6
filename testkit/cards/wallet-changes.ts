// What a transaction did to a wallet, as the chain has it: balances before and after its block, and approvals. Never by what a plugin says.
import { expect } from 'chai'
import { id, zeroPadValue } from 'ethers'
import { nativeAddress } from '../../kits/evm/encoding.ts'
import { gainsByEvents } from '../../kits/evm/movements.ts'
import { isObject } from '../../core/json.ts'
import { nodeCall, type TestVenue } from './venue.ts'

export interface WalletChanges {
  readonly status: number
  readonly block: number
  readonly gasUsed: bigint
  /** By address in lower case, or `address/id` for a token of which there is one: what the wallet has more than before; negative: less. */
  readonly gains: ReadonlyMap<string, bigint>
  /** The same of the native coin, without what the transaction's gas cost. */
  readonly nativeRaw: bigint
  /** Rights over the wallet's tokens that somebody has more of than before, a line each. */
  readonly grants: readonly string[]
}

const approval = id('Approval(address,address,uint256)')
const approvalForAll = id('ApprovalForAll(address,address,bool)')
const selector = (signature: string) => id(signature).slice(0, 10)
const word = (address: string) => zeroPadValue(address, 32).slice(2)

interface Log {
  address: string
  topics: string[]
  data: string
}

/** What a mined transaction changed. No other transaction of the wallet may be in its block. */
export async function readWalletChanges(venue: Pick<TestVenue, 'rpcUrl'>, wallet: string, txHash: string): Promise<WalletChanges> {
  const receipt = await nodeCall(venue, 'eth_getTransactionReceipt', txHash)
  if (!isObject(receipt)) throw new Error(`${txHash} is not mined.`)
  const { status, blockNumber, gasUsed, effectiveGasPrice } = receipt as Record<string, string>
  const logs = receipt['logs'] as Log[]
  const after = String(blockNumber)
  const before = `0x${(BigInt(after) - 1n).toString(16)}`
  /** 0 where there is no such contract or function. */
  const uint = async (to: string, data: string, block: string): Promise<bigint> => {
    const result = await nodeCall(venue, 'eth_call', { to, data }, block).catch(() => '0x')
    return /^0x[0-9a-f]{64}$/i.test(String(result)) ? BigInt(String(result)) : 0n
  }
  const change = async (to: string, data: string) => (await uint(to, data, after)) - (await uint(to, data, before))

  const gains = new Map<string, bigint>()
  // Of EIP-721 and EIP-1155 by their events: a balance does not say which.
  for (const [key, gainRaw] of gainsByEvents(logs, wallet) ?? []) if (key.includes('/')) gains.set(key.toLowerCase(), gainRaw)
  for (const token of new Set(logs.map(({ address }) => address.toLowerCase())))
    if (![...gains.keys()].some((key) => key.startsWith(`${token}/`)))
      gains.set(token, await change(token, `${selector('balanceOf(address)')}${word(wallet)}`))

  const grants: string[] = []
  const owner = zeroPadValue(wallet, 32).toLowerCase()
  for (const { address, topics, data } of logs) {
    const [event, by, to = '', one] = topics
    if (by?.toLowerCase() !== owner) continue
    const spender = `0x${to.slice(-40)}`
    if (event === approvalForAll && BigInt(data) !== 0n) grants.push(`${spender} may move all tokens of ${address}`)
    if (event !== approval || one !== undefined) continue
    const moreRaw = await change(address, `${selector('allowance(address,address)')}${word(wallet)}${word(spender)}`)
    if (moreRaw > 0n) grants.push(`${spender} may move ${moreRaw} more of ${address}`)
  }

  const native = async (block: string) => BigInt(String(await nodeCall(venue, 'eth_getBalance', wallet, block)))
  const gasRaw = BigInt(gasUsed ?? 0) * BigInt(effectiveGasPrice ?? 0)
  return {
    status: Number(status),
    block: Number(after),
    gasUsed: BigInt(gasUsed ?? 0),
    gains,
    nativeRaw: (await native(after)) - (await native(before)) + gasRaw,
    grants,
  }
}

/**
 * Nothing may have moved but what is stated, to the unit, and nobody may have got a right.
 * @param stated by address: what the wallet has more; negative: less
 * @param where what the author should look at
 */
export function expectOnly(changes: WalletChanges, stated: Readonly<Record<string, bigint>>, what: string, where: string): void {
  const { gains, nativeRaw, grants } = changes
  const expected = new Map(Object.entries(stated).map(([token, raw]) => [token.toLowerCase(), raw]))
  for (const token of new Set([...expected.keys(), ...gains.keys()])) {
    const [gainRaw, statedRaw] = [gains.get(token) ?? 0n, expected.get(token) ?? 0n]
    if (gainRaw !== statedRaw) expect.fail(`${what} ${moved(gainRaw)} of ${token}, and states ${statedRaw} (smallest units). ${where}`)
  }
  if (nativeRaw !== 0n) expect.fail(`${what} ${moved(nativeRaw)} of the native coin besides its gas, and states none. ${where}`)
  if (grants.length > 0) expect.fail(`${what} gave rights over the wallet's tokens: ${grants.join('; ')}. ${where}`)
}

/** Nothing may have left the wallet but these tokens, and nobody may have got a right. What came is what the cards compare. */
export function expectNothingElseLeft({ gains, nativeRaw, grants }: WalletChanges, tokens: readonly string[], what: string): void {
  const allowed = tokens.map((token) => token.toLowerCase())
  const where = 'Look at the steps of the plan: its targets, the amounts in the calls, and `value`.'
  for (const [token, raw] of gains)
    if (raw < 0n && !allowed.includes(token))
      expect.fail(`${what} took ${-raw} of ${token} from the wallet, which the request does not name. ${where}`)
  if (nativeRaw < 0n && !allowed.includes(nativeAddress))
    expect.fail(`${what} took ${-nativeRaw} of the native coin from the wallet besides its gas, and the request does not name it. ${where}`)
  if (grants.length > 0) expect.fail(`${what} gave rights over the wallet's tokens: ${grants.join('; ')}. ${where}`)
}

/** The addresses of the tokens that a request names. */
export async function addressesOf({ client, chain, network }: TestVenue, symbols: readonly string[]): Promise<readonly string[]> {
  const { body } = await client.get('/network/tokens', { chain, network, tokenSymbols: symbols })
  return body.map(({ address }: { address: string }) => address)
}

const moved = (raw: bigint) => (raw < 0n ? `took ${-raw} from the wallet` : `gave the wallet ${raw}`)
