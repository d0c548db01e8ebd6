import { expect } from 'chai'
import type { Client } from '../../core/config/clients.ts'
import { watchClientNames } from '../../core/parts/client-names.ts'
import type { ServerParts } from '../../core/parts/server-parts.ts'

const botOf = (connector: string): Client => ({
  name: 'bot',
  permissions: [],
  wallets: [],
  limits: { allowed: { connectors: [connector] } },
})

describe('names in conf/clients.yml that the server does not know', () => {
  it('are said at the start, and logged when the file has changed', async () => {
    const clients = { list: [botOf('uniswap')], onChange: (listener: () => void) => void (changed = listener) }
    let changed = () => {}
    let log: (message: string) => void = () => {}
    const logged = new Promise<string>((resolve) => (log = resolve))
    const parts = {
      clients,
      registry: { plugins: [{ name: 'uniswap' }], networks: [] },
      settings: { ssl: { certsDir: '/nowhere' } },
      log: { warn: (_: object, message: string) => log(message) },
    } as unknown as ServerParts
    expect(await watchClientNames(parts)).to.deep.equal([])
    clients.list = [botOf('unswap')]
    changed()
    expect(await logged).to.match(/unswap, and this server has no such connector \(did you mean "uniswap"\?\)/)
  })
})
