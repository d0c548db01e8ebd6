import { expect } from 'chai'
import type { Answer, Client } from '../../testkit/client.ts'
import { local, outcome, sharedServer, swap, twins } from './shared-server.ts'

describe('amounts, tokens and sides', () => {
  let client: Client
  const price = (fields: object): Promise<Answer> => client.post('/amm/price', { ...swap, ...fields })
  before(async () => {
    client = (await sharedServer()).client
  })

  for (const [amount, rawAmount] of [
    ['1.5', '1500000000000000000'],
    ['1E-8', '10000000000'],
    ['1e-18', '1'],
    ['1.50e1', '15000000000000000000'],
    ['0001.0', '1000000000000000000'],
    [`1.${'0'.repeat(60)}`, '1000000000000000000'],
    ['10e-1', '1000000000000000000'],
  ] as const) {
    it(`reads ${amount} WETH as ${rawAmount}`, async () => {
      const { body } = await price({ amount, side: 'BUY' })
      expect(body.rawAmount).to.equal(rawAmount)
    })
  }

  it('answers amounts padded to the decimals of the token', async () => {
    const { body } = await price({ base: 'USDC', quote: 'WETH', amount: '1.5' })
    expect([body.amount, body.rawAmount]).to.deep.equal(['1.500000', '1500000'])
    expect(body.expectedAmount).to.match(/^0\.\d{18}$/)
  })

  it('refuses more decimals than the token has, except zeros', async () => {
    const refused = await price({ base: 'USDC', quote: 'WETH', amount: '1.0000001' })
    expect(outcome(refused)).to.equal('400 INCOMPLETE_PARAMS')
    expect(refused.body.message).to.contain('more decimals than USDC (6)')
    expect(outcome(await price({ base: 'USDC', quote: 'WETH', amount: '1.000000000000000000' }))).to.equal('200')
  })

  for (const amount of [
    '',
    '-1',
    '+1',
    '.5',
    '1.',
    '0x10',
    '1,5',
    '1 ',
    ' 1',
    'NaN',
    'Infinity',
    '1e',
    'e5',
    '1e100',
    '١',
    '1\n',
    '1_000',
    '0',
    '0.0',
    '9'.repeat(80),
    '9'.repeat(300),
    true,
    [1],
    { value: 1 },
  ]) {
    it(`refuses the amount ${JSON.stringify(amount).slice(0, 40)}`, async () => {
      const answer = await price({ amount })
      expect(outcome(answer)).to.equal('400 INCOMPLETE_PARAMS')
      expect(answer.body.details[0].field).to.equal('amount')
    })
  }

  const withNumber = (number: string) =>
    client.post('/amm/price', undefined, { raw: JSON.stringify({ ...swap, amount: 'N' }).replace('"N"', number) })
  for (const [number, amount] of [
    ['0.1', '0.100000000000000000'],
    ['3', '3.000000000000000000'],
    ['1e-8', '0.000000010000000000'],
    ['1.50', '1.500000000000000000'],
    ['123.456789012345', '123.456789012345000000'],
  ] as const) {
    it(`takes the JSON number ${number} as it is written`, async () => {
      expect((await withNumber(number)).body.amount).to.equal(amount)
    })
  }
  for (const number of [
    '9007199254740993',
    '1.0000000000000001',
    '0.30000000000000004',
    '1e400',
    '1e-400',
    '-1',
    '1e309',
    '123456789012345678901234567890',
    '5e-324',
  ]) {
    it(`refuses the JSON number ${number}`, async () => {
      expect(outcome(await withNumber(number))).to.equal('400 INCOMPLETE_PARAMS')
    })
  }
  it('says how to write a number that JSON would round', async () => {
    expect((await withNumber('9007199254740993')).body.message).to.contain('"9007199254740993"')
  })

  for (const side of ['BUY', 'buy', 'Sell', 'sELL']) {
    it(`understands the side ${side}`, async () => expect(outcome(await price({ side }))).to.equal('200'))
  }
  for (const side of ['LONG', 'B', '', 'buy ', 1, ['BUY']]) {
    it(`refuses the side ${JSON.stringify(side)}`, async () => {
      const { body, status } = await price({ side })
      expect([status, body.details[0]]).to.deep.equal([400, { field: 'side', problem: 'must be BUY or SELL' }])
    })
  }

  it('finds a token by symbol and by address in any letter case', async () => {
    const weth = (await price({})).body.base as string
    for (const base of ['weth', 'WeTh', weth, weth.toLowerCase()]) expect((await price({ base })).body.base).to.equal(weth)
  })

  it('reads an unlisted token from the chain', async () => {
    const { rpc } = await sharedServer()
    const [usdc] = (await client.get('/network/tokens', { ...local, tokenSymbols: 'USDC' })).body
    const unlisted = '0x00000000000000000000000000000000000c0ffe'
    await rpc('anvil_setCode', unlisted, await rpc('eth_getCode', usdc.address, 'latest'))
    const { body, status } = await client.get('/network/tokens', { ...local, tokenSymbols: unlisted })
    expect(status).to.equal(200)
    expect(body).to.have.length(1)
    expect(body[0].address.toLowerCase()).to.equal(unlisted)
  })

  it('refuses a symbol that two listed tokens share, with both addresses', async () => {
    const answer = await price({ base: 'twin' })
    expect(outcome(answer)).to.equal('400 INCOMPLETE_PARAMS')
    for (const address of twins) expect(answer.body.message.toLowerCase()).to.contain(address)
    const byAddress = await client.get('/network/tokens', { ...local, tokenSymbols: twins[1] })
    expect(byAddress.body[0].symbol).to.equal('TWIN')
  })

  for (const [base, says] of [
    ['usdcc', 'did you mean "USDC"'],
    ['0x1B9f902252Ad25601aCB5E70ac1E2035B285D348', 'checksum'],
    ['0x000000000000000000000000000000000000dEaD', 'no token at'],
    ['0x1b9f', 'no token'],
    ['__proto__', 'no token'],
    ['constructor', 'no token'],
    ['𝕌𝕊𝔻ℂ', 'no token'],
  ] as const) {
    it(`answers 1006 to the token ${JSON.stringify(base)}`, async () => {
      const answer = await price({ base })
      expect(outcome(answer)).to.equal('404 TOKEN_NOT_SUPPORTED')
      expect(answer.body.message).to.contain(says)
    })
  }

  it('names the field that has the character U+0000', async () => {
    const answer = await price({ base: 'US\0DC' })
    expect(outcome(answer)).to.equal('400 INCOMPLETE_PARAMS')
    expect(answer.body.message).to.contain('base: has the character U+0000')
  })

  it('refuses a pair of one token, and native against wrapped', async () => {
    expect(outcome(await price({ base: 'USDC', quote: 'usdc' }))).to.equal('400 INCOMPLETE_PARAMS')
    for (const side of ['BUY', 'SELL']) {
      const answer = await price({ base: 'ETH', quote: 'WETH', side })
      expect(answer.status, answer.text).to.be.oneOf([400, 422])
      expect(answer.body.message).to.match(/wrap/i)
    }
  })
})

describe('several amounts in one request', () => {
  let client: Client
  const { amount: _, ...pair } = swap
  const prices = (fields: object): Promise<Answer> => client.post('/amm/price', { ...pair, ...fields })
  before(async () => {
    client = (await sharedServer()).client
  })
  const sizes = ['0.1', '1', '10', '100']

  for (const side of ['SELL', 'BUY'] as const)
    it(`have the prices that each has alone, at one block, and lose more the larger they are: ${side}`, async () => {
      for (let tries = 0; ; tries++) {
        const { body } = await prices({ side, amounts: sizes })
        const alone = await Promise.all(sizes.map(async (amount) => (await prices({ side, amount })).body))
        // A block may come between, and the first may ask a node.
        const isOne = alone.every(({ blockNumber, source }) => blockNumber === body.blockNumber && source === 'memory')
        if (!(isOne && body.source === 'memory') && tries < 20) continue
        const shown = alone.map(
          ({ base: _base, quote: _quote, network: _network, timestamp: _timestamp, latency: _latency, ...each }) => each,
        )
        expect(body.quotes).to.deep.equal(shown)
        expect(body).to.deep.include(shown[0])
        expect(body.quotes.every(({ source }: { source: string }) => source === 'memory')).to.equal(true)
        const impacts = body.quotes.map(({ priceImpact }: { priceImpact: string }) => Number(priceImpact))
        expect(impacts).to.deep.equal(impacts.toSorted((one: number, other: number) => one - other))
        return
      }
    })

  it('come from a query too, and beside an amount of its own', async () => {
    const { body } = await client.get('/amm/price', { ...pair, amount: '2', amounts: '1,10' })
    expect([body.amount, ...body.quotes.map(({ amount }: { amount: string }) => amount)].map(Number)).to.deep.equal([2, 1, 10])
  })

  it('have an error each where there is no price, and are refused where none has one', async () => {
    const most = '9'.repeat(12)
    const { body } = await prices({ amounts: [most, 1], side: 'BUY' })
    expect(body.quotes[0]).to.deep.include({ amount: most })
    expect(body.quotes[0].error).to.include({ name: 'PRICE_FAILED', httpErrorCode: 422 })
    expect(body.amount).to.equal(body.quotes[1].amount)
    expect(outcome(await prices({ amounts: [most], side: 'BUY' }))).to.equal('422 PRICE_FAILED')
    expect(outcome(await prices({ amount: most, amounts: ['1'], side: 'BUY' }))).to.equal('422 PRICE_FAILED')
  })

  it('have the allowance of the amount that the answer is of', async () => {
    const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
    const { body } = await prices({ amounts: ['1', '2'], address })
    expect(body.allowance).to.include.keys('spender', 'sufficient')
    expect(body.quotes[0]).to.not.have.property('allowance')
  })

  for (const [amounts, field] of [
    [['1', '1.0000000000000000001'], 'amounts[1]'],
    [['1', '0'], 'amounts[1]'],
    [['1', '-1'], 'amounts'],
    [[], 'amounts'],
    [Array.from({ length: 31 }, () => '1'), 'amounts'],
    ['1', 'amounts'],
    [[{ value: 1 }], 'amounts'],
    [null, 'amount'],
  ] as const) {
    it(`refuses ${JSON.stringify(amounts).slice(0, 60)}, naming ${field}`, async () => {
      const answer = await prices({ amounts })
      expect(outcome(answer)).to.equal('400 INCOMPLETE_PARAMS')
      expect(answer.body.details[0].field).to.equal(field)
    })
  }
})
