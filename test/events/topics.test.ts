import { expect } from 'chai'
import type { Caller } from '../../core/handlers/context.ts'
import { createFairTurns } from '../../core/base/fair-turns.ts'
import { SluiceError } from '../../core/base/errors.ts'
import { createApprovalTopic } from '../../core/events/approvals.ts'
import { createPriceTopic } from '../../core/events/prices.ts'
import { createStreams } from '../../core/events/stream.ts'
import type { Approval } from '../../core/limits/approvals.ts'

const at = { signal: new AbortController().signal }
const caller = (wallets: Caller['wallets']): Caller => ({
  id: 'boss',
  fingerprint: 'aa',
  permissions: new Set(['read', 'approve']),
  wallets,
})

describe('the topic approvals', () => {
  it('shows a certificate what it may see by now, also while a stream of before is still being closed', async () => {
    const approval = (id: number, address: string) =>
      ({ id, address, client: 'bot', effect: {}, request: {}, bound: {} }) as unknown as Approval
    const waiting = [approval(1, '0xa1'), approval(2, '0xa2')]
    const topic = createApprovalTopic({
      follow(changed) {
        changed({ waiting, ended: [], revoked: new Set<number>() })
        return () => {}
      },
    })
    const shownTo = async (wallets: Caller['wallets']): Promise<unknown[]> => {
      const [subscribe] = await topic.find({}, at, caller(wallets))
      const { waiting: shown } = JSON.parse(subscribe?.(() => {}).latest()?.json ?? '{}')
      return shown.map(({ id }: { id: number }) => id)
    }
    expect(await shownTo('all')).to.deep.equal([1, 2])
    expect(await shownTo(new Set(['0xa2']))).to.deep.equal([2])
    expect(await shownTo('all')).to.deep.equal([1, 2])
  })
})

describe('the topic price', () => {
  it('follows none of several connectors where there is no room for one of them', async () => {
    const token = (address: string) => ({ symbol: address, address, decimals: 6 })
    const network = {
      chain: 'ethereum',
      network: 'local',
      impl: { changes: {}, nativeCurrency: token('C') },
      tokens: { resolve: (name: string) => token(name) },
    }
    const venues = ['one', 'other'].map((connector) => ({
      connector,
      builtIn: true,
      impl: { AMM: { versions: [], followed: {} } },
      notReady: () => undefined,
    }))
    const followed = new Set<string>()
    const services = {
      registry: { networks: [network], venuesOn: () => venues, network: () => network, wake: () => undefined, use: () => {} },
      turns: createFairTurns(),
      quotes: {
        follow({ connector }: { connector: string }) {
          if (connector === 'other') throw new SluiceError('OVERLOADED', 'No more prices.')
          followed.add(connector)
          return () => void followed.delete(connector)
        },
      },
    } as unknown as Parameters<typeof createPriceTopic>[0]
    const asked = { connector: 'any', base: 'A', quote: 'B', side: 'SELL', amount: '1' } as const
    const [subscribe] = await createPriceTopic(services).find(asked, at, caller('all'))
    expect(() => subscribe?.(() => {})).to.throw('No more prices.')
    expect([...followed]).to.deep.equal([])
  })
})

describe('streams of events', () => {
  it('end with a connector that they name among others', () => {
    const streams = createStreams({ warn: () => {} }, { streams: 9, clientStreams: 9 })
    const [one, other] = [['any', 'swap', 'pool'], ['any']].map((connectors) => streams.open(caller('all'), connectors))
    streams.endOf('pool')
    expect([one, other].map((each) => each?.signal.aborted)).to.deep.equal([true, false])
  })
})
