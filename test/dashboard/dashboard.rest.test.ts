import { expect } from 'chai'
import type { Browser } from 'playwright-core'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { admins, oneChain, swap } from '../http/shared-server.ts'
import { openBrowser, openTab, startDashboard, withCertificate, type LocalDashboard, type Tab } from './browser.ts'

describe('the dashboard in a browser', function () {
  this.timeout(120_000)
  let server: TestServer
  let browser: Browser
  let local: LocalDashboard
  let tab: Tab

  before(async () => {
    server = await startServer(oneChain)
    const { status, body } = await server.client.post('/amm/trade', { ...swap, base: 'ETH', address: admins, amount: '0.01' })
    expect(status, JSON.stringify(body)).to.equal(200)
    browser = await openBrowser()
    local = await startDashboard(server)
    tab = await openTab(browser)
    await tab.page.goto(local.link)
  })
  after(async () => {
    await browser?.close()
    await local?.proxy.stop(0)
    await server?.stop()
  })

  it('shows networks and transactions after its link was opened, and says nothing in the console', async () => {
    const { page, errors } = tab
    await page.waitForURL('**/dashboard')
    await page.getByRole('table', { name: 'Networks' }).getByText('ethereum/local').waitFor()
    await page.getByRole('link', { name: /SELL 0\.01 ETH USDC/ }).waitFor()
    await page.getByRole('status').getByText('live').waitFor()
    expect(errors).to.deep.equal([])
  })

  it('shows a new transaction without a reload', async () => {
    await server.client.post('/amm/trade', { ...swap, base: 'ETH', address: admins, amount: '0.0123' })
    await tab.page.getByRole('link', { name: /SELL 0\.0123 ETH USDC/ }).waitFor()
  })

  it('opens with a certificate over mutual TLS, too', async () => {
    const { page, errors, context } = await openTab(browser, withCertificate(server))
    await page.goto(`${server.url}/dashboard`)
    await page.getByRole('table', { name: 'Networks' }).getByText('ethereum/local').waitFor()
    await page.getByRole('status').getByText('live').waitFor()
    expect(errors).to.deep.equal([])
    await context.close()
  })
})
