import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import type { Browser } from 'playwright-core'
import { newClient, revoke } from '../../core/tls/certificates.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { freePort } from '../free-port.ts'
import { oneChain, outcome } from '../http/shared-server.ts'
import { until } from '../transactions/site.ts'
import { openBrowser, openTab, startDashboard, withCertificate, type LocalDashboard } from './browser.ts'

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

function ask(port: number, target: string, headers: Record<string, string> = {}, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', port, path: target, method: body === undefined ? 'GET' : 'POST', headers },
      (response) => {
        let text = ''
        response
          .setEncoding('utf8')
          .on('data', (chunk: string) => (text += chunk))
          .on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
      },
    )
    request.on('error', reject).end(body)
  })
}

describe('the dashboard in trouble', function () {
  this.timeout(400_000)
  let home: string
  let port: number
  let server: TestServer
  let browser: Browser
  let dashboard: LocalDashboard

  const clients = {
    client: { permissions: ['read', 'trade', 'stop'], wallets: 'all' },
    phone: { permissions: ['read'], wallets: 'all' },
    blind: { permissions: ['trade'], wallets: 'all' },
  }
  const start = () =>
    startServer({ settings: { ...oneChain.settings, 'server.port': port }, conf: { ...oneChain.conf, 'clients.yml': { clients } } }, home)

  before(async () => {
    home = await mkdtemp(path.join(tmpdir(), 'sluice-dashboard-'))
    port = await freePort()
    server = await start()
    for (const name of ['phone', 'blind']) await newClient(server.certsDir, name)
    browser = await openBrowser()
    dashboard = await startDashboard(server)
  })
  after(async () => {
    await browser?.close()
    await dashboard?.proxy.stop(0)
    await server?.stop()
    await rm(home, { recursive: true, force: true })
  })

  it('gives nothing of the server to whoever has not opened the link', async () => {
    const { port: local } = dashboard.proxy
    for (const target of ['/dashboard', '/transactions', '/wallet', '/metrics', '/events'])
      expect((await ask(local, target)).status, target).to.equal(403)
    const cookie = `sluice-dashboard-${local}=guessed`
    expect((await ask(local, '/wallet', { cookie })).status).to.equal(403)
    const json = { 'content-type': 'application/json' }
    expect((await ask(local, '/open', json, JSON.stringify({ secret: 'guessed' }))).status).to.equal(403)
    expect((await ask(local, '/open', json, '{')).status).to.equal(403)
  })

  it('refuses another host name, and pages of other origins, also with the cookie', async () => {
    const { proxy, link } = await startDashboard(server)
    try {
      const secret = new URL(link).hash.slice(1)
      const opened = await ask(proxy.port, '/open', { 'content-type': 'application/json' }, JSON.stringify({ secret }))
      const [set = ''] = opened.headers['set-cookie'] ?? []
      expect(set).to.match(/; HttpOnly; SameSite=Strict; Path=\/$/)
      const cookie = set.split(';', 1)[0] ?? ''
      const host = `localhost:${proxy.port}`
      expect((await ask(proxy.port, '/wallet', { cookie, host })).status).to.equal(200)
      // The server reads from where events go on: what is no such place is refused by it.
      expect((await ask(proxy.port, '/events', { cookie, host, 'last-event-id': 'nowhere' })).status).to.equal(400)
      const foreign: Record<string, string>[] = [
        { host: `evil.example:${proxy.port}` },
        { host, origin: 'http://evil.example' },
        { host, origin: `http://localhost:${proxy.port + 1}` },
        { host, origin: 'null' },
        { host, 'sec-fetch-site': 'cross-site' },
        { host, 'sec-fetch-site': 'same-site' },
      ]
      for (const headers of foreign) {
        const { status, text } = await ask(proxy.port, '/wallet', { cookie, ...headers })
        expect(status, JSON.stringify(headers)).to.equal(403)
        expect(text).not.to.contain('0x')
      }
    } finally {
      await proxy.stop(0)
    }
  })

  it('refuses the link where it is used a second time, and says what to do', async () => {
    const first = await openTab(browser)
    await first.page.goto(dashboard.link)
    await first.page.getByRole('status').getByText('live').waitFor()
    expect(await first.page.evaluate('history.length')).to.be.below(4)
    const second = await openTab(browser)
    await second.page.goto(dashboard.link)
    await second.page.getByText('This link was used already.').waitFor()
    expect(second.page.url()).not.to.contain('#')
    await second.page.goto(`${new URL(dashboard.link).origin}/dashboard`)
    await second.page.getByText('This page is for the browser that has opened the link').waitFor()
    await second.context.close()
    await first.context.close()
  })

  it('stays out of frames, and its server takes nothing from a page of another origin', async () => {
    const { headers } = await server.client.get('/dashboard')
    expect(headers['content-security-policy']).to.match(/^default-src 'none';.*frame-ancestors 'none'.*form-action 'none'/)
    expect(headers).to.include({ 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff' })
    const stop = (more: Record<string, string>) => server.client.post('/stops', { mode: 'stop' }, { headers: more })
    const foreign: Record<string, string>[] = [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }, { origin: 'null' }]
    for (const more of foreign) expect(outcome(await stop(more)), JSON.stringify(more)).to.equal('403 FORBIDDEN')
    const read = async (more: Record<string, string>, target = '/network/status') =>
      (await server.client.get(target, {}, { headers: { 'sec-fetch-site': 'cross-site', ...more } })).status
    for (const target of ['/network/status', '/health/ready', '/caller', '/wallet']) {
      expect(await read({ 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }, target), target).to.equal(403)
      expect(await read({ 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }, target), target).to.equal(403)
    }
    expect(await read({ 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }, '/dashboard')).to.equal(200)
    const plain = await server.client.request('POST', '/stops', { raw: '{"mode":"stop"}', headers: { 'content-type': 'text/plain' } })
    expect(plain.status).to.equal(415)
    expect((await server.client.get('/stops')).body.stops).to.deep.equal([])
  })

  it('is not shown in a frame of another page, which a browser says, nor in one of its own origin', async () => {
    const trap = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end(`<h1>Win a coin</h1><iframe src="${server.url}/dashboard" width="900" height="600"></iframe>`)
    })
    await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve))
    const { page, context, errors } = await openTab(browser, withCertificate(server))
    try {
      // The browser has the certificate, and shows the page where it stands by itself.
      await page.goto(`${server.url}/dashboard`)
      await page.getByRole('status').getByText('live').waitFor()
      const framed = async () => {
        await until('the frame is refused', async () => page.frames().length === 2 && page.frames()[1]?.url() !== 'about:blank')
        const frame = page.frames()[1]
        return (await frame?.locator('main').count()) ?? 0
      }
      await page.goto(`http://127.0.0.1:${(trap.address() as AddressInfo).port}/`)
      expect(await framed()).to.equal(0)
      await until('the browser says why', async () => errors.some((each) => /frame|403/.test(each)))
      // Its own origin may not either: only the policy refuses that.
      errors.length = 0
      await page.route('**/trap', (route) => route.fulfill({ contentType: 'text/html', body: '<iframe src="/dashboard"></iframe>' }))
      await page.goto(`${server.url}/trap`)
      expect(await framed()).to.equal(0)
      await until('the browser names the policy', async () => errors.some((each) => each.includes('frame-ancestors')))
    } finally {
      await context.close()
      trap.close()
    }
  })

  it('comes compressed, in no more than 120 kB, and is not sent again while it is the same', async () => {
    const first = await server.client.get('/dashboard')
    const files = [...first.text.matchAll(/"(\/dashboard\/[^"]+)"/g)].flatMap(([, file]) => file ?? [])
    expect(files).to.have.length(3)
    const script = (await server.client.get(files.find((file) => file.endsWith('.js')) ?? '')).text
    // What it loads when a view needs it.
    const later = [...script.matchAll(/import\("\.(\/[^"]+\.js)"\)/g)].map(([, file]) => `/dashboard${file}`)
    expect(later).to.have.length(1)
    files.push(...later)
    let bytes = 0
    for (const file of ['/dashboard', ...files]) {
      const { status, headers } = await server.client.get(file, {}, { headers: { 'accept-encoding': 'gzip, br' } })
      expect([status, headers['content-encoding']]).to.deep.equal([200, 'br'])
      bytes += Number(headers['content-length'])
      const again = await server.client.get(
        file,
        {},
        { headers: { 'accept-encoding': 'gzip, br', 'if-none-match': String(headers['etag']) } },
      )
      expect(again.status).to.equal(304)
    }
    expect(bytes).to.be.below(120_000)
    expect((await server.client.get('/dashboard/..%2f..%2fpackage.json')).status).to.equal(404)
  })

  it('goes on by itself after a restart of the server, with what it showed until then, and offers the page of another release', async () => {
    const { page, context } = await openTab(browser, withCertificate(server))
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.goto(`${server.url}/dashboard`)
    const status = page.getByRole('status').first()
    await page.getByText('live', { exact: true }).waitFor()
    await page.getByRole('table', { name: 'Networks' }).waitFor()
    await server.stop()
    await page.getByText('no connection: what is shown may be old').waitFor()
    expect(await page.getByRole('table', { name: 'Networks' }).count()).to.equal(1)
    server = await start()
    await page.getByText('live', { exact: true }).waitFor()
    expect(await status.innerText()).not.to.contain('no connection')
    // It is the same release.
    await until('the page is compared', async () => asked.filter((target) => target === '/dashboard').length === 2)
    const load = page.getByRole('button', { name: 'Load it' })
    expect(await load.count()).to.equal(0)

    // As after an upgrade: the names of the page's files change with their content.
    await page.route('**/dashboard', async (route) => {
      const answer = await route.fetch()
      await route.fulfill({ response: answer, body: (await answer.text()).replaceAll(/main-\w+\.js/g, 'main-OTHER.js') })
    })
    await page.getByRole('link', { name: 'Plugins', exact: true }).click()
    await server.stop()
    await page.getByText('no connection: what is shown may be old').waitFor()
    server = await start()
    await load.waitFor()
    await page.unrouteAll()
    await load.click()
    await page.getByText('live', { exact: true }).waitFor()
    await page.getByRole('heading', { level: 1, name: 'Plugins', exact: true }).waitFor()
    expect(await load.count()).to.equal(0)
    await context.close()
  })

  it('loses its stream when its certificate is revoked, says so, and keeps what it showed', async () => {
    const local = await startDashboard(server, 'phone')
    const { page, context } = await openTab(browser)
    await page.goto(local.link)
    await page.getByText('live', { exact: true }).waitFor()
    await revoke(server.certsDir, 'phone')
    await page.getByText('no connection: what is shown may be old').waitFor()
    await page.getByRole('navigation').getByRole('link', { name: 'Plugins', exact: true }).click()
    await page
      .getByText(/cannot be reached/)
      .first()
      .waitFor()
    await context.close()
    await local.proxy.stop(0)
  })

  it('needs a certificate, and the permission read', async () => {
    const { page, context } = await openTab(browser, { ignoreHTTPSErrors: true })
    const failed = await page.goto(`${server.url}/dashboard`).then(
      () => 'opened',
      () => 'refused',
    )
    expect(failed).to.equal('refused')
    await context.close()
    const blind = await openTab(browser, withCertificate(server, 'blind'))
    const answer = await blind.page.goto(`${server.url}/dashboard`)
    expect(answer?.status()).to.equal(403)
    expect(await blind.page.content()).to.contain('lacks the permission read')
    await blind.context.close()
  })
})
