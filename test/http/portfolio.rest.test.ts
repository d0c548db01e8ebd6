import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { getAddress, Interface, Wallet } from 'ethers'
import { rpcTo, startAnvil, type Anvil, type Rpc } from '../../core/devnet/anvil.ts'
import { sum } from '../../core/base/decimal.ts'
import { saveKey } from '../../core/keys/keystore.ts'
import { newClient } from '../../core/tls/certificates.ts'
import { createClient, type Answer, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { runCommand } from '../cli/run-command.ts'
import { addresses } from '../devnet/addresses.ts'
import { until } from '../transactions/site.ts'
import { admins, local, mined, noted, oneChain, outcome, traders, uniswap } from './shared-server.ts'

const permit2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3'
const stranger = getAddress('0x00000000000000000000000000000000000000b7')
const never = 2n ** 48n - 1n
const abi = new Interface([
  'function approve(address spender, uint256 amount)',
  'function setApprovalForAll(address,bool)',
  'function approve(address token, address spender, uint160 amount, uint48 expiration)',
  'function transfer(address,uint256)',
])
const { USDC, WETH, DAI } = addresses.tokens
const positions = addresses.rangeExchanges.uniswap.positionManager
const passphrase = 'only for tests'
/** Answers are read as JSON. */
type Body = Answer['body']

/** Two networks: the devnet, and one with nothing but a wallet's coin. */
describe('The portfolio of wallets', function () {
  this.timeout(300_000)
  let home: string
  let server: TestServer
  let line: NodeLine
  let rpc: Rpc
  let bot: Client
  let sepolia: Anvil
  /** Of the keystore, so that it is on both networks. */
  const own = Wallet.createRandom()

  before(async () => {
    home = await mkdtemp(path.join(tmpdir(), 'sluice-portfolio-'))
    const dataDir = path.join(home, 'data')
    await mkdir(dataDir, { mode: 0o700, recursive: true })
    const passphraseFile = path.join(home, 'passphrase')
    await writeFile(passphraseFile, passphrase, { mode: 0o600 })
    await saveKey({ dataDir, chain: 'ethereum', privateKey: own.privateKey, passphrase, scryptN: 2 })
    sepolia = await startAnvil(0)
    await sepolia.rpc('anvil_setChainId', 11155111)
    await sepolia.rpc('anvil_setBalance', own.address, '0xde0b6b3a7640000')
    const { local: ofLocal } = oneChain.conf['chains/ethereum.yml']
    const options = {
      settings: {
        ...oneChain.settings,
        'limits.onLocalNetworks': true,
        'limits.marketDepth': 80_000,
        'wallet.allowedSpenders': [stranger],
      },
      conf: {
        ...oneChain.conf,
        'clients.yml': {
          clients: {
            client: { permissions: ['read', 'trade', 'thin', 'admin', 'stop', 'resume'], wallets: 'all' },
            bot: { permissions: ['read', 'trade'], wallets: [traders] },
          },
        },
        'chains/ethereum.yml': {
          ...oneChain.conf['chains/ethereum.yml'],
          local: { ...ofLocal, pollingSeconds: 0.2, confirmations: 1 },
          sepolia: { rpcUrls: [sepolia.rpcUrl], pollingSeconds: 0.5 },
        },
      },
      env: { SLUICE_WALLET_PASSPHRASE_FILE: passphraseFile },
      between: async (url: string) => {
        const code = await rpcTo(url)('eth_getCode', addresses.multicall3, 'latest')
        await sepolia.rpc('anvil_setCode', addresses.multicall3, code)
        return (line = await startNodeLine(url)).url
      },
    }
    server = await startServer(options, home)
    rpc = rpcTo(line.node)
    await newClient(server.certsDir, 'bot')
    bot = createClient(server.url, server.certsDir, 'bot')
    for (const token of ['WETH', 'USDC']) await act('/evm/approve', { spender: 'uniswap/positions', token })
    const range = { token0: 'WETH', token1: 'USDC', fee: 'LOW', amount0: '1', amount1: '3000', lowerPrice: '2500', upperPrice: '3500' }
    await act('/amm/liquidity/add', { connector: 'uniswap', ...range })
    await act('/evm/approve', { spender: 'uniswap/v3', token: 'WETH' }, admins)
    const sale = { connector: 'uniswap', version: 'v3', base: 'WETH', quote: 'USDC', amount: '5', side: 'SELL' }
    await act('/amm/trade', sale, admins)
    await act('/evm/approve', { spender: 'uniswap/v2', token: 'DAI' })
    await act('/amm/shares/add', { connector: 'uniswap', tokens: ['ETH', 'DAI'], amounts: ['1'] })
    await act('/evm/approve', { spender: 'perp', token: 'USDC' })
    await act('/perpAMM/deposit', { connector: 'perp', token: 'USDC', amount: '1000' })
    await act('/perpAMM/open', { connector: 'perp', base: 'ETH', quote: 'USD', side: 'LONG', amount: '0.5', margin: '500', leverage: '5' })
    await act('/evm/approve', { spender: 'oasis', token: 'WETH' })
    const order = { connector: 'oasis', market: 'WETH-USDC', side: 'SELL', orderType: 'LIMIT', price: '9000', amount: '0.25' }
    await noted(server.client, good(await server.client.post('/clob/orders', { ...local, address: traders, ...order })).txHash)
  })
  after(async () => {
    bot?.close()
    await server?.stop()
    line?.stop()
    await sepolia?.stop()
    await rm(home, { recursive: true, force: true })
  })

  const good = (answer: Answer) => {
    expect(outcome(answer), answer.text).to.equal('200')
    return answer.body
  }
  async function act(target: string, body: object, address: string = traders): Promise<string> {
    const { txHash } = good(await server.client.post(target, { ...local, address, ...body }))
    await mined(server.client, txHash)
    await noted(server.client, txHash)
    return txHash
  }
  /** The wallet's owner sends a transaction past this server. It ends once the server knows its block. */
  async function elsewhere(to: string, signature: string, args: readonly unknown[], from: string = traders): Promise<void> {
    await rpc('anvil_impersonateAccount', from)
    const sent = await rpc('eth_sendTransaction', { from, to, data: abi.encodeFunctionData(signature, args) })
    await rpc('anvil_stopImpersonatingAccount', from)
    await mined(server.client, String(sent))
  }
  const placeOf = (body: { networks: Body[] }, network: string) => body.networks.find((each) => each.network === network)
  const walletOf = (body: { networks: Body[] }, network: string, address: string) =>
    placeOf(body, network)?.wallets.find((each: { address: string }) => each.address === address)
  const allowances = async (of: object = {}): Promise<Body[]> =>
    good(await server.client.get('/allowances', { ...local, address: traders, ...of })).allowances
  const allowanceOf = async (spender: string, token: string): Promise<Body> =>
    (await allowances()).find((each) => each.spender === spender && each.token === token)

  it('has balances, liquidity with its fees, shares, locked amounts and exposure, each with its value', async () => {
    let body: Body
    await until('the market is read', async () => {
      body = good(await bot.get('/portfolio', {}))
      return walletOf(body, 'local', traders).withoutValue === 0
    })
    expect(placeOf(body, 'local').reference).to.equal('USDC')
    const wallet = walletOf(body, 'local', traders)
    const symbols = wallet.balances.map(({ symbol }: { symbol: string }) => symbol)
    const { balances } = good(await bot.get('/network/balances', { ...local, address: traders, tokenSymbols: symbols }))
    for (const { symbol, amount } of wallet.balances) expect(amount, symbol).to.equal(balances[symbol])
    const [position] = good(await bot.get('/amm/liquidity/positions', { ...uniswap, address: traders })).positions
    expect(wallet.liquidity).to.have.length(1)
    const { value, ...liquidity } = wallet.liquidity[0]
    expect({ connector: 'uniswap', ...position }).to.deep.include(liquidity)
    expect(Number(liquidity.unclaimedToken0) + Number(liquidity.unclaimedToken1)).to.be.above(0)
    // A position of 1 ETH and 3000 USDC at the pool's price.
    expect(Number(value)).to.be.within(5_000, 6_100)
    const shares = good(await bot.get('/amm/shares/position', { ...uniswap, address: traders, tokens: ['WETH', 'DAI'] }))
    expect(wallet.shares).to.have.length(1)
    expect(wallet.shares[0]).to.deep.include({ connector: 'uniswap', pool: shares.pool, shares: shares.shares, amounts: shares.amounts })
    expect(wallet.exchangeBalances).to.have.length(1)
    expect(wallet.exchangeBalances[0]).to.include({ connector: 'oasis', symbol: 'WETH', total: '0.25', locked: '0.25' })
    const { margin } = good(await bot.get('/perpAMM/margin', { ...local, connector: 'perp', wallet_address: traders }))
    expect(wallet.perpetuals).to.have.length(1)
    const [account] = wallet.perpetuals
    expect(account).to.include({ connector: 'perp', unit: 'USDC', collateral: margin.collateral })
    expect(Number(account.exposure)).to.be.within(1_000, 2_000)
    const values = [wallet.balances, wallet.liquidity, wallet.shares, wallet.exchangeBalances]
      .flat()
      .map((each: { value: string }) => each.value)
    expect(Number(wallet.value)).to.be.closeTo(Number(sum(values)), 0.001)
    expect(body.unavailable).to.equal(undefined)
  })

  it('tells for how long the coin pays for gas, by what the receipts of the last days say', async () => {
    const { gas } = walletOf(good(await bot.get('/portfolio', local)), 'local', traders)
    const { transactions } = good(await bot.get('/transactions', { ...local, address: traders, limit: '500' }))
    const costs = transactions.flatMap(({ cost }: { cost?: { fee: string } }) => cost?.fee ?? [])
    expect(gas.transactions).to.equal(costs.length)
    expect(Number(gas.spent)).to.be.closeTo(Number(sum(costs)), 1e-15)
    // All of it was used within a day.
    expect(gas.perDay).to.equal(gas.spent)
    expect(Number(gas.daysLeft)).to.be.closeTo(Number(gas.balance) / Number(gas.perDay), 1)
  })

  it('says which token has no market, and does not guess', async () => {
    const { pool } = good(await server.client.get('/amm/shares/position', { ...uniswap, address: traders, tokens: ['WETH', 'DAI'] }))
    good(await server.client.post('/network/tokens/add', { ...local, token: pool, symbol: 'LP' }))
    let listed: Body
    await until('its market was looked for', async () => {
      listed = walletOf(good(await bot.get('/portfolio', {})), 'local', traders).balances.find(
        ({ symbol }: { symbol: string }) => symbol === 'LP',
      )
      return listed.noValue?.includes('no market') === true
    })
    expect(listed).to.not.have.property('value')
    expect(walletOf(good(await bot.get('/portfolio', {})), 'local', traders).withoutValue).to.equal(1)
  })

  it('shows a certificate its own wallets, and no others', async () => {
    for (const target of ['/portfolio', '/allowances'])
      expect(outcome(await bot.get(target, { address: admins }))).to.equal('403 FORBIDDEN')
    const { networks } = good(await bot.get('/portfolio', {}))
    expect(networks.flatMap(({ wallets }: Body) => wallets.map(({ address }: Body) => address))).to.deep.equal([traders])
    for (const { address } of good(await bot.get('/allowances', {})).allowances) expect(address).to.equal(traders)
    const all = good(await server.client.get('/portfolio', {}))
    expect(placeOf(all, 'local').wallets.length).to.be.above(2)
    expect(outcome(await server.client.get('/portfolio', { address: stranger }))).to.equal('404 LOAD_WALLET')
  })

  it('starts a network that is named, and shows what runs while another one is in trouble', async () => {
    const first = good(await server.client.get('/portfolio', { address: own.address }))
    expect(first.unavailable.map(({ network }: { network: string }) => network)).to.include('sepolia')
    const there = good(await server.client.get('/portfolio', { chain: 'ethereum', network: 'sepolia' }))
    expect(walletOf(there, 'sepolia', own.address).balances).to.have.length(1)
    expect(walletOf(there, 'sepolia', own.address).balances[0]).to.include({ symbol: 'ETH', amount: '1.000000000000000000' })
    line.isDown = true
    const { networks, unavailable } = good(await server.client.get('/portfolio', { address: own.address }))
    line.isDown = false
    expect(networks.map(({ network }: { network: string }) => network)).to.deep.equal(['sepolia'])
    expect(unavailable.map(({ network }: { network: string }) => network)).to.include('local')
    await until('the network is back', async () => {
      const { networks: again } = good(await server.client.get('/portfolio', { address: own.address }))
      return again.length === 2
    })
  })

  it('lists what spenders may take by themselves, by Permit2 and of positions, and it is gone once it is taken back', async () => {
    const { registry } = server.kernel.services
    const router = registry.venue('uniswap', 'ethereum', 'local').impl.permit2?.spenders[0] ?? ''
    await act('/evm/approve', { spender: router, token: 'USDC', amount: '100' })
    expect(await allowanceOf(router, USDC.address)).to.include({ amount: '100.000000', atRisk: '100.000000', permit2, symbol: 'USDC' })
    // The same spender by itself, too, and somebody whom no connector has.
    await elsewhere(USDC.address, 'approve(address,uint256)', [router, 5_000_000n])
    await elsewhere(permit2, 'approve(address,address,uint160,uint48)', [USDC.address, stranger, 7_000_000n, never])
    const { tokenId } = good(await bot.get('/amm/liquidity/positions', { ...uniswap, address: traders })).positions[0]
    await elsewhere(positions, 'approve(address,uint256)', [stranger, tokenId])
    await elsewhere(positions, 'setApprovalForAll', [router, true])
    expect(await allowanceOf(router, USDC.address)).to.deep.include({ amount: '105.000000', connectors: ['uniswap'] })
    expect(await allowanceOf(stranger, USDC.address)).to.include({ amount: '7.000000', permit2 })
    expect(await allowanceOf(stranger, positions)).to.include({ tokenId })
    expect(await allowanceOf(router, positions)).to.not.have.any.keys('tokenId', 'amount')

    const dry = good(await server.client.post('/evm/revoke', { ...local, address: traders, spender: router, token: 'USDC', dryRun: true }))
    expect(dry.transactions).to.have.length(2)
    expect(dry.txHash).to.equal('')
    expect(await allowanceOf(router, USDC.address)).to.include({ amount: '105.000000' })
    // Where only what reduces goes through.
    good(await server.client.post('/stops', { mode: 'reduce-only' }))
    await act('/evm/revoke', { spender: router, token: 'USDC' })
    await act('/evm/revoke', { spender: stranger, token: 'USDC' })
    await act('/evm/revoke', { spender: stranger, token: positions, tokenId })
    await act('/evm/revoke', { spender: router, token: positions })
    good(await server.client.request('DELETE', '/stops', { headers: { 'content-type': 'application/json' }, raw: '{}' }))
    for (const spender of [router, stranger])
      for (const token of [USDC.address, positions]) expect(await allowanceOf(spender, token)).to.equal(undefined)
    // Permit2 may take nothing of the token now, and with its next approval the stranger could.
    await elsewhere(permit2, 'approve(address,address,uint160,uint48)', [USDC.address, stranger, 7_000_000n, never])
    await elsewhere(USDC.address, 'approve(address,uint256)', [permit2, 0n])
    await until('the next block is read', async () => (await allowanceOf(stranger, USDC.address))?.dormant === '7.000000')
    const dormant = { amount: '0.000000', atRisk: '0.000000', value: '0.000000', permit2 }
    expect(await allowanceOf(stranger, USDC.address)).to.include(dormant)
    expect(await allowanceOf(permit2, USDC.address)).to.equal(undefined)
    // A part of it.
    await elsewhere(USDC.address, 'approve(address,uint256)', [permit2, 3_000_000n])
    await until('the next block is read', async () => (await allowanceOf(stranger, USDC.address))?.dormant === '4.000000')
    expect(await allowanceOf(stranger, USDC.address)).to.include({ amount: '3.000000', permit2 })
    await act('/evm/revoke', { spender: stranger, token: 'USDC' })
    expect(await allowanceOf(stranger, USDC.address)).to.equal(undefined)
    // Nobody may take by Permit2 now, and whom the wallet approves within it could at once.
    expect(await allowanceOf(permit2, USDC.address)).to.include({ ...dormant, dormant: '3.000000', symbol: 'USDC' })
    await act('/evm/revoke', { spender: permit2, token: 'USDC' })
    expect(await allowanceOf(permit2, USDC.address)).to.equal(undefined)
    const again = await server.client.post('/evm/revoke', { ...local, address: traders, spender: router, token: 'USDC' })
    expect(outcome(again), again.text).to.equal('400 INCOMPLETE_PARAMS')
  })

  it('could cost the smaller of allowance and balance, and names nobody who has none', async () => {
    await rpc('anvil_setBalance', own.address, '0xde0b6b3a7640000')
    await elsewhere(DAI.address, 'transfer', [own.address, 10n ** 17n], admins)
    await act('/evm/approve', { spender: stranger, token: 'DAI', amount: '1' }, own.address)
    const [found] = await allowances({ address: own.address })
    expect(found).to.deep.include({ spender: stranger, connectors: [], amount: '1.000000000000000000', atRisk: '0.100000000000000000' })
  })

  it('finds whom the wallet approved by this server, where nothing else knows them', async () => {
    const { allowedSpenders } = server.kernel.services.settings.wallet
    expect(await allowances({ address: own.address })).to.have.length(1)
    const known = allowedSpenders.splice(0)
    try {
      expect(await allowances({ address: own.address })).to.have.length(1)
    } finally {
      allowedSpenders.push(...known)
    }
  })

  it('refuses bad requests by the field', async () => {
    const bad: Readonly<Record<string, string>>[] = [{ chain: 'nowhere' }, { address: 'nobody' }, { other: '1' }]
    for (const fields of bad)
      for (const target of ['/portfolio', '/allowances'])
        expect(outcome(await server.client.get(target, fields)), JSON.stringify(fields)).to.match(/^4\d\d /)
    const right = { ...local, address: traders, spender: stranger, token: 'USDC' }
    for (const fields of [
      { spender: 'uniswap' },
      { token: 'ETH' },
      { token: 'USDC', tokenId: '1' },
      { tokenId: '-1' },
      { token: positions, tokenId: String(2n ** 256n) },
    ])
      expect(outcome(await server.client.post('/evm/revoke', { ...right, ...fields })), JSON.stringify(fields)).to.equal(
        '400 INCOMPLETE_PARAMS',
      )
    expect(outcome(await bot.post('/evm/revoke', { ...right, address: admins }))).to.equal('403 FORBIDDEN')
  })

  describe('sluice approvals', () => {
    it('lists allowances in 100 columns, with those of nobody named in full', async () => {
      const said = await runCommand(server, ['approvals', 'list', '--network', 'local'])
      expect(said).to.match(/^id +network +wallet +spender +token +may take +at risk +value\n[0-9a-f]{8} /)
      expect(said)
        .to.match(/perp 0x[^\n]*USDC +any amount/)
        .and.match(new RegExp(`${stranger} belongs to no connector`))
      for (const row of said.split('\n')) expect(row.length, row).to.be.at.most(100)
      const { allowances: all } = JSON.parse(await runCommand(server, ['approvals', 'list', '--network', 'local', '--json']))
      expect(all.length).to.be.above(3)
    })

    it('says what is dormant, and takes it back', async () => {
      await elsewhere(USDC.address, 'approve(address,uint256)', [permit2, 3_000_000n])
      await elsewhere(permit2, 'approve(address,address,uint160,uint48)', [USDC.address, stranger, 2n ** 160n - 1n, never])
      await until('both are read', async () =>
        (await Promise.all([permit2, stranger].map((spender) => allowanceOf(spender, USDC.address)))).every(
          (each) => each?.dormant !== undefined,
        ),
      )
      const of = ['--network', 'local', '--address', traders]
      const said = await runCommand(server, ['approvals', 'list', ...of])
      expect(said.replaceAll(/\s+/g, ' '))
        .to.match(/ Permit2 0x0000…8BA3? USDC 0 0 /)
        .and.include('dormant: may pass on 3 of USDC, to spenders that the wallet approves within Permit2')
        .and.include('dormant: could take any amount of USDC besides, once the wallet approves it for Permit2 again')
      for (const row of said.split('\n')) expect(row.length, row).to.be.at.most(100)
      for (const spender of [permit2, stranger])
        expect(await runCommand(server, ['approvals', 'revoke', ...of, '--spender', spender, '--yes'])).to.not.match(/failed|not sent/)
      for (const spender of [permit2, stranger]) expect(await allowanceOf(spender, USDC.address)).to.equal(undefined)
    })

    it('takes back what was chosen after it has said what that costs, and says each outcome', async () => {
      const of = ['--network', 'local', '--address', traders]
      const only = await runCommand(server, ['approvals', 'revoke', ...of, '--spender', 'perp', '--dry-run'])
      expect(only)
        .to.match(/perp 0x.*USDC +any amount +0\.0\d+ ETH/)
        .and.match(/Gas together: 0\.\d+ ETH on ethereum\/local at most\.\nNothing was sent\./)
      expect(await runCommand(server, ['approvals', 'revoke', ...of, '--spender', 'perp'])).to.match(/no terminal.*--yes.*failed/s)
      expect(await runCommand(server, ['approvals', 'revoke', ...of, '--spender', 'perp', '--yes'])).to.match(
        /[0-9a-f]{8} +gone +0x[0-9a-f]{64}$/m,
      )
      expect(await runCommand(server, ['approvals', 'revoke', ...of, '--spender', 'perp', '--yes'])).to.match(
        /perp may take nothing.*failed/s,
      )
      const { allowances: left } = JSON.parse(await runCommand(server, ['approvals', 'list', ...of, '--json']))
      const { id } = left.find(({ connectors, token }: Body) => connectors.includes('oasis') && token === WETH.address)
      const { revocations } = JSON.parse(await runCommand(server, ['approvals', 'revoke', id, ...of, '--yes', '--json']))
      expect(revocations).to.have.length(1)
      expect(revocations[0]).to.include({ id, state: 'gone' })
      expect(await runCommand(server, ['approvals', 'revoke', ...of, '--all', '--yes'])).to.not.match(/failed|not sent/)
      expect(await runCommand(server, ['approvals', 'list', ...of])).to.match(/No spender that is known may take anything\./)
    })

    it('says what is wrong with the choice', async () => {
      expect(await runCommand(server, ['approvals', 'revoke'])).to.match(/one of the three.*failed/s)
      expect(await runCommand(server, ['approvals', 'revoke', 'abcd', '--all'])).to.match(/one of the three.*failed/s)
      expect(await runCommand(server, ['approvals', 'revoke', 'abcd'])).to.match(/No allowance has the id "abcd".*failed/s)
      expect(await runCommand(server, ['approvals', 'list', '--address', admins, '--as', 'bot'])).to.match(/FORBIDDEN.*failed/s)
    })
  })
})

interface NodeLine {
  readonly url: string
  readonly node: string
  isDown: boolean
  stop(): void
}

/** Between the server and the node. */
async function startNodeLine(node: string): Promise<NodeLine> {
  const sockets = new Set<net.Socket>()
  const listener = net.createServer((near) => {
    if (line.isDown) return void near.destroy()
    const far = net.connect(Number(new URL(node).port), '127.0.0.1')
    for (const each of [near, far]) sockets.add(each.on('error', () => {}))
    near.pipe(far).pipe(near)
  })
  await new Promise<void>((resolve) => void listener.listen(0, '127.0.0.1', resolve))
  let isDown = false
  const line: NodeLine = {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    node,
    get isDown() {
      return isDown
    },
    set isDown(next) {
      isDown = next
      for (const each of sockets) each.destroy()
      sockets.clear()
    },
    stop() {
      listener.close()
      line.isDown = true
    },
  }
  return line
}
