import { Ajv } from 'ajv'
import { expect } from 'chai'
import { assert, asyncProperty, bigInt, boolean } from 'fast-check'
import { endpoints } from '../../../core/api/index.ts'
import type { Answer, Client } from '../../../testkit/client.ts'
import { here, pair, startAmmSite, venue, type AmmSite } from './amm-site.ts'

const most = 2n ** 64n - 1n
const ajv = new Ajv({ strict: false })
const accepts = (name: string) => ajv.compile(endpoints.find((each) => each.name === name)?.response ?? false)
const outcome = ({ status, body }: Answer): string => (status === 200 ? '200' : `${status} ${body?.name}`)
const units = (raw: bigint, decimals: number) =>
  `${raw / 10n ** BigInt(decimals)}.${(raw % 10n ** BigInt(decimals)).toString().padStart(decimals, '0')}`

describe('/amm/price of an exchange on Solana', () => {
  let site: AmmSite
  let client: Client
  before(async () => {
    site = await startAmmSite()
    client = site.client
  })
  after(() => site?.stop())
  const price = (fields: object) => client.post('/amm/price', { ...pair, amount: '2', side: 'SELL', ...fields })

  it('gives what the better of its pools would do, to the unit, and names that pool', () =>
    assert(
      asyncProperty(boolean(), boolean(), bigInt({ min: 1n, max: 1n << 58n }), async (isBuy, isTurned, amountRaw) => {
        const [base, quote] = isTurned ? ['USDC', 'BASE'] : ['BASE', 'USDC']
        const decimals = isTurned ? 6 : 9
        const answer = await price({ base, quote, amount: units(amountRaw, decimals), side: isBuy ? 'BUY' : 'SELL' })
        const paid = isBuy ? quote : base
        const own = await Promise.all(
          site.pools.map(async (pool) => {
            const pays = pool.mints[0].symbol === paid ? 0 : 1
            const done = isBuy
              ? await site.asks({ pays, exact: 'got', amountRaw, limitRaw: most }, pool)
              : await site.asks({ pays, exact: 'paid', amountRaw, limitRaw: 1n }, pool)
            return done ? [{ pool: pool.address, raw: isBuy ? done.paidRaw : done.gotRaw }] : []
          }),
        )
        const [best] = own.flat().toSorted((a, b) => Number(isBuy ? a.raw - b.raw : b.raw - a.raw))
        expect(outcome(answer), answer.text).to.equal(best ? '200' : '422 PRICE_FAILED')
        if (!best) return
        const { route, ...body } = answer.body
        expect(body.rawAmount).to.equal(String(amountRaw))
        expect(body.expectedAmount).to.equal(units(best.raw, isTurned ? 9 : 6))
        expect(
          own
            .flat()
            .filter(({ raw }) => raw === best.raw)
            .map(({ pool }) => pool),
        ).to.include(route[0].pool)
      }),
      { numRuns: 60 },
    ))

  it('follows the market into the other pool', async () => {
    expect((await price({})).body.route[0]).to.include({ pool: site.pools[0].address, fee: '0.003' })
    const amountRaw = 30_000_000_000n
    await site.moves({ pays: 0, exact: 'paid', amountRaw, limitRaw: 1n })
    const body = await site.priceAtTip({ amount: '0.1' })
    expect(body.route[0]).to.include({ pool: site.pools[1].address, fee: '0.01', tokenIn: site.base.address })
  })

  it('answers as the OpenAPI document says, with the slot that it holds for', async () => {
    for (const side of ['BUY', 'SELL']) {
      const { body } = await price({ side })
      const valid = accepts('AMMPrice')
      expect(valid(body), JSON.stringify(valid.errors)).to.equal(true)
      expect(body).to.include({ base: site.base.address, quote: site.solana.mints.USDC.address, gasPriceToken: 'SOL' })
      expect(BigInt(body.blockNumber)).to.equal(site.solana.ledger.tip.slot - 1n)
    }
    expect((await price({ address: site.wallets[2] })).body.allowance).to.deep.equal({
      spender: site.pools[0].program,
      sufficient: true,
    })
  })

  it('has gas in the coin of Solana, of which a gwei is a lamport', async () => {
    for (const { body } of [await price({}), await client.post('/amm/estimateGas', venue)]) {
      expect(body.gasPriceToken).to.equal('SOL')
      expect(body.gasCost).to.match(/^0\.\d{9}$/)
      // The least that is offered: 1,000 millionths, rounded up to have place for the digits that tell messages apart.
      expect(body.gasPrice).to.equal(0.004096)
      expect(body.gasPrice * body.gasLimit).to.be.at.most(Number(body.gasCost) * 1e9)
      expect(Number(body.gasCost)).to.be.within(0.000005, 0.0001)
    }
  })

  it('asks nobody: all pools are in memory, by one call for each slot', async () => {
    await site.priceAtTip()
    const accountsAsked = () => site.proxy.asked.filter((method) => method === 'getMultipleAccounts').length
    site.proxy.asked.length = 0
    for (const side of ['BUY', 'SELL']) {
      const { body } = await price({ side })
      expect(body).to.include({ source: 'memory' })
      expect((await client.get('/amm/pools', pair)).body.pools).to.have.length(2)
    }
    expect(accountsAsked()).to.equal(0)
    site.solana.blocks(1)
    await site.priceAtTip()
    expect(accountsAsked()).to.equal(1)
  })

  it('refuses where there is no price, and says what is wrong', async () => {
    const { FEES, USDC } = site.solana.mints
    const refused = async (fields: object) => {
      const answer = await price(fields)
      return `${outcome(answer)}: ${answer.body.message}`
    }
    expect(await refused({ base: 'SOL' })).to.match(
      /^404 PAIR_NOT_FOUND: \S+: There is no pool of SOL and USDC at the addresses that are looked for\. .*pool=<its address>/,
    )
    expect(await refused({ base: FEES.address })).to.match(/^404 PAIR_NOT_FOUND/)
    expect(await refused({ quote: 'BASE' })).to.match(/^400 INCOMPLETE_PARAMS: quote: is the same token/)
    expect(await refused({ amount: '0.0000000001' })).to.match(/^400 INCOMPLETE_PARAMS: amount: .* more decimals/)
    expect(await refused({ amount: '2000', side: 'BUY' })).to.match(/^422 PRICE_FAILED/)
    expect(await refused({ amount: '99999999999' })).to.match(/^422 PRICE_FAILED/)
    expect(await refused({ amount: '0.000000001' })).to.match(/^422 PRICE_FAILED/)
    expect(await refused({ version: 'v2' })).to.match(/^400 INCOMPLETE_PARAMS: version: poolswap has no version/)
    expect(await refused({ base: site.wallets[0] })).to.match(/^404 TOKEN_NOT_SUPPORTED/)
    expect(await refused({ base: '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2' })).to.match(/^404 TOKEN_NOT_SUPPORTED/)
    expect(await refused({ address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' })).to.match(/^400 INCOMPLETE_PARAMS: address/)
    expect(await refused({ base: USDC.address.toLowerCase() })).to.match(/^404 TOKEN_NOT_SUPPORTED/)
  })

  it('does not call an address misspelt that another case would make one: there is no checksum', async () => {
    // A capital I is no letter of base58, a small one is.
    const misspelt = `${site.base.address.slice(0, 20)}I${site.base.address.slice(21)}`
    const { body } = await price({ base: misspelt })
    expect(body.name).to.equal('TOKEN_NOT_SUPPORTED')
    expect(body.message).to.not.contain('checksum').and.not.contain('lower case')
  })

  it('comes from a connector that is shown like any other', async () => {
    const { body: connectors } = await client.get('/connectors')
    expect(connectors).to.deep.equal({ poolswap: [{ chain: 'solana', networks: ['local'] }] })
    const { body: plugins } = await client.get('/plugins')
    expect(plugins.find(({ name }: { name: string }) => name === 'poolswap')).to.include({ kind: 'connector', state: 'loaded' })
    const { body: config } = await client.get('/connector/config', { connector: 'poolswap' })
    expect(config).to.deep.include({ name: 'poolswap', trading_type: ['AMM'], allowedSlippage: '1/100' })
    const { body: document } = await client.get('/openapi.json')
    expect(document.paths).to.include.keys('/amm/price', '/amm/trade', '/amm/estimateGas', '/altchain/create-token')
    expect(outcome(await price({ network: 'mainnet' }))).to.equal('404 UNKNOWN_CHAIN_ERROR')
    expect(outcome(await client.get('/evm/nonce', { ...here, address: site.wallets[0] }))).to.equal('501 UNSUPPORTED')
  })
})
