import { expect } from 'chai'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { CertificateError } from '../../core/tls/certificate-files.ts'
import { newClient, renew, revoke } from '../../core/tls/certificates.ts'
import { listClients } from '../../core/tls/issued-certificates.ts'
import { readServerCertificates } from '../../core/tls/server-certificates.ts'
import { madeCertificates, pairOf, pem, removeFolders } from './certificates.ts'
import { rejection } from './rejection.ts'

async function namesAndStates(certsDir: string): Promise<string[]> {
  return (await listClients(certsDir)).map((client) => `${client.certificate?.name} ${client.state}`)
}

describe('client certificates', () => {
  let certsDir: string

  beforeEach(async () => {
    certsDir = await madeCertificates()
  })

  after(removeFolders)

  it('get their own key, readable by the owner only, under the given name', async () => {
    const made = await newClient(certsDir, 'bot-1')
    const { certPem, keyPem } = await pairOf(certsDir, 'bot-1')
    const certificate = new X509Certificate(certPem)

    expect(certificate.checkPrivateKey(createPrivateKey(keyPem))).to.equal(true)
    expect(certificate.subject).to.equal('CN=bot-1')
    expect(made).to.include({ fingerprint256: certificate.fingerprint256, serialNumber: certificate.serialNumber })
    expect((await stat(made.keyFile)).mode & 0o777).to.equal(0o600)
  })

  it('need a name of their own: none that leads out of the folder, is taken, or belongs to set-up', async () => {
    await newClient(certsDir, 'Bot')
    const before = await readdir(certsDir)

    for (const name of [
      '../bot',
      'a/b',
      '..',
      '.hidden',
      '',
      'a b',
      'bot\n',
      'ü',
      'x'.repeat(64),
      'server',
      'CA',
      'client',
      'bot',
      'Sluice',
      'unlisted',
    ]) {
      expect(await rejection(newClient(certsDir, name)), JSON.stringify(name)).to.be.instanceOf(CertificateError)
    }
    expect(await readdir(certsDir)).to.deep.equal(before)
  })

  it('appear in the list with dates and state', async () => {
    const made = await newClient(certsDir, 'bot-1')

    const [bot, first] = await listClients(certsDir)

    expect(first).to.deep.include({ state: 'valid' }).and.nested.include({ 'certificate.name': 'client' })
    expect(bot).to.include({ state: 'valid', serialNumber: made.serialNumber })
    expect(bot?.certificate).to.include({ name: 'bot-1', fingerprint256: made.fingerprint256 })
    const inTwoYears = new Date(Date.now() + 2 * 365 * 86_400_000)
    expect((await listClients(certsDir, inTwoYears)).map((client) => client.state)).to.deep.equal(['expired', 'expired'])
  })

  it('stay in the list as revoked after their files are deleted, at least by serial number', async () => {
    const { certFile, keyFile, serialNumber } = await newClient(certsDir, 'bot-1')
    await revoke(certsDir, 'bot-1')
    await rm(certFile)
    await rm(keyFile)
    expect(await namesAndStates(certsDir)).to.deep.equal(['bot-1 revoked', 'client valid'])

    await rm(path.join(certsDir, 'issued.pem'))

    const clients = await listClients(certsDir)
    expect(clients.map((client) => client.state)).to.deep.equal(['valid', 'revoked'])
    expect(clients[1]).to.include({ serialNumber }).and.not.have.property('certificate')
  })

  it('get a new key at renewal, and are revoked together by name', async () => {
    const old = await newClient(certsDir, 'bot-1')
    const { keyPem } = await pairOf(certsDir, 'bot-1')

    const renewed = await renew(certsDir, 'bot-1')

    expect((await pairOf(certsDir, 'bot-1')).keyPem).not.to.equal(keyPem)
    expect(await namesAndStates(certsDir)).to.deep.equal(['bot-1 valid', 'bot-1 valid', 'client valid'])
    const { revoked } = await revoke(certsDir, 'bot-1')
    expect(revoked.map((client) => client.serialNumber)).to.have.members([old.serialNumber, renewed.serialNumber])
    expect((await revoke(certsDir, 'bot-1')).revoked).to.deep.equal([])
    expect(await namesAndStates(certsDir)).to.deep.equal(['bot-1 revoked', 'bot-1 revoked', 'client valid'])
  })

  it('end one at a time by serial number or fingerprint, in any spelling', async () => {
    const spellings = [
      (made: { serialNumber: string }) => made.serialNumber.toLowerCase(),
      (made: { serialNumber: string }) => made.serialNumber.match(/../g)?.join(':') ?? '',
      (made: { fingerprint256: string }) => made.fingerprint256,
      (made: { fingerprint256: string }) => made.fingerprint256.replaceAll(':', '').toLowerCase(),
    ]
    await newClient(certsDir, 'bot-1')
    for (const spell of spellings) {
      const made = await renew(certsDir, 'bot-1')
      expect((await revoke(certsDir, spell(made))).revoked.map((client) => client.serialNumber)).to.deep.equal([made.serialNumber])
    }
    expect((await listClients(certsDir)).filter((client) => client.state === 'valid')).to.have.length(2)
  })

  it('end all when several processes revoke at once', async () => {
    const names = ['bot-1', 'bot-2', 'bot-3', 'bot-4']
    await Promise.all(names.map((name) => newClient(certsDir, name)))

    await Promise.all(names.map((name) => revoke(certsDir, name)))

    expect(await namesAndStates(certsDir)).to.deep.equal([...names.map((name) => `${name} revoked`), 'client valid'])
  })

  it('names the known clients when one is unknown, and refuses to revoke the server certificate', async () => {
    for (const attempt of [() => revoke(certsDir, 'bto-1'), () => renew(certsDir, 'bto-1'), () => renew(certsDir, '../client')]) {
      expect(await rejection(attempt()))
        .to.be.instanceOf(CertificateError)
        .with.property('message')
        .that.includes('Known are: client')
    }
    expect(await rejection(revoke(certsDir, 'server'))).to.be.instanceOf(CertificateError)
  })

  it('need the passphrase when the key of the CA is encrypted', async () => {
    const encrypted = await madeCertificates({ caPassphrase: 'correct horse' })

    for (const access of [{}, { caPassphrase: 'wrong' }])
      expect(await rejection(newClient(encrypted, 'bot-1', access))).to.be.instanceOf(CertificateError)
    await newClient(encrypted, 'bot-1', { caPassphrase: 'correct horse' })
    await revoke(encrypted, 'bot-1', { caPassphrase: 'correct horse' })

    expect(await namesAndStates(encrypted)).to.deep.equal(['bot-1 revoked', 'client valid'])
  })

  it('from another CA do not appear in the list, even in the same folder', async () => {
    const other = await madeCertificates()
    await newClient(other, 'stranger')
    await writeFile(path.join(certsDir, 'stranger_cert.pem'), await pem(other, 'stranger_cert.pem'))

    expect(await namesAndStates(certsDir)).to.deep.equal(['client valid'])
  })

  it('never stay half written: a renewal that was killed between its files is finished', async () => {
    await newClient(certsDir, 'bot-1')
    const old = await pairOf(certsDir, 'bot-1')
    await renew(certsDir, 'bot-1')
    const renewed = await pairOf(certsDir, 'bot-1')
    const staged = path.join(certsDir, '.staged')
    await mkdir(staged)
    await rename(path.join(certsDir, 'bot-1_key.pem'), path.join(staged, 'bot-1_key.pem'))
    await writeFile(path.join(certsDir, 'bot-1_key.pem'), old.keyPem)

    await newClient(certsDir, 'bot-2')

    expect(await pairOf(certsDir, 'bot-1')).to.deep.equal(renewed)
  })
})

describe("the server's certificate", () => {
  after(removeFolders)

  it('keeps its names when it is renewed without names, and gets the given ones otherwise', async () => {
    const certsDir = await madeCertificates({ hostnames: ['sluice.example.org', '10.1.2.3', 'fd00::7'] })

    await renew(certsDir, 'server')
    const same = new X509Certificate(await pem(certsDir, 'server_cert.pem'))
    await renew(certsDir, 'server', { hostnames: ['other.example.org'] })
    const other = new X509Certificate(await pem(certsDir, 'server_cert.pem'))

    expect(same.checkHost('sluice.example.org')).to.be.a('string')
    for (const address of ['10.1.2.3', 'fd00::7', '::1']) expect(same.checkIP(address), address).to.be.a('string')
    expect(other.checkHost('sluice.example.org')).to.equal(undefined)
    expect(other.checkHost('other.example.org')).to.be.a('string')
    await readServerCertificates(certsDir)
  })

  it('comes back by a renewal when its files are lost', async () => {
    const certsDir = await madeCertificates()
    await rm(path.join(certsDir, 'server_cert.pem'))
    await rm(path.join(certsDir, 'server_key.pem'))

    await renew(certsDir, 'server')

    await readServerCertificates(certsDir)
  })

  it('fails with a key, a CA or a list that does not belong to it', async () => {
    const other = await madeCertificates()
    for (const name of ['server_key.pem', 'ca_cert.pem', 'revoked.pem']) {
      const certsDir = await madeCertificates()
      await writeFile(path.join(certsDir, name), await pem(other, name))

      expect(await rejection(readServerCertificates(certsDir)), name)
        .to.be.instanceOf(CertificateError)
        .with.property('message')
        .that.includes(name)
    }
  })
})
