// No wallet gives more than the limits of its client, whatever is asked: counted on the chain, and on what the wallet has in the end.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { AbiCoder, Contract, id, parseUnits, zeroPadValue } from 'ethers'
import type { Answer } from '../../testkit/client.ts'
import { addresses } from '../devnet/addresses.ts'
import { pools, startRobbedWallets, type RobbedWallets, type Stolen } from './robbed-wallets.ts'
import { local, outcome, uniswap } from '../http/shared-server.ts'

/** `npm run test:limits` plays 100,000, with twenty seeds. */
const requests = Number(process.env.SLUICE_LIMITS_REQUESTS ?? 80)
const seed = Number(process.env.SLUICE_LIMITS_SEED ?? Math.floor(Math.random() * 2 ** 31))
const isByHand = process.env.SLUICE_LIMITS_REQUESTS !== undefined
/** Each makes 40 requests, where nobody asks for more. */
const clients = isByHand ? 8 : 2
const each = Math.ceil(requests / clients)
/** In ether: so much that the wallets have enough for all of them. */
const meanAmount = Math.min(0.5, 50 / each)
const dollars = 3000
const blockMs = 250
/** In the long runs the thief moves prices more often in the time of a market. */
const marketMinutes = isByHand ? 20 : 2
const scale = each * meanAmount
const perDay: Readonly<Record<string, string>> = {
  ETH: (scale * 0.1).toFixed(6),
  WETH: (scale * 0.12).toFixed(6),
  USDC: (scale * 0.12 * dollars).toFixed(6),
  DAI: (scale * 0.05 * dollars).toFixed(6),
  WBTC: (scale * 0.004).toFixed(6),
}
const limits = {
  maxDailyLoss: (scale * 8).toFixed(2),
  maxDailyGas: (each * 0.0004).toFixed(6),
  maxFee: '0.01',
  transactionsPerHour: Math.ceil(each * 0.75),
  tokens: { 'ethereum/local': Object.fromEntries(Object.entries(perDay).map(([token, amount]) => [token, { perDay: amount }])) },
}

/** The same numbers for the same seed: mulberry32, https://gist.github.com/tommyettinger/46a874533244883189143505d203312c */
function createRandom(from: number): () => number {
  let state = from
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Orders of each wallet that may be cancelled. */
const placed = new Map<string, string[]>()

/** A request of any kind that acts. */
async function anyRequest({ client, address }: Stolen, random: () => number, nonce: number, thief: string): Promise<Answer> {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
  const ether = meanAmount * 2 * random()
  const worth = { ETH: 1, WETH: 1, USDC: 1 / dollars, DAI: 1 / dollars, WBTC: 20 }
  type Token = keyof typeof worth
  const amountOf = (token: Token) => (ether / worth[token]).toFixed(token === 'USDC' ? 6 : 8)
  const gwei = String(Math.ceil(3 + random() * 60))
  const fees: Record<string, string> = random() < 0.1 ? { maxFeePerGas: gwei, maxPriorityFeePerGas: '2' } : {}
  const place = { ...local, address, ...fees }
  const dice = random()
  if (dice < 0.55) {
    const base = pick<Token>(['WETH', 'WETH', 'ETH', 'WBTC', 'DAI'])
    const quote = pick<Token>(base === 'DAI' ? ['USDC', 'WETH'] : ['USDC', 'USDC', 'DAI'])
    const side = pick(['BUY', 'SELL'])
    const connector = pick(['uniswap', 'uniswap', 'any', 'sushiswap'])
    return client.post('/amm/trade', { ...place, connector, base, quote, side, amount: amountOf(base) })
  }
  if (dice < 0.68) {
    const price = ((0.9 + 0.2 * random()) * dollars).toFixed(2)
    const order = { market: 'WETH-USDC', orderType: 'LIMIT', side: pick(['BUY', 'SELL']), price, amount: amountOf('WETH') }
    const orders = placed.get(address) ?? []
    placed.set(address, orders)
    const book = { ...place, connector: 'oasis' }
    if (orders.length > 0 && random() < 0.4) {
      const named = new URLSearchParams({ ...book, market: 'WETH-USDC', clientOrderId: pick(orders) })
      return client.request('DELETE', `/clob/orders?${named.toString()}`)
    }
    const answer = await client.post('/clob/orders', { ...book, ...order })
    if (answer.status === 200) orders.push(answer.body.clientOrderId)
    return answer
  }
  if (dice < 0.78) return client.post(pick(['/evm/wrap', '/evm/unwrap']), { ...place, amount: amountOf('ETH') })
  if (dice < 0.88) {
    const range = { token0: 'WETH', token1: 'USDC', lowerPrice: '2500', upperPrice: '3500', version: 'v3', fee: pick(['LOW', 'MEDIUM']) }
    return client.post('/amm/liquidity/add', {
      ...place,
      connector: 'uniswap',
      ...range,
      amount0: amountOf('WETH'),
      amount1: amountOf('USDC'),
    })
  }
  if (dice < 0.92) {
    const amounts = [amountOf('WETH'), amountOf('USDC')]
    return client.post('/amm/shares/add', { ...place, connector: 'uniswap', tokens: ['WETH', 'USDC'], amounts })
  }
  if (dice < 0.96) {
    const spender = pick(['uniswap', 'sushiswap', addresses.exchanges.sushiswap.factory, thief, thief, thief])
    const token = pick<Token>(['WETH', 'USDC'])
    return client.post('/evm/approve', {
      ...place,
      spender,
      token,
      amount: spender !== thief ? amountOf('USDC') : random() < 0.4 ? '0' : amountOf(token),
    })
  }
  if (dice < 0.98) return client.post('/evm/cancel', { ...place, nonce })
  return client.post('/evm/speedUp', { ...local, address, maxFeePerGas: gwei, maxPriorityFeePerGas: '2' })
}

const symbolOf = (token: string): string | undefined =>
  Object.entries(addresses.tokens).find(([, each]) => each.address.toLowerCase() === token.toLowerCase())?.[0]

interface Outflow {
  /** What left, but for what cancelled orders paid back, and what the thief may still take. */
  readonly given: Record<string, bigint>
  /** What the thief took. */
  readonly taken: Record<string, bigint>
}

/** Of Oasis: an order was cancelled. Its data begin with the tokens that it paid and wanted, and what was left of the first. */
const killed = id('LogKill(bytes32,bytes32,address,address,address,uint128,uint128,uint64)')

/** What left a wallet from a block on, by the chain alone. Wraps leave nothing away. */
async function outflow({ provider, thief }: RobbedWallets, address: string, from: number): Promise<Outflow> {
  const none = () => Object.fromEntries(Object.keys(perDay).map((token) => [token, 0n]))
  const [given, taken]: Record<string, bigint>[] = [none(), none()]
  const add = (to: Record<string, bigint> = {}, symbol: string | undefined, raw: bigint) => {
    if (symbol !== undefined) to[symbol] = (to[symbol] ?? 0n) + raw
  }
  const last = await provider.getBlockNumber()
  const [own, other] = [zeroPadValue(address, 32), zeroPadValue(thief, 32)]
  const transfer = id('Transfer(address,address,uint256)')
  const paid = new Set<string>()
  for (let first = from; first <= last; first += 2000) {
    const blocks = { fromBlock: first, toBlock: Math.min(first + 1999, last) }
    for (const { address: token, data, topics, transactionHash } of await provider.getLogs({ ...blocks, topics: [transfer, own] })) {
      // Those of NFTs have a fourth topic.
      if (topics.length !== 3) continue
      add(given, symbolOf(token), BigInt(data))
      paid.add(`${transactionHash} ${token}`)
      if (topics[2] === other) add(taken, symbolOf(token), BigInt(data))
    }
    // An order that meets one of the wallet's own pays the wallet itself.
    for (const { address: token, data, transactionHash } of await provider.getLogs({ ...blocks, topics: [transfer, null, own] }))
      if (paid.has(`${transactionHash} ${token}`)) add(given, symbolOf(token), -BigInt(data))
    for (const { data } of await provider.getLogs({ ...blocks, topics: [killed, null, null, own] })) {
      const [token, , raw] = AbiCoder.defaultAbiCoder().decode(['address', 'address', 'uint128'], data)
      add(given, symbolOf(String(token)), -BigInt(raw))
    }
  }
  for (const [symbol, { address: token }] of Object.entries(addresses.tokens)) {
    const contract = new Contract(token, ['function allowance(address,address) view returns (uint256)'], provider)
    add(given, symbol, await contract.getFunction('allowance')(address, thief))
  }
  return { given: given ?? {}, taken: taken ?? {} }
}

/** On a busy machine a connection may end before its answer. What came of the request the chain tells, as of all others. */
function unanswered(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === 'ECONNRESET') return 'no answer'
  throw error
}

/** The thief takes something of what it may. */
async function take(site: RobbedWallets, address: string, random: () => number): Promise<void> {
  const { address: token } = random() < 0.5 ? addresses.tokens.WETH : addresses.tokens.USDC
  const contract = new Contract(token, ['function allowance(address,address) view returns (uint256)'], site.provider)
  const thiefs = site.thief
  const mayRaw = BigInt(await contract.getFunction('allowance')(address, thiefs))
  const raw = (mayRaw * BigInt(Math.ceil(random() * 100))) / 100n
  // It may be revoked by then.
  if (raw > 0n) await site.send(token, 'transferFrom(address,address,uint256)', [address, thiefs, raw]).catch(() => {})
}

describe('limits over random requests', function () {
  this.timeout(Math.max(240_000, requests * 500))
  let site: RobbedWallets
  let thief: string
  let isOver = false
  let mining = Promise.resolve()

  before(async () => {
    site = await startRobbedWallets(clients, limits, { allowsThief: true, marketMinutes })
    thief = site.thief
    for (const quote of ['USDC', 'DAI', 'WBTC'])
      await site.owner.get('/amm/price', { ...uniswap, base: 'WETH', quote, amount: '1', side: 'SELL' })
    const [first] = site.stolen
    if (first) await anyRequest(first, () => 0, 0, thief)
    await site.pass((marketMinutes + 1) * 60)
    // Anvil was seen to stop mining by itself among thousands of requests. Few blocks of several transactions are also less work than one for each.
    await site.rpc('evm_setAutomine', false)
    await site.rpc('evm_setIntervalMining', 0)
    mining = mine()
  })
  after(async () => {
    isOver = true
    await mining
    await site?.stop()
  })

  /** One block after the other. */
  async function mine(): Promise<void> {
    while (!isOver) {
      await site.rpc('evm_mine').catch(() => {})
      await sleep(blockMs)
    }
  }

  it(`hold for each of ${requests} requests (SLUICE_LIMITS_SEED=${seed})`, async () => {
    const { provider, stolen } = site
    const start = (await provider.getBlockNumber()) + 1
    // They have nothing elsewhere yet.
    const before = await Promise.all(stolen.map(({ address }) => site.held(address)))
    const first = await Promise.all(stolen.map(({ address }) => provider.getTransactionCount(address)))
    const outcomes: string[] = []
    const startedAt = Date.now()
    const told = setInterval(() => {
      if (isByHand) console.log(`      ${outcomes.length} of ${requests} after ${Math.round((Date.now() - startedAt) / 1000)} s`)
    }, 60_000)
    await Promise.all(
      stolen.map(async (one, index) => {
        const random = createRandom(seed + index)
        for (let done = 0; done < each;) {
          const together = Math.min(each - done, 1 + Math.floor(random() * 4))
          const nonce = await provider.getTransactionCount(one.address)
          outcomes.push(
            ...(await Promise.all(Array.from({ length: together }, () => anyRequest(one, random, nonce, thief).then(outcome, unanswered)))),
          )
          done += together
          if (random() < 0.3) await take(site, one.address, random)
          if (index === 0 && random() < 0.05) await push(site, dollars * (0.8 + 0.4 * random()))
          if (index === 1 && random() < 0.05) await site.pass(10)
        }
      }),
    ).finally(() => clearInterval(told))
    for (const each of new Set(outcomes)) expect(each).to.match(/^(200|(4\d\d|50[34]) [A-Z_]+|no answer)$/)
    expect(outcomes.filter((each) => each === 'no answer').length, 'without an answer').to.be.below(requests / 20)
    await push(site, dollars)
    await site.rpc('anvil_mine', '0x2')
    let [mined, allTaken] = [0, 0]
    for (const [index, { address }] of stolen.entries()) {
      mined += (await provider.getTransactionCount(address)) - (first[index] ?? 0)
      const { given, taken } = await outflow(site, address, start)
      for (const [token, raw] of Object.entries(given)) {
        const { decimals } = token === 'ETH' ? { decimals: 18 } : addresses.tokens[token as keyof typeof addresses.tokens]
        expect(raw <= parseUnits(perDay[token] ?? '0', decimals), `${token} of client ${index}: ${raw}`).to.equal(true)
      }
      // What the thief takes by an allowance is bounded by token.
      const takenDollars = (Number(taken['WETH']) / 1e18) * dollars + Number(taken['USDC']) / 1e6
      allTaken += takenDollars
      const lost = (before[index] ?? 0) - (await site.worth(address)) - takenDollars
      expect(lost, `dollars of client ${index}`).to.be.at.most(Number(limits.maxDailyLoss) + Number(limits.maxDailyGas) * dollars)
    }
    const counts = Object.fromEntries([...new Set(outcomes)].map((each) => [each, outcomes.filter((other) => other === each).length]))
    // Of few requests none may approve the thief.
    if (requests >= 1000) expect(allTaken, 'dollars that the thief took').to.be.above(0)
    expect(mined / requests, JSON.stringify(counts)).to.be.above(0.3)
    expect(counts['403 LIMIT_EXCEEDED'], JSON.stringify(counts)).to.be.above(requests / 50)
    // The long runs by hand are told of.
    if (isByHand) console.log(`${mined} mined`, JSON.stringify(counts))
  })
})

const reserves = ['function getReserves() view returns (uint112, uint112, uint32)', 'function token0() view returns (address)'] as const

/** The thief moves the price of one pool. */
async function push(site: RobbedWallets, toDollars: number): Promise<void> {
  const { WETH, USDC } = addresses.tokens
  const factory = new Contract(
    addresses.exchanges.uniswap.factory,
    ['function getPair(address,address) view returns (address)'],
    site.provider,
  )
  const pair = new Contract(await factory.getFunction('getPair')(WETH.address, USDC.address), reserves, site.provider)
  const [one, other] = await pair.getFunction('getReserves')()
  const [ether, usd] = (await pair.getFunction('token0')()) === WETH.address ? [one, other] : [other, one]
  const target = Math.sqrt((Number(ether) / 1e18) * (Number(usd) / 1e6) * toDollars)
  const isBuy = target > Number(usd) / 1e6
  const amountRaw = isBuy
    ? parseUnits((target - Number(usd) / 1e6).toFixed(6), 6)
    : parseUnits((target / toDollars - Number(ether) / 1e18).toFixed(6), 18)
  if (amountRaw < 10n ** 4n) return
  const path = isBuy ? [USDC.address, WETH.address] : [WETH.address, USDC.address]
  const swap = [amountRaw, 0n, path, site.thief, 2n ** 40n]
  await site.send(pools.v2Router, 'swapExactTokensForTokens(uint256,uint256,address[],address,uint256)', swap)
}
