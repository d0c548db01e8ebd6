import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { readLock } from '../../../core/config/lock.ts'
import { allowedPlugins } from '../../../core/plugins/consent/consent.ts'
import { signerFiles } from '../../../core/wallet/signing.ts'
import { policyFromFiles } from '../../../core/wallet/policy-files.ts'
import { startServer, venuesReady, type TestServer } from '../../../testkit/server.ts'
import { accountOf } from '../../../tools/hyperliquid-simulator/exchange/engine.ts'
import { until } from '../../../tools/hyperliquid-simulator/client.ts'
import { bridge, coreDepositWallet, startDepositSite, type DepositSite, type Source } from './deposit-site.ts'

const stranger = '0x1111111111111111111111111111111111111111'
/** A connector with a bridge from Arbitrum whose plans try to send something else there. */
const greedy = `
import { evm } from 'sluice/evm'
import { defineConnector } from 'sluice/plugin'

const unused = async () => { throw new Error('Nobody asks it for this.') }
const book = { markets: unused, books: { watch: unused, snapshot: unused }, orders: unused, trades: unused, balances: unused, act: unused, outcome: () => [] }
const step = { to: '${bridge.token}', data: '0xa9059cbb${'0'.repeat(24)}${stranger.slice(2)}${'f'.repeat(64)}', value: '0' }

export default defineConnector({
  family: evm,
  manifest: { name: 'greedy', apiVersion: '1.0', version: '0.1.0', trading_type: ['CLOB'], available_networks: [{ chain: 'hyperliquid', networks: ['testnet'] }], schema: {} },
  create: () => ({ CLOB: { ...book, depositFrom: async chain => (chain === 'arbitrum' ? { steps: [step], needs: [], memo: null } : { via: 'bridge' }) } }),
})
`
const greedySettings = {
  allowedSlippage: '1/100',
  ttl: 60,
  contractAddresses: {},
  bridges: { testnet: { arbitrum: { ...bridge, recipient: stranger } } },
}

describe('deposits to Hyperliquid', function () {
  this.timeout(300_000)
  let site: DepositSite
  let server: TestServer
  let wallet: string
  let of: { chain: string; network: string; connector: string; address: string }
  before(async () => {
    site = await startDepositSite()
    const folder = path.join(site.folder, 'greedy')
    await mkdir(folder)
    await writeFile(path.join(folder, 'index.ts'), greedy)
    await writeFile(path.join(folder, 'defaults.yml'), JSON.stringify(greedySettings))
    server = await startServer(site.server)
    await venuesReady(server.kernel, site)
    await venuesReady(server.kernel, { chain: 'arbitrum', network: bridge.network })
    wallet = site.wallets[0]
    of = { chain: site.chain, network: site.network, connector: 'hyperliquid', address: wallet }
  })
  after(async () => {
    await server?.stop()
    await site?.stop()
  })

  const deposit = async (path: string, fields: object, key?: string) =>
    server.client.post(
      `${path}/deposit`,
      { ...of, token: 'USDC', ...fields },
      key === undefined ? {} : { headers: { 'idempotency-key': key } },
    )
  const overBridge = { fromChain: 'arbitrum', token: bridge.token }
  const spotOf = async () => (await server.client.get('/clob/balances', of)).body.balances.USDC.total
  const perpOf = async () => (await server.client.get('/clob/perp/account', of)).body.collateral
  /** Waits until the chain has mined it and the exchange has credited it. */
  async function carriedOut({ status, text, body }: Awaited<ReturnType<typeof deposit>>): Promise<void> {
    expect(status, text).to.equal(200)
    expect(body).to.include({ state: 'PENDING', id: body.txHash })
    const { fromChain: chain = of.chain, fromNetwork: network = of.network, txHash } = body
    const poll = async () => (await server.client.get('/network/poll', { chain, network, txHash })).body
    await until(async () => (await poll()).txStatus === 1)
    await site.creditDeposits()
  }
  /** Checks that no transaction was sent. */
  async function refused(from: Source, path: string, fields: object, expected: string) {
    const before = await from.sent(wallet)
    const { status, body, text } = await deposit(path, fields)
    expect(`${status} ${body.name}`, text).to.equal(expected)
    expect(await from.sent(wallet)).to.equal(before)
    return body
  }

  describe("from the exchange's own chain", () => {
    it('need USDC, and then an allowance', async () => {
      const poor = await refused(site.evm, '/clob', { amount: '100' }, '422 INSUFFICIENT_BALANCE')
      expect(poor.details).to.include({ token: 'USDC', current: '0.000000', needed: '100.000000' })
      await site.evm.mint(wallet, 1_000_000_000n)
      const unallowed = await refused(site.evm, '/clob', { amount: '100' }, '422 INSUFFICIENT_ALLOWANCE')
      expect(unallowed.details).to.include({ spender: coreDepositWallet, needed: '100.000000' })
    })

    it('credit the requested account to the unit once the connector is an approved spender', async () => {
      const approved = await server.client.post('/evm/approve', {
        ...of,
        connector: undefined,
        spender: 'hyperliquid',
        token: 'USDC',
        amount: '1000',
      })
      expect(approved.status, approved.text).to.equal(200)
      expect(approved.body.spender).to.equal(coreDepositWallet)
      const [spot, perp] = [await spotOf(), await perpOf()]
      await carriedOut(await deposit('/clob', { amount: '12.345678' }))
      expect([await spotOf(), await perpOf()]).to.deep.equal([plus(spot, '12.345678'), perp])
      await carriedOut(await deposit('/clob/perp', { amount: '7.000001', fromChain: 'hyperliquid' }))
      expect([await spotOf(), await perpOf()]).to.deep.equal([plus(spot, '12.345678'), plus(perp, '7.000001')])
      expect(await site.evm.balanceRaw(coreDepositWallet)).to.equal(19_345_679n)
    })

    it('fail if they do not exceed the fee of a new account, and for another token', async () => {
      const { message } = await refused(site.evm, '/clob', { amount: '1' }, '400 INCOMPLETE_PARAMS')
      expect(message).to.contain('amount')
      await refused(site.evm, '/clob/perp', { amount: '10', token: 'HYPE' }, '501 UNSUPPORTED')
    })
  })

  describe('over the bridge', () => {
    it('need USDC on the other chain', async () => {
      const { details } = await refused(site.arbitrum, '/clob/perp', { ...overBridge, amount: '5' }, '422 INSUFFICIENT_BALANCE')
      expect(details).to.include({ current: '0.000000', needed: '5.000000' })
    })

    it('make a transfer on the other chain, credited to the perpetual account to the unit', async () => {
      await site.arbitrum.mint(wallet, 1_000_000_000n)
      const perp = await perpOf()
      const answer = await deposit('/clob/perp', { ...overBridge, amount: '5.000001' })
      await carriedOut(answer)
      const told = { token: bridge.token, amount: '5.000001', fromChain: 'arbitrum', fromNetwork: 'sepolia', network: 'testnet', nonce: 0 }
      expect(answer.body).to.include(told)
      expect(await perpOf()).to.equal(plus(perp, '5.000001'))
      expect(await site.arbitrum.balanceRaw(bridge.recipient)).to.equal(5_000_001n)
      expect(await site.arbitrum.balanceRaw(wallet)).to.equal(994_999_999n)
      const { body } = await server.client.get('/transactions', { chain: 'arbitrum', network: 'sepolia', txHash: answer.body.txHash })
      expect(body.transactions[0]).to.include({ connector: 'hyperliquid', address: wallet, kind: 'funds' })
    })

    it('go out once for one Idempotency-Key, whatever the number of requests', async () => {
      const [before, perp] = [await site.arbitrum.sent(wallet), await perpOf()]
      const ask = () => deposit('/clob/perp', { ...overBridge, amount: '6' }, 'once')
      const answers = [...(await Promise.all([ask(), ask()])), await ask()]
      const good = answers.filter(({ status }) => status === 200)
      expect(new Set(good.map(({ text }) => text)).size).to.equal(1)
      expect(answers.at(-1)?.status).to.equal(200)
      for (const { status, body } of answers) if (status !== 200) expect(body.name).to.equal('IN_FLIGHT')
      await carriedOut(await ask())
      expect(await site.arbitrum.sent(wallet)).to.equal(before + 1)
      expect(await perpOf()).to.equal(plus(perp, '6'))
    })

    it('fail where the bridge would keep them: too small, or of another token', async () => {
      const { message } = await refused(site.arbitrum, '/clob/perp', { ...overBridge, amount: '4.999999' }, '400 INCOMPLETE_PARAMS')
      expect(message).to.contain('amount').and.to.contain('at least 5')
      for (const token of ['USDC', 'ETH', 'WETH'])
        await refused(site.arbitrum, '/clob/perp', { ...overBridge, token, amount: '10' }, '404 TOKEN_NOT_SUPPORTED')
    })

    it('fail for the spot account, which the bridge does not credit, and from other chains', async () => {
      const { message } = await refused(site.arbitrum, '/clob', { ...overBridge, amount: '10' }, '501 UNSUPPORTED')
      expect(message).to.contain('/clob/perp/deposit')
      const other = await refused(site.arbitrum, '/clob/perp', { fromChain: 'base', amount: '10' }, '501 UNSUPPORTED')
      expect(other.message).to.contain('hyperliquid, arbitrum')
    })

    it('fail for a wallet without a key for that chain', async () => {
      const { status, body } = await deposit('/clob/perp', { ...overBridge, address: site.wallets[1], amount: '10' })
      expect([status, body.name]).to.deep.equal([404, 'LOAD_WALLET'])
      expect(body.message).to.contain('on arbitrum')
    })

    it('do not change what a withdrawal accepts', async () => {
      for (const path of ['/clob/withdraw', '/clob/margin/borrow']) {
        const { status, body } = await server.client.post(path, { ...of, token: 'USDC', amount: '10', fromChain: 'arbitrum' })
        expect([status, body.name]).to.deep.equal([400, 'INCOMPLETE_PARAMS'])
      }
    })
  })

  describe('with portfolio margin', () => {
    it('reach the shared balance, from either chain and for any market', async () => {
      await refused(site.arbitrum, '/clob/margin', { ...overBridge, amount: '10' }, '501 UNSUPPORTED')
      site.exchange.setMode(wallet.toLowerCase(), 'portfolioMargin')
      const inPerp = () => accountOf(site.exchange.engine, wallet.toLowerCase()).crossUsd
      const [spot, perp] = [await spotOf(), inPerp()]
      await carriedOut(await deposit('/clob/margin', { ...overBridge, amount: '10' }))
      await carriedOut(await deposit('/clob', { ...overBridge, amount: '11' }))
      await carriedOut(await deposit('/clob/margin', { amount: '12', fromChain: 'hyperliquid' }))
      await carriedOut(await deposit('/clob/perp', { amount: '13' }))
      expect([await spotOf(), inPerp()]).to.deep.equal([plus(spot, '46'), perp])
    })
  })

  describe('with any connector', () => {
    it('get a signature only as the configured transfer, whatever a connector plans', async () => {
      for (const [from, fields] of [
        [site.arbitrum, overBridge],
        [site.evm, { fromChain: 'hyperliquid' }],
      ] as const) {
        const { message } = await refused(from, '/clob', { ...fields, connector: 'greedy', amount: '10' }, '500 UNKNOWN_ERROR')
        expect(message).to.contain('nothing was signed')
      }
    })

    it('give the signer one allowed transfer for each network and connector, from the settings, of those that are trusted', async () => {
      const files = signerFiles(server.settings, await allowedPlugins(server.settings))
      const lock = readLock(server.settings.confDir)
      const greedySha256 = lock['greedy']?.sha256
      expect(lock['greedy']).to.include({ tier: 'trusted' })
      const { networks } = policyFromFiles(files, lock)
      const deposits = networks.map((each) => [`${each.chain}/${each.network}`, each.keys === 'secp256k1' && each.deposits])
      const { token, recipient } = bridge
      expect(Object.fromEntries(deposits)).to.deep.include({
        'arbitrum/sepolia': [
          { token, recipient },
          { token, recipient: stranger, plugin: greedySha256 },
        ],
        'hyperliquid/mainnet': [],
        'hyperliquid/testnet': [],
      })
      const [sepolia] = networks.filter(({ chain, network }) => chain === 'arbitrum' && network === 'sepolia')
      expect(sepolia?.contracts).to.deep.equal([])
    })
  })
})

/** The exact amount, without trailing zeros. */
function plus(a: string, b: string): string {
  const raw = (text: string) => {
    const [whole = '', fraction = ''] = text.split('.')
    return BigInt(whole + fraction.padEnd(8, '0'))
  }
  const sum = (raw(a) + raw(b)).toString().padStart(9, '0')
  return `${sum.slice(0, -8)}.${sum.slice(-8)}`.replace(/\.?0+$/, '')
}
