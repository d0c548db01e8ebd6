// What a transaction did to a wallet, as the chain has it: balances before and after its block, and approvals. Never by what a plugin says.
import { expect } from 'chai'
import { id, zeroPadValue } from 'ethers'
import { nativeAddress } from '../../kits/evm/encoding.ts'
import { movementsByEvents } from '../../kits/evm/movements.ts'
import { permit2Grants } from '../../kits/evm/simulate.ts'
import { compare, fromRaw } from '../../core/base/decimal.ts'
import { isObject } from '../../core/base/json.ts'
import { nodeCall, NodeError, type TestVenue, type WalletChanges } from './venue.ts'
import { addressKey } from '../../core/base/addresses.ts'

const approval = id('Approval(address,address,uint256)')
const approvalForAll = id('ApprovalForAll(address,address,bool)')
const transfer = id('Transfer(address,address,uint256)')
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
  /** @throws Error where a token that moved does not answer. Of anything else that has logs, 0: it is no token. */
  const uint = async (to: string, data: string, block: string, isToken: boolean): Promise<bigint> => {
    const result = String(
      await nodeCall(venue, 'eth_call', { to, data }, block).catch((error: unknown) => {
        if (error instanceof NodeError && error.isRevert) return '0x'
        throw error
      }),
    )
    if (/^0x[0-9a-f]{64}$/i.test(result)) return BigInt(result)
    if (!isToken) return 0n
    throw new Error(`${to} has events of a token in ${txHash}, and does not answer ${data.slice(0, 10)} in block ${BigInt(block)}.`)
  }
  const change = async (to: string, data: string, isToken: boolean) =>
    (await uint(to, data, after, isToken)) - (await uint(to, data, before, isToken))

  const byEvents = movementsByEvents(logs, wallet)?.gains
  if (!byEvents) throw new Error(`A transfer of ${wallet} in ${txHash} cannot be read.`)
  const moved = new Set([...byEvents.keys()].map((key) => key.toLowerCase()))
  const gains = new Map<string, bigint>()
  // Of EIP-721 and EIP-1155 by their events: a balance does not say which.
  for (const [key, gainRaw] of byEvents) if (key.includes('/')) gains.set(key.toLowerCase(), gainRaw)
  for (const token of new Set(logs.map(({ address }) => address.toLowerCase())))
    if (![...gains.keys()].some((key) => key.startsWith(`${token}/`)))
      gains.set(token, await change(token, `${selector('balanceOf(address)')}${word(wallet)}`, moved.has(token)))

  const allowance = (token: string, spender: string) =>
    change(token, `${selector('allowance(address,address)')}${word(wallet)}${word(spender)}`, true)
  const grants = await grantsIn(logs, wallet, allowance)

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

/** Rights that the wallet gave and did not take back, by what they are about: of two events the later one counts. */
async function grantsIn(
  logs: readonly Log[],
  wallet: string,
  moreAllowed: (token: string, spender: string) => Promise<bigint>,
): Promise<string[]> {
  const grants = new Map<string, string>()
  const set = (about: string, isGiven: boolean, grant: string) => (isGiven ? grants.set(about, grant) : grants.delete(about))
  const owner = zeroPadValue(wallet, 32).toLowerCase()
  const addressOf = (topic: string) => `0x${topic.slice(-40)}`
  for (const { address, topics, data } of logs) {
    const [event = '', by, second = '', third] = topics
    if (by?.toLowerCase() !== owner) continue
    const spender = addressOf(second)
    if (event === approvalForAll) set(`${address} ${spender}`, BigInt(data) !== 0n, `${spender} may move all tokens of ${address}`)
    else if (event === approval && third !== undefined)
      set(`${address}/${third}`, BigInt(second) !== 0n, `${spender} may move ${address}/${BigInt(third)}`)
    // What is moved away is nobody's to move any more.
    else if (event === transfer && third !== undefined) grants.delete(`${address}/${third}`)
    else if (event === approval) {
      const moreRaw = await moreAllowed(address, spender)
      set(`${address} ${spender}`, moreRaw > 0n, `${spender} may move ${moreRaw} more of ${address}`)
    } else if (permit2Grants.has(event) && third !== undefined) {
      const amountRaw = BigInt(data.slice(0, 66))
      set(`${second} ${third}`, amountRaw > 0n, `${addressOf(third)} may move ${amountRaw} of ${spender} through ${address}`)
    }
  }
  return [...grants.values()]
}

/**
 * Nothing may have moved but what is stated, to the unit, and nobody may have got a right.
 * @param stated by address: what the wallet has more; negative: less
 * @param where what the author should look at
 */
export function expectOnly(changes: WalletChanges, stated: Readonly<Record<string, bigint>>, what: string, where: string): void {
  const { gains, nativeRaw, grants } = changes
  const expected = new Map(Object.entries(stated).map(([token, raw]) => [addressKey(token), raw]))
  for (const token of new Set([...expected.keys(), ...gains.keys()])) {
    const [gainRaw, statedRaw] = [gains.get(token) ?? 0n, expected.get(token) ?? 0n]
    if (gainRaw !== statedRaw) expect.fail(`${what} ${moved(gainRaw)} of ${token}, and states ${statedRaw} (smallest units). ${where}`)
  }
  if (nativeRaw !== 0n) expect.fail(`${what} ${moved(nativeRaw)} of the native coin besides its gas, and states none. ${where}`)
  if (grants.length > 0) expect.fail(`${what} gave rights over the wallet's tokens: ${grants.join('; ')}. ${where}`)
}

/** Nothing may have left the wallet but these tokens, and nobody may have got a right. What came is what the cards compare. */
export function expectNothingElseLeft({ gains, nativeRaw, grants }: WalletChanges, tokens: readonly string[], what: string): void {
  const allowed = tokens.map(addressKey)
  const where = 'Look at the steps of the plan: its targets, the amounts in the calls, and `value`.'
  for (const [token, raw] of gains)
    if (raw < 0n && !allowed.includes(token))
      expect.fail(`${what} took ${-raw} of ${token} from the wallet, which the request does not name. ${where}`)
  if (nativeRaw < 0n && !allowed.includes(nativeAddress))
    expect.fail(`${what} took ${-nativeRaw} of the native coin from the wallet besides its gas, and the request does not name it. ${where}`)
  if (grants.length > 0) expect.fail(`${what} gave rights over the wallet's tokens: ${grants.join('; ')}. ${where}`)
}

/**
 * What an order on a chain did to the wallet: it pays with one token, at most what it is for, and a cancel with none.
 * @param paid the token's symbol and the largest amount in human units
 */
export async function expectPaidOnly(
  venue: TestVenue,
  wallet: string,
  txHash: string,
  paid: { symbol: string; most: string } | undefined,
  what: string,
): Promise<void> {
  const changes = await readWalletChanges(venue, wallet, txHash)
  const { client, chain, network } = venue
  const { body } = await client.get('/network/tokens', { chain, network, tokenSymbols: paid ? [paid.symbol] : [] })
  const [token] = paid ? body : []
  expectNothingElseLeft(changes, token ? [token.address] : [], what)
  if (!paid || !token) return
  const leftRaw = -(changes.gains.get(addressKey(token.address)) ?? 0n)
  if (leftRaw > 0n && compare(fromRaw(leftRaw, token.decimals), paid.most) > 0)
    expect.fail(
      `${what} took ${fromRaw(leftRaw, token.decimals)} ${paid.symbol} from the wallet, and the order is for ${paid.most} at most. Look at the amounts in the plan's calls.`,
    )
}

/** The addresses of the tokens that a request names. */
export async function addressesOf({ client, chain, network }: TestVenue, symbols: readonly string[]): Promise<readonly string[]> {
  const { body } = await client.get('/network/tokens', { chain, network, tokenSymbols: symbols })
  return body.map(({ address }: { address: string }) => address)
}

const moved = (raw: bigint) => (raw < 0n ? `took ${-raw} from the wallet` : `gave the wallet ${raw}`)
