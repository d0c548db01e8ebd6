import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'
import { newClient } from '../../core/tls/certificates.ts'
import { createClient, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { admins, local, mined, oneChain, outcome, swap, traders } from '../http/shared-server.ts'
import { openBrowser, openTab, startDashboard, withCertificate, type LocalDashboard, type Tab } from './browser.ts'

const clients = {
  client: { permissions: ['read', 'trade', 'thin', 'admin', 'stop', 'resume', 'approve'], wallets: 'all' },
  bot: {
    permissions: ['read', 'trade', 'thin'],
    wallets: [traders],
    limits: { approveTokensAbove: { 'ethereum/local': { ETH: '0.02' } }, transactionsPerHour: 5 },
  },
  reader: { permissions: ['read'], wallets: 'all' },
}
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const views = ['Overview', 'Wallets', 'Transactions', 'Positions', 'Clients', 'Approvals', 'Plugins', 'Activity'] as const
/** A folder for pictures of each view, which people look at: docs/operators/ has some. */
const shots = process.env['SLUICE_SCREENSHOTS']
const phone = { width: 390, height: 844 }
const desk = { width: 1280, height: 900 }

describe('the dashboard in a browser', function () {
  this.timeout(400_000)
  let server: TestServer
  let bot: Client
  let browser: Browser
  let dashboard: LocalDashboard
  let tab: Tab

  before(async () => {
    server = await startServer({ settings: oneChain.settings, conf: { ...oneChain.conf, 'clients.yml': { clients } } })
    for (const name of ['bot', 'reader']) await newClient(server.certsDir, name)
    bot = createClient(server.url, server.certsDir, 'bot')
    for (const amount of ['0.01', '0.02', '0.03']) await traded(amount)
    browser = await openBrowser()
    dashboard = await startDashboard(server)
    tab = await openTab(browser, { viewport: desk })
    await tab.page.goto(dashboard.link)
  })
  after(async () => {
    await browser?.close()
    await dashboard?.proxy.stop(0)
    bot?.close()
    await server?.stop()
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
  const settled = (page: Page) => until(async () => !/Loading…|Looking…/.test((await page.locator('main').textContent()) ?? ''))

  it('shows networks and transactions after its link was opened, and a new one without a reload', async () => {
    const { page } = tab
    await page.waitForURL('**/dashboard')
    await page.getByRole('table', { name: 'Networks' }).getByText('ethereum/local').waitFor()
    await page.getByRole('link', { name: /SELL 0\.01 ETH USDC/ }).waitFor()
    await page.getByRole('status').getByText('live').waitFor()
    await traded('0.0123')
    await page.getByRole('link', { name: /SELL 0\.0123 ETH USDC/ }).waitFor()
  })

  it('finds a trade by its hash, and explains its life, price and cost', async () => {
    const { page } = tab
    const txHash = await traded('0.0456')
    await mined(server.client, txHash)
    await open(page, 'Transactions')
    await page.getByLabel('Hash').fill(txHash)
    await page.getByRole('button', { name: 'Find' }).click()
    const rows = page.getByRole('table', { name: 'Transactions, newest first' }).getByRole('row')
    await until(async () => (await rows.count()) === 2)
    await page.getByRole('link', { name: /SELL 0\.0456/ }).click()
    const details = page.getByRole('region', { name: 'Transaction', exact: true })
    await details.getByText('Quoted price').waitFor()
    await details.getByText('Worst price allowed').waitFor()
    expect(await details.getByRole('list', { name: 'Its life' }).innerText()).to.match(/planned.*signed.*sent.*mined.*block \d/s)
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
      await until(async () => (await buttons.count()) < left)
    }
    const { allowances } = (await server.client.get('/allowances')).body
    // What the wallet approved for Permit2 itself takes nothing without a spender there.
    const taking = allowances.filter(({ symbol, amount }: { symbol?: string; amount: string }) => symbol === 'DAI' && Number(amount) > 0)
    expect(taking).to.deep.equal([])
    await page.getByText('and 12,345 once more is approved').waitFor()
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
    await open(page, 'Overview')
    await page.getByRole('link', { name: 'bot has used 80 % of transactionsPerHour' }).waitFor()
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
    const { page, errors, context } = await openTab(browser, withCertificate(server, 'reader'))
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

  it('has one stream of events for all its tabs', async () => {
    const streams = async () => /^sluice_event_streams (\d+)/m.exec((await server.client.get('/metrics')).text)?.[1]
    const before = await streams()
    const pages = await Promise.all(Array.from({ length: 8 }, () => tab.context.newPage()))
    for (const page of pages) {
      await page.goto(`${new URL(dashboard.link).origin}/dashboard`)
      await page.getByRole('status').getByText('live').waitFor()
    }
    expect(await streams()).to.equal(before)
    // The first of them goes on when the tab with the stream is closed.
    await tab.page.close()
    await traded('0.0789')
    const [first] = pages
    await first?.getByRole('link', { name: /SELL 0\.0789/ }).waitFor()
  })
})

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (await isSo()) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('It did not become so.')
}
