import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { createAuthority, issueCertificate } from '../../core/tls/authority.ts'
import { fixtures } from './fixtures.ts'

const program = fileURLToPath(new URL('web-process.ts', import.meta.url))

/** Asks one after the other, and says what came. */
const asking = `
    const asked = JSON.parse(readFileSync(new URL('asked.json', import.meta.url), 'utf8'))
    const askAll = async () => {
      for (const { url, ...init } of asked) {
        const got = await fetch(url, init).then(
          async (answer) => answer.status + ' ' + (answer.headers.get('x-kind') ?? '-') + ' ' + (await answer.text()).slice(0, 200),
          (error) => 'error: ' + error.message,
        )
        venue.log.info({}, got)
      }
      venue.log.info({}, 'asked')
    }
    void askAll()
`

describe('the web of a plugin in its host', function () {
  this.timeout(400_000)
  let folder: string
  let server: Server
  let port: number
  let seen: string[]

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-web-'))
    const authority = await createAuthority()
    const { certPem, keyPem } = await issueCertificate(authority, {
      commonName: 'localhost',
      usage: 'server',
      hostnames: ['localhost', '127.0.0.1'],
    })
    await writeFile(path.join(folder, 'ca.pem'), authority.certificate.toString('pem'))
    const plugin = path.join(folder, 'asker')
    await cp(path.join(fixtures, 'contained', 'plain-swap'), plugin, { recursive: true })
    const file = path.join(plugin, 'index.ts')
    const code = (await readFile(file, 'utf8'))
      .replace("name: 'plain-swap'", "name: 'asker'")
      .replace('create(venue) {', `create(venue) {${asking}`)
    await writeFile(file, `import { readFileSync } from 'node:fs'\n${code}`)
    server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
      let body = ''
      request.on('data', (part) => (body += part))
      request.on('end', () => {
        seen.push(`${request.method} ${request.url} host=${request.headers.host} x-key=${String(request.headers['x-key'])} body=${body}`)
        if (request.url === '/elsewhere') return response.writeHead(302, { location: 'https://example.com/' }).end()
        if (request.url === '/endless') {
          const timer = setInterval(() => response.write('x'.repeat(2 ** 20)), 1)
          response.on('close', () => clearInterval(timer))
          return undefined
        }
        return response.writeHead(200, { 'x-kind': 'price' }).end(`{"price":"1"}`)
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    port = typeof address === 'object' && address ? address.port : 0
  })
  beforeEach(() => (seen = []))
  after(async () => {
    server?.closeAllConnections()
    server?.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function answersTo(
    asked: readonly object[],
    allowed: { named?: readonly string[]; configured?: readonly string[] },
  ): Promise<string[]> {
    await writeFile(path.join(folder, 'asker', 'asked.json'), JSON.stringify(asked))
    const args = ['--import', 'tsx/esm', program, path.join(folder, 'asker'), JSON.stringify({ named: [], configured: [], ...allowed })]
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: path.join(folder, 'ca.pem') }
    const { stdout } = await promisify(execFile)(process.execPath, args, { env })
    const { refused, said } = JSON.parse(stdout)
    expect(refused).to.deep.equal([])
    return said.slice(0, asked.length)
  }

  it('has what the operator’s files name: asked as it wants, by the server', async () => {
    const url = `https://localhost:${port}`
    const said = await answersTo(
      [
        { url: `${url}/price?of=WETH` },
        {
          url: `${url}/order`,
          method: 'POST',
          headers: { 'x-key': '1', host: 'internal', 'content-type': 'application/json' },
          body: '{"a":1}',
        },
        { url: `${url}/elsewhere` },
        { url: `${url}/endless` },
      ],
      { configured: [`localhost:${port}`] },
    )
    expect(said.slice(0, 3)).to.deep.equal(['200 price {"price":"1"}', '200 price {"price":"1"}', '302 - '])
    expect(said[3]).to.match(/^error: fetch failed: .*size/i)
    expect(seen.slice(0, 3)).to.deep.equal([
      `GET /price?of=WETH host=localhost:${port} x-key=undefined body=`,
      `POST /order host=localhost:${port} x-key=1 body={"a":1}`,
      `GET /elsewhere host=localhost:${port} x-key=undefined body=`,
    ])
  })

  it('has no host that was not allowed, no address of the operator’s network, and nothing but https', async () => {
    const said = await answersTo(
      [
        { url: 'https://example.com/' },
        { url: `https://localhost:${port}/` },
        { url: `https://127.0.0.1:${port}/` },
        { url: 'https://169.254.169.254/latest/meta-data/' },
        { url: 'https://[::ffff:127.0.0.1]/' },
        { url: `http://localhost:${port}/` },
        { url: `https://user:secret@localhost:${port}/` },
        { url: 'file:///etc/passwd' },
      ],
      { named: [`localhost:${port}`, `127.0.0.1:${port}`, '169.254.169.254', '[::ffff:7f00:1]', `user:secret@localhost:${port}`] },
    )
    expect(said[0]).to.match(/^error: fetch failed: The host example\.com was not allowed to this plugin/)
    for (const [index, address] of [
      [1, '(127\\.0\\.0\\.1|::1)'],
      [2, '127\\.0\\.0\\.1'],
      [3, '169\\.254\\.169\\.254'],
      [4, '::ffff:7f00:1'],
    ] as const)
      expect(said[index]).to.match(new RegExp(`^error: fetch failed: .*${address} is not a public address`))
    expect(said[5]).to.match(/https:\/\/ URLs without a user only/)
    expect(said[6]).to.match(/^error: /)
    expect(said[7]).to.match(/https:\/\/ URLs without a user only/)
    expect(seen).to.deep.equal([])
  })
})
