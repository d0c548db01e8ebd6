// As an operator opens it: by the command in a process of its own, and by a certificate that was imported into a browser.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { chromium, type Browser } from 'playwright-core'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { runCommand } from '../cli/run-command.ts'
import { oneChain } from '../http/shared-server.ts'
import { programArgs } from '../program.ts'
import { executablePath, openBrowser, openTab } from './browser.ts'

const run = promisify(execFile)

describe('the dashboard as an operator opens it', function () {
  this.timeout(200_000)
  let server: TestServer
  let folder: string
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-dashboard-'))
    const clients = { client: { permissions: ['read', 'trade', 'stop'], wallets: 'all' }, me: { permissions: ['read'], wallets: 'all' } }
    server = await startServer({ settings: oneChain.settings, conf: { ...oneChain.conf, 'clients.yml': { clients } } })
  })
  after(async () => {
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  describe('by sluice dashboard', () => {
    let browser: Browser
    let command: ChildProcess | undefined
    before(async () => (browser = await openBrowser()))
    after(async () => {
      command?.kill('SIGKILL')
      await browser?.close()
    })

    it('prints a link that works once, and ends when it is told to', async () => {
      const { confDir, ssl, data } = server.settings
      const { port } = new URL(server.url)
      const set = [`server.port=${port}`, `ssl.certsDir=${ssl.certsDir}`, `data.dir=${data.dir}`].flatMap((each) => ['--set', each])
      const args = [...(await programArgs(new URL('../../core/main.ts', import.meta.url))), '--conf', confDir, ...set, 'dashboard']
      command = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      const link = await linkOf(command)
      const { page, errors, context } = await openTab(browser)
      await page.goto(link)
      await page.waitForURL('**/dashboard')
      await page.getByText('as client').waitFor()
      await page.getByRole('table', { name: 'Networks' }).getByText('ethereum/local').waitFor()
      await page.getByRole('button', { name: 'Stop everything' }).waitFor()
      const other = await openTab(browser)
      await other.page.goto(link)
      await other.page.getByText('This link was used already.').waitFor()
      expect(errors).to.deep.equal([])

      const ended = once(command, 'exit')
      command.kill('SIGTERM')
      expect(await ended).to.deep.equal([0, null])
      await page.getByText('no connection: what is shown may be old').waitFor()
      expect(await isOpen(Number(new URL(link).port))).to.equal(false)
      await Promise.all([context.close(), other.context.close()])
    })
  })

  it('by the file of certs new --browser, imported into the store of the browser', async () => {
    const password = path.join(folder, 'password')
    await writeFile(password, 'a password\n')
    expect(await runCommand(server, ['certs', 'new', 'me', '--browser', '--key-passphrase-file', password])).not.to.contain('failed')
    const { certsDir, url } = server
    const database = `sql:${path.join(folder, '.pki/nssdb')}`
    await mkdir(path.join(folder, '.pki/nssdb'), { recursive: true })
    await run('certutil', ['-d', database, '-N', '--empty-password'])
    await run('pk12util', ['-d', database, '-i', path.join(certsDir, 'me.p12'), '-w', password])
    await run('certutil', ['-d', database, '-A', '-n', 'Sluice CA', '-t', 'C,,', '-i', path.join(certsDir, 'ca_cert.pem')])
    expect((await run('certutil', ['-d', database, '-L'])).stdout).to.contain('Sluice (me)')

    // A person chooses the certificate in a dialog; this is the choice that is remembered.
    const origin = `https://localhost:${new URL(url).port}`
    const auto_select_certificate = { [`${origin},*`]: { setting: { filters: [{}] } } }
    const profile = path.join(folder, 'profile')
    await mkdir(path.join(profile, 'Default'), { recursive: true })
    const preferences = { profile: { content_settings: { exceptions: { auto_select_certificate } } } }
    await writeFile(path.join(profile, 'Default/Preferences'), JSON.stringify(preferences))
    const context = await chromium.launchPersistentContext(profile, {
      executablePath,
      args: ['--no-sandbox'],
      env: { ...process.env, HOME: folder },
    })
    try {
      const page = await context.newPage()
      page.setDefaultTimeout(90_000)
      const errors: string[] = []
      page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
      await page.goto(`${origin}/dashboard`)
      await page.getByText('as me, which may only look').waitFor()
      await page.getByRole('status').getByText('live').waitFor()
      await page.getByRole('table', { name: 'Networks' }).getByText('ethereum/local').waitFor()
      expect(errors).to.deep.equal([])
    } finally {
      await context.close()
    }
  })
})

/** @throws Error where the command ends without one */
async function linkOf(command: ChildProcess): Promise<string> {
  if (!command.stdout) throw new Error('The command has no output.')
  for await (const line of createInterface({ input: command.stdout })) if (/^http:\/\/localhost:\d+\/#/.test(line)) return line
  throw new Error('The command gave no link.')
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port }, () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}
