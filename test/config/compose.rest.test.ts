import { mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { loadSettings } from '../../core/config/settings.ts'
import { fencesOf, readPage } from '../docs/page.ts'
import { run } from '../docs/run.ts'

const compose = parse(await readPage('docker-compose.yml'), { merge: true })
const { 'server-1': one, 'server-2': two, database, production } = compose.services

interface Service {
  readonly volumes?: readonly (string | { readonly target: string })[]
  readonly secrets?: readonly string[]
}

describe('the cluster of docker-compose.yml', () => {
  let home: string
  beforeEach(async () => {
    home = await mkdtemp(path.join(tmpdir(), 'sluice-compose-'))
    await mkdir(path.join(home, 'conf'))
  })
  afterEach(() => rm(home, { recursive: true, force: true }))

  it('has two servers that differ in name and port only, and are as hard as the one alone', () => {
    const { hostname: _1, ports: [first], ...rest } = one // oxfmt-ignore
    const { hostname: _2, ports: [second], ...same } = two // oxfmt-ignore
    expect(rest).to.deep.equal(same)
    expect([one.hostname, two.hostname]).to.deep.equal(['sluice-1', 'sluice-2'])
    expect([first, second].map((each: string) => each.match(/\d+\.\d+\.\d+\.\d+:\d+/)?.[0])).to.deep.equal([
      '127.0.0.1:15888',
      '127.0.0.1:15889',
    ])
    for (const key of ['read_only', 'cap_drop', 'security_opt', 'volumes', 'restart', 'image', 'stop_grace_period'])
      expect(one[key], key).to.deep.equal(production[key])
  })

  it('keeps the database to itself: no port of the machine, no way out, no password in an environment', () => {
    expect(database).not.to.have.property('ports')
    expect(database.networks).to.deep.equal(['database'])
    expect(compose.networks.database).to.deep.equal({ internal: true })
    const environments = [one, two, database].flatMap(({ environment }) => Object.entries(environment))
    for (const [name, value] of environments)
      if (/password|url|passphrase/i.test(name)) expect(`${name}=${String(value)}`).to.match(/_FILE=\/run\/secrets\/\w+$/)
    for (const secret of [...one.secrets, ...database.secrets]) expect(compose.secrets).to.have.property(secret)
    for (const { depends_on } of [one, two]) expect(depends_on.database.condition).to.equal('service_healthy')
    expect(database.healthcheck.test).to.include('pg_isready')
  })

  it('gives the keys to the signer alone, which is another user than its servers, and whose files none of them can write', async () => {
    const { signer } = compose.services
    const dockerfile = await readPage('Dockerfile')
    const [, user] = /^USER (\S+)$/m.exec(dockerfile) ?? []
    const [signersUser, signersGroup] = signer.user.split(':')
    expect(user).to.equal(`10001:${signersGroup}`)
    expect(signersUser).not.to.equal('10001')
    expect(dockerfile).to.include(`:${signersUser}:${signersGroup}:sluice-signer:`)
    // The servers' group enters the folder of the socket, and cannot put another one in its place.
    expect(dockerfile).to.include('mkdir -p -m 750 /own-signer/run && mkdir -m 700 /own-signer/data')
    expect(dockerfile).to.include(`COPY --from=install --chown=${signer.user} /own-signer/ /signer/`)
    expect(signer.network_mode).to.equal('none')
    for (const [name, { volumes = [], secrets = [] }] of Object.entries<Service>(compose.services)) {
      const named = volumes.map((each) => (typeof each === 'string' ? each : each.target))
      expect(
        named.some((each) => each.startsWith('signer-data')),
        name,
      ).to.equal(name === 'signer')
      expect(secrets.includes('wallet_passphrase'), name).to.equal(name === 'signer')
    }
    for (const each of [production, one, two]) {
      expect(each).not.to.have.property('user')
      expect(each.environment.SLUICE_SIGNER_SOCKET).to.equal(signer.command.at(-1))
    }
  })

  it('reads its store from the file that operations.md has made, for its owner alone', async () => {
    const block = fencesOf(await readPage('docs/operators/operations.md')).find(({ text }) => text.includes('> store_url'))?.text ?? ''
    const made = block.slice(0, block.indexOf('sudo'))
    expect(made).to.include('umask 077')
    await run('sh', ['-euc', made], { cwd: home })
    const password = (await readFile(path.join(home, 'database_password'), 'utf8')).trim()
    for (const name of ['database_password', 'store_url']) expect((await stat(path.join(home, name))).mode & 0o077, name).to.equal(0)

    const env = Object.fromEntries(
      Object.entries(one.environment).map(([name, value]) => [name, String(value).replace('/run/secrets', home)]),
    )
    await run('sh', ['-euc', 'echo correct horse battery > wallet_passphrase'], { cwd: home })
    const { store, shown, warnings } = loadSettings({ confDir: path.join(home, 'conf'), env })
    expect(store.url).to.equal(`postgres://sluice:${password}@database/sluice`)
    expect(JSON.stringify(shown)).not.to.include(password)
    expect(warnings).to.deep.equal([])
    expect(database.environment).to.include({ POSTGRES_USER: 'sluice', POSTGRES_DB: 'sluice' })
  })
})
