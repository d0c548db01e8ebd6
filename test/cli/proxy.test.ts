import { expect } from 'chai'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import { once } from 'node:events'
import path from 'node:path'
import { program } from '../../core/cli/program.ts'
import { emptyFolder, madeCertificates, removeFolders } from '../tls/certificates.ts'

/** What a proxy says that does not start. */
async function refusal(files: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<string> {
  return errorsOf('proxy', files, await madeCertificates(), ...args)
}

async function errorsOf(
  command: string,
  files: Readonly<Record<string, string>>,
  certsDir: string,
  ...args: readonly string[]
): Promise<string> {
  const confDir = await emptyFolder()
  mkdirSync(path.join(confDir, 'interfaces'))
  for (const [file, text] of Object.entries(files)) writeFileSync(path.join(confDir, 'interfaces', file), text)
  const given = ['--conf', confDir, '--set', `ssl.certsDir=${certsDir}`, command, ...args]
  const write = process.stderr.write.bind(process.stderr)
  let said = ''
  process.stderr.write = (chunk: string | Uint8Array) => Boolean((said += String(chunk)))
  try {
    await (await program(given)).parseAsync(['node', 'sluice', ...given])
  } finally {
    process.stderr.write = write
    process.exitCode = 0
  }
  return said
}

describe('sluice proxy', () => {
  after(removeFolders)

  it('needs a certificate of the client, and an interface that has a port', async () => {
    expect(await refusal({ 'one.yml': 'port: 2' }, '--client', 'bot')).to.match(/no certificate of the client "bot".*certs new bot/)
    expect(await refusal({ 'one.yml': 'networks: {}' }, '--client', 'client')).to.match(/There is no port in .*write one/)
    expect(await refusal({ 'one.yml': 'port: 2' }, '--client', 'client', '--interface', 'two')).to.match(/no port in .*two\.yml/)
    expect(await refusal({ 'one.yml': 'port: 2', 'two.yml': 'port: 3' }, '--client', 'client')).to.match(/one, two: name one/)
    expect(await refusal({}, '--client', 'client', '--url', 'http://localhost:1')).to.match(/--url/)
  })

  it('says what to do where its port is taken', async () => {
    const other = net.createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    try {
      expect(await refusal({ 'one.yml': 'port: 2' }, '--client', 'client', '--port', String(port))).to.match(/taken.*--port.*server\.port/)
    } finally {
      other.close()
    }
  })

  for (const [host, command] of [
    ['127.0.0.1', 'proxy'],
    ['::1', 'proxy'],
    ['::1', 'dashboard'],
  ] as const)
    it(`reaches a server that is named by the address ${host} (${command})`, async function () {
      const certsDir = await madeCertificates()
      const [key, cert, ca] = ['server_key.pem', 'server_cert.pem', 'ca_cert.pem'].map((file) => readFileSync(path.join(certsDir, file)))
      const server = https.createServer({ key, cert, ca, requestCert: true }, (_, response) => response.end('here')).listen(0, host)
      await Promise.race([once(server, 'listening'), once(server, 'error').then(() => this.skip())])
      const { port } = server.address() as AddressInfo
      const url = `https://${host.includes(':') ? `[${host}]` : host}:${port}`
      const only = command === 'proxy' ? ['--client', 'client', '--any-user'] : ['--as', 'client']
      let isAsked = false
      server.once('request', () => {
        isAsked = true
        // It runs until it is stopped, and has looked whether the server answers by then.
        setTimeout(() => process.emit('SIGTERM'), 200)
      })
      const late = setTimeout(() => process.emit('SIGTERM'), 10_000)
      const write = process.stdout.write.bind(process.stdout)
      process.stdout.write = () => true
      try {
        const said = await errorsOf(command, {}, certsDir, ...only, '--url', url, '--port', '0')
        expect([isAsked, said]).to.deep.equal([true, ''])
      } finally {
        process.stdout.write = write
        clearTimeout(late)
        server.close()
        server.closeAllConnections()
      }
    })
})
