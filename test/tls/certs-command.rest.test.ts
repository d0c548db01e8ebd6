import { expect } from 'chai'
import { execFile, spawn } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { certsCommand } from '../../core/cli/certs.ts'
import { programArgs } from '../program.ts'
import { emptyFolder, madeCertificates, pem, removeFolders } from './certificates.ts'

/** Runs `certs` in a process without a terminal, as a script would. */
async function certs(certsDir: string, ...args: string[]): Promise<{ code: unknown; out: string; err: string }> {
  const program = await programArgs(new URL('certs-cli.ts', import.meta.url))
  const child = spawn(process.execPath, [...program, certsDir, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let err = ''
  child.stdout.on('data', (data: Buffer) => (out += data.toString()))
  child.stderr.on('data', (data: Buffer) => (err += data.toString()))
  const [code]: unknown[] = await once(child, 'close')
  return { code, out, err }
}

const run = promisify(execFile)

describe('sluice certs', () => {
  after(removeFolders)

  it('init makes one set, with an encrypted CA key', async () => {
    const certsDir = path.join(await emptyFolder(), 'certs')
    const passphraseFile = path.join(await emptyFolder(), 'passphrase')
    await writeFile(passphraseFile, 'correct horse\n')
    const init = ['init', '--host', 'sluice.example.org', '--ca-passphrase-file', passphraseFile]

    expect(await certs(certsDir, ...init)).to.include({ code: 0, err: '' })

    expect(await pem(certsDir, 'ca_key.pem')).to.include('ENCRYPTED')
    expect(await certs(certsDir, ...init))
      .to.include({ code: 1 })
      .and.property('err')
      .includes('there already')
    expect(await certs(certsDir, 'new', 'bot-1'))
      .to.include({ code: 1 })
      .and.property('err')
      .includes('--ca-passphrase-file')
    expect(await certs(certsDir, 'new', 'bot-1', '--ca-passphrase-file', passphraseFile)).to.include({ code: 0, err: '' })
  })

  it('new and renew before init say that init comes first', async () => {
    const certsDir = path.join(await emptyFolder(), 'certs')
    for (const name of ['new', 'renew']) {
      const { code, out, err } = await certs(certsDir, name, 'bot-1')
      expect({ code, out }).to.deep.equal({ code: 1, out: '' })
      expect(err).to.match(/^error: \S+ is not there: make the certificates with "\S*sluice certs init" or "\S*sluice start"/)
    }
  })

  it('new names the files to copy; list, renew and revoke show their state', async () => {
    const certsDir = await madeCertificates()

    const made = await certs(certsDir, 'new', 'bot-1')
    expect(made).to.include({ code: 0, err: '' })
    for (const file of ['bot-1_cert.pem', 'bot-1_key.pem', 'ca_cert.pem']) expect(made.out).to.include(path.join(certsDir, file))
    expect((await certs(certsDir, 'renew', 'bot-1')).out).to.match(/^Renewed the certificate of the client "bot-1"/)
    expect((await certs(certsDir, 'renew', 'server')).out).to.match(/^Renewed the server certificate/)
    expect((await certs(certsDir, 'revoke', 'bot-1')).out).to.match(/^Revoked:\nbot-1\n {2}revoked \d{4}-\d\d-\d\d/)
    expect((await certs(certsDir, 'revoke', 'bot-1')).out).to.match(/^Nothing to do/)
    expect((await certs(certsDir, 'list')).out.match(/^(bot-1|client)\n {2}\w+/gm)).to.deep.equal([
      'bot-1\n  revoked',
      'bot-1\n  revoked',
      'client\n  valid',
    ])
  })

  it('new writes the files that Hummingbot looks for, for their owner alone', async () => {
    const certsDir = await madeCertificates()
    const folder = path.join(await emptyFolder(), 'hummingbot', 'certs')

    const made = await certs(certsDir, 'new', 'bot-1', '--hummingbot', folder, '--host', 'gateway')

    expect(made).to.include({ code: 0, err: '' })
    expect(made.out).to.include(path.join(folder, 'client_key.pem'))
    expect((await readdir(folder)).toSorted()).to.deep.equal(['ca_cert.pem', 'client_cert.pem', 'client_key.pem'])
    for (const file of await readdir(folder)) expect((await stat(path.join(folder, file))).mode & 0o777, file).to.equal(0o600)
    expect(await pem(folder, 'ca_cert.pem')).to.equal(await pem(certsDir, 'ca_cert.pem'))
    const client = new X509Certificate(await pem(folder, 'client_cert.pem'))
    expect(client.subject).to.equal('CN=bot-1')
    expect(client.checkPrivateKey(createPrivateKey(await pem(folder, 'client_key.pem')))).to.equal(true)
    const server = new X509Certificate(await pem(certsDir, 'server_cert.pem'))
    expect([server.checkHost('gateway'), server.checkHost('localhost')]).to.deep.equal(['gateway', 'localhost'])
    const { serialNumber } = server
    await certs(certsDir, 'new', 'bot-2', '--host', 'gateway')
    expect(new X509Certificate(await pem(certsDir, 'server_cert.pem')).serialNumber).to.equal(serialNumber)
  })

  it('new overwrites nothing in that folder, and makes no certificate then', async () => {
    const certsDir = await madeCertificates()
    const folder = await emptyFolder()
    await writeFile(path.join(folder, 'client_key.pem'), 'the key of before')

    const made = await certs(certsDir, 'new', 'bot-1', '--hummingbot', folder)

    expect(made).to.include({ code: 1, out: '' })
    expect(made.err).to.match(/client_key\.pem already.*move the folder aside/)
    expect(await readdir(folder)).to.deep.equal(['client_key.pem'])
    expect(await pem(folder, 'client_key.pem')).to.equal('the key of before')
    expect((await certs(certsDir, 'list')).out).not.to.include('bot-1')
    const refused = [
      ['new', 'client', '--hummingbot', path.join(folder, 'a')],
      ['new', 'bot-1', '--hummingbot', path.join(folder, 'b'), '--host', 'no host'],
      ['new', 'bot-1', '--hummingbot', path.join(folder, 'c'), '--encrypt-key'],
    ]
    for (const args of refused) expect(await certs(certsDir, ...args), args.join(' ')).to.include({ code: 1, out: '' })
    expect(await readdir(certsDir)).not.to.include('bot-1_key.pem')
  })

  it('new leaves nothing of that folder where the client has a certificate already, and says what to copy', async () => {
    const certsDir = await madeCertificates()
    const home = await emptyFolder()
    await certs(certsDir, 'new', 'bot-1')
    const before = await readdir(certsDir)

    const made = await certs(certsDir, 'new', 'Bot-1', '--hummingbot', path.join(home, 'a', 'certs'))

    expect(made).to.include({ code: 1, out: '' })
    for (const file of [path.join(certsDir, 'bot-1_key.pem'), path.join(home, 'a', 'certs', 'client_key.pem')])
      expect(made.err).to.include(file)
    expect(made.err).to.match(/^error: .+\n$/)
    expect(await readdir(home)).to.deep.equal([])
    await mkdir(path.join(home, 'there'))
    await certs(certsDir, 'new', 'bot-1', '--hummingbot', path.join(home, 'there', 'certs'))
    expect(await readdir(home, { recursive: true })).to.deep.equal(['there'])
    expect(await readdir(certsDir)).to.deep.equal(before)
  })

  it("new encrypts the key in that folder with the client's password", async () => {
    const [certsDir, folder] = [await madeCertificates(), await emptyFolder()]
    const keyPassphraseFile = path.join(await emptyFolder(), 'password')
    await writeFile(keyPassphraseFile, 'correct horse\n')

    const made = await certs(certsDir, 'new', 'bot-1', '--hummingbot', folder, '--key-passphrase-file', keyPassphraseFile)

    expect(made).to.include({ code: 0, err: '' })
    expect(made.out).not.to.include('correct horse')
    const key = await pem(folder, 'client_key.pem')
    expect(() => createPrivateKey(key)).to.throw()
    const certificate = new X509Certificate(await pem(folder, 'client_cert.pem'))
    expect(certificate.checkPrivateKey(createPrivateKey({ key, passphrase: 'correct horse' }))).to.equal(true)
    expect((await certs(certsDir, 'new', 'bot-2', '--key-passphrase-file', keyPassphraseFile)).err).to.include('--hummingbot')
  })

  it('new writes a file that browsers import, which OpenSSL reads with the password alone', async () => {
    const [certsDir, folder] = [await madeCertificates(), await emptyFolder()]
    const password = path.join(folder, 'password')
    // Letters beyond ASCII, and so many that the key of the checksum takes two blocks.
    await writeFile(password, 'pässwörd of more than thirty-two letters\n')

    const made = await certs(certsDir, 'new', 'me', '--browser', '--key-passphrase-file', password)

    expect(made).to.include({ code: 0, err: '' })
    expect(made.out).to.include('me.p12').and.not.to.include('pässwörd')
    const file = path.join(certsDir, 'me.p12')
    expect((await stat(file)).mode & 0o777).to.equal(0o600)
    const read = (...args: string[]) => run('openssl', ['pkcs12', '-in', file, '-noenc', ...args])
    const { stdout } = await read('-passin', `file:${password}`)
    expect(stdout).to.include('friendlyName: Sluice (me)')
    const [own = '', authority = ''] = stdout.match(/-----BEGIN CERTIFICATE-----[^]+?-----END CERTIFICATE-----/g) ?? []
    const [key = ''] = /-----BEGIN PRIVATE KEY-----[^]+?-----END PRIVATE KEY-----/.exec(stdout) ?? []
    expect(new X509Certificate(own).raw).to.deep.equal(new X509Certificate(await pem(certsDir, 'me_cert.pem')).raw)
    expect(new X509Certificate(own).checkPrivateKey(createPrivateKey(key))).to.equal(true)
    expect(new X509Certificate(authority).raw).to.deep.equal(new X509Certificate(await pem(certsDir, 'ca_cert.pem')).raw)
    expect(await read('-passin', 'pass:another').catch(({ stderr }) => String(stderr))).to.match(/Mac verify error/)
    await writeFile(path.join(certsDir, 'there.p12'), '')
    const refused = [
      ['new', 'two', '--browser', '--hummingbot', folder, '--key-passphrase-file', password],
      ['new', 'two', '--browser'],
      ['new', 'there', '--browser', '--key-passphrase-file', password],
      ['new', 'two', '--key-passphrase-file', password],
    ]
    for (const args of refused) expect(await certs(certsDir, ...args), args.join(' ')).to.include({ code: 1, out: '' })
    expect(await readdir(certsDir)).not.to.include('two_key.pem')
  })

  it('fails with one sentence and without a stack', async () => {
    const certsDir = await madeCertificates()
    const before = await readdir(certsDir)

    const attempts = [
      ['new', '../bot'],
      ['new', 'server'],
      ['revoke', 'nobody'],
      ['renew', 'client', '--host', 'x'],
      ['new', 'bot', '--ca-passphrase-file', '/nowhere'],
      ['new'],
    ]
    for (const { code, out, err } of await Promise.all(attempts.map((args) => certs(certsDir, ...args)))) {
      expect(err)
        .to.match(/^error: .+\n$/)
        .and.not.include('    at ')
      expect({ code, out }).to.deep.equal({ code: 1, out: '' })
    }
    expect(await readdir(certsDir)).to.deep.equal(before)
    expect(await certs(path.join(certsDir, 'nowhere'), 'list'))
      .to.include({ code: 1 })
      .and.property('err')
      .includes('sluice certs init')
  })

  it('explains every command', () => {
    const { commands } = certsCommand(() => '/nowhere')

    expect(commands.map((command) => command.name())).to.deep.equal(['init', 'new', 'list', 'renew', 'revoke'])
    for (const command of commands) expect(command.helpInformation()).to.match(/^Usage: certs \w+ .*\n\n\w{3}/)
  })
})
