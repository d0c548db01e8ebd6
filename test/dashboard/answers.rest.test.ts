import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { admins, oneChain, swap } from '../http/shared-server.ts'
import { openBrowser, openTab, startDashboard, type LocalDashboard, type Tab } from './browser.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- answers of endpoints, each of its own form
type Body = any
/** What the server answered, and what is put in its place: states of wallets and nodes that a local chain does not have. */
type Change = (body: Body) => object | { readonly status: number; readonly body: object }

const refused = { status: 503, body: { statusCode: 503, name: 'SERVICE_UNAVAILABLE', message: 'The nodes do not answer.' } }

describe('the dashboard, where the server answers what', function () {
  this.timeout(400_000)
  let server: TestServer
  let browser: Browser
  let dashboard: LocalDashboard
  let tab: Tab
  let page: Page

  before(async () => {
    const clients = { client: { permissions: ['read', 'trade', 'stop', 'approve'], wallets: 'all' } }
    server = await startServer({ settings: oneChain.settings, conf: { ...oneChain.conf, 'clients.yml': { clients } } })
    browser = await openBrowser()
    dashboard = await startDashboard(server)
    tab = await openTab(browser, { viewport: { width: 1280, height: 900 } })
    page = tab.page
    page.setDefaultTimeout(20_000)
    await page.goto(dashboard.link)
    await page.waitForURL('**/dashboard')
  })
  after(async () => {
    await browser?.close()
    await dashboard?.proxy.stop(0)
    await server?.stop()
  })
  afterEach(() => page.unrouteAll({ behavior: 'ignoreErrors' }))

  /** Opens a view anew, with what some paths answer changed. */
  async function show(view: string, changes: Readonly<Record<string, Change>>): Promise<void> {
    for (const [path, change] of Object.entries(changes))
      await page.route(
        (url) => url.pathname === path,
        async (route) => {
          const changed = change(await (await route.fetch()).json())
          await ('status' in changed ? route.fulfill({ status: changed.status, json: changed.body }) : route.fulfill({ json: changed }))
        },
      )
    await page.goto(`${new URL(dashboard.link).origin}/dashboard#/${view}`)
    await page.reload()
  }
  const ofAdmin =
    (more: object): Change =>
    (body) => ({
      ...body,
      networks: body.networks.map((network: Body) => ({
        ...network,
        wallets: network.wallets.map((wallet: Body) => (wallet.address === admins ? { ...wallet, ...more } : wallet)),
      })),
    })

  describe('accounts near their end', () => {
    const account = { connector: 'perp', unit: 'USDC', exposure: '1000', collateral: '0', freeCollateral: '0' }
    const position = { market: 'ETH-USD', side: 'LONG', amount: '1', entryPrice: '4000', unrealizedProfit: '-20' }

    for (const accountValue of ['0', '-3', '49'])
      it(`says that an account worth ${accountValue}, of which 50 are needed, is near liquidation`, async () => {
        await show('', { '/portfolio': ofAdmin({ perpetuals: [{ ...account, accountValue, maintenanceMargin: '50' }] }) })
        await page.getByRole('link', { name: /^Near liquidation: perp/ }).waitFor()
        await page.getByRole('navigation').getByRole('link', { name: 'Positions' }).click()
        await page.getByRole('cell', { name: /needed|nothing is left/ }).waitFor()
      })

    it('judges an isolated position by its own price of liquidation, whatever else the account has', async () => {
      const rich = { ...account, accountValue: '100000', maintenanceMargin: '50' }
      const at = (market: string, liquidationPrice: string) => ({
        ...position,
        market,
        markPrice: '3980',
        marginMode: 'isolated',
        liquidationPrice,
      })
      const positions = [at('ETH-USD', '3900'), at('BTC-USD', '2000'), { ...at('SOL-USD', '1'), liquidationPrice: undefined }]
      await show('', { '/portfolio': ofAdmin({ perpetuals: [{ ...rich, positions }] }) })
      await page.getByRole('link', { name: /^Near liquidation: perp ETH-USD/ }).waitFor()
      expect(await page.getByRole('link', { name: /^Near liquidation/ }).count()).to.equal(1)
      await page.getByRole('navigation').getByRole('link', { name: 'Positions' }).click()
      await page.getByText(/ETH-USD LONG 1, profit -20, isolated, liquidated at 3900/).waitFor()
    })
  })

  describe('what others may take', () => {
    const granted = {
      chain: 'ethereum',
      network: 'local',
      address: admins,
      connectors: ['uniswap'],
      noValue: 'positions are valued as liquidity',
    }
    const [collection, one, other] = ['1', '2', '3'].map((digit) => `0x${digit.repeat(40)}`)

    it('says that a right is over all positions of a collection, or over one', async () => {
      const allowances = [
        { ...granted, spender: one, token: collection },
        { ...granted, spender: other, token: collection, tokenId: '77' },
      ]
      await show('wallets', { '/allowances': (body) => ({ ...body, allowances }) })
      await page.getByRole('cell', { name: 'all positions' }).waitFor()
      await page.getByRole('cell', { name: 'position 77' }).waitFor()
    })

    it('says what could not be read, and never that nobody may take anything', async () => {
      const unavailable = [{ chain: 'ethereum', network: 'local', reason: 'The node does not answer.' }]
      await show('wallets', { '/allowances': (body) => ({ ...body, allowances: [], unavailable }) })
      await page.getByText('No spender that is known may take anything.').waitFor()
      await page.getByText('ethereum/local: The node does not answer.').waitFor()
    })
  })

  it('says that a wallet without gas is low on it, also where it used none', async () => {
    const gas = { symbol: 'ETH', balance: '0', transactions: 0, spent: '0', perDay: '0' }
    await show('', { '/portfolio': ofAdmin({ gas }) })
    const item = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: /^No gas: .* on ethereum\/local$/ }) })
    await item.getByText('now').waitFor()
    await page.getByRole('navigation').getByRole('link', { name: 'Wallets' }).click()
    const wallet = page.getByRole('article', { name: `Wallet ${admins} on ethereum/local` })
    await wallet.getByText(/It has no ETH/).waitFor()
  })

  describe('what needs attention', () => {
    const item = (name: string | RegExp) => page.getByRole('link', { name }).first().waitFor()

    it('names what could not be read, and does not say that there is nothing', async () => {
      await show('', { '/portfolio': () => refused, '/limits': () => refused })
      await item('Wallets and positions are not known: The nodes do not answer.')
      await item('Limits of client are not known: The nodes do not answer.')
      expect(await page.getByText('Nothing.', { exact: true }).isVisible()).to.equal(false)
      await page.getByText(/^Looked at were your own limits/).waitFor()
    })

    it('names what the answer about wallets lacks', async () => {
      const missing = { chain: 'ethereum', network: 'local', address: admins, connector: 'perp', part: 'perpetuals', reason: 'It hangs.' }
      await show('', { '/portfolio': (body) => ({ ...body, unavailable: [missing] }) })
      await item(/^Not read of perp perpetuals 0x.*… ethereum\/local: It hangs\.$/)
    })

    it('names a network that is down and tells nothing of its nodes, and none that was never set up', async () => {
      const down = { chain: 'solana', nativeCurrency: 'SOL', currentBlockNumber: -1, currentBlockSeconds: -1, error: 'It is gone.' }
      const networks = [
        { ...down, network: 'told', rpcUrl: 'http://node' },
        { ...down, network: 'unused', rpcUrl: 'http://node', nodes: [] },
      ]
      await show('', { '/network/status': (body) => [...body, ...networks] })
      await item('solana/told is down: It is gone.')
      expect(await page.getByRole('link', { name: /solana\/unused is down/ }).count()).to.equal(0)
    })

    it('has what is stuck, however many newer ones are open', async () => {
      const asked: URL[] = []
      page.on('request', (request) => asked.push(new URL(request.url())))
      await show('', {})
      await page.getByText('Looking…').waitFor({ state: 'hidden' })
      const open = asked.filter(({ searchParams }) => searchParams.get('state') === 'QUEUED')
      expect(open.length).to.be.above(0)
      const ages = open.map(({ searchParams }) => Date.now() - Date.parse(searchParams.get('until') ?? ''))
      for (const age of ages) expect(age).to.be.within(300_000, 400_000)
    })
  })

  describe('what waits for a second person', () => {
    const orders = Array.from({ length: 60 }, (_, index) => ({
      market: 'WETH-USDC',
      side: 'SELL',
      price: String(9_000 + index),
      amount: '1',
    }))
    const approval = {
      id: 7,
      state: 'approved',
      client: 'bot',
      path: '/clob/orders/batch',
      address: admins,
      madeAt: Date.now(),
      expiresAt: Date.now() + 9e6,
      requestId: 'r',
      idempotencyKey: 'k',
      request: { chain: 'ethereum', orders },
      effect: { gives: [], maxFee: '0.1', feeToken: 'ETH' },
    }
    const refusal = { name: 'LIMIT_EXCEEDED', message: 'The limit of a day is used up.' }
    const listed: Change = () => ({ mayDecide: true, approvals: [approval, { ...approval, id: 6, state: 'refused', refusal }] })
    const preview: Change = () => ({ approval, effect: { gives: [{ token: 'WETH', amount: '61' }], maxFee: '0.2', feeToken: 'ETH' } })

    it('is shown whole, order by order, with what is not known of it', async () => {
      await show('approvals', { '/approvals': listed })
      const waiting = page.getByRole('article', { name: 'request 7 of bot' })
      await waiting.getByText('orders 60', { exact: true }).waitFor()
      await waiting.getByText(/"price":"9059"/).waitFor()
      expect(await waiting.getByText('not known: no market tells').count()).to.equal(2)
      await page.getByRole('cell', { name: /refused.*The limit of a day is used up\./ }).waitFor()
    })

    it('is approved after what it would do now was shown, also again after its server died', async () => {
      await show('approvals', { '/approvals': listed, '/approvals/preview': preview })
      const waiting = page.getByRole('article', { name: 'request 7 of bot' })
      await waiting.getByText('approved, and not carried out yet').waitFor()
      await waiting.getByRole('button', { name: /^Approve/ }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('It would do this now:').waitFor()
      await dialog.getByText('61 WETH').waitFor()
      await dialog.getByRole('button', { name: 'Yes, approve' }).waitFor()
      await page.keyboard.press('Escape')
    })
  })

  it('asks again soon after a failure, and offers what the certificate may do as soon as that is known', async () => {
    let asked = 0
    await show('', { '/caller': (body) => ((asked += 1) <= 3 ? refused : body) })
    await page.getByText('what you may do is not known').waitFor()
    await page.getByRole('button', { name: 'Stop everything' }).waitFor()
    expect(asked).to.be.above(3)
  })

  it('lets a client that may trade stop itself, and nothing else', async () => {
    await show('clients', { '/caller': (body) => ({ ...body, permissions: ['read', 'trade'] }) })
    await page.getByRole('button', { name: 'Stop client client' }).waitFor()
    await page.getByRole('navigation').getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('heading', { name: 'Stopped' }).waitFor()
    expect(await page.getByRole('button', { name: 'Stop everything' }).count()).to.equal(0)
  })

  it('shows names of tokens, plugins and connectors, and their messages, as text that ends', async () => {
    const hostile = `<img src=x onerror=console.error('markup')>\u202edrawkcab${'x'.repeat(10_000)}`
    const portfolio = ofAdmin({
      balances: [{ token: admins, symbol: hostile, amount: '1', noValue: hostile }],
      liquidity: [{ connector: hostile, version: 'v3', tokenId: hostile, token0: hostile, token1: hostile, amount0: '1', inRange: false }],
      perpetuals: [{ connector: hostile, unit: hostile, accountValue: '1', maintenanceMargin: '2' }],
    })
    const plugin = { name: hostile, kind: 'connector', version: hostile, state: 'refused', reason: hostile }
    const changes = { '/portfolio': portfolio, '/plugins': () => [plugin] }
    for (const view of ['', 'wallets', 'positions', 'plugins']) {
      await show(view, changes)
      const main = page.getByRole('main')
      await main
        .getByText(/<img src=x/)
        .first()
        .waitFor()
      expect(await main.innerText(), view).not.to.match(/\u202e|x{1000}/)
      expect(await main.locator('img').count(), view).to.equal(0)
      // A screen reader reads names of buttons and titles, too.
      expect(await main.innerHTML(), view).not.to.match(/\u202e|x{1000}/)
    }
    expect(tab.errors.filter((each) => each.includes('markup'))).to.deep.equal([])
  })

  describe('of a transaction', () => {
    before(async () => {
      const trade = { ...swap, base: 'ETH', address: admins, amount: '0.01' }
      expect((await server.client.post('/amm/trade', trade)).status).to.equal(200)
    })

    it('opens the one that was chosen, also where its client gave one id to all requests', async () => {
      const others = Array.from({ length: 100 }, (_, index) => ({ id: `other-${index}` }))
      await show('transactions', {})
      await page.route(
        (url) => url.searchParams.has('requestId'),
        async (route) => {
          const body = await (await route.fetch()).json()
          const isNarrow = new URL(route.request().url()).searchParams.has('since')
          await route.fulfill({ json: isNarrow ? body : { ...body, transactions: others } })
        },
      )
      await page.getByRole('link', { name: /SELL 0\.01 ETH USDC/ }).click()
      await page.getByRole('list', { name: 'Its life' }).waitFor()
    })

    it('says that amounts of unknown tokens are in smallest units', async () => {
      const cost = { rawFee: '21000000000000', feeToken: 'ETH' }
      const changed: Change = (body) => ({ ...body, transactions: body.transactions.map((each: Body) => ({ ...each, cost })) })
      await show('transactions', { '/transactions': changed })
      await page.getByRole('link', { name: /SELL 0\.01 ETH USDC/ }).click()
      await page.getByText('21,000,000,000,000 smallest units of ETH').waitFor()
    })
  })
})
