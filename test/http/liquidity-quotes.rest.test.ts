import { expect } from 'chai'
import type { Answer } from '../../testkit/client.ts'
import { admins, local, mined, outcome, sharedServer, uniswap, type SharedServer } from './shared-server.ts'

interface Bounds {
  readonly lowerPrice: string
  readonly upperPrice: string
}

describe('/amm/liquidity/quote', () => {
  let server: SharedServer
  const pair = { token0: 'WETH', token1: 'USDC' }
  const inside = { lowerPrice: '2800', upperPrice: '3200' }
  const above = { lowerPrice: '4000', upperPrice: '5000' }
  const below = { lowerPrice: '1000', upperPrice: '2000' }
  const ask = (verb: string, fields: object): Promise<Answer> => server.client.post(`/amm/liquidity/${verb}`, { ...uniswap, ...fields })
  async function quoted(fields: object): Promise<Answer['body']> {
    const { status, text, body } = await ask('quote', fields)
    expect(status, text).to.equal(200)
    return body
  }
  async function added(fields: object): Promise<Answer['body']> {
    const { status, text, body } = await ask('add', { address: admins, ...fields })
    expect(status, text).to.equal(200)
    return { ...body, fill: (await mined(server.client, body.txHash)).body.fill }
  }

  before(async () => {
    server = await sharedServer()
    for (const token of ['WETH', 'USDC'])
      for (const spender of ['uniswap/positions', 'uniswap/v4Positions'])
        await mined(server.client, (await server.client.post('/evm/approve', { ...local, address: admins, spender, token })).body.txHash)
  })

  const cases: readonly { what: string; range: Bounds; amounts: object; takes: readonly ('amount0' | 'amount1')[] }[] = [
    { what: 'both amounts', range: inside, amounts: { amount0: '1', amount1: '3000' }, takes: ['amount0', 'amount1'] },
    { what: 'the first amount alone', range: inside, amounts: { amount0: '0.5' }, takes: ['amount0', 'amount1'] },
    { what: 'the second amount alone', range: inside, amounts: { amount1: '1234.567891' }, takes: ['amount0', 'amount1'] },
    { what: 'the first amount, for a range above the price', range: above, amounts: { amount0: '0.5' }, takes: ['amount0'] },
    { what: 'the second amount, for a range below the price', range: below, amounts: { amount1: '700' }, takes: ['amount1'] },
  ]
  for (const version of ['v3', 'v4'])
    for (const { what, range, amounts, takes } of cases)
      it(`tells to the unit what an addition of ${version} takes, by ${what}`, async () => {
        const asked = { ...pair, version, fee: 'MEDIUM', ...range }
        const quote = await quoted({ ...asked, ...amounts })
        const { amount0, amount1, maxAmount0, maxAmount1, liquidity, pool } = quote
        const { fill } = await added({ ...asked, pool, amount0: maxAmount0, amount1: maxAmount1 })
        expect({ ...fill }).to.deep.include({ amount0, amount1, liquidity })
        expect([Number(amount0) > 0, Number(amount1) > 0]).to.deep.equal([takes.includes('amount0'), takes.includes('amount1')])
        for (const [name, most] of Object.entries({ amount0: maxAmount0, amount1: maxAmount1, ...amounts }))
          expect(Number(quote[name]), name).to.be.at.most(Number(most))
        // Less has to be kept back for prices that the slippage allows.
        const tight = await quoted({ ...asked, ...amounts, allowedSlippage: '1/10000' })
        expect(BigInt(tight.liquidity) >= BigInt(liquidity)).to.equal(true)
      })

  it('takes a pool without tokens, in its own order, as an addition by its tokens has it', async () => {
    const { token0, token1, price, pool } = (await ask('price', { ...pair, fee: 500 })).body
    const bounds = { lowerPrice: String(Number(price) * 0.95), upperPrice: String(Number(price) * 1.05) }
    const byTokens = await quoted({ token0, token1, pool, ...bounds, amount0: '1' })
    const { token0: own, latency: _, timestamp: _of, blockNumber: _at, ...byPool } = await quoted({ pool, ...bounds, amount0: '1' })
    const inOrder = own === token0 ? byTokens : await quoted({ token0: token1, token1: token0, pool, ...bounds, amount0: '1' })
    expect(inOrder).to.deep.include({ ...byPool, token0: own })
  })

  it('refuses what decides nothing, by the field that is missing', async () => {
    for (const [fields, field] of [
      [inside, 'amount0'],
      [{ ...inside, amount0: '0', amount1: '0' }, 'amount0'],
      [{ ...inside, amount0: '0' }, 'amount0'],
      [{ ...inside, amount1: '0' }, 'amount1'],
      [{ ...above, amount1: '700' }, 'amount0'],
      [{ ...below, amount0: '1' }, 'amount1'],
      [{ ...inside, amount0: '1', allowedSlippage: '1/2' }, 'allowedSlippage'],
      [{ lowerPrice: '3200', upperPrice: '2800', amount0: '1' }, 'lowerPrice'],
    ] as const) {
      const refused = await ask('quote', { ...pair, ...fields })
      expect([outcome(refused), refused.body.details?.[0]?.field], refused.text).to.deep.equal(['400 INCOMPLETE_PARAMS', field])
    }
    const other = await ask('quote', { ...pair, connector: 'curve', ...inside, amount0: '1' })
    expect(other.body.name).to.equal('UNSUPPORTED')
  })

  it('signs nothing, and needs no permission but reading', async () => {
    const before = (await server.client.get('/evm/nonce', { ...local, address: admins })).body.nonce
    const { status, text } = await server.as.reader.post('/amm/liquidity/quote', { ...uniswap, ...pair, ...inside, amount0: '1' })
    expect(status, text).to.equal(200)
    expect((await server.client.get('/evm/nonce', { ...local, address: admins })).body.nonce).to.equal(before)
  })
})
