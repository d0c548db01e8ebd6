import { expect } from 'chai'
import type { AMMLiquidityAddResponse, AMMLiquidityPositionResponse, AMMLiquidityPriceResponse } from '../../core/api/index.ts'
import { devnetTokenSymbols } from '../../core/contracts/devnet.ts'
import type { Answer } from '../client.ts'
import { approve, waitForMined, toRaw, venueFields, type TestVenue } from './venue.ts'

/** What a change of liquidity really did, as `/network/poll` tells it. */
interface LiquidityFill {
  tokenId: string
  liquidity: string
  amount0: string
  amount1: string
}

/** What was answered to a request, and what the mined transaction did. */
export interface MinedChange<A = { liquidity: string; deadline: number; txHash: string }> {
  answer: A
  fill: LiquidityFill
  /** Of the native coin, smallest units. */
  gasRaw: bigint
}

type Fields = Readonly<Record<string, unknown>>

/** What the cards do with positions, as a bot would: by the interface alone. */
export interface LpFixture {
  readonly bench: TestVenue
  readonly ground: LpPool
  /** The wallet whose positions they are. */
  readonly owner: string
  /** Another one, which swaps. */
  readonly other: string
  ask(verb: string, fields: Fields): Promise<Answer>
  price(fields?: Fields): Promise<AMMLiquidityPriceResponse>
  position(tokenId: string): Promise<AMMLiquidityPositionResponse>
  /** A request for a position of the owner's between two parts of the current price. */
  around(below: number, above: number, fields?: Fields): Promise<Fields>
  /** Takes it as given that the request is answered, mined, and not reverted. */
  add(fields: Fields): Promise<MinedChange<AMMLiquidityAddResponse>>
  remove(fields: Fields): Promise<MinedChange>
  collect(fields: Fields): Promise<MinedChange>
  /** Sells token0 into the pool, unless the fields say otherwise. */
  sell(amount: string, fields?: Fields): Promise<Answer>
  /** The same, once it is mined: what went in. */
  sold(amount: string, fields?: Fields): Promise<{ amountInRaw: bigint }>
  /** Smallest units. */
  balances(symbols: readonly string[]): Promise<bigint[]>
  /** Sees to it that a request is refused so, naming the field, and that nothing was made of it. */
  refused(verb: string, fields: Fields, outcome: string, field?: string): Promise<Answer>
}

export async function createLpFixture(bench: TestVenue): Promise<LpFixture> {
  const { client, chain, network } = bench
  const [other, , owner] = bench.wallets
  const ground = await findLpPool(bench)
  const { token0, token1, fee, version } = ground
  for (const address of [owner, other]) for (const token of [token0, token1]) await approve(bench, address, token)

  const ask: LpFixture['ask'] = (verb, fields) => client.post(`/amm/liquidity/${verb}`, { ...venueFields(bench), ...fields })
  const answered = async (verb: string, fields: Fields) => {
    const { status, text, body } = await ask(verb, fields)
    expect(status, `${verb} ${JSON.stringify(fields)}: ${text}`).to.equal(200)
    return body
  }
  const act = async (verb: string, fields: Fields) => {
    const answer = await answered(verb, { address: owner, ...fields })
    const { fill, txReceipt, reason } = await waitForMined(bench, answer.txHash)
    expect(txReceipt.status, `${verb} ${JSON.stringify(fields)} reverted: ${reason}`).to.equal(1)
    return { answer, fill, gasRaw: BigInt(txReceipt.gasUsed) * BigInt(txReceipt.effectiveGasPrice) }
  }
  const price: LpFixture['price'] = (fields = {}) => answered('price', { token0, token1, fee, ...fields })
  const nonce = async () => (await client.get('/evm/nonce', { chain, network, address: owner })).body.nonce
  const sell: LpFixture['sell'] = (amount, fields = {}) =>
    client.post('/amm/trade', {
      ...venueFields(bench),
      ...(version !== undefined && { version }),
      address: other,
      base: token0,
      quote: token1,
      side: 'SELL',
      amount,
      ...fields,
    })

  return {
    bench,
    ground,
    owner,
    other,
    ask,
    price,
    sell,
    position: (tokenId) => answered('position', { tokenId }),
    add: (fields) => act('add', fields),
    remove: (fields) => act('remove', fields),
    collect: (fields) => act('collect_fees', fields),
    async around(below, above, fields = {}) {
      const now = Number((await price()).price)
      const bounds = { lowerPrice: String(now * below), upperPrice: String(now * above) }
      // Six decimals are what each of the devnet's tokens has.
      return { address: owner, token0, token1, fee, ...bounds, amount0: '0.5', amount1: (now / 2).toFixed(6), ...fields }
    },
    async sold(amount, fields) {
      const { status, text, body } = await sell(amount, fields)
      expect(status, text).to.equal(200)
      const { fill } = await waitForMined(bench, body.txHash)
      return { amountInRaw: toRaw(fill.amountIn) }
    },
    async balances(tokenSymbols) {
      const { body, status, text } = await client.get('/network/balances', { chain, network, address: owner, tokenSymbols })
      expect(status, text).to.equal(200)
      return tokenSymbols.map((symbol) => toRaw(body.balances[symbol]))
    },
    async refused(verb, fields, outcome, field) {
      const before = await nonce()
      const answer = await ask(verb, fields)
      const { status, body, text } = answer
      expect(`${status} ${body?.name}`, `${verb} ${JSON.stringify(fields)}: ${text}`).to.equal(outcome)
      if (field !== undefined) expect(body.details[0].field, text).to.equal(field)
      expect(await nonce()).to.equal(before)
      return answer
    },
  }
}

/** A pool that positions are made in, and that the exchange's own swaps go through. */
interface LpPool {
  token0: string
  token1: string
  fee: number
  /** Its address. */
  pool: string
  /** The one that swaps must name, where they would go elsewhere otherwise. */
  version?: string
}

/** Which of the devnet's pairs has such a pool, and in which fee tier. */
async function findLpPool(bench: TestVenue): Promise<LpPool> {
  const { client, connector } = bench
  const { body: config } = await client.get('/connector/config', { connector })
  const told: string[] = []
  for (const [i, token0] of devnetTokenSymbols.entries()) {
    for (const token1 of devnetTokenSymbols.slice(i + 1)) {
      for (const version of [undefined, ...Object.keys(config.versions ?? {})]) {
        const swap = {
          ...venueFields(bench),
          ...(version !== undefined && { version }),
          base: token0,
          quote: token1,
          amount: '0.01',
          side: 'SELL',
        }
        const [hop, ...more] = (await client.get('/amm/price', swap)).body.route ?? []
        if (hop?.fee === undefined || more.length > 0) continue
        const fee = Math.round(Number(hop.fee) * 1_000_000)
        const { body, text } = await client.post('/amm/liquidity/price', { ...venueFields(bench), token0, token1, fee })
        if (body?.pool === hop.pool) return { token0, token1, fee, pool: hop.pool, ...(version !== undefined && { version }) }
        told.push(`${token0}-${token1} at ${fee} by ${hop.pool}: ${text}`)
      }
    }
  }
  return expect.fail(`its swaps go through none of its pools with ranges:\n${told.join('\n')}`)
}

/** Smallest units of what a request offered, by the decimals of what was answered about the same token. */
export function rawLike(offered: unknown, like: string): bigint {
  const [whole = '', fraction = ''] = String(offered).split('.')
  const decimals = like.split('.')[1]?.length ?? 0
  return BigInt(whole + fraction.padEnd(decimals, '0').slice(0, decimals))
}

/** The pool's order in that of the request: which amount of a position is the request's first. */
export function inOrderOf<T>(asked: { token0: string }, shown: { token0: string }, [first, second]: readonly [T, T]): [T, T] {
  return asked.token0 === shown.token0 ? [first, second] : [second, first]
}

export const raws = (amounts: readonly string[]): bigint[] => amounts.map(toRaw)

/** Whether two decimal strings are the same to fifteen digits. */
export function isClose(a: string | number, b: string | number): boolean {
  return Math.abs(Number(a) / Number(b) - 1) < 1e-15 * 10
}
