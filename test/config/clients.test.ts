import { expect } from 'chai'
import { clientOf } from '../../core/config/clients.ts'
import { loadSettings } from '../../core/config/settings.ts'
import { described, eachWithHome } from './home.ts'

const hex = 'ab'.repeat(32)
const colons = hex.toUpperCase().replace(/(..)(?!$)/g, '$1:')

describe('clients.yml', () => {
  const home = eachWithHome()
  const load = () => loadSettings({ confDir: home.confDir, env: { RATE: '5' } }).clients

  it("gives rights by a certificate's common name or fingerprint", async () => {
    await home.write(
      'conf/clients.yml',
      `clients:\n  bot:\n    permissions: [read, trade]\n    wallets: [0xA1]\n    requestsPerSecond: \${RATE}\n  ${colons}: { permissions: [admin], wallets: all }\n  watcher: { permissions: [read] }\n`,
    )
    const clients = load()
    expect(clients).to.deep.equal([
      { name: 'bot', permissions: ['read', 'trade'], wallets: ['0xA1'], requestsPerSecond: 5 },
      { name: colons, fingerprint: hex, permissions: ['admin'], wallets: 'all' },
      { name: 'watcher', permissions: ['read'], wallets: [] },
    ])
    expect(clientOf(clients, { commonName: 'bot', fingerprint256: '00' })?.name).to.equal('bot')
    expect(clientOf(clients, { commonName: 'bot', fingerprint256: colons })?.name).to.equal(colons)
    expect(clientOf(clients, { commonName: 'unknown', fingerprint256: '00' })).to.equal(undefined)
    // A certificate may call itself anything: a name that reads like a fingerprint is none.
    expect(clientOf(clients, { commonName: colons, fingerprint256: '00' })).to.equal(undefined)
  })

  it('is refused with file, path and cure', async () => {
    await home.write(
      'conf/clients.yml',
      `clients:\n  a: { permission: [read] }\n  b: { permissions: [read, write], wallets: some }\n  c: { permissions: [read], requestsPerSecond: 0 }\nclient: {}\n`,
    )
    const text = await described(load)
    expect(text).to.contain('conf/clients.yml:2  clients.a.permissions: is missing')
    expect(text).to.contain('conf/clients.yml:2  clients.a.permission: is not a known key\n→ Did you mean "permissions"?')
    expect(text).to.contain('clients.b.permissions[1]: is not one of the possible values\n→ Write one of: "read", "trade", "send", "admin"')
    expect(text).to.contain('clients.b.wallets: has none of the possible forms\n→ Write "all", or a list')
    expect(text).to.contain('conf/clients.yml:4  clients.c.requestsPerSecond: must be > 0')
    expect(text).to.contain('conf/clients.yml:5  client: is not a known key\n→ Did you mean "clients"?')
  })

  it('refuses one fingerprint in two spellings', async () => {
    await home.write('conf/clients.yml', `clients:\n  ${hex}: { permissions: [read] }\n  ${colons}: { permissions: [admin] }\n`)
    expect(await described(load)).to.contain('in another spelling')
  })
})
