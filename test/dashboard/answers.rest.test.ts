import { expect } from 'chai'
import type { Clock, Page, Request } from 'playwright-core'
import { admins, local, swap, traders } from '../http/shared-server.ts'
import { until } from '../transactions/site.ts'
import { openSite, openTab, withCertificate, type Site } from './browser.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- answers of endpoints, each of its own form
type Body = any
/** What the server answered, and what is put in its place: states of wallets and nodes that a local chain does not have. */
type Change = (body: Body) => object | { readonly status: number; readonly body: object }

const refused = { status: 503, body: { statusCode: 503, name: 'SERVICE_UNAVAILABLE', message: 'The nodes do not answer.' } }

describe('the dashboard, where the server answers what', function () {
  this.timeout(400_000)
  let site: Site
  let page: Page

  before(async () => {
    site = await openSite({ client: { permissions: ['read', 'trade', 'stop', 'resume', 'approve'], wallets: 'all' } })
    page = site.tab.page
    page.setDefaultTimeout(60_000)
  })
  after(() => site?.stop())
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
    await page.goto(`${new URL(site.dashboard.link).origin}/dashboard#/${view}`)
    await page.reload()
  }
  async function sellEther(amount: string): Promise<void> {
    const { status, body } = await site.server.client.post('/amm/trade', { ...swap, base: 'ETH', address: admins, amount })
    expect(status, JSON.stringify(body)).to.equal(200)
  }
  /** Time passes in the pages, a little at a time, by which they are drawn. */
  const passUntil = (clock: Clock, what: string, holds: () => Promise<boolean>, stepMs = 20) =>
    until(what, async () => {
      await clock.runFor(stepMs)
      return holds()
    })
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

  describe('a position beyond its price of liquidation', () => {
    it('is near it, however far the market has gone', async () => {
      const account = { connector: 'perp', unit: 'USDC', exposure: '1000', accountValue: '100000', maintenanceMargin: '50' }
      const position = { amount: '1', entryPrice: '4000', unrealizedProfit: '-20', marginMode: 'isolated', liquidationPrice: '4000' }
      const positions = [
        { ...position, market: 'ETH-USD', side: 'LONG', markPrice: '3000' },
        { ...position, market: 'BTC-USD', side: 'SHORT', markPrice: '5000' },
        { ...position, market: 'SOL-USD', side: 'LONG', markPrice: '5000' },
      ]
      await show('', { '/portfolio': ofAdmin({ perpetuals: [{ ...account, positions }] }) })
      for (const market of ['ETH-USD', 'BTC-USD'])
        await page.getByRole('link', { name: new RegExp(`^Near liquidation: perp ${market}`) }).waitFor()
      expect(await page.getByRole('link', { name: /^Near liquidation/ }).count()).to.equal(2)
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

    it('names networks that are down for one reason together', async () => {
      const down = { chain: 'solana', nativeCurrency: 'SOL', currentBlockNumber: -1, currentBlockSeconds: -1, rpcUrl: 'http://node' }
      const networks = ['a', 'b', 'c', 'd'].map((network) => ({ ...down, network, error: 'No line.' }))
      await show('', { '/network/status': () => [...networks, { ...down, network: 'e', error: 'It is gone.' }] })
      await item('4 networks are down (solana/a, solana/b and 2 more): No line.')
      await item('solana/e is down: It is gone.')
      expect(await page.getByRole('link', { name: /solana\/[abcd] is down/ }).count()).to.equal(0)
    })

    it('names certificates that expire soon, or have', async () => {
      const dayMs = 86_400_000
      const certificates = [
        { name: 'phone', expiresAt: Date.now() + 5.5 * dayMs },
        { name: 'bot', expiresAt: Date.now() - 2.5 * dayMs },
        { name: 'server', expiresAt: Date.now() + 90 * dayMs },
      ]
      await show('', { '/caller': (body) => ({ ...body, certificates }) })
      await item('The certificate of phone expires in 5 d')
      await item('The certificate of bot expired 2 d ago')
      expect(await page.getByRole('link', { name: /certificate of server/ }).count()).to.equal(0)
    })

    it('lists first what cannot wait, and of that what is stuck, over a limit, without gas, behind and near liquidation', async () => {
      const hourBefore = Date.now() - 3_600_000
      const stuck = { id: '1', kind: 'trade', ...local, createdAt: hourBefore, txState: 'QUEUED', final: false, attempts: [] }
      const limit = { unit: 'transactions', window: 'hour', allowed: '100' }
      const gas = { symbol: 'ETH', transactions: 1, spent: '1', perDay: '1' }
      // Each wallet has something of each kind, and the first has no more of what cannot wait than the second.
      const wallets: Readonly<Record<string, object>> = {
        [admins]: {
          gas: { ...gas, balance: '1', daysLeft: '1' },
          liquidity: [{ connector: 'uniswap', version: 'v3', tokenId: '7', token0: 'A', token1: 'B', inRange: false }],
          perpetuals: [{ connector: 'perp', unit: 'USDC', accountValue: '49', maintenanceMargin: '50' }],
        },
        [traders]: { gas: { ...gas, balance: '0' } },
      }
      const node = { url: 'http://node', state: 'slow', inUse: true, trouble: 'It is slow.' }
      await page.route(
        (url) => url.pathname === '/transactions',
        (route) => route.fulfill({ json: { transactions: route.request().url().includes('state=QUEUED') ? [stuck] : [] } }),
      )
      await show('', {
        '/limits': () => ({
          client: 'client',
          limits: [
            { ...limit, limit: 'near', used: '85' },
            { ...limit, limit: 'full', used: '100' },
          ],
        }),
        '/portfolio': (body) => ({
          ...body,
          networks: body.networks.map((network: Body) => ({
            ...network,
            wallets: network.wallets.map((wallet: Body) => ({ ...wallet, ...wallets[wallet.address] })),
          })),
        }),
        '/network/status': () => [
          { chain: 'ethereum', network: 'late', nativeCurrency: 'ETH', currentBlockNumber: 1, currentBlockSeconds: 600, nodes: [node] },
        ],
      })
      const items = page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem')
      const kinds = [
        /^now Stuck for/,
        /^now client has used 100 % of full/,
        /^now No gas/,
        /^now ethereum\/late is behind/,
        /^now Near liquidation/,
        /^soon client has used 85 % of near/,
        /^soon Gas of .* lasts 1 days/,
        /^soon Node http:\/\/node/,
        /^soon Out of range: uniswap 7/,
      ]
      let shown: number[] = []
      await until('all are shown', async () => {
        shown = (await items.allInnerTexts()).map((text) => kinds.findIndex((kind) => kind.test(text))).filter((kind) => kind >= 0)
        return shown.length === kinds.length
      })
      expect(shown).to.deep.equal(kinds.map((_, index) => index))
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

  it('keeps what was looked at last, and forgets what is older', async () => {
    const caption = 'Transactions, newest first'
    const find = async (client: string) => {
      await page.getByLabel('Client', { exact: true }).fill(client)
      await page.getByRole('button', { name: 'Find' }).click()
    }
    const listed: Change = (body) => ({
      ...body,
      transactions: [
        { id: '1', kind: 'trade', chain: 'ethereum', network: 'local', createdAt: 1, txState: 'CONFIRMED', final: true, attempts: [] },
      ],
    })
    await show('transactions', { '/transactions': listed })
    for (let count = 0; count <= 18; count += 1) {
      await find(`bot-${count}`)
      await page.getByRole('table', { name: caption }).waitFor()
    }
    await page.route('**/transactions?*', (route) => route.abort())
    await find('bot-17')
    await page.getByText(/cannot be reached/).waitFor()
    expect(await page.getByRole('table', { name: caption }).count()).to.equal(1)
    await find('bot-0')
    await page.getByRole('table', { name: caption }).waitFor({ state: 'detached' })
    await page.getByText(/cannot be reached/).waitFor()
  })

  it('asks for a book every five seconds as long as the journal is read for it, and then each minute', async () => {
    const { context, page: tab } = await openTab(site.browser, withCertificate(site.server))
    const { clock } = context
    await clock.install()
    await clock.pauseAt(Date.now() + 60_000)
    let asked = 0
    await context.route('**/books?*', async (route) => {
      asked += 1
      const book = { complete: asked > 2, part: asked / 10, since: 0, pairs: [] }
      await route.fulfill({ json: book })
    })
    const drawn = (what: string, holds: () => Promise<boolean>) => passUntil(clock, what, holds, 200)
    const isSaid = (text: string) => drawn(text, () => tab.getByText(text).isVisible())
    await tab.goto(`${site.server.url}/dashboard#/clients`)
    const button = tab.getByRole('button', { name: /^Profit, volume/ }).first()
    await drawn('there is a client', () => button.isVisible())
    await button.click({ noWaitAfter: true })
    await isSaid('The journal is being read: 10 %.')
    // Events begin meanwhile, and then it is asked for once more.
    await clock.runFor(5_000)
    await isSaid('Nothing was traded in the last day.')
    const read = asked
    await clock.runFor(30_000)
    await tab.evaluate('fetch("/dashboard").then((answer) => answer.text())')
    expect(asked).to.equal(read)
    await clock.runFor(30_000)
    await drawn('it is asked for again', async () => asked === read + 1)
    await context.unrouteAll({ behavior: 'ignoreErrors' })
    await context.close()
  })

  it('asks for the newest transactions beside its script, once, and for what draws plots where there are some', async () => {
    const { context, page: tab, errors } = await openTab(site.browser, withCertificate(site.server))
    const asked: string[] = []
    tab.on('request', (request) => asked.push(new URL(request.url()).pathname + new URL(request.url()).search))
    const newest = '/transactions?limit=20'
    let run = (): void => {}
    const held = new Promise<void>((resolve) => (run = resolve))
    await context.route(/\/main-\w+\.js$/, async (route) => {
      await held
      await route.continue()
    })
    // Events come later: then it is asked for again.
    await context.route('**/events?*', () => {})
    await tab.goto(`${site.server.url}/dashboard`, { waitUntil: 'commit' })
    await until('it is asked for', async () => asked.includes(newest))
    run()
    await tab.getByRole('heading', { name: 'Recent transactions' }).waitFor()
    await tab.getByText('Looking…').waitFor({ state: 'hidden' })
    expect(asked.filter((each) => each === newest)).to.have.length(1)
    const isDrawing = (each: string) => each.startsWith('/dashboard/uPlot')
    expect(asked.filter(isDrawing)).to.deep.equal([])
    await tab.getByRole('navigation').getByRole('link', { name: 'Activity' }).click()
    await until('it is loaded', async () => asked.some(isDrawing))
    await tab.locator('canvas').first().waitFor()
    expect(errors).to.deep.equal([])
    await context.unrouteAll({ behavior: 'ignoreErrors' })
    await context.close()
  })

  it('asks for wallets every other minute, and each minute while one has a position that the market alone may end', async () => {
    const { context, page: tab } = await openTab(site.browser, withCertificate(site.server))
    const { clock } = context
    await clock.install()
    await clock.pauseAt(Date.now() + 60_000)
    const account = {
      connector: 'perp',
      unit: 'USDC',
      exposure: '0',
      collateral: '0',
      freeCollateral: '0',
      accountValue: '10',
      maintenanceMargin: '0',
    }
    // What waits for the stream's silence does not follow this clock: without events.
    await context.route('**/events?*', (route) => route.abort())
    let asked = 0
    await context.route('**/portfolio', async (route) => {
      asked += 1
      const changed = { value: String(asked), liquidity: [], margin: [], perpetuals: asked > 1 ? [account] : [] }
      const body: Body = await (await route.fetch()).json()
      const networks = body.networks.map((network: Body) => ({
        ...network,
        wallets: network.wallets.map((wallet: Body) => ({ ...wallet, ...changed })),
      }))
      await route.fulfill({ json: { ...body, networks } })
    })
    const isShown = (answer: number) => passUntil(clock, `answer ${answer}`, () => tab.getByText(`Worth ${answer}`).first().isVisible())
    /** What was to be asked for in this time was, once the page has an answer to what it asks after it. */
    const pass = async (ms: number) => {
      await clock.runFor(ms)
      await tab.evaluate('fetch("/dashboard").then((answer) => answer.text())')
    }
    await tab.goto(`${site.server.url}/dashboard#/wallets`)
    await isShown(1)
    await pass(110_000)
    expect(asked).to.equal(1)
    await pass(15_000)
    await isShown(2)
    await pass(50_000)
    expect(asked).to.equal(2)
    await pass(15_000)
    await isShown(3)
    await context.unrouteAll({ behavior: 'ignoreErrors' })
    await context.close()
  })

  it('asks for wallets within a minute of a transaction', async () => {
    const { context, page: tab } = await openTab(site.browser, withCertificate(site.server))
    const { clock } = context
    await clock.install()
    let asked = 0
    await context.route('**/portfolio', async (route) => {
      asked += 1
      await route.continue()
    })
    /** Seconds of the page until it has asked once more. */
    const askedWithin = async () => {
      const before = asked
      let seconds = 0
      await until('it is asked for', async () => {
        if (asked > before) return true
        seconds += 1
        await clock.runFor(1_000)
        return false
      })
      return seconds
    }
    await tab.goto(`${site.server.url}/dashboard`)
    await tab.getByRole('status').getByText('live').waitFor()
    await passUntil(clock, 'it is asked for', async () => asked > 0)
    await askedWithin()
    await sellEther('0.0321')
    const row = tab.getByRole('row', { name: /SELL 0\.0321 ETH USDC/ })
    await passUntil(clock, 'it is final', () => row.getByText('CONFIRMED').isVisible())
    // That it was asked for is seen a moment later; without the transaction it would be another minute.
    expect(await askedWithin()).to.be.below(80)
    await context.unrouteAll({ behavior: 'ignoreErrors' })
    await context.close()
  })

  it('says so where what draws plots is gone, as after an upgrade, and shows the figures', async () => {
    await page.route(/\/uPlot[^/]*\.js$/, (route) => route.fulfill({ status: 404, json: {} }))
    await show('activity', {})
    await page.getByText('What draws it cannot be loaded').first().waitFor()
    await page
      .getByRole('figure', { name: 'Trades an hour', exact: true })
      .getByText(/^Figures/)
      .click()
    await page.getByRole('table', { name: 'Trades an hour', exact: true }).getByRole('row').nth(24).waitFor()
  })

  describe('asks first for what the server knows by itself', () => {
    const [quick, slow] = [
      ['/caller', '/stops', '/plugins', '/approvals', '/transactions'],
      ['/portfolio', '/network/status', '/health/ready'],
    ]
    /** In the order in which they were asked for, once all slow ones were. */
    async function asked(changes: Readonly<Record<string, Change>> = {}): Promise<readonly string[]> {
      const paths: string[] = []
      // What the page asked for before it was loaded again does not count: it may still have waited its turn.
      const note = (request: Request) => {
        if (request.isNavigationRequest()) paths.length = 0
        else paths.push(new URL(request.url()).pathname)
      }
      await show('', changes)
      page.on('request', note)
      await page.reload()
      while (!slow.every((path) => paths.includes(path))) await page.waitForEvent('request')
      page.off('request', note)
      return paths
    }

    it('and then has nodes asked', async () => {
      const paths = await asked()
      const firstSlow = Math.min(...slow.map((path) => paths.indexOf(path)))
      for (const path of quick) expect(paths.indexOf(path), path).to.be.within(0, firstSlow - 1)
    })

    it('and has nodes asked also where an answer does not come', async () => {
      await page.route(
        (url) => url.pathname === '/stops',
        () => {},
      )
      expect(await asked()).to.include('/portfolio')
    })
  })

  it('asks of networks that somebody uses alone, and shows no other', async () => {
    const asked = new Set<string>()
    const note = (request: Request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname.startsWith('/network/') || pathname === '/events') asked.add(`${pathname} ${searchParams.get('inUse')}`)
    }
    page.on('request', note)
    await show('', {})
    await page.getByRole('table', { name: 'Networks' }).getByText('ethereum/local').waitFor()
    await page.getByRole('status').getByText('live').waitFor()
    page.off('request', note)
    expect([...asked]).to.have.members(['/network/status true', '/events true'])
    expect(await page.getByRole('table', { name: 'Networks' }).getByText('ethereum/mainnet').count()).to.equal(0)
    const { text } = await site.server.client.get('/network/status', { inUse: 'true' })
    expect(text).to.contain('"local"').and.not.contain('"mainnet"')
  })

  it('asks once for what two tabs show', async () => {
    const { context, page: first } = await openTab(site.browser, withCertificate(site.server))
    await context.clock.install()
    const tabs = [first, await context.newPage()]
    for (const tab of tabs) {
      await tab.goto(`${site.server.url}/dashboard`)
      await tab.getByRole('table', { name: 'Networks' }).waitFor()
    }
    let asked = 0
    await context.route('**/network/status*', async (route) => {
      asked += 1
      const networks: Body = await (await route.fetch()).json()
      await route.fulfill({ json: networks.map((each: Body) => ({ ...each, currentBlockNumber: 424_242 })) })
    })
    await context.clock.fastForward(31_000)
    for (const tab of tabs) await tab.getByRole('cell', { name: '424242' }).first().waitFor()
    expect(asked).to.equal(1)
    await context.unrouteAll({ behavior: 'ignoreErrors' })
    await context.close()
  })

  it('asks once in all tabs for what an event makes old', async () => {
    const { context, page: first } = await openTab(site.browser, withCertificate(site.server))
    const tabs = [first, await context.newPage(), await context.newPage()]
    const asked: string[] = []
    context.on('request', (request) => asked.push(new URL(request.url()).pathname))
    for (const tab of tabs) {
      await tab.goto(`${site.server.url}/dashboard`)
      await tab.getByRole('table', { name: 'Networks' }).waitFor()
      await tab.getByText('Nothing is stopped.').waitFor()
      await tab.getByRole('status').getByText('live').waitFor()
    }
    // Once events come it is asked for again: nobody knows what happened until then.
    let seen = -1
    await until('nothing more is asked for', async () => {
      const before = seen
      seen = asked.length
      if (before !== seen) await new Promise((resolve) => setTimeout(resolve, 1_000))
      return before === seen
    })
    asked.length = 0
    const stop = { mode: 'reduce-only', client: 'client', reason: 'seen in all tabs' }
    expect((await site.server.client.post('/stops', stop)).status).to.equal(200)
    for (const tab of tabs) await tab.getByText('seen in all tabs').first().waitFor()
    // On a busy machine one tab may hear of it after another one has asked, and has to ask itself.
    expect(asked.filter((path) => path === '/stops')).to.have.length.within(1, 2)
    expect((await site.server.client.request('DELETE', '/stops?client=client')).status).to.equal(200)
    await context.close()
  })

  it('asks no more often in several tabs than in one beside a bot that trades all the time', async () => {
    const { context, page: first } = await openTab(site.browser, withCertificate(site.server))
    await context.clock.install()
    const tabs = [first, await context.newPage(), await context.newPage()]
    let asked = 0
    await context.route('**/limits', async (route) => {
      asked += 1
      await route.continue()
    })
    const busy = async (trades: number, stepMs: number) => {
      for (let count = 0; count < trades; count += 1) {
        await sellEther('0.001')
        await context.clock.runFor(stepMs)
      }
    }
    // Each asks twenty seconds after it has asked, where events made the answer old: one by one.
    for (const tab of tabs) {
      await tab.goto(`${site.server.url}/dashboard#/clients`)
      await tab.getByRole('status').getByText('live').waitFor()
      await busy(5, 1_000)
    }
    asked = 0
    // In 80 seconds one tab asks 4 times, and three tabs that know nothing of each other 12 times. An event may come between the question of one and its answer.
    await busy(40, 2_000)
    expect(asked).to.be.within(3, 7)
    await context.unrouteAll({ behavior: 'ignoreErrors' })
    await context.close()
  })

  it('waits for no tab whose answer does not come, and takes no answer that was asked for before its own', async () => {
    const { context, page: first } = await openTab(site.browser, withCertificate(site.server))
    await context.clock.install()
    await first.goto(`${site.server.url}/dashboard`)
    await first.getByRole('table', { name: 'Networks' }).waitFor()
    // From now on less than the half minute after which it asks by itself.
    first.setDefaultTimeout(15_000)
    const other = await context.newPage()
    await other.goto(`${site.server.url}/dashboard/none`)
    // What a tab does that the browser has put to sleep while it asks.
    await other.evaluate(`void navigator.locks.request("sluice-ask /network/status?inUse=true", () => new Promise(() => {}))`)
    let networks: Body
    await context.route('**/network/status*', async (route) => {
      networks = (await (await route.fetch()).json()).map((each: Body) => ({ ...each, currentBlockNumber: 424_242 }))
      await route.fulfill({ json: networks })
    })
    await context.clock.fastForward(31_000)
    await context.clock.fastForward(11_000)
    await first.getByRole('cell', { name: '424242' }).first().waitFor()

    const tell = async (number: number, askedBeforeMs: number) => {
      const data = networks.map((each: Body) => ({ ...each, currentBlockNumber: number }))
      const now = Number(await first.evaluate('Date.now()'))
      const told = { key: '/network/status?inUse=true', askedAt: now - askedBeforeMs, at: now, data }
      await other.evaluate((message) => new BroadcastChannel('sluice-answers').postMessage(message), told)
    }
    await tell(313_131, 60_000)
    await tell(535_353, 0)
    await first.getByRole('cell', { name: '535353' }).first().waitFor()
    await tell(313_131, 60_000)
    await first.waitForTimeout(300)
    expect(await first.getByRole('cell', { name: '313131' }).count()).to.equal(0)
    await context.unrouteAll({ behavior: 'ignoreErrors' })
    await context.close()
  })

  it('takes nothing that other tabs told while it slept', async () => {
    const { context, page: first } = await openTab(site.browser, withCertificate(site.server))
    await context.clock.install()
    await first.goto(`${site.server.url}/dashboard`)
    await first.getByRole('table', { name: 'Networks' }).waitFor()
    const other = await context.newPage()
    await other.goto(`${site.server.url}/dashboard/none`)
    const networks: Body = await first.evaluate('fetch("/network/status?inUse=true").then((answer) => answer.json())')
    // No timer of it runs meanwhile.
    const now = Number(await first.evaluate('Date.now()')) + 3_600_000
    await first.clock.setSystemTime(now)
    const tell = (number: number, toldAt: number) => {
      const data = networks.map((each: Body) => ({ ...each, currentBlockNumber: number }))
      const told = { key: '/network/status?inUse=true', askedAt: toldAt, at: toldAt, toldAt, data }
      return other.evaluate((message) => new BroadcastChannel('sluice-answers').postMessage(message), told)
    }
    await tell(313_131, now - 1_800_000)
    await first.waitForTimeout(300)
    expect(await first.getByRole('cell', { name: '313131' }).count()).to.equal(0)
    await tell(535_353, now)
    await first.getByRole('cell', { name: '535353' }).first().waitFor()
    await context.close()
  })

  it('shows what was done on it, also where another tab has asked before', async () => {
    const { context, page: first } = await openTab(site.browser, withCertificate(site.server))
    await context.clock.install()
    let silences: object[] = []
    const alerts = () => ({ enabled: true, alerts: [], channels: [], silences })
    await context.route('**/caller', async (route) => {
      const caller: Body = await (await route.fetch()).json()
      await route.fulfill({ json: { ...caller, permissions: [...caller.permissions, 'admin'] } })
    })
    await context.route('**/alerts', (route) => route.fulfill({ json: alerts() }))
    await context.route('**/alerts/silences', (route) => {
      silences = [{ until: Date.now() + 9e6, setBy: 'somebody' }]
      return route.fulfill({ json: {} })
    })
    await first.goto(`${site.server.url}/dashboard`)
    await first.getByText('Nothing is silenced.').waitFor()
    // From now on less than the half minute after which it asks by itself.
    first.setDefaultTimeout(15_000)
    const other = await context.newPage()
    await other.goto(`${site.server.url}/dashboard/none`)
    await other.evaluate(`void navigator.locks.request("sluice-ask /alerts", () => new Promise(() => {}))`)
    await context.clock.fastForward(31_000)
    const before = { key: '/alerts', askedAt: Number(await first.evaluate('Date.now()')), at: Date.now(), data: alerts() }
    await first.getByRole('button', { name: 'Silence all alerts' }).click()
    await first.getByRole('button', { name: 'Yes, silence' }).click()
    await first.getByText('Silenced.', { exact: true }).waitFor()
    await other.evaluate((message) => new BroadcastChannel('sluice-answers').postMessage(message), before)
    await first.waitForTimeout(300)
    await context.clock.fastForward(2_000)
    await context.clock.fastForward(11_000)
    await first.getByRole('cell', { name: 'somebody' }).waitFor()
    await context.unrouteAll({ behavior: 'ignoreErrors' })
    await context.close()
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
    expect(site.tab.errors.filter((each) => each.includes('markup'))).to.deep.equal([])
  })

  describe('plots of the last day', () => {
    const hourMs = 3_600_000
    /** Hours ago. */
    const trade = (ago: number, more: object) => ({
      id: `${ago} ${JSON.stringify(more)}`,
      kind: 'trade',
      ...local,
      createdAt: Date.now() - ago * hourMs,
      txState: 'CONFIRMED',
      final: true,
      attempts: [],
      ...more,
    })
    const plot = (of: Page, name: string) => of.getByRole('figure', { name, exact: true })
    /** But those of hours without any. */
    async function figures(of: Page, name: string): Promise<string[]> {
      await plot(of, name)
        .getByText(/^Figures/)
        .click()
      const cells = await plot(of, name).getByRole('cell').allInnerTexts()
      return cells.filter((text, index) => index % 2 === 1 && Number(text) !== 0)
    }
    /** Where the line is highest, from 0 at the left of the plot to 1 at its right. */
    const peak = (of: Page, name: string): Promise<number> =>
      plot(of, name).evaluate((figure) => {
        const canvas = figure.querySelector('canvas')
        const area = figure.querySelector('.u-over')?.getBoundingClientRect()
        const pixels = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data
        if (!canvas || !area || !pixels) return Number.NaN
        let first = 0
        // The colour of the line.
        while (first < pixels.length && (pixels[first] !== 0x0b || pixels[first + 1] !== 0x5f || pixels[first + 2] !== 0x80)) first += 4
        const { left, width } = canvas.getBoundingClientRect()
        const x = left + (((first / 4) % canvas.width) / canvas.width) * width
        return (x - area.left) / area.width
      })

    it('are of the trades, failures, slippage and gas that the journal has of each hour', async () => {
      const [gas, slippage] = [
        (fee: string, feeToken = 'ETH') => ({ cost: { fee, feeToken } }),
        (quote: string) => ({ slippage: { quote } }),
      ]
      const transactions = [
        trade(2, { ...gas('0.5'), ...slippage('0.02') }),
        trade(2, { txState: 'REVERTED', ...gas('0.25') }),
        trade(2, { ...gas('7', 'BNB'), ...slippage('0.04') }),
        trade(12, { ...gas('0.125'), ...slippage('-0.005') }),
      ]
      await page.emulateMedia({ colorScheme: 'light' })
      await show('activity', { '/transactions': (body) => ({ ...body, transactions }) })
      const expected: Readonly<Record<string, readonly string[]>> = {
        'Trades an hour': ['1.000', '3.000'],
        'Failed trades an hour': ['1.000'],
        'Slippage against the quote, %': ['-0.5000', '3.000'],
        'Gas an hour, ETH': ['0.1250', '0.7500'],
        'Gas an hour, BNB': ['7.000'],
      }
      for (const [name, values] of Object.entries(expected)) {
        expect(await figures(page, name), name).to.deep.equal(values)
        // Of 24 hours the last but two, or the one before where an hour ends meanwhile.
        expect(await peak(page, name), name).to.be.within(20 / 23 - 0.02, 21 / 23 + 0.02)
      }
    })

    it('are of quotes a minute, by the counts of the server', async () => {
      const { context, page: tab } = await openTab(site.browser, { ...withCertificate(site.server), colorScheme: 'light' })
      await context.clock.install()
      await context.clock.pauseAt(Date.now() + 60_000)
      const counts = [100, 170, 180, 4, 34]
      let read = 0
      await context.route('**/metrics', async (route) => {
        const count = counts[read]
        read += 1
        const metrics = `sluice_quotes_total{connector="one",source="memory"} ${count}\nsluice_quotes_total{connector="other",source="rpc"} 20\n`
        await route.fulfill({ contentType: 'text/plain', body: `${metrics}sluice_trades_total 999\n` })
      })
      await tab.goto(`${site.server.url}/dashboard#/activity`)
      for (let minute = 0; minute < counts.length; minute += 1) {
        // No time passes but here.
        if (minute > 0) await context.clock.runFor(60_000)
        await until('the counts are read', async () => {
          if (minute === 0) await context.clock.runFor(1)
          return read === minute + 1
        })
        await tab.evaluate('fetch("/dashboard").then((answer) => answer.text())')
      }
      const name = 'Quotes a minute, since this page was opened'
      // A server that was restarted counts anew: of that minute nothing is known.
      expect((await figures(tab, name)).map((each) => Math.round(Number(each)))).to.deep.equal([70, 10, 30])
      expect(await peak(tab, name)).to.be.within(0, 0.02)
      await context.unrouteAll({ behavior: 'ignoreErrors' })
      await context.close()
    })
  })

  describe('of a transaction', () => {
    before(() => sellEther('0.01'))

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

    it('is among the failures of its client where it was reverted, with the reason', async () => {
      const reverted: Change = (body) => ({
        ...body,
        transactions: body.transactions.map((each: Body) => ({ ...each, txState: 'REVERTED', reason: 'Too little received' })),
      })
      await show('clients', {})
      await page.route(
        (url) => url.pathname === '/transactions',
        async (route) => {
          const url = new URL(route.request().url())
          const isAsked = url.searchParams.get('state') === 'REVERTED'
          url.searchParams.delete('state')
          const body = await (await route.fetch({ url: url.href })).json()
          await route.fulfill({ json: isAsked ? reverted(body) : { transactions: [] } })
        },
      )
      await page.getByRole('button', { name: /^Profit, volume and failures/ }).click()
      const failures = page.getByRole('table', { name: 'Failures of client' })
      await failures.getByRole('cell', { name: 'Too little received' }).first().waitFor()
      await failures.getByRole('link', { name: /SELL 0\.01 ETH USDC/ }).waitFor()
    })

    it('says in percent how much worse it was filled', async () => {
      const slippage = { quote: '0.012345', market: '-0.005' }
      const changed: Change = (body) => ({ ...body, transactions: body.transactions.map((each: Body) => ({ ...each, slippage })) })
      await show('transactions', { '/transactions': changed })
      await page.getByRole('link', { name: /SELL 0\.01 ETH USDC/ }).click()
      const details = page.getByRole('region', { name: 'Transaction', exact: true })
      await details.getByText('1.2345 %', { exact: true }).waitFor()
      await details.getByText('-0.5 %', { exact: true }).waitFor()
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
