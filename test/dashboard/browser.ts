// A real Chromium on the dashboard of a server of this process, by the local process of `sluice dashboard` or with a certificate.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core'
import { createDashboardDoor } from '../../core/cli/dashboard-door.ts'
import { startLocalProxy, type LocalProxy } from '../../core/cli/local-proxy.ts'
import { certificateOf } from '../../core/cli/server-client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { newClient } from '../../core/tls/certificates.ts'
import { oneChain } from '../http/one-chain.ts'

/** Debian's, which `.ci/run` installs. */
export const executablePath = process.env['SLUICE_CHROMIUM'] ?? '/usr/bin/chromium'

export const openBrowser = (): Promise<Browser> => chromium.launch({ executablePath, args: ['--no-sandbox'] })

export interface LocalDashboard {
  readonly proxy: LocalProxy
  readonly link: string
}

/** As `sluice dashboard` starts it, for a client of the server. */
export async function startDashboard(server: Pick<TestServer, 'certsDir' | 'url'>, client = 'client'): Promise<LocalDashboard> {
  const { as: _, ...certificate } = certificateOf(server.certsDir, [client])
  const door = createDashboardDoor()
  const upstream = { host: '127.0.0.1', port: Number(new URL(server.url).port), servername: 'localhost', ...certificate }
  const proxy = await startLocalProxy({ port: 0, upstream, door, log: () => {} })
  return { proxy, link: door.link(proxy.port) }
}

export interface Tab {
  readonly context: BrowserContext
  readonly page: Page
  /** What the console said of errors, and what the page threw. */
  readonly errors: string[]
}

export async function openTab(browser: Browser, options: BrowserContextOptions = {}): Promise<Tab> {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  page.setDefaultTimeout(90_000)
  const errors: string[] = []
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
  page.on('pageerror', (error) => errors.push(error.message))
  return { context, page, errors }
}

/** Of a browser that has imported a client's certificate. */
export function withCertificate({ certsDir, url }: Pick<TestServer, 'certsDir' | 'url'>, client = 'client'): BrowserContextOptions {
  const read = (name: string) => readFileSync(path.join(certsDir, name))
  const origin = new URL(url).origin
  return {
    ignoreHTTPSErrors: true,
    clientCertificates: [{ origin, cert: read(`${client}_cert.pem`), key: read(`${client}_key.pem`) }],
  }
}

export interface Site {
  readonly server: TestServer
  readonly browser: Browser
  readonly dashboard: LocalDashboard
  /** With the dashboard open, as the client `client`. */
  readonly tab: Tab
  stop(): Promise<void>
}

export const desk = { width: 1280, height: 900 }

/** A server of one chain with a certificate for each client, and its dashboard in a browser. @param conf more of its files */
export async function openSite(clients: Readonly<Record<string, object>>, conf: Readonly<Record<string, object>> = {}): Promise<Site> {
  const server = await startServer({ settings: oneChain.settings, conf: { ...oneChain.conf, 'clients.yml': { clients }, ...conf } })
  for (const name of Object.keys(clients)) if (name !== 'client') await newClient(server.certsDir, name)
  const browser = await openBrowser()
  const dashboard = await startDashboard(server)
  const tab = await openTab(browser, { viewport: desk })
  await tab.page.goto(dashboard.link)
  await tab.page.waitForURL('**/dashboard')
  return {
    server,
    browser,
    dashboard,
    tab,
    async stop() {
      await browser.close()
      await dashboard.proxy.stop(0)
      await server.stop()
    },
  }
}
