import { expect } from 'chai'
import { admins, traders } from '../../http/shared-server.ts'
import { chainNetwork, type Bot } from './bot.ts'
import { sharedServer } from './shared-server.ts'

const quote = { chainNetwork, baseToken: 'WETH', quoteToken: 'USDC', amount: '0.01', side: 'SELL' }

describe('what a bot of Hummingbot sets for itself', function () {
  this.timeout(300_000)
  let setter: Bot
  let others: Bot
  before(async () => {
    const { bots } = await sharedServer()
    setter = bots.setter
    others = bots.client
  })

  const set = (namespace: string, path: string, value: unknown) => setter.post('/config/update', { namespace, path, value })
  const refused = async (namespace: string, path: string, value: unknown): Promise<[number, string]> => {
    const { status, body } = await setter.refusal('POST', '/config/update', { namespace, path, value })
    return [status, body.message]
  }
  const configOf = (bot: Bot, namespace: string) => bot.get('/config', { namespace })

  it('is its wallet, in whatever spelling: others keep theirs', async () => {
    expect(await configOf(setter, 'ethereum')).to.include({ defaultWallet: admins })
    const answer = await setter.post('/wallet/setDefault', { chain: 'ethereum', address: traders.toLowerCase() })
    expect(answer).to.include({ chain: 'ethereum', address: traders })
    expect(await configOf(setter, 'ethereum')).to.include({ defaultWallet: traders })
    const [{ walletAddresses: all }] = await setter.get('/wallet')
    const [{ walletAddresses: ofOthers }] = await others.get('/wallet')
    expect([all[0], ofOthers[0]]).to.deep.equal([traders, admins])
    expect(all).to.have.members(ofOthers)
    expect((await others.get('/config')).ethereum).to.include({ defaultWallet: admins })
    // Both are answered for the wallet that was set.
    const tokens = ['ETH', 'WETH']
    const balances = async (address?: string) =>
      (await setter.post('/chains/ethereum/balances', { network: 'local', tokens, address })).balances
    const before = (await balances(traders)).WETH
    await setter.post('/chains/ethereum/wrap', { network: 'local', amount: '0.25' })
    expect(await balances()).to.deep.equal(await balances(traders))
    expect((await balances(traders)).WETH - before).to.be.closeTo(0.25, 1e-9)
    await set('ethereum', 'defaultWallet', admins)
    expect(await configOf(setter, 'ethereum')).to.include({ defaultWallet: admins })
    await set('ethereum', 'defaultWallet', traders)
  })

  it('is the wallet of its swaps that name none', async () => {
    await setter.post('/chains/ethereum/approve', { network: 'local', spender: 'uniswap', token: 'WETH', amount: '1' })
    const { signature } = await setter.post('/trading/router/execute-swap', { ...quote, connector: 'uniswap', amount: 0.01 })
    const { client } = await sharedServer()
    const { transactions } = (await client.get('/transactions', { kind: 'trade', limit: '1' })).body
    expect(transactions[0]).to.include({ txHash: signature, address: traders, client: 'setter' })
  })

  it('is no wallet that it may not use', async () => {
    const { status, body } = await (
      await sharedServer()
    ).bots.trader.refusal('POST', '/wallet/setDefault', { chain: 'ethereum', address: admins })
    expect(status).to.equal(404)
    expect(body.message).to.contain(`${admins} is no wallet of this client on ethereum`)
  })

  it('is the network of a request that names the chain alone', async () => {
    expect(await configOf(setter, 'ethereum')).to.include({ defaultNetwork: 'mainnet' })
    expect((await set('ethereum', 'defaultNetwork', 'local')).message).to.contain('ethereum.defaultNetwork is local')
    expect(await configOf(setter, 'ethereum')).to.include({ defaultNetwork: 'local' })
    expect(await setter.get('/chains/ethereum/status')).to.include({ network: 'local' })
    expect((await setter.get('/tokens/WETH', { chain: 'ethereum' })).chainNetwork).to.equal(chainNetwork)
    expect((await setter.post('/chains/ethereum/allowances', { spender: 'uniswap', tokens: ['WETH'] })).approvals).to.have.keys('WETH')
    expect(await configOf(others, 'ethereum')).to.include({ defaultNetwork: 'mainnet' })
    const [status, message] = await refused('ethereum', 'defaultNetwork', 'nowhere')
    expect([status, message]).to.deep.equal([400, 'ethereum.defaultNetwork: "nowhere" is none of mainnet, sepolia, local'])
  })

  it('is a slippage, of quotes and swaps that name none, never above that of the connector', async () => {
    const worst = async (bot: Bot, more: object = {}) => {
      const { minAmountOut, amountOut, slippagePct } = await bot.get('/trading/router/quote-swap', {
        ...quote,
        connector: 'uniswap',
        ...more,
      })
      return [Math.round((1 - minAmountOut / amountOut) * 1e6) / 1e4, slippagePct]
    }
    expect(await worst(setter)).to.deep.equal([1, undefined])
    await set('uniswap', 'slippagePct', 0.25)
    expect(await configOf(setter, 'uniswap')).to.deep.equal({ slippagePct: 0.25 })
    expect(await configOf(others, 'uniswap')).to.deep.equal({ slippagePct: 1 })
    expect(await worst(setter)).to.deep.equal([0.25, '0.25'])
    expect(await worst(setter, { connector: 'uniswap/router' })).to.deep.equal([0.25, '0.25'])
    expect(await worst(setter, { slippagePct: '0.5' })).to.deep.equal([0.5, '0.5'])
    expect(await worst(others)).to.deep.equal([1, undefined])
    expect(await worst(setter, { connector: 'sluice' })).to.deep.equal([1, undefined])
    await set('sluice', 'slippagePct', '0.05')
    expect(await configOf(setter, 'sluice')).to.deep.equal({ slippagePct: 0.05 })
    expect(await worst(setter, { connector: 'sluice' })).to.deep.equal([0.05, '0.05'])
    for (const [namespace, value] of [
      ['uniswap', 1.01],
      ['sluice', '50'],
    ] as const) {
      const [status, message] = await refused(namespace, 'slippagePct', value)
      expect(status).to.equal(403)
      expect(message).to.match(new RegExp(`^${namespace}.slippagePct is at most 1 here`))
    }
    expect(await configOf(setter, 'uniswap')).to.deep.equal({ slippagePct: 0.25 })
  })

  it('is nothing else: what there is is the operator’s, and what there is not is named', async () => {
    for (const [namespace, path, value, status, message] of [
      [chainNetwork, 'nodeURL', 'http://localhost', 403, `${chainNetwork}.nodeURL is not changed from here: the operator`],
      ['ethereum', 'rpcProvider', 'infura', 403, 'ethereum.rpcProvider is not changed from here: the operator'],
      ['apiKeys', 'infura', 'x', 403, 'apiKeys.infura is not changed from here: the operator'],
      ['ethereum', 'nothing', '1', 400, 'path: "nothing" is nothing of ethereum: a client sets its defaultNetwork and defaultWallet'],
      ['nothing', 'slippagePct', '1', 400, 'namespace: "nothing" is none of ethereum, '],
      ['__proto__', 'slippagePct', '1', 400, 'namespace: "__proto__" is none of ethereum, '],
      ['uniswap', 'slippagePct', 'much', 400, 'uniswap.slippagePct: "much" is no percentage, such as 0.5'],
      ['uniswap', 'slippagePct', '-1', 400, 'uniswap.slippagePct: "-1" is no percentage'],
    ] as const) {
      const [found, words] = await refused(namespace, path, value)
      expect(found, words).to.equal(status)
      expect(words).to.contain(message)
    }
  })

  it('is set by who may trade', async () => {
    const { reader } = (await sharedServer()).bots
    const update = { namespace: 'ethereum', path: 'defaultNetwork', value: 'local' }
    expect((await reader.refusal('POST', '/config/update', update)).status).to.equal(403)
    expect((await reader.refusal('POST', '/wallet/setDefault', { chain: 'ethereum', address: admins })).status).to.equal(403)
  })
})
