// Lists from the chain with one bad entry: the others are answered, and the answer says what it lacks.
import { expect } from 'chai'
import { rpcTo, type Rpc } from '../../core/devnet/anvil.ts'
import type { Answer, Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { brokenContracts, withContract } from './broken-contracts.ts'
import { admins, local, mined, oneChain, outcome, uniswap } from './shared-server.ts'

describe('a list with one bad entry', function () {
  this.timeout(300_000)
  let server: TestServer
  let client: Client
  let rpc: Rpc

  before(async () => {
    server = await startServer(oneChain)
    client = server.client
    rpc = rpcTo(server.rpcUrl)
  })
  after(() => server?.stop())

  const replaced = (address: string, code: string, check: () => Promise<void>) => withContract(rpc, address, code, check)

  const addressOf = async (symbol: string): Promise<string> =>
    (await client.get('/network/tokens', { ...local, tokenSymbols: symbol })).body[0].address

  describe('that shows positions', () => {
    const made: { tokenId: string; version: string; pool: string }[] = []
    const positions = (): Promise<Answer> => client.get('/amm/liquidity/positions', { ...uniswap, address: admins })
    const position = ({ tokenId, version }: { tokenId: string; version: string }): Promise<Answer> =>
      client.post('/amm/liquidity/position', { ...uniswap, tokenId, version })
    const idsOf = ({ body }: Answer) => body.positions.map((each: { tokenId: string }) => each.tokenId)

    before(async () => {
      for (const token of ['WETH', 'USDC'])
        for (const spender of ['uniswap/positions', 'uniswap/v4Positions']) {
          const { body } = await client.post('/evm/approve', { ...local, address: admins, spender, token })
          await mined(client, body.txHash)
        }
      const range = { token0: 'WETH', token1: 'USDC', amount0: '1', amount1: '3000', lowerPrice: '2800', upperPrice: '3200' }
      for (const [version, fee] of [
        ['v3', 500],
        ['v3', 3000],
        ['v4', 3000],
      ]) {
        const { body, text } = await client.post('/amm/liquidity/add', { ...uniswap, ...range, address: admins, version, fee })
        expect(body.txHash, text).to.be.a('string')
        const { body: poll } = await mined(client, body.txHash)
        made.push({ tokenId: poll.fill.tokenId, version: body.version, pool: body.pool })
      }
    })

    for (const [name, code] of Object.entries(brokenContracts))
      it(`has the others where the pool of one ${name}`, async () => {
        const [bad, good, v4] = made
        if (!bad || !good || !v4) throw new Error('no positions')
        await replaced(bad.pool, code, async () => {
          const answer = await positions()
          expect(outcome(answer), answer.text).to.equal('200')
          expect(idsOf(answer)).to.deep.equal([good.tokenId, v4.tokenId])
          const [left, ...more] = answer.body.unavailable
          expect(left).to.include({ tokenId: bad.tokenId, version: 'v3' })
          expect(left.reason).to.contain(bad.pool)
          expect(more).to.deep.equal([])
          expect(outcome(await position(bad))).to.equal('501 UNSUPPORTED')
          expect(outcome(await position(good))).to.equal('200')
        })
        const whole = await positions()
        expect(whole.body).to.not.have.property('unavailable')
        expect(idsOf(whole)).to.have.length(3)
      })

    for (const [name, code] of Object.entries(brokenContracts))
      it(`has those of v3 where the pool manager of v4 ${name}`, async () => {
        const { body: config } = await client.get('/connector/config', { connector: 'uniswap' })
        const manager = config.contractAddresses.local.v4PositionManagerAddress
        const poolManager = `0x${String(await rpc('eth_call', { to: manager, data: '0xdc4c90d3' }, 'latest')).slice(26)}`
        for (const target of [poolManager, manager])
          await replaced(target, code, async () => {
            const answer = await positions()
            expect(outcome(answer), answer.text).to.equal('200')
            const ids = made.filter(({ version }) => version === 'v3').map(({ tokenId }) => tokenId)
            expect(idsOf(answer)).to.deep.equal(ids)
            expect(answer.body.unavailable).to.have.length(1)
            expect(answer.body.unavailable[0].version).to.equal('v4')
          })
      })
  })

  describe('that shows pools', () => {
    interface ShownPool {
      readonly connector: string
      readonly version: string
      readonly pool: string
    }
    const ask = (fields: object): Promise<Answer> => client.get('/amm/pools', { ...local, limit: '500', ...fields })
    const nameOf = ({ connector, version, pool }: ShownPool) => `${connector} ${version} ${pool}`
    const namesOf = ({ body }: Answer): string[] => body.pools.map(nameOf).toSorted()

    for (const [name, code] of Object.entries(brokenContracts))
      for (const [connector, version, asked] of [
        ['balancer', 'weighted', { base: 'WETH' }],
        ['curve', undefined, { base: 'USDC' }],
        ['uniswap', 'v3', { base: 'WETH' }],
        ['uniswap', 'v2', { base: 'WETH' }],
        ['quickswap-v4', 'integral', { base: 'WETH' }],
      ] as const)
        it(`has the others where one of ${connector}${version === undefined ? '' : ` ${version}`} ${name}`, async () => {
          const before = await ask({ connector: 'any', ...asked })
          const bad: ShownPool | undefined = before.body.pools.find(
            (each: ShownPool) => each.connector === connector && (version === undefined || each.version === version),
          )
          if (!bad) throw new Error(`no pool of ${connector}`)
          const others = namesOf(before).filter((each) => each !== nameOf(bad))
          await replaced(bad.pool, code, async () => {
            for (const asks of ['any', connector]) {
              const answer = await ask({ connector: asks, ...asked })
              expect(outcome(answer), answer.text).to.equal('200')
              const rest = asks === 'any' ? others : others.filter((each) => each.startsWith(`${connector} `))
              expect(namesOf(answer)).to.deep.equal(rest)
              expect(answer.body).to.not.have.property('leftOut')
              if (connector === 'balancer' || connector === 'curve') {
                const [left] = answer.body.unavailable
                expect(left).to.include({ connector, pool: bad.pool, version: bad.version })
                expect(left.reason).to.be.a('string')
              }
            }
          })
          expect(namesOf(await ask({ connector: 'any', ...asked }))).to.deep.equal(namesOf(before))
        })

    for (const [name, code] of Object.entries(brokenContracts))
      it(`has a price by the others where one of balancer ${name}`, async () => {
        const [bad] = (await ask({ connector: 'balancer', base: 'WBTC' })).body.pools
        await replaced(bad.pool, code, async () => {
          const price = await client.post('/amm/price', {
            ...local,
            connector: 'any',
            base: 'WBTC',
            quote: 'USDC',
            amount: '0.01',
            side: 'SELL',
          })
          expect(outcome(price), price.text).to.equal('200')
        })
      })
  })

  describe('that shows tokens', () => {
    const symbols = ['WETH', 'DAI', 'USDC', 'WBTC', 'USDT', 'ETH']
    const others = symbols.filter((symbol) => symbol !== 'DAI')

    for (const [name, code] of Object.entries(brokenContracts))
      it(`has the balances and allowances of the others where one ${name}`, async () => {
        const dai = await addressOf('DAI')
        const ask = async () => ({
          balances: (await client.post('/network/balances', { ...local, address: admins, tokenSymbols: symbols })).body.balances,
          allowances: (await client.post('/evm/allowances', { ...local, address: admins, spender: 'uniswap', tokenSymbols: others })).body,
        })
        const before = await ask()
        await replaced(dai, code, async () => {
          const balances = await client.post('/network/balances', { ...local, address: admins, tokenSymbols: symbols })
          expect(outcome(balances), balances.text).to.equal('200')
          for (const symbol of others) expect(balances.body.balances[symbol], symbol).to.equal(before.balances[symbol])
          const allowances = await client.post('/evm/allowances', { ...local, address: admins, spender: 'uniswap', tokenSymbols: symbols })
          expect(outcome(allowances), allowances.text).to.equal('200')
          for (const symbol of others.filter((each) => each !== 'ETH'))
            expect(allowances.body.approvals[symbol], symbol).to.equal(before.allowances.approvals[symbol])
          // What answers with a number is not told from a token that says it.
          if (!name.startsWith('returns'))
            for (const { body } of [balances, allowances])
              expect(body.unavailable.map(({ token }: { token: string }) => token)).to.deep.equal(['DAI'])
        })
      })

    it('has the balances of many tokens where several use up their gas', async () => {
      const eaters = Array.from({ length: 6 }, (_, index) => `0x00000000000000000000000000000000000e0${index}ff`.slice(0, 42))
      for (const each of eaters) await rpc('anvil_setCode', each, brokenContracts['uses up its gas'])
      const answer = await client.post('/network/balances', { ...local, address: admins, tokenSymbols: [...eaters, ...others] })
      expect(outcome(answer), answer.text).to.equal('200')
      expect(Object.keys(answer.body.balances)).to.have.members(others)
      expect(answer.body.unavailable).to.have.length(eaters.length)
    })
  })
})
