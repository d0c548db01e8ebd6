import { expect } from 'chai'
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { loadSettings } from '../../core/config/settings.ts'
import { closeToOthers, makeConf, refuseBeforeStart } from '../../core/cli/home.ts'
import { lockStore } from '../../core/store/embedded.ts'

describe('a home', () => {
  let home: string
  beforeEach(async () => void (home = await mkdtemp(path.join(tmpdir(), 'Sluice Zuhöre '))))
  afterEach(() => rm(home, { recursive: true, force: true }))
  const settings = (flags = {}, env = {}) => loadSettings({ home, env, flags: { 'server.port': 0, ...flags } })

  it('comes from the working directory, the folder above a named conf folder, SLUICE_HOME, or --home, each before the last', () => {
    const homeOf = (sources: object) => loadSettings({ env: {}, ...sources }).home
    expect(homeOf({})).to.equal(process.cwd())
    expect(homeOf({ confDir: 'test/start' })).to.equal(path.resolve('test'))
    expect(homeOf({ confDir: 'test/start', env: { SLUICE_HOME: home } })).to.equal(home)
    expect(homeOf({ confDir: 'test/start', env: { SLUICE_HOME: '/elsewhere' }, home })).to.equal(home)
    const { confDir, data, ssl, warnings } = settings()
    expect([confDir, data.dir, ssl.certsDir]).to.deep.equal(['conf', 'data', 'certs'].map((name) => path.join(home, name)))
    expect(warnings.join()).to.include('There is no folder').and.include('certificates may read market data only')
  })

  it('fails in one line where it is a file', async () => {
    const file = path.join(home, 'file')
    await writeFile(file, '')
    const line = (source: string) => `${source} names ${file}, which is not a folder`
    for (const [sources, source] of [
      [{ home: file, env: {} }, 'command line  --home:'],
      [{ home: path.join(file, 'below'), env: {} }, 'command line  --home:'],
      [{ env: { SLUICE_HOME: file } }, 'environment  SLUICE_HOME:'],
      [{ confDir: file, env: {} }, 'command line  --conf:'],
    ] as const) {
      expect(() => loadSettings(sources))
        .to.throw(line(source))
        .with.property('message')
        .that.matches(/^The configuration has a problem:\n[^\n]*\n +→ Name the folder[^\n]*$/)
    }
  })

  it('gets the default configuration once, and its own is never overwritten', async () => {
    expect(await makeConf(settings())).to.equal(true)
    expect(await readdir(home)).to.deep.equal(['conf'])
    const { clients, warnings } = settings()
    expect([clients.map(({ name }) => name), warnings]).to.deep.equal([['client'], []])
    await writeFile(path.join(home, 'conf', 'clients.yml'), 'clients: {}\n')
    expect(await makeConf(settings())).to.equal(false)
    expect(await readFile(path.join(home, 'conf', 'clients.yml'), 'utf8')).to.equal('clients: {}\n')
  })

  it('refuses a taken port before anything is made', async () => {
    const holder = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => holder.once('listening', resolve))
    const { port } = holder.address() as AddressInfo
    expect(await refusal(settings({ 'server.port': port }))).to.include(`Port ${port} on 127.0.0.1 is taken`)
    expect(await refusal(settings({ 'devnet.enabled': true, 'devnet.port': port }))).to.include(`listens on port ${port}`)
    await new Promise((resolve) => holder.close(resolve))
    expect(await readdir(home)).to.deep.equal([])
  })

  it('names the server that has it, also where both want the same port', async () => {
    await mkdir(path.join(home, 'data'))
    const lock = lockStore(path.join(home, 'data'), 'the first')
    try {
      expect(await refusal(settings())).to.include(`in use by process ${process.pid}`)
    } finally {
      lock.release()
    }
    expect(await refusal(settings())).to.equal('')
  })

  it('refuses a place for data or certificates that is not a folder', async () => {
    await writeFile(path.join(home, 'file'), '')
    for (const key of ['data.dir', 'ssl.certsDir']) {
      expect(await refusal(settings({ [key]: path.join(home, 'file', 'deep', 'inside') })), key)
        .to.include(`${path.join(home, 'file')} is not a folder`)
        .and.include('--home')
    }
  })

  it('shuts out other users where its folder for data was open to them', async () => {
    const data = path.join(home, 'data')
    expect(await closeToOthers(data)).to.equal(false)
    await mkdir(data)
    await chmod(data, 0o777)
    expect(await closeToOthers(data)).to.equal(true)
    expect((await stat(data)).mode & 0o777).to.equal(0o770)
    expect(await closeToOthers(data)).to.equal(false)
  })
})

async function refusal(settings: Parameters<typeof refuseBeforeStart>[0]): Promise<string> {
  try {
    await refuseBeforeStart(settings)
    return ''
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
