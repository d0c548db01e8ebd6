import { expect } from 'chai'
import { AMMLiquidityPositionRequest } from '../../../core/api/range.ts'
import type { ConnectorContext, TargetContext } from '../../../core/handlers/context.ts'
import { rangeChangeHandlers } from '../../../core/handlers/amm/range-changes.ts'
import { rangePositionHandlers } from '../../../core/handlers/amm/range-positions.ts'
import { fieldsReader } from '../../../core/config/field-reader.ts'

const account = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin'
const owner = '7YttLkHDoNj9wyDur5pM1ejNaAvT9X4eqaYcHQqtj2G5'
const price = { numerator: 1n, denominator: 1n }
const amounts = { amount0Raw: 0n, amount1Raw: 0n }
const pool = {
  address: account,
  version: 'v1',
  token0: 'A',
  token1: 'B',
  fee: 500,
  tickSpacing: 1,
  sqrtPriceX96: 1n,
  tick: 0,
  liquidity: 1n,
  price,
}
const range = { tickLower: 0, tickUpper: 10, lowerPrice: price, upperPrice: price }

describe('ids of positions', () => {
  const read = fieldsReader(AMMLiquidityPositionRequest)

  /** The answer of an exchange that has one position, and what it was asked for. */
  async function ask(own: string, tokenId: unknown) {
    const asked: string[] = []
    const position = async (id: string) => {
      asked.push(id)
      const found = { ...range, tokenId: own, owner, pool, liquidity: 0n, inRange: true, amounts, unclaimed: amounts }
      return id === own ? { head: { number: 1n, timestamp: 0 }, position: found } : undefined
    }
    const context = {
      venue: { connector: 'lake', impl: { AMM_RANGE: { rangeVersions: ['v1'], position } } },
      network: { tokens: { resolve: async (address: string) => ({ symbol: address, address, decimals: 6 }) } },
      caller: { commonName: 'admin', wallets: 'all' },
      signal: AbortSignal.timeout(60_000),
    } as unknown as TargetContext<'connector'>
    const answer = await (async () =>
      rangePositionHandlers.AMMLiquidityPosition(read({ ...named, tokenId }, 'body'), context as never))().then(
      (shown) => shown.tokenId,
      (error: Error) => error.name,
    )
    return { asked, answer }
  }

  it('allow any text: the address of an account is one, letter by letter', async () => {
    expect(await ask(account, account)).to.deep.equal({ asked: [account], answer: account })
    const other = account.toLowerCase()
    expect(await ask(account, other)).to.deep.equal({ asked: [other], answer: 'UNKNOWN_POSITION' })
  })

  it('may be given as numbers, and with zeros in front', async () => {
    for (const tokenId of [7, '7', '007']) expect(await ask('7', tokenId)).to.deep.equal({ asked: ['7'], answer: '7' })
  })

  it('have no characters that would have to be escaped in a path or in a log', async () => {
    for (const tokenId of ['', '-7', '7 ', 'a\nb', '../7', '1'.repeat(129)])
      expect(() => read({ ...named, tokenId }, 'body')).to.throw(/tokenId/)
  })
})

describe('positions that are accounts of their own', () => {
  it('are planned with accounts whose keys the signer makes, as many as the exchange needs', async () => {
    const planned: unknown[] = []
    const made: unknown[] = []
    const range = {
      rangeVersions: ['v1'],
      feeTiers: {},
      newAccounts: 2,
      rangePools: async () => ({ head: { number: 1n, timestamp: 0 }, pools: [pool] }),
      rangeAround: async () => ({ tickLower: 0, tickUpper: 10, lowerPrice: price, upperPrice: price }),
      deposit: async () => ({ ...amounts, liquidity: 1n }),
      add: async (_: unknown, terms: { newAccounts?: readonly string[] }) => {
        planned.push(terms.newAccounts)
        throw new Error('enough')
      },
    }
    const tokens = { resolve: async (symbol: string) => ({ symbol, address: symbol, decimals: 6 }), listedAt: () => undefined }
    const context = {
      venue: { connector: 'lake', config: { allowedSlippage: '1/100', ttl: 60 }, impl: { AMM_RANGE: range } },
      network: { chain: 'solana', network: 'local', tokens, impl: { address: (text: string) => text } },
      services: {
        wallets: { all: () => [{ chain: 'solana', address: owner }] },
        following: { ageSeconds: () => 0 },
        transactions: {
          newAccounts: async (of: unknown, count: number) => {
            made.push([of, count])
            return { first: 'id of it', second: 'another' }
          },
        },
      },
      caller: { commonName: 'admin', wallets: 'all' },
      signal: AbortSignal.timeout(60_000),
    } as unknown as ConnectorContext
    const request = { ...named, address: owner, token0: 'A', token1: 'B', amount0: '1', amount1: '1', lowerPrice: '1', upperPrice: '2' }
    const refusal = await Promise.resolve(rangeChangeHandlers.AMMLiquidityAdd(request, context)).then(
      () => 'made',
      ({ message }: Error) => message,
    )
    expect(refusal).to.equal('enough')
    expect(planned).to.deep.equal([['first', 'second']])
    expect(made).to.deep.equal([[{ chain: 'solana', network: 'local', address: owner }, 2]])
  })
})

const named = { chain: 'c', network: 'n', connector: 'lake' }
