import { expect } from 'chai'
import type { AMMLiquidityAddResponse, AMMLiquidityPositionResponse, AMMLiquidityPriceResponse } from '../../core/api/index.ts'
import { devnetTokenSymbols } from '../../core/contracts/devnet.ts'
import type { Answer } from '../client.ts'
import { expectOk } from './expect.ts'
import { approve, balancesOf, expectRefused, toRaw, venueFields, waitForMined, type TestVenue } from './venue.ts'
import { addressesOf, expectNothingElseLeft, readWalletChanges } from './wallet-changes.ts'

/** The effect of a change of liquidity, from `/network/poll`. */
interface LiquidityFill {
  tokenId: string
  liquidity: string
  amount0: string
  amount1: string
  /** Of what was removed or collected, where the receipt tells it. */
  fees0?: string
  fees1?: string
}

/** The answer to a request, and the effect of the mined transaction. */
export interface MinedChange<A = { liquidity: string; deadline: number; txHash: string }> {
  answer: A
  fill: LiquidityFill
  /** The cost of gas, raw. */
  gasRaw: bigint
}

type Fields = Readonly<Record<string, unknown>>

/** The cards' access to liquidity positions, by the HTTP interface only, as a bot's. */
export interface LpFixture {
  readonly venue: TestVenue
  readonly pool: LpPool
  /** The version that the requests name; undefined: the first one of the exchange. */
  readonly version: string | undefined
  /** The pool where `token0` or `token1` of the pool is the native coin instead of WETH: the same one, unless pools have the coin itself. */
  coinPool(): Promise<{ fee: number; address: string }>
  /** The wallet with the positions. */
  readonly owner: string
  /** Another wallet, which swaps. */
  readonly other: string
  send(endpoint: string, fields: Fields): Promise<Answer>
  price(fields?: Fields): Promise<AMMLiquidityPriceResponse>
  position(tokenId: string): Promise<AMMLiquidityPositionResponse>
  /** A request of the owner for a position between two multiples of the current price. */
  around(below: number, above: number, fields?: Fields): Promise<Fields>
  /** The request must succeed and its transaction be mined without a revert. */
  add(fields: Fields): Promise<MinedChange<AMMLiquidityAddResponse>>
  remove(fields: Fields): Promise<MinedChange>
  collect(fields: Fields): Promise<MinedChange>
  /** Sells token0 into the pool, unless the fields say otherwise. */
  sell(amount: string, fields?: Fields): Promise<Answer>
  /** Sells and waits until it is mined. Returns the amount that was paid. */
  sellMined(amount: string, fields?: Fields): Promise<{ amountInRaw: bigint }>
  /** Raw balances of the owner. */
  balances(symbols: readonly string[]): Promise<bigint[]>
  /** The request must be refused, naming the field, and send no transaction. */
  refused(endpoint: string, fields: Fields, outcome: string, field?: string): Promise<Answer>
}

/** @param rangeVersion a further version of the exchange; undefined: its first one */
export async function createLpFixture(venue: TestVenue, rangeVersion?: string): Promise<LpFixture> {
  const { client } = venue
  const [other, , owner] = venue.wallets
  const pool = await (rangeVersion === undefined ? findLpPool(venue) : findPoolOf(venue, rangeVersion))
  const { token0, token1, fee, swap } = pool
  const ofVersion = rangeVersion === undefined ? {} : { version: rangeVersion }
  await Promise.all([owner, other].flatMap((address) => [token0, token1].map((token) => approve(venue, address, token))))

  const send: LpFixture['send'] = (endpoint, fields) =>
    client.post(`/amm/liquidity/${endpoint}`, { ...venueFields(venue), ...ofVersion, ...fields })
  const request = async (endpoint: string, fields: Fields) =>
    expectOk(await send(endpoint, fields), `${endpoint} ${JSON.stringify(fields)}`)
  /** The positions that the cards made, as `contract/id`. */
  const added = new Set<string>()
  const change = async (endpoint: string, fields: Fields) => {
    const answer = await request(endpoint, { address: owner, ...fields })
    const { fill, txReceipt, reason } = await waitForMined(venue, answer.txHash)
    const what = `${endpoint} ${JSON.stringify(fields)}`
    expect(txReceipt.status, `${what} reverted: ${reason}`).to.equal(1)
    const changes = await readWalletChanges(venue, owner, answer.txHash)
    const named = [token0, token1, fields['token0'], fields['token1']].filter((each) => typeof each === 'string')
    if (endpoint === 'add') for (const [key, raw] of changes.gains) if (key.endsWith(`/${fill?.tokenId}`) && raw > 0n) added.add(key)
    if (endpoint === 'add' && fields['tokenId'] === undefined && ![...added].some((key) => key.endsWith(`/${fill?.tokenId}`)))
      expect.fail(`${what}: no position came to the wallet. The recipient in the call of \`add\` has to be terms.owner.`)
    // The position that is emptied may be burned, and no other.
    const positions = endpoint === 'remove' ? [...added].filter((key) => key.endsWith(`/${String(fields['tokenId'])}`)) : []
    expectNothingElseLeft(changes, [...(await addressesOf(venue, [...new Set(named)])), ...positions], what)
    return { answer, fill, gasRaw: BigInt(txReceipt.gasUsed) * BigInt(txReceipt.effectiveGasPrice) }
  }
  const price: LpFixture['price'] = (fields = {}) => request('price', { token0, token1, fee, ...fields })
  const sell: LpFixture['sell'] = (amount, fields = {}) =>
    client.post('/amm/trade', {
      ...venueFields(venue),
      ...swap,
      address: other,
      base: token0,
      quote: token1,
      side: 'SELL',
      amount,
      ...fields,
    })

  return {
    venue,
    pool,
    version: rangeVersion,
    async coinPool() {
      if (rangeVersion === undefined) return { fee, address: pool.address }
      const ends = [token0, token1].map((token) => (token === 'WETH' ? 'ETH' : token))
      const found = await price({ token0: ends[0], token1: ends[1], fee: undefined })
      return { fee: found.fee, address: found.pool }
    },
    owner,
    other,
    send,
    price,
    sell,
    position: (tokenId) => request('position', { tokenId }),
    add: (fields) => change('add', fields),
    remove: (fields) => change('remove', fields),
    collect: (fields) => change('collect_fees', fields),
    async around(below, above, fields = {}) {
      const current = Number((await price()).price)
      const bounds = { lowerPrice: String(current * below), upperPrice: String(current * above) }
      // All tokens of the devnet have at least six decimals.
      return { address: owner, token0, token1, fee, ...bounds, amount0: '0.5', amount1: (current / 2).toFixed(6), ...fields }
    },
    async sellMined(amount, fields) {
      const { fill } = await waitForMined(venue, expectOk(await sell(amount, fields)).txHash)
      return { amountInRaw: toRaw(fill.amountIn) }
    },
    async balances(symbols) {
      const balances = await balancesOf(venue, owner, symbols)
      return symbols.map((symbol) => toRaw(balances[symbol] ?? ''))
    },
    refused: (endpoint, fields, outcome, field) =>
      expectRefused(venue, owner, () => send(endpoint, fields), outcome, `${endpoint} ${JSON.stringify(fields)}`, field),
  }
}

/** A pool for positions that the exchange's own swaps go through. */
interface LpPool {
  token0: string
  token1: string
  fee: number
  address: string
  /** The fields that swaps must have to go through this pool. */
  swap: Fields
}

/** The first of the devnet's pairs with such a pool, and its fee tier. */
async function findLpPool(venue: TestVenue): Promise<LpPool> {
  const { client, connector } = venue
  const { body: config } = await client.get('/connector/config', { connector })
  const problems: string[] = []
  for (const [i, token0] of devnetTokenSymbols.entries()) {
    for (const token1 of devnetTokenSymbols.slice(i + 1)) {
      for (const version of [undefined, ...Object.keys(config.versions ?? {})]) {
        const versionField: { version?: string } = version === undefined ? {} : { version }
        const swap = { ...venueFields(venue), base: token0, quote: token1, amount: '0.01', side: 'SELL' }
        const [hop, ...more] = (await client.get('/amm/price', { ...swap, ...versionField })).body.route ?? []
        if (hop?.fee === undefined || more.length > 0) continue
        const fee = Math.round(Number(hop.fee) * 1_000_000)
        const { body, text } = await client.post('/amm/liquidity/price', { ...venueFields(venue), token0, token1, fee })
        if (body?.pool === hop.pool) return { token0, token1, fee, address: hop.pool, swap: versionField }
        problems.push(`${token0}-${token1} at ${fee} by ${hop.pool}: ${text}`)
      }
    }
  }
  return expect.fail(`None of its pools with ranges is used by its swaps:\n${problems.join('\n')}`)
}

/** The first of the devnet's pairs with a pool of a version, which swaps name. */
async function findPoolOf(venue: TestVenue, version: string): Promise<LpPool> {
  const problems: string[] = []
  for (const [i, token0] of devnetTokenSymbols.entries()) {
    for (const token1 of devnetTokenSymbols.slice(i + 1)) {
      const { body, text } = await venue.client.post('/amm/liquidity/price', { ...venueFields(venue), token0, token1, version })
      if (body?.pool !== undefined) return { token0, token1, fee: body.fee, address: body.pool, swap: { pool: body.pool } }
      problems.push(`${token0}-${token1}: ${text}`)
    }
  }
  return expect.fail(`None of its pools of ${version} takes positions:\n${problems.join('\n')}`)
}

/** The raw amount of what a request offered, with the decimals of an answer about the same token. */
export function rawLike(offered: unknown, like: string): bigint {
  const [whole = '', fraction = ''] = String(offered).split('.')
  const decimals = like.split('.')[1]?.length ?? 0
  return BigInt(whole + fraction.padEnd(decimals, '0').slice(0, decimals))
}

/** A pair of values of a position, in the order of the request's tokens. */
export function inOrderOf<T>(request: { token0: string }, shown: { token0: string }, [first, second]: readonly [T, T]): [T, T] {
  return request.token0 === shown.token0 ? [first, second] : [second, first]
}

export const raws = (amounts: readonly string[]): bigint[] => amounts.map(toRaw)

/** Whether two numbers are the same to fourteen digits. */
export function isClose(a: string | number, b: string | number): boolean {
  return Math.abs(Number(a) / Number(b) - 1) < 1e-14
}
