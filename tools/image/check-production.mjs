import { chownSync, copyFileSync, cpSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { check, eventually } from './run.mjs'
import { writeOutsidePlugin } from '../../test/build/outside-plugin.ts'
import { runCommand, startServer, trustPlugin } from './server.mjs'

const uid = 10001
const conf = fileURLToPath(new URL('../../conf/', import.meta.url))
const serverFiles = ['ca_cert.pem', 'health_cert.pem', 'health_key.pem', 'revoked.pem', 'server_cert.pem', 'server_key.pem']

/** The image as the service `production` runs it: conf and certificates read-only, no CA key, a wallet with a passphrase. */
export async function checkProduction({ images: { production: image }, running, newFolder }) {
  console.log('\nFor real: without the devnet')
  const [allCerts, certs, bot, data, ownConf, secrets, plugins] = ['all-certs', 'certs', 'bot', 'data', 'conf', 'secrets', 'plugins'].map(
    (name) => newFolder(`production-${name}`),
  )
  const environment = { SLUICE_WALLET_PASSPHRASE_FILE: '/run/secrets/wallet_passphrase', SLUICE_LOG_LEVEL: 'error' }
  writeOutsidePlugin(plugins, 'outsider')
  const lock = trustPlugin(newFolder('production-home'), plugins, 'outsider')
  const volumes = {
    '/app/conf': { from: ownConf, mode: 'ro' },
    '/app/certs': { from: certs, mode: 'ro' },
    '/app/data': { from: data },
    '/app/plugins/outsider': { from: path.join(plugins, 'outsider'), mode: 'ro' },
    '/app/sluice.lock': { from: lock, mode: 'ro' },
    '/run/secrets': { from: secrets, mode: 'ro' },
  }
  cpSync(conf, ownConf, { recursive: true })
  give(path.join(secrets, 'wallet_passphrase'), 'correct horse battery staple\n')

  await check('`sluice certs` makes certificates in a folder that the server never sees', async () => {
    const maker = { image, running, volumes: { '/app/certs': { from: allCerts } } }
    for (const args of [
      ['init', '--host', 'sluice.example.org'],
      ['new', 'health'],
    ]) {
      const { code, output } = await runCommand(maker, ['certs', ...args])
      expect(code, output).to.equal(0)
    }
    for (const file of serverFiles) give(path.join(certs, file), readFileSync(path.join(allCerts, file)))
    for (const file of ['ca_cert.pem', 'client_cert.pem', 'client_key.pem']) copyFileSync(path.join(allCerts, file), path.join(bot, file))
  })

  await check('`sluice wallet add` makes a key in the volume', async () => {
    const { code, output } = await runCommand({ image, running, volumes, environment }, ['wallet', 'add', '--new'])
    expect(code, output).to.equal(0)
  })

  const server = await startServer({ image, running, volumes, environment, bot })
  let client
  await check('starts with everything read-only but its data, and unlocks the wallet', async () => {
    client = await server.ready()
    const { body, text } = await client.get('/wallet')
    expect(body, text).to.have.lengthOf(1)
  })
  if (client === undefined) return

  await check('loads a folder of TypeScript that was mounted among its plugins', async () => {
    const states = await eventually(async () => {
      const { body } = await client.get('/plugins')
      return (
        !body.some(({ state }) => state === 'pending') && Object.fromEntries(body.map(({ name, state, reason }) => [name, reason ?? state]))
      )
    }, 180)
    expect(states).to.deep.include({ ethereum: 'loaded', uniswap: 'loaded', sushiswap: 'loaded', outsider: 'loaded' })
  })

  await check('the health command takes the certificate of its own, which may do little', async () => {
    const { code, output } = await server.health()
    expect(code, output).to.equal(0)
  })

  await check('wrote nothing beside its data', () => {
    expect(readdirSync(certs).toSorted()).to.deep.equal(serverFiles)
    expect(readdirSync(data)).to.have.length.above(0)
  })

  await check('keeps its journal in the volume, for its own user alone', () => {
    const { uid: owner, mode } = statSync(path.join(data, 'sluice.db'))
    expect([owner, mode & 0o777]).to.deep.equal([uid, 0o600])
  })

  await check('ends by SIGTERM with 0, and the health command then says that nobody answers', async () => {
    client.close()
    const end = await server.stop()
    expect(end.code, server.container.output()).to.equal(0)
    const { code, output } = await server.health()
    expect([code, output]).to.deep.equal([1, output])
    expect(output).to.include('cannot be reached')
  })
}

/** A file that the image's user alone may read. */
function give(file, content) {
  writeFileSync(file, content, { mode: 0o400 })
  chownSync(file, uid, uid)
}
