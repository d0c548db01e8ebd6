import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import path from 'node:path'
import { expect } from 'chai'
import type { Stop } from '../../../core/config/stops.ts'
import { createKeptStops, stopsKeptMs } from '../../../core/wallet/service/kept-stops.ts'
import { frameOf, protocol, readFrames, readFromService, type ToService } from '../../../core/wallet/service/protocol.ts'
import { startSignerService, type SignerService } from '../../../core/wallet/service/service.ts'
import type { Signer } from '../../../core/wallet/signer.ts'
import { until } from '../processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const [address, stranger] = ['aa', 'bb'].map((each) => `0x${each.repeat(20)}`) as [string, string]
const stopped = { mode: 'stop', setBy: 'ops', since: 1 } as const

describe('what a server has stopped', () => {
  describe('whose connection ended', () => {
    let nowMs: number
    const kept = () =>
      createKeptStops(
        () => nowMs,
        () => [address],
      )
    beforeEach(() => {
      nowMs = 1_000
    })

    it('is lifted ten minutes later, once a server that connected since says what is stopped', () => {
      const stops = kept()
      stops.keep([stopped])
      nowMs += 1
      stops.replace(nowMs)
      nowMs += stopsKeptMs - 2
      expect(stops.lift()).to.deep.equal([])
      expect(stops.current()).to.deep.equal([stopped])
      nowMs += 1
      expect(stops.lift()).to.deep.equal([stopped])
      expect(stops.current()).to.deep.equal([])
    })

    it('stays for as long as nobody connects, and what a server says that was there before lifts nothing', () => {
      const stops = kept()
      stops.keep([stopped])
      stops.replace(999)
      nowMs += 100 * stopsKeptMs
      expect(stops.lift()).to.deep.equal([])
      expect(stops.current()).to.deep.equal([stopped])
    })

    it('is kept once for each mode and wallet, and only for wallets of the signer', () => {
      const stops = kept()
      for (let times = 0; times < 3; times += 1)
        stops.keep([stopped, { ...stopped, wallet: address.toUpperCase().replace('0X', '0x') }, { ...stopped, wallet: stranger }])
      expect(stops.current()).to.have.length(2)
      const [long] = kept().keep([{ ...stopped, reason: 'x'.repeat(100_000) }])
      expect(long?.reason).to.have.length(300)
    })
  })

  describe('by the signer service', () => {
    const socket = path.join(temporaryFolder(), 'socket')
    const warnings: string[] = []
    let held: readonly Stop[] = []
    let holds = 0
    let signedUnder: readonly Stop[] | undefined
    let service: SignerService
    before(async () => {
      const signer: Signer = {
        wallets: () => [{ chain: 'ethereum', address }],
        locked: () => [],
        sign: async () => {
          signedUnder = held
          return new Uint8Array(65)
        },
        addKey: () => expect.fail('no key is added'),
        hold: (stops) => {
          held = stops
          holds += 1
        },
        isReady: () => true,
        failing: () => undefined,
        countProblem: () => undefined,
        processId: () => undefined,
        stop: () => Promise.resolve(),
      }
      const log = { info() {}, warn: (_: object, message = '') => void warnings.push(message), error() {} }
      service = await startSignerService({ socket, signer, facts: { limits: 0, changers: [] }, log })
    })
    after(() => service.stop())

    async function greeted(stops: readonly (typeof stopped)[]): Promise<Socket> {
      const server = connect(socket)
      const answers: string[] = []
      readFrames(
        server,
        5_000_000,
        (json) => void answers.push(readFromService(json).type),
        () => server.destroy(),
      )
      await once(server, 'connect')
      const messages: readonly ToService[] = [
        { type: 'hello', protocol, version: '0.0.0' },
        { type: 'stops', stops: [...stops] },
        { type: 'ping' },
      ]
      for (const each of messages) server.write(frameOf(each))
      await until(() => answers.includes('pong'))
      return server
    }

    it('holds after its connection has ended, and when it connects again and hides it', async () => {
      const server = await greeted([stopped])
      expect(held).to.deep.equal([{ ...stopped, scope: { of: 'all' } }])
      server.destroy()
      await until(() => warnings.includes('A server is gone: what it has stopped stays stopped'))
      expect(held).to.deep.equal([{ ...stopped, scope: { of: 'all' } }])
      const again = await greeted([])
      expect(held).to.deep.equal([{ ...stopped, scope: { of: 'all' } }])
      again.destroy()
    })

    it('is told to the signer seldom and in few words, however often a server says it, and before anything is signed', async () => {
      const server = await greeted([])
      const before = holds
      const many = Array.from({ length: 3_000 }, (_, index) => ({ ...stopped, wallet: index % 2 ? `0x${index}` : address }))
      const draft = { scheme: 'secp256k1', bytes: '' }
      const request = { chain: 'ethereum', network: 'local', address, draft }
      for (let times = 0; times < 500; times += 1) server.write(frameOf({ type: 'stops', stops: times === 499 ? many : [] }))
      server.write(frameOf({ type: 'sign', id: 1, request }))
      await until(() => signedUnder !== undefined)
      const subjects = (signedUnder ?? []).map(({ scope }) => ('subject' in scope ? scope.subject : scope.of))
      expect(subjects).to.include.members([address, '0x1', '0x1999', 'all'])
      // A wallet that is not here yet may be added: of such a thousand are held.
      expect(subjects).to.have.length(1_002)
      expect(holds - before).to.be.lessThan(250)
      server.destroy()
    })
  })
})
