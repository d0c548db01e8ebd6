import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { createClient, type Client } from '../../testkit/client.ts'
import type { TestServer } from '../../testkit/server.ts'
import { admins, local, mined, outcome, swap, traders, uniswap } from '../http/shared-server.ts'
import { until } from '../transactions/site.ts'
import { desk, openSite, openTab, withCertificate, type Site, type Tab } from './browser.ts'

const clients = {
  client: { permissions: ['read', 'trade', 'thin', 'admin', 'stop', 'resume', 'approve'], wallets: 'all' },
  bot: {
    permissions: ['read', 'trade', 'thin'],
    wallets: [traders],
    limits: { approveTokensAbove: { 'ethereum/local': { ETH: '0.02' } }, transactionsPerHour: 5 },
  },
  reader: { permissions: ['read'], wallets: 'all' },
}
/** Of every wallet: no page finds that by itself. */
const alerts = { rules: { lowGas: { minBalance: { 'ethereum/local': '1000000' } } }, portfolioSeconds: 1 }
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const views = ['Overview', 'Wallets', 'Transactions', 'Positions', 'Clients', 'Approvals', 'Plugins', 'Activity'] as const
/** A folder for pictures of each view, which people look at: docs/operators/ has some. */
const shots = process.env['SLUICE_SCREENSHOTS']
const phone = { width: 390, height: 844 }

describe('the dashboard in a browser', function () {
  this.timeout(400_000)
  let site: Site
  let server: TestServer
  let bot: Client
  let tab: Tab

  before(async () => {
    site = await openSite(clients, { 'alerts.yml': alerts })
    ;({ server, tab } = site)
    bot = createClient(server.url, server.certsDir, 'bot')
    for (const amount of ['0.01', '0.02', '0.03']) await traded(amount)
  })
  after(async () => {
    bot?.close()
    await site?.stop()
  })

  async function traded(amount: string): Promise<string> {
    const { status, body } = await server.client.post('/amm/trade', { ...swap, base: 'ETH', address: admins, amount })
    expect(status, JSON.stringify(body)).to.equal(200)
    return body.txHash
  }
  const open = async (page: Page, view: (typeof views)[number]) => {
    await page.getByRole('navigation').getByRole('link', { name: view }).click()
    await page.getByRole('heading', { level: 1, name: view }).waitFor()
  }
  // What the page itself would evaluate is refused by its policy: all is asked from here.
  const settled = (page: Page) =>
    until('the view is there', async () => !/Loading…|Looking…/.test((await page.locator('main').textContent()) ?? ''))

  it('shows networks and transactions after its link was opened, and a new one without a reload', async () => {
    const { page } = tab
    await page.getByRole('table', { name: 'Networks' }).getByText('ethereum/local').waitFor()
    await page.getByRole('link', { name: /SELL 0\.01 ETH USDC/ }).waitFor()
    await page.getByRole('status').getByText('live').waitFor()
    await traded('0.0123')
    await page.getByRole('link', { name: /SELL 0\.0123 ETH USDC/ }).waitFor()
  })

  it('shows the trades of a busy bot by their events, and asks the server for none of them', async () => {
    const { page } = tab
    const asked: string[] = []
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      // Three lists are of what is stuck, each of a state.
      asked.push(`${pathname} ${searchParams.get('state') ?? ''}`.trim())
    })
    const countOf = (what: string) => asked.filter((each) => each === what).length
    const startedAt = Date.now()
    await page.reload()
    // Again once events come: nobody knows what happened until then.
    await until('the list is asked for twice', async () => countOf('/transactions') === 2)
    await settled(page)
    const limitsBefore = countOf('/limits')
    for (const amount of ['0.0201', '0.0202', '0.0203', '0.0204', '0.0205']) {
      await traded(amount)
      await page.getByRole('link', { name: `SELL ${amount} ETH USDC` }).waitFor()
    }
    await page
      .getByRole('row', { name: /SELL 0\.0205 ETH USDC/ })
      .getByText('CONFIRMED')
      .waitFor()
    // On a busy machine it takes longer: once a minute all is asked for by the clock, and limits after trades every 20 seconds.
    const [minutes, pauses] = [60_000, 20_000].map((ms) => Math.floor((Date.now() - startedAt) / ms)) as [number, number]
    expect(countOf('/transactions')).to.be.within(2, 2 + minutes)
    for (const state of ['QUEUED', 'SIGNED', 'BROADCAST']) expect(countOf(`/transactions ${state}`), state).to.be.within(1, 2 + minutes)
    // Three clients, in a few seconds.
    expect(countOf('/limits') - limitsBefore).to.be.at.most(3 + 3 * minutes + pauses)
    page.removeAllListeners('request')
  })

  it('finds a trade by its hash, and explains its life, price and cost', async () => {
    const { page } = tab
    const txHash = await traded('0.0456')
    await mined(server.client, txHash)
    await open(page, 'Transactions')
    await page.getByLabel('Hash').fill(txHash)
    await page.getByRole('button', { name: 'Find' }).click()
    const rows = page.getByRole('table', { name: 'Transactions, newest first' }).getByRole('row')
    await until('one is found', async () => (await rows.count()) === 2)
    await page.getByRole('link', { name: /SELL 0\.0456/ }).click()
    const details = page.getByRole('region', { name: 'Transaction', exact: true })
    await details.getByText('Quoted price').waitFor()
    await details.getByText('Worst price allowed').waitFor()
    expect(await details.getByRole('list', { name: 'Its life' }).innerText()).to.match(/planned.*signed.*sent.*mined.*block \d/s)
    const attempts = details.getByRole('table', { name: 'Everything that was signed for it' })
    await attempts.getByRole('cell', { name: /^0\.\d+ ETH$/ }).waitFor()
    await attempts.getByRole('cell', { name: 'http://127.0.0.1:' }).waitFor()
    // It survives a reload, and can be shared as a link with oneself.
    await page.reload()
    await details.getByText('Quoted price').waitFor()
  })

  it('stops everything after a question, shows it, and resumes', async () => {
    const { page } = tab
    await open(page, 'Overview')
    await page.getByRole('button', { name: 'Stop everything' }).click()
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    expect((await server.client.get('/stops')).body.stops).to.deep.equal([])
    await page.getByRole('button', { name: 'Stop everything' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Yes, stop' }).click()
    await page.getByRole('link', { name: 'stop is set for everything' }).waitFor()
    const refused = await server.client.post('/amm/trade', { ...swap, base: 'ETH', address: admins, amount: '0.01' })
    expect(outcome(refused)).to.equal('403 STOPPED')
    await page.getByRole('button', { name: 'Resume everything' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Yes, resume' }).click()
    await page.getByText('Nothing is stopped.').waitFor()
    await traded('0.01')
  })

  it('revokes what a spender may take', async () => {
    const { page } = tab
    const approved = await server.client.post('/evm/approve', {
      ...local,
      address: admins,
      spender: 'uniswap',
      token: 'DAI',
      amount: '12345',
    })
    await mined(server.client, approved.body.txHash)
    await open(page, 'Wallets')
    // Swaps there need two spenders.
    const buttons = page.getByRole('button', { name: /^Revoke DAI from uniswap 0x/ })
    await buttons.first().waitFor()
    for (let left = await buttons.count(); left > 0; left -= 1) {
      await buttons.first().click()
      await page.getByRole('dialog').getByRole('button', { name: 'Yes, revoke' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await until('it is taken back', async () => (await buttons.count()) < left)
    }
    const { allowances } = (await server.client.get('/allowances')).body
    // What the wallet approved for Permit2 itself takes nothing without a spender there.
    const taking = allowances.filter(({ symbol, amount }: { symbol?: string; amount: string }) => symbol === 'DAI' && Number(amount) > 0)
    expect(taking).to.deep.equal([])
    await page.getByText('and 12,345 once more is approved').waitFor()
  })

  it('shows a position of liquidity that is out of range, and one that is in range, as such', async () => {
    const { page } = tab
    const add = async (lowerPrice: string, upperPrice: string, amounts: object): Promise<void> => {
      const range = { ...uniswap, address: admins, token0: 'WETH', token1: 'USDC', fee: 'MEDIUM', lowerPrice, upperPrice, ...amounts }
      const added = await server.client.post('/amm/liquidity/add', range)
      if (added.body?.name !== 'INSUFFICIENT_ALLOWANCE') {
        expect(outcome(added), added.text).to.equal('200')
        return void (await mined(server.client, added.body.txHash))
      }
      const { spender, token } = added.body.details
      const approved = await server.client.post('/evm/approve', { ...local, address: admins, spender, token, amount: '100000' })
      await mined(server.client, approved.body.txHash)
      return add(lowerPrice, upperPrice, amounts)
    }
    await add('6000', '7000', { amount0: '0.1', amount1: '0' })
    await add('1000', '7000', { amount0: '0.1', amount1: '1000' })
    await open(page, 'Positions')
    await page.reload()
    const rows = page.getByRole('table', { name: 'Positions of liquidity' }).getByRole('row').filter({ hasText: 'uniswap' })
    await until('both are there', async () => (await rows.count()) === 2)
    expect((await rows.getByText(/range$/).allInnerTexts()).toSorted()).to.deep.equal(['in range', 'out of range'])
    const outside = rows.filter({ hasText: 'out of range' })
    const [position = ''] = /uniswap \d+/.exec(await outside.innerText()) ?? []
    await open(page, 'Overview')
    const item = page.getByRole('listitem').filter({ hasText: 'Out of range' })
    await item.getByRole('link', { name: `Out of range: ${position}, ${admins.slice(0, 10)}… on ethereum/local` }).waitFor()
    expect(await item.count()).to.equal(1)
  })

  it('shows a request that waits for a second person, and carries it out once it is approved', async () => {
    const { page } = tab
    await open(page, 'Approvals')
    await page.getByText('Nothing waits.').waitFor()
    await bot.post('/amm/trade', { ...swap, base: 'ETH', address: traders, amount: '0.05' })
    const waiting = page.getByRole('article', { name: /^request \d+ of bot$/ })
    await waiting.getByText('0.05', { exact: true }).waitFor()
    await waiting.getByRole('button', { name: /^Approve/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Yes, approve' }).click()
    await page.getByRole('cell', { name: 'done' }).waitFor()
    const { transactions } = (await server.client.get('/transactions', { client: 'bot' })).body
    expect(transactions).to.have.length(1)
  })

  it('shows what is left of the limits of each client, and what comes near one', async () => {
    const { page } = tab
    for (const amount of ['0.001', '0.0011', '0.0012'])
      expect(outcome(await bot.post('/amm/trade', { ...swap, base: 'ETH', address: traders, amount }))).to.equal('200')
    await open(page, 'Clients')
    await page.getByRole('table', { name: 'Limits of bot' }).getByRole('cell', { name: '80 % used' }).waitFor()
    for (const name of ['server', 'ca', 'client', 'bot', 'reader'])
      await page.getByRole('table', { name: 'Certificates' }).getByRole('cell', { name, exact: true }).waitFor()
    await page.getByRole('button', { name: 'Profit, volume and failures of the last day of bot' }).click()
    await page.getByText('Nothing failed in the last day.').waitFor()
    await open(page, 'Overview')
    // What the page finds itself stands there once, with the name of the rule that tells people of it.
    const near = page.getByRole('listitem').filter({ hasText: 'transactionsPerHour' })
    await near.getByRole('link', { name: 'bot has used 80 % of transactionsPerHour' }).waitFor()
    await near.getByText('alert limitNearlyUsed').waitFor()
    expect(await near.count()).to.equal(1)
  })

  it('shows what people are told of, and keeps them from being told of one for a while', async () => {
    const { page } = tab
    await open(page, 'Overview')
    const items = page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem')
    const low = items.filter({ hasText: `Low on gas: ${admins} on ethereum/local has` })
    await low.getByRole('button', { name: `Silence lowGas ethereum/local ${admins}` }).click()
    await page.getByRole('dialog').getByLabel('For').selectOption('8 hours')
    await page.getByRole('dialog').getByRole('button', { name: 'Yes, silence' }).click()
    await low.getByText('alert lowGas silenced').waitFor()
    const { silences } = (await server.client.get('/alerts')).body
    expect(silences).to.have.length(1)
    expect(silences[0]).to.include({ rule: 'lowGas', subject: `ethereum/local ${admins}`, setBy: 'client', reason: 'from the dashboard' })
    const table = page.getByRole('table', { name: 'Silenced alerts' })
    await table.getByRole('cell', { name: /^[78] h$/ }).waitFor()
    await table.getByRole('button', { name: /^End the silence of lowGas/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Yes, end' }).click()
    await page.getByText('Nothing is silenced.').waitFor()
    await low.getByRole('button', { name: /^Silence/ }).waitFor()
  })

  it('shows the words of others as text, cut where they do not end', async () => {
    const { page, errors } = tab
    const reason = `<img src=x onerror=console.error('markup')> ‮drawkcab ${'x'.repeat(100)}`
    expect(outcome(await server.client.post('/stops', { mode: 'reduce-only', client: 'bot', reason }))).to.equal('200')
    await open(page, 'Overview')
    const cell = page.getByRole('cell', { name: /^<img src=x/ })
    await cell.waitFor()
    expect(await cell.innerText())
      .to.contain('�drawkcab')
      .and.not.to.contain('‮')
    expect(await page.locator('main img').count()).to.equal(0)
    await server.client.request('DELETE', '/stops?client=bot')
    expect(errors).to.deep.equal([])
  })

  it('says nothing in the console, and has no finding of axe, in each view, in dark and light, on a phone and on a desk', async () => {
    const { page, errors } = tab
    for (const [viewport, colorScheme] of [
      [desk, 'light'],
      [phone, 'dark'],
      ...(shots === undefined
        ? []
        : ([
            [desk, 'dark'],
            [phone, 'light'],
          ] as const)),
    ] as const) {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme })
      for (const view of views) {
        await open(page, view)
        await settled(page)
        await page.evaluate(axe)
        const found = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>('axe.run()')
        const shown = found.violations.map(({ id, nodes }) => `${view} ${colorScheme}: ${id} ${nodes[0]?.html}`)
        expect(shown).to.deep.equal([])
        const width = await page.evaluate<number>('document.documentElement.scrollWidth')
        expect(width, `${view} is wider than the screen`).to.be.at.most(viewport.width)
        if (shots !== undefined)
          await page.screenshot({ path: `${shots}/dashboard-${view.toLowerCase()}-${viewport.width}-${colorScheme}.png` })
      }
    }
    await page.setViewportSize(desk)
    expect(errors).to.deep.equal([])
  })

  it('is used by the keyboard alone', async () => {
    const { page } = tab
    await open(page, 'Overview')
    await page.reload()
    await page.getByRole('status').getByText('live').waitFor()
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).to.equal('To the content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.tagName')).to.equal('H1')
    const button = page.getByRole('button', { name: 'Reduce only everything' })
    await button.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await page.evaluate('document.activeElement.textContent')).to.equal('Reduce only everything')
  })

  it('offers nothing that the certificate may not do, over mutual TLS', async () => {
    const { page, errors, context } = await openTab(site.browser, withCertificate(server, 'reader'))
    await page.goto(`${server.url}/dashboard`)
    await page.getByText('as reader, which may only look').waitFor()
    await page.getByRole('table', { name: 'Networks' }).getByText('ethereum/local').waitFor()
    await open(page, 'Wallets')
    await page
      .getByRole('table', { name: /^Balances of/ })
      .first()
      .waitFor()
    expect(await page.getByRole('button', { name: /Stop|Revoke|Reduce/ }).count()).to.equal(0)
    expect(errors).to.deep.equal([])
    await context.close()
  })

  for (const [name, days, amount] of [
    ['ahead', 1, '0.0321'],
    ['behind', -1, '0.0322'],
  ] as const)
    it(`tells ages by the server's clock where the browser's is a day ${name}`, async () => {
      const { page, context } = await openTab(site.browser, withCertificate(server))
      await page.addInitScript((ms: number) => {
        const { now } = Date
        Date.now = () => now() + ms
      }, days * 86_400_000)
      await traded(amount)
      await page.goto(`${server.url}/dashboard`)
      const row = page.getByRole('row', { name: `SELL ${amount} ETH USDC` })
      await row.getByText(/^\d+ (s|min) ago$/).waitFor()
      const local = page.getByRole('row').filter({ hasText: 'ethereum/local' })
      await local.getByText(/^\d+ (s|min)$/).waitFor()
      await settled(page)
      expect(await page.getByRole('link', { name: /^Stuck for/ }).count()).to.equal(0)
      await context.close()
    })

  it('has one stream of events for all its tabs', async () => {
    const streams = async () => /^sluice_event_streams (\d+)/m.exec((await server.client.get('/metrics')).text)?.[1]
    const before = await streams()
    const pages = await Promise.all(Array.from({ length: 8 }, () => tab.context.newPage()))
    for (const page of pages) {
      await page.goto(`${new URL(site.dashboard.link).origin}/dashboard`)
      await page.getByRole('status').getByText('live').waitFor()
    }
    expect(await streams()).to.equal(before)
    // Another goes on when the tab with the stream is closed, and tells also what happened before its own stream was there.
    let goOn = (): void => {}
    const held = new Promise<void>((resolve) => (goOn = resolve))
    await tab.context.route('**/events?*', async (route) => {
      await held
      await route.continue()
    })
    await tab.page.close()
    const txHash = await traded('0.0789')
    await until('it is final, and no other event of it comes', async () => {
      const { body } = await server.client.get(`/transactions?txHash=${txHash}`)
      return body.transactions[0]?.final === true
    })
    goOn()
    const [first] = pages
    await first?.getByRole('link', { name: /SELL 0\.0789/ }).waitFor()
  })
})
