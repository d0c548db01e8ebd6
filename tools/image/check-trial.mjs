import { readFileSync, statSync } from 'node:fs'
import https from 'node:https'
import path from 'node:path'
import { expect } from 'chai'
import { check, eventually, seconds } from './run.mjs'
import { writeOutsidePlugin } from '../../test/build/outside-plugin.ts'
import { startServer, trustPlugin } from './server.mjs'

const pair = { chain: 'ethereum', network: 'local', connector: 'uniswap', base: 'WETH', quote: 'USDC', amount: '1', side: 'SELL' }
const address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

/** The image with the devnet, as `docker compose up` runs it: by the user of the machine, who owns the volumes. */
export async function checkTrial({ images: { devnet: image }, running, newFolder }) {
  console.log('\nTrying it: with the devnet, by a user that the image does not know')
  const uid = 1000
  const [certs, data] = [newFolder('trial-certs', { uid }), newFolder('trial-data', { uid })]
  const volumes = { '/app/certs': { from: certs }, '/app/data': { from: data } }
  const since = performance.now()
  const server = await startServer({ image, running, volumes, bot: certs, user: `${uid}:${uid}` })
  let client

  await check('starts on empty volumes, with the root file system read-only', async () => {
    client = await server.ready()
    console.log(`    first start: ${seconds(since)} s`)
  })
  if (client === undefined) return

  await check('runs without a privilege, and so does all that it started', () => {
    // One that has ended meanwhile has nothing.
    const processes = server.container.processes().filter(({ user }) => user !== undefined)
    expect(processes).to.have.length.above(3)
    expect(processes.map((each) => [each.user, each.capabilities, each.newPrivileges])).to.deep.equal(
      processes.map(() => [String(uid), '0000000000000000', '1']),
    )
  })

  await check('writes the certificates to where curl finds them, the keys for their owner only', () => {
    expect(readFileSync(path.join(certs, 'ca_cert.pem'), 'utf8')).to.include('BEGIN CERTIFICATE')
    const { mode, uid: owner } = statSync(path.join(certs, 'client_key.pem'))
    expect([mode & 0o777, owner]).to.deep.equal([0o600, uid])
  })

  await check('the health command says that it is alive', async () => {
    const { code, output } = await server.health()
    expect(code, output).to.equal(0)
  })

  await check('refuses a caller without a certificate in the handshake', async () => {
    const refused = await new Promise((resolve) => {
      https
        .get(`${server.url}/`, { ca: readFileSync(path.join(certs, 'ca_cert.pem')), agent: false }, () => resolve('answered'))
        .on('error', ({ code }) => resolve(code))
    })
    expect(refused).not.to.equal('answered')
  })

  await check('quotes and trades over mutual TLS from outside', async () => {
    const quote = await client.get('/amm/price', pair)
    expect(quote.status, quote.text).to.equal(200)
    const trade = await client.post('/amm/trade', { ...pair, base: 'ETH', address })
    expect(trade.status, trade.text).to.equal(200)
    const mined = await eventually(
      async () => {
        const { body } = await client.get('/network/poll', { chain: pair.chain, network: pair.network, txHash: trade.body.txHash })
        return body.txStatus === 1 && body
      },
      120,
      server.container.output,
    )
    expect(mined.txReceipt.status).to.be.oneOf([1, '1'])
    console.log(`    1 WETH = ${quote.body.price} USDC`)
  })

  await check('shows its page of the interface, whose files survived the pruning', async () => {
    for (const target of ['/docs', '/docs/swagger-ui-bundle.js', '/docs/swagger-ui.css', '/openapi.json', '/metrics']) {
      expect((await client.get(target)).status, target).to.equal(200)
    }
  })

  await check('leaves no zombie behind', async () => {
    // What has just ended is one for a moment.
    const zombies = () => server.container.processes().filter(({ state }) => state === 'Z')
    await eventually(
      () => zombies().length === 0,
      60,
      () => JSON.stringify(zombies()),
    )
  })

  await check('SIGTERM lets the request under way end, and exits with 0', async () => {
    const under = slowRequest(server.url, certs)
    await under.begun
    const since = performance.now()
    const ended = server.stop()
    setTimeout(under.finish, 300)
    expect(await under.status).to.equal(200)
    expect(await ended, server.container.output()).to.deep.equal({ code: 0, signal: null })
    console.log(`    stopped after ${seconds(since)} s, 0.3 of them the request's`)
  })
  client.close()

  const plugins = newFolder('trial-plugins', { uid })
  const looping = writeOutsidePlugin(plugins, 'looping', { quote: 'function spin() { for (;;); }' })
  const lock = trustPlugin(newFolder('trial-home', { uid }), plugins, 'looping')
  let again
  await check('starts again on the same volumes with the same certificates and the devnet that it kept, and with a plugin', async () => {
    const before = readFileSync(path.join(certs, 'server_cert.pem'), 'utf8')
    const since = performance.now()
    const started = await startServer({
      image,
      running,
      bot: certs,
      user: `${uid}:${uid}`,
      environment: { SLUICE_LIMITS_PLUGIN_STALL_SECONDS: 10 },
      volumes: { ...volumes, '/app/plugins/looping': { from: looping, mode: 'ro' }, '/app/sluice.lock': { from: lock, mode: 'ro' } },
    })
    const client = await started.ready()
    console.log(`    second start: ${seconds(since)} s`)
    expect((await client.get('/amm/price', pair)).status).to.equal(200)
    expect(readFileSync(path.join(certs, 'server_cert.pem'), 'utf8')).to.equal(before)
    expect(started.container.output()).not.to.match(/Made certificates|Deploying/)
    again = { container: started.container, client }
  })
  if (again === undefined) return

  await check('ends when the plugin holds it up, for its supervisor to start it again', async () => {
    const { container, client } = again
    const isLoaded = async () => (await client.get('/plugins')).body.some(({ name, state }) => name === 'looping' && state === 'loaded')
    await eventually(isLoaded, 180, container.output)
    // Never answered: the connection ends with the server.
    void client.get('/amm/price', { ...pair, connector: 'looping' }).catch(() => undefined)
    const stuck = new Promise((resolve) => setTimeout(resolve, 90_000, { code: 'still running' }).unref())
    const { code } = await Promise.race([container.ended, stuck])
    client.close()
    expect(code, container.output()).to.equal(128 + 9)
    expect(container.output()).to.include('trusted plugins run in the process: looping')
  })
}

/** A quote by POST whose body is kept back until `finish`; `begun` says that the server has it in hand. */
function slowRequest(url, certs) {
  const read = (file) => readFileSync(path.join(certs, file))
  const body = JSON.stringify(pair)
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), expect: '100-continue' }
  const request = https.request(`${url}/amm/price`, {
    method: 'POST',
    headers,
    agent: false,
    ca: read('ca_cert.pem'),
    cert: read('client_cert.pem'),
    key: read('client_key.pem'),
  })
  const begun = new Promise((resolve, reject) => request.once('continue', resolve).once('error', reject))
  const status = new Promise((resolve, reject) =>
    request.once('response', (response) => resolve(response.resume().statusCode)).once('error', reject),
  )
  status.catch(() => {})
  request.flushHeaders()
  return { begun, status, finish: () => request.end(body) }
}
