// A name that is looked at and then leads elsewhere (DNS rebinding). Nothing is dialled beyond this machine: a connection is ended where its address is known.
import diagnostics from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { expect } from 'chai'
import { createChannels, type AlertMessage } from '../../core/alerts/index.ts'
import type { ResolveAll } from '../../core/base/public-address.ts'
import type { ChannelSettings } from '../../core/config/alerts-file.ts'

const message: AlertMessage = {
  status: 'test',
  rule: 'test',
  severity: 'info',
  title: 'A test',
  remedy: '',
  count: 0,
  items: [],
  at: 1_800_000_000_000,
  server: 'host',
}

const [publicAddress, privateAddress] = ['93.184.215.14', '127.0.0.1']
const host = 'turning.example.org'
const channels: Readonly<Record<string, ChannelSettings>> = {
  webhook: { kind: 'webhook', url: `http://${host}:9/` },
  telegram: { kind: 'telegram', token: '1:a', chat: '1', apiUrl: `http://${host}:9` },
  'mail over TLS': { kind: 'email', host, port: 9, from: 'a@example.org', to: ['b@example.org'] },
  'mail over STARTTLS': { kind: 'email', host, port: 9, security: 'starttls', from: 'a@example.org', to: ['b@example.org'] },
}

describe('a name that turns from public to private', () => {
  let dialled: string[]
  const onSocket = (event: unknown) => {
    const { socket } = event as { readonly socket: Socket }
    socket.once('lookup', (error, address) => {
      if (error) return
      dialled.push(address)
      socket.destroy(new Error('not dialled by the test'))
    })
  }
  beforeEach(() => {
    dialled = []
    diagnostics.subscribe('net.client.socket', onSocket)
  })
  afterEach(() => diagnostics.unsubscribe('net.client.socket', onSocket))

  for (const [kind, of] of Object.entries(channels))
    it(`leads a ${kind} to the address that was looked at, and the next one nowhere`, async () => {
      let asked = 0
      const resolve: ResolveAll = (_name, _options, done) => {
        asked += 1
        done(null, [{ address: asked === 1 ? publicAddress : privateAddress, family: 4 }])
      }
      const [channel] = createChannels({ channels: { [kind]: of } }, { resolve })
      const send = async () =>
        channel?.send(message, '1', AbortSignal.timeout(60_000)).then(
          () => 'taken',
          (error: unknown) => String(error),
        )
      expect(await send()).to.contain('not dialled by the test')
      expect([asked, dialled]).to.deep.equal([1, [publicAddress]])
      expect(await send()).to.contain(`${privateAddress} is not a public address`)
      expect([asked, dialled]).to.deep.equal([2, [publicAddress]])
      await channel?.close?.()
    })
})
