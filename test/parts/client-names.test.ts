import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import type { Client } from '../../core/config/clients.ts'
import { watchClientNames } from '../../core/parts/client-names.ts'
import type { ServerParts } from '../../core/parts/server-parts.ts'
import { until } from '../wallet/processes.ts'

const botOf = (connector: string): Client => ({
  name: 'bot',
  permissions: [],
  wallets: [],
  limits: { allowed: { connectors: [connector] } },
})

const signer = { wallets: () => [], locked: () => [] }

describe('names in conf/clients.yml that the server does not know', () => {
  it('are said at the start, and logged when the file has changed', async () => {
    const clients = { list: [botOf('uniswap')], onChange: (listener: () => void) => void (changed = listener) }
    let changed = () => {}
    let log: (message: string) => void = () => {}
    const logged = new Promise<string>((resolve) => (log = resolve))
    const parts = {
      clients,
      registry: { plugins: [{ name: 'uniswap' }], networks: [] },
      settings: { ssl: { certsDir: '/nowhere' }, limits: { referenceTokens: ['USDC', 'USCD'] } },
      signer,
      log: { warn: (_: object, message: string) => log(message) },
    } as unknown as ServerParts
    expect(await watchClientNames(parts)).to.deep.equal([
      'limits.referenceTokens has USCD, and no network of this server lists such a token.',
    ])
    clients.list = [botOf('unswap')]
    changed()
    expect(await logged).to.match(/unswap, and this server has no such connector \(did you mean "uniswap"\?\)/)
  })

  it('end no server where they cannot be read after a change: that is logged, and the next change is read again', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'sluice-names-'))
    const clients = { list: [botOf('uniswap')], onChange: (listener: () => void) => void (changed = listener) }
    let changed = () => {}
    const logged: string[] = []
    const plugins: { name: string }[] = [{ name: 'uniswap' }]
    const registry = {
      networks: [],
      get plugins() {
        if (plugins.length === 0) throw new Error('no list of plugins')
        return plugins
      },
    }
    const parts = {
      clients,
      registry,
      settings: { ssl: { certsDir: folder }, limits: { referenceTokens: ['USDC'] } },
      signer,
      log: { warn: (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`) },
    } as unknown as ServerParts
    const unhandled: unknown[] = []
    const note = (reason: unknown) => void unhandled.push(reason)
    process.on('unhandledRejection', note)
    try {
      expect(await watchClientNames(parts)).to.deep.equal([])
      plugins.pop()
      changed()
      await until(() => logged.length === 1)
      expect(logged[0]).to.match(/could not be looked up .*no list of plugins/)
      plugins.push({ name: 'uniswap' })
      clients.list = [botOf('unswap')]
      changed()
      await until(() => logged.length === 2)
      expect(logged[1]).to.contain('did you mean "uniswap"')
      expect(unhandled).to.deep.equal([])
    } finally {
      process.off('unhandledRejection', note)
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
