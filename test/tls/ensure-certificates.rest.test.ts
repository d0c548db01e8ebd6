import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openAuthority } from '../../core/tls/authority.ts'
import { CertificateError } from '../../core/tls/certificate-files.ts'
import { ensureCertificates } from '../../core/tls/ensure-certificates.ts'
import { readServerCertificates } from '../../core/tls/server-certificates.ts'
import { programArgs } from '../program.ts'
import { emptyFolder, madeCertificates, pem, removeFolders } from './certificates.ts'
import { rejection } from './rejection.ts'

const all = [
  'ca_cert.pem',
  'ca_key.pem',
  'client_cert.pem',
  'client_key.pem',
  'issued.pem',
  'revoked.pem',
  'server_cert.pem',
  'server_key.pem',
]
const yearMs = 365 * 86_400_000

function yearsOf({ validFrom, validTo }: X509Certificate): number {
  return Math.round((Date.parse(validTo) - Date.parse(validFrom)) / yearMs)
}

/** Runs set-up in a process of its own; `ended` gives its exit code, null when it was killed. */
async function setUpProcess(certsDir: string) {
  const program = await programArgs(new URL('set-up-child.ts', import.meta.url))
  const child = spawn(process.execPath, [...program, certsDir], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (data: Buffer) => (output += data.toString()))
  return { child, output: () => output, ended: once(child, 'close').then(([code]: unknown[]) => code) }
}

describe('certificates in set-up', () => {
  after(removeFolders)

  it('makes the whole set, with keys that only the owner can read', async () => {
    const certsDir = path.join(await emptyFolder(), 'deep', 'certs')

    expect(await ensureCertificates({ certsDir })).to.deep.equal({ made: true })

    expect((await readdir(certsDir)).toSorted()).to.deep.equal(all)
    expect((await stat(certsDir)).mode & 0o777).to.equal(0o700)
    for (const name of ['ca_key.pem', 'server_key.pem', 'client_key.pem']) {
      expect((await stat(path.join(certsDir, name))).mode & 0o777, name).to.equal(0o600)
    }
  })

  it('makes a CA for ten years, and certificates of the server and a client for one year', async () => {
    const certsDir = await madeCertificates()
    const ca = new X509Certificate(await pem(certsDir, 'ca_cert.pem'))

    expect(ca.ca).to.equal(true)
    expect(yearsOf(ca)).to.equal(10)
    for (const name of ['server', 'client']) {
      const certificate = new X509Certificate(await pem(certsDir, `${name}_cert.pem`))
      expect(certificate.verify(ca.publicKey)).to.equal(true)
      expect(certificate.checkIssued(ca)).to.equal(true)
      expect(certificate.publicKey.asymmetricKeyDetails?.namedCurve).to.equal('prime256v1')
      expect(certificate.subject).to.equal(`CN=${name}`)
      expect(yearsOf(certificate)).to.equal(1)
    }
  })

  it("makes the server's certificate for this machine's names and the requested ones", async () => {
    const certsDir = await madeCertificates({ hostnames: ['Sluice.example.org', '10.1.2.3'] })

    const server = new X509Certificate(await pem(certsDir, 'server_cert.pem'))

    for (const name of ['localhost', 'sluice.example.org', hostname()]) expect(server.checkHost(name), name).to.be.a('string')
    for (const address of ['127.0.0.1', '::1', '10.1.2.3']) expect(server.checkIP(address), address).to.be.a('string')
    expect(server.checkHost('elsewhere.example.org')).to.equal(undefined)
  })

  it('refuses a host name that a certificate cannot hold, and makes nothing', async () => {
    const certsDir = await emptyFolder()

    const error = await rejection(ensureCertificates({ certsDir, hostnames: ['https://sluice:15888'] }))

    expect(error).to.be.instanceOf(CertificateError).with.property('message').that.includes('https://sluice:15888')
    expect(await readdir(certsDir)).to.deep.equal([])
  })

  it('leaves an existing set unchanged', async () => {
    const certsDir = await madeCertificates()
    const before = await Promise.all(all.map((name) => pem(certsDir, name)))

    expect(await ensureCertificates({ certsDir })).to.deep.equal({ made: false })

    expect(await Promise.all(all.map((name) => pem(certsDir, name)))).to.deep.equal(before)
  })

  it("accepts a folder without the CA's key and the client's files: a server needs neither", async () => {
    const certsDir = await madeCertificates()
    for (const name of ['ca_key.pem', 'client_cert.pem', 'client_key.pem', 'issued.pem']) await rm(path.join(certsDir, name))

    expect(await ensureCertificates({ certsDir })).to.deep.equal({ made: false })
  })

  it('refuses an incomplete set, names the missing files, and overwrites nothing', async () => {
    const certsDir = await madeCertificates()
    await rm(path.join(certsDir, 'revoked.pem'))

    const error = await rejection(ensureCertificates({ certsDir }))

    expect(error)
      .to.be.instanceOf(CertificateError)
      .with.property('message')
      .that.matches(/but not revoked\.pem: put the missing files back/)
    expect(await readdir(certsDir)).not.to.include('revoked.pem')
  })

  it("encrypts the CA's key when a passphrase is given", async () => {
    const certsDir = await madeCertificates({ caPassphrase: 'correct horse' })
    const key = await pem(certsDir, 'ca_key.pem')

    expect(key).to.include('BEGIN ENCRYPTED PRIVATE KEY')
    expect(() => createPrivateKey({ key, passphrase: 'wrong' })).to.throw()
    expect((await openAuthority(certsDir, 'correct horse')).certificate.subject).to.equal('CN=Sluice CA')
    for (const passphrase of [undefined, 'wrong'])
      expect(await rejection(openAuthority(certsDir, passphrase))).to.be.instanceOf(CertificateError)
  })

  it('makes one set when several processes start at once', async () => {
    const certsDir = path.join(await emptyFolder(), 'certs')
    const processes = await Promise.all([setUpProcess(certsDir), setUpProcess(certsDir), setUpProcess(certsDir)])

    expect(await Promise.all(processes.map(({ ended }) => ended))).to.deep.equal([0, 0, 0])

    expect(processes.map(({ output }) => output()).filter((text) => text.includes('true'))).to.have.length(1)
    await readServerCertificates(certsDir)
    expect((await readdir(certsDir)).toSorted()).to.deep.equal(all)
  })

  it('recovers from a set-up that was killed at any moment', async () => {
    for (let round = 0; round < 3; round += 1) {
      const certsDir = path.join(await emptyFolder(), 'certs')
      const { child, ended } = await setUpProcess(certsDir)
      // The folder is made first: a little later each round, the files are on their way.
      for (let tries = 0; tries < 2_000 && child.exitCode === null && !(await stat(certsDir).catch(() => false)); tries += 1) await sleep(2)
      await sleep(round * 10)
      child.kill('SIGKILL')
      await ended

      await ensureCertificates({ certsDir })

      await readServerCertificates(certsDir)
      expect((await readdir(certsDir)).toSorted()).to.deep.equal(all)
    }
  })

  it('recovers from a set-up that was killed before it wrote its name into the lock', async () => {
    const certsDir = path.join(await emptyFolder(), 'certs')
    await mkdir(certsDir)
    await writeFile(path.join(certsDir, '.lock'), '')

    await ensureCertificates({ certsDir })

    expect((await readdir(certsDir)).toSorted()).to.deep.equal(all)
  })

  it('finishes a killed set-up that had moved only some of the files', async () => {
    const certsDir = await madeCertificates()
    const server = await pem(certsDir, 'server_cert.pem')
    const staged = path.join(certsDir, '.staged')
    await mkdir(staged)
    for (const name of ['ca_cert.pem', 'server_cert.pem', 'revoked.pem']) await rename(path.join(certsDir, name), path.join(staged, name))

    await ensureCertificates({ certsDir })

    expect(await pem(certsDir, 'server_cert.pem')).to.equal(server)
    expect((await readdir(certsDir)).toSorted()).to.deep.equal(all)
  })

  it('takes over the lock of a dead process, of this machine or another', async () => {
    const gone = spawn(process.execPath, ['-e', ''])
    await once(gone, 'exit')
    const old = new Date(Date.now() - 3_600_000)
    for (const [holder, time] of [
      [`${gone.pid}@${hostname()}\n`, new Date()],
      ['1@another-container\n', old],
      ['', old],
    ] as const) {
      const certsDir = await emptyFolder()
      const lock = path.join(certsDir, '.lock')
      await writeFile(lock, holder)
      await utimes(lock, time, time)

      expect(await ensureCertificates({ certsDir })).to.deep.equal({ made: true })
    }
  })
})
