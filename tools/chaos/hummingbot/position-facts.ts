// What the chain has of the bots' positions, and what stirs the pool that they are in.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Interface, MaxUint256, parseEther, parseUnits, toQuantity } from 'ethers'
import { parse } from 'yaml'
import type { Chain } from '../chain/chain.ts'
import type { Random } from '../random.ts'
import type { World } from '../world.ts'

/** Of WETH and USDC, in its own order of tokens. */
export interface Pool {
  readonly address: string
  readonly tokens: readonly [string, string]
  readonly price: number
  /** Whether WETH is its first token. */
  readonly isCoinFirst: boolean
  readonly fee: number
}

/** What one transaction did to a position, as its receipt says. */
export interface PositionEvent {
  readonly txHash: string
  readonly is: 'minted' | 'burnt' | 'added' | 'removed' | 'collected'
  readonly tokenId: string
  readonly raw: readonly [bigint, bigint]
  /** What its transaction paid to the network, and its bytes. */
  readonly paidRaw: bigint
  readonly input: string
  readonly block: number
}

/** Blocks from `from` on were taken back, by the milliseconds of the run. */
export interface Reorganisation {
  readonly at: number
  readonly from: number
}

/** From now on the world's reorganisations are kept. */
export function keepReorganisations({ chain, recorder }: World): readonly Reorganisation[] {
  const kept: Reorganisation[] = []
  const { reorganise } = chain
  chain.reorganise = async (depth) => {
    const from = await reorganise(depth)
    kept.push({ at: recorder.clock(), from })
    return from
  }
  return kept
}

const { contractAddresses } = parse(readFileSync(new URL('../../../plugins/uniswap/defaults.yml', import.meta.url), 'utf8'))
const manager: string = contractAddresses.local.positionManagerAddress
const router: string = contractAddresses.local.v3RouterAddress

const events = new Interface([
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
  'event IncreaseLiquidity(uint256 indexed tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)',
  'event DecreaseLiquidity(uint256 indexed tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)',
  'event Collect(uint256 indexed tokenId, address recipient, uint256 amount0, uint256 amount1)',
])
const kinds: Readonly<Record<string, PositionEvent['is']>> = {
  IncreaseLiquidity: 'added',
  DecreaseLiquidity: 'removed',
  Collect: 'collected',
}
const nobody = `0x${'0'.repeat(40)}`

/** Everything that the contract of positions logged, as the chain has it now. */
export async function positionEventsSince(chain: Chain, first: number): Promise<PositionEvent[]> {
  const logs = await chain.rpc('eth_getLogs', { address: manager, fromBlock: toQuantity(first), toBlock: 'latest' })
  const transactions = new Map<string, Pick<PositionEvent, 'paidRaw' | 'input'>>()
  const found: PositionEvent[] = []
  for (const log of logs as { topics: string[]; data: string; transactionHash: string; blockNumber: string }[]) {
    const parsed = events.parseLog(log)
    if (!parsed) continue
    const { from, to, tokenId, amount0 = 0n, amount1 = 0n } = parsed.args
    const is = kinds[parsed.name] ?? (from === nobody ? 'minted' : to === nobody ? 'burnt' : undefined)
    if (!is) continue
    const txHash = log.transactionHash
    const known = transactions.get(txHash) ?? (await transactionOf(chain, txHash))
    transactions.set(txHash, known)
    found.push({ txHash, is, tokenId: String(tokenId), raw: [amount0, amount1], block: Number(log.blockNumber), ...known })
  }
  return found
}

async function transactionOf(chain: Chain, txHash: string): Promise<Pick<PositionEvent, 'paidRaw' | 'input'>> {
  const [transaction, receipt] = await Promise.all(
    ['eth_getTransactionByHash', 'eth_getTransactionReceipt'].map(async (method) => Object(await chain.rpc(method, txHash))),
  )
  const text = (of: object, name: string) => String(Reflect.get(of, name))
  return { input: text(transaction, 'input'), paidRaw: BigInt(text(receipt, 'gasUsed')) * BigInt(text(receipt, 'effectiveGasPrice')) }
}

/** Lets the wallets add to the pool, by the server. */
export async function prepareWallets(world: World): Promise<void> {
  for (const address of world.wallets) {
    const fields = { ...world.place, address }
    const asked = ['WETH', 'USDC'].map((token) => ['/evm/approve', { ...fields, spender: 'uniswap/positions', token }] as const)
    for (const [path, body] of [['/evm/wrap', { ...fields, amount: '20' }] as const, ...asked]) {
      const { client } = await world.someServer()
      const { status, text, body: answer } = await client.post(path, body)
      if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`)
      await isMined(world, answer.txHash)
    }
  }
}

async function isMined({ someServer, place }: World, txHash: string): Promise<void> {
  for (const end = performance.now() + 180_000; performance.now() < end; await sleep(100)) {
    const { client } = await someServer()
    if ((await client.get('/network/poll', { ...place, txHash })).body.txStatus === 1) return
  }
  throw new Error(`${txHash} was not mined.`)
}

export async function deepestPool({ someServer, place }: World): Promise<Pool> {
  const { client } = await someServer()
  const of = { ...place, connector: 'uniswap' }
  const { pools } = (await client.get('/amm/pools', { ...of, base: 'WETH', quote: 'USDC', version: 'v3' })).body
  const [{ pool: address }] = pools
  const { token0, token1, price, fee } = (await client.post('/amm/liquidity/price', { ...of, pool: address })).body
  const isCoinFirst = Number(price) > 1
  return { address, tokens: [token0, token1], price: Number(price), isCoinFirst, fee: feesInPips[fee] ?? Number(fee) }
}

const feesInPips: Readonly<Record<string, number>> = { LOWEST: 100, LOW: 500, MEDIUM: 3_000, HIGH: 10_000 }

const calls = new Interface([
  'function deposit() payable',
  'function approve(address, uint256)',
  'function balanceOf(address) view returns (uint256)',
  'function exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96)) payable',
])
const stranger = '0x00000000000000000000000000000000000057a6'

/** Somebody else trades in the pool there and back, so that positions earn fees and the price moves by a thousandth. */
export async function tradeInPool({ chain, recorder }: World, pool: Pool, random: Random, over: AbortSignal): Promise<void> {
  const [coin, dollar] = pool.isCoinFirst ? pool.tokens : [pool.tokens[1], pool.tokens[0]]
  const send = async (to: string, data: string, value = 0n) => {
    const fees = { maxFeePerGas: toQuantity(parseUnits('100', 'gwei')), maxPriorityFeePerGas: toQuantity(parseUnits('1', 'gwei')) }
    const hash = await chain.rpc('eth_sendTransaction', {
      from: stranger,
      to,
      data,
      value: toQuantity(value),
      gas: toQuantity(400_000),
      ...fees,
    })
    recorder.foreign.add(String(hash))
  }
  const swap = (tokenIn: string, tokenOut: string, amountIn: bigint) =>
    send(router, calls.encodeFunctionData('exactInputSingle', [[tokenIn, tokenOut, pool.fee, stranger, amountIn, 0n, 0n]]))
  const trade = async () => {
    const balanceOf = { to: dollar, data: calls.encodeFunctionData('balanceOf', [stranger]) }
    const heldRaw = BigInt(String(await chain.rpc('eth_call', balanceOf, 'latest')))
    await (heldRaw > 1_000_000n ? swap(dollar, coin, heldRaw) : swap(coin, dollar, parseEther(String(random.between(1, 40)))))
  }
  await chain.rpc('anvil_impersonateAccount', stranger)
  await chain.rpc('anvil_setBalance', stranger, toQuantity(parseEther('100000')))
  await send(coin, calls.encodeFunctionData('deposit'), parseEther('10000'))
  for (const token of pool.tokens) await send(token, calls.encodeFunctionData('approve', [router, MaxUint256]))
  while (!over.aborted) {
    await sleep(random.between(1_000, 3_000), undefined, { signal: over }).catch(() => {})
    if (over.aborted) break
    // What a reorganisation or a full mempool takes is of no interest.
    await trade().catch(() => {})
  }
}
