import { expect } from 'chai'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ensureCertificates } from '../../core/tls/ensure-certificates.ts'
import { listClients } from '../../core/tls/issued-certificates.ts'
import { fencesOf, readPage, root } from './page.ts'
import { run } from './run.ts'

describe('docs/operators/security.md', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-security-'))
    await symlink(path.join(root, 'bin'), path.join(folder, 'bin'))
  })
  after(() => rm(folder, { recursive: true }))

  it('has commands for certificates that work as typed', async () => {
    const commands = fencesOf(await readPage('docs/operators/security.md'))
      .filter(({ language }) => language === 'sh')
      .map(({ text }) => text)
    const [ofBots = '', ofBrowser = '', older = '', ...others] = commands
    expect(others).to.deep.equal([])
    const certsDir = path.join(folder, 'certs')
    await ensureCertificates({ certsDir })
    const output = await run('sh', ['-euc', ofBots], { cwd: folder })
    expect(output).to.match(/Renewed the certificate of the client "market-maker"/)
    const states = (await listClients(certsDir)).map(({ state, certificate }) => `${certificate?.name} ${state}`)
    expect(states).to.have.members(['client valid', 'market-maker revoked', 'market-maker revoked'])

    // With the password that is typed at a terminal otherwise.
    await writeFile(path.join(folder, 'password'), 'correct horse')
    await run('sh', ['-euc', `${ofBrowser.trim()} --key-passphrase-file password`], { cwd: folder })
    const typed = older.replace('-noenc', '-noenc -passin file:password').replace('-macalg SHA1', '-macalg SHA1 -passout file:password')
    await run('sh', ['-euc', typed], { cwd: folder })
    const read = 'openssl pkcs12 -in me-older.p12 -noenc -passin file:password'
    expect(await run('sh', ['-euc', read], { cwd: folder })).to.include('friendlyName: Sluice (me)')
  })
})
