import { expect } from 'chai'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
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
    expect(commands).to.have.length(1)
    const certsDir = path.join(folder, 'certs')
    await ensureCertificates({ certsDir })
    const output = await run('sh', ['-euc', commands.join('')], { cwd: folder })
    expect(output).to.match(/Renewed the certificate of the client "market-maker"/)
    const states = (await listClients(certsDir)).map(({ state, certificate }) => `${certificate?.name} ${state}`)
    expect(states).to.have.members(['client valid', 'market-maker revoked', 'market-maker revoked'])
  })
})
