import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { defineInterface, interfacePath, Type } from '../../core/contracts/interface.ts'
import { runInterface, type HostedRequest } from '../../core/plugins/isolate/interface-process.ts'
import { keptLog } from './fixtures.ts'

const any = Type.Object({}, { additionalProperties: true })

/** Of two paths. */
const price = Type.Object({ px: Type.String() }, { $id: 'Price' })
const pair = Type.String({ $id: 'Pair', maxLength: 9 })
const priced = (path: string) =>
  interfacePath({
    method: 'GET',
    path,
    summary: 'Has a schema in common with another one.',
    request: Type.Object({ pair }),
    response: price,
    answer: ({ pair: px }) => ({ px }),
  })

const plugin = defineInterface({
  manifest: { name: 'desk', apiVersion: '1.0', version: '0.1.0', trading_type: [], available_networks: [], schema: { type: 'object' } },
  create: () => ({
    paths: [
      interfacePath({
        method: 'GET',
        path: '/calls',
        summary: 'Calls.',
        request: any,
        response: any,
        answer: async (_, { call }) => call('Status', {}),
      }),
      interfacePath({
        method: 'GET',
        path: '/delivered',
        summary: 'Waits until its answer was delivered.',
        request: any,
        response: any,
        answer: async (_, { delivered }) => ({ isDelivered: await delivered }),
      }),
      interfacePath({
        method: 'GET',
        path: '/twice',
        summary: 'Does two things once, at the same time.',
        request: any,
        response: any,
        async answer(_, { once }) {
          const one = () =>
            once(
              { fields: {}, staleSeconds: 1, collectSeconds: 1 },
              async () => ({}),
              async () => ({}),
            )
          await Promise.allSettled([one(), one()])
          return {}
        },
      }),
      priced('/bid'),
      priced('/ask'),
    ],
    showError: () => ({ status: 500, body: {} }),
  }),
})

const never = new AbortController().signal

/** An interface in its process, with what the server was asked. */
async function running() {
  const asked: { readonly of: string; end(): void }[] = []
  const ask = (_: string, [id]: readonly unknown[]) =>
    new Promise<unknown>((resolve) => asked.push({ of: String(id), end: () => resolve({}) }))
  const process = await runInterface(plugin, { name: 'desk', config: {}, log: keptLog().log, channel: { ask } })
  const request = (id: string, caller: string, index = 0, fields = {}): HostedRequest => ({
    id,
    index,
    fields,
    requestId: id,
    rights: { id: caller, permissions: [], wallets: 'all' },
  })
  const send = (caller: string, count: number) => {
    for (let each = 0; each < count; each += 1) void process.answer(request(`${caller}-${each}`, caller), never)
  }
  const askedBy = (caller: string) => asked.filter(({ of }) => of.startsWith(caller)).length
  return { process, request, asked, send, askedBy }
}

describe('an interface in a process of its own', () => {
  it('has places for calls of other clients, however many calls of one are slow', async () => {
    const { send, askedBy } = await running()
    send('slow', 100)
    await setImmediate()
    expect(askedBy('slow')).to.equal(24)
    send('other', 3)
    await setImmediate()
    expect(askedBy('other')).to.equal(3)
  })

  it('lets the calls of one client wait for those of others while it has eight, and nobody wait for ever', async () => {
    const { send, asked, askedBy } = await running()
    send('slow', 100)
    send('other', 20)
    await setImmediate()
    expect([askedBy('slow'), askedBy('other')]).to.deep.equal([24, 8])
    for (const { of, end } of asked) if (of.startsWith('slow')) end()
    await setImmediate()
    expect(askedBy('slow')).to.be.at.least(32)
    for (let next = 0; next < asked.length; next += 1) {
      asked[next]?.end()
      await setImmediate()
    }
    expect([askedBy('slow'), askedBy('other')]).to.deep.equal([100, 20])
  })

  it('gives no place to what a request does once beside another', async () => {
    const { process, request, asked } = await running()
    for (let each = 0; each < 30; each += 1) {
      const answer = process.answer(request(`desk-${each}`, 'desk', 2), never)
      await setImmediate()
      expect(asked.length).to.equal(each + 1)
      asked[each]?.end()
      await setImmediate()
      expect(asked.length).to.equal(each + 1)
      expect(await answer).to.deep.equal({ text: '{}' })
    }
  })

  it('tells a request whether its answer was delivered, also where that was told first', async () => {
    const { process, request } = await running()
    process.delivered('early', false)
    expect(await process.answer(request('early', 'bot', 1), never)).to.deep.equal({ text: '{"isDelivered":false}' })
    const later = process.answer(request('later', 'bot', 1), never)
    process.delivered('later', true)
    expect(await later).to.deep.equal({ text: '{"isDelivered":true}' })
  })

  it('answers by schemas with a name that several paths have in common', async () => {
    const { process, request } = await running()
    for (const path of [3, 4]) {
      expect(await process.answer(request('desk', 'bot', path, { pair: 'WETH-DAI' }), never)).to.deep.equal({ text: '{"px":"WETH-DAI"}' })
      const refused = await process
        .answer(request('desk', 'bot', path, { pair: 'TOO-LONG-BY-FAR' }), never)
        .catch((error: unknown) => error)
      expect(refused).to.have.property('name', 'INCOMPLETE_PARAMS')
    }
  })
})
