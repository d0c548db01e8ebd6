import type { LookupAddress } from 'node:dns'
import { expect } from 'chai'
import {
  createAlertTable,
  createChannels,
  createOutbox,
  createRuleHealth,
  type AlertMessage,
  type AlertTable,
  type Outbox,
} from '../../core/alerts/index.ts'
import { alertHandlers } from '../../core/handlers/alerts.ts'
import type { ChannelSettings } from '../../core/config/alerts-file.ts'
import type { ResolveAll } from '../../core/base/public-address.ts'
import type { Store } from '../../core/store/store.ts'
import { onBothStores, places } from '../store/stores.ts'
import { createOutboxTable } from '../../core/alerts/outbox-table.ts'
import { startReceiver, type Receiver } from './receiver.ts'

const rules = { lowGas: { title: 'Low on gas', remedy: 'Send some.' }, outOfRange: { title: 'Out of range', remedy: 'Move it.' } }
const channels = [{ name: 'ops' }, { name: 'quiet', minSeverity: 'critical' as const, resolved: false }]
const telling = { rules, channels, groupMs: 60_000, server: 'host 1' }
const hourMs = 3_600_000
const silent = { warn: () => {} }

/** A clock that a test moves on. */
function createClock() {
  let now = 1_800_000_000_000
  return { nowMs: () => now, pass: (ms: number) => void (now += ms) }
}

const resolving =
  (addresses: LookupAddress[]): ResolveAll =>
  (_name, _options, done) =>
    done(null, addresses)

const found = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ subject: `wallet ${index}`, words: `wallet ${index} is low` }))

describe('alerts in the store', function () {
  this.timeout(300_000)
  onBothStores((place) => {
    let clock: ReturnType<typeof createClock>
    let store: Store
    beforeEach(async () => {
      clock = createClock()
      store = await place().open()
    })
    const tableOf = (serverId: string, of = store): AlertTable => createAlertTable({ store: of, serverId, nowMs: clock.nowMs })
    const messages = async () => {
      const rows = await store.read((db) => db.selectFrom('alert_messages').select(['channel', 'body']).orderBy('id').execute())
      return rows.map(({ channel, body }) => ({ channel, ...(JSON.parse(body) as { status: string; count: number; items: unknown[] }) }))
    }
    const tell = (table: AlertTable) => {
      clock.pass(1_000)
      return table.tell(telling)
    }

    it('become one message when ten thousand come at once, with the first ten', async () => {
      const table = tableOf('one')
      await table.raise('lowGas', 'warning', found(10_000))
      expect(await tell(table)).to.equal(1)
      const [message, ...others] = await messages()
      expect(others).to.deep.equal([])
      expect(message).to.deep.include({ channel: 'ops', status: 'raised', count: 10_000, title: 'Low on gas' })
      expect(message?.items).to.have.length(10)
      expect(await tell(table)).to.equal(0)
    })

    it('are shown with the most urgent among them where there are more than one answer has', async () => {
      const table = tableOf('one')
      await table.raise('outOfRange', 'info', found(1_000))
      clock.pass(1_000)
      await table.raise('lowGas', 'critical', [{ subject: 'late', words: 'it is low' }])
      const desk = { rules, server: 'host', table, outbox: { channels: [], states: async () => [] }, health: createRuleHealth() }
      const shown = await alertHandlers.Alerts({}, { services: { alerts: desk } } as never)
      expect([shown.alerts.length, shown.total]).to.deep.equal([1_000, 1_001])
      // Oldest first.
      expect(shown.alerts.at(-1)).to.include({ subject: 'late', severity: 'critical' })
      expect(shown.alerts.at(0)).to.include({ severity: 'info' })
    })

    it('are told once by two servers that see the same at once', async () => {
      const other = place().kind === 'postgres' ? await place().open() : store
      const [one, two] = [tableOf('one'), tableOf('two', other)]
      await Promise.all([one.raise('lowGas', 'critical', found(3)), two.raise('lowGas', 'critical', found(3))])
      clock.pass(1_000)
      const told = await Promise.all([one.tell(telling), two.tell(telling)])
      expect(told).to.have.members([0, 2])
      expect(await messages()).to.have.length(2)
    })

    it('are not told again after a restart, and then when they are over', async () => {
      await tableOf('before').raise('lowGas', 'warning', found(1))
      await tell(tableOf('before'))
      const after = tableOf('after')
      expect((await after.list()).map(({ subject, isResolved }) => [subject, isResolved])).to.deep.equal([['wallet 0', false]])
      await after.raise('lowGas', 'warning', found(1))
      clock.pass(120_000)
      expect(await tell(after)).to.equal(0)
      await after.resolve('lowGas', ['wallet 0'])
      expect(await tell(after)).to.equal(1)
      expect((await messages()).map(({ channel, status }) => `${channel} ${status}`)).to.deep.equal(['ops raised', 'ops resolved'])
      expect(await after.list()).to.deep.equal([])
    })

    it('are neither told nor told to be over while they are silenced, and told later if they last', async () => {
      const table = tableOf('one')
      await table.silence({ rule: 'lowGas', until: clock.nowMs() + 60_000, setBy: 'me' })
      await table.raise('lowGas', 'warning', found(2))
      await table.raise('outOfRange', 'warning', [{ subject: 'position', words: 'it is out' }])
      expect(await tell(table)).to.equal(1)
      await table.resolve('lowGas', ['wallet 0'])
      expect(await tell(table)).to.equal(0)
      clock.pass(60_000)
      expect(await tell(table)).to.equal(1)
      expect((await messages()).map(({ status, count, items }) => [status, count, items])).to.deep.equal([
        ['raised', 1, [{ subject: 'position', words: 'it is out' }]],
        ['raised', 1, [{ subject: 'wallet 1', words: 'wallet 1 is low' }]],
      ])
      expect(await table.silences()).to.deep.equal([])
    })

    it('are told, and told again after a message, also where the clock was set back', async () => {
      const table = tableOf('one')
      await table.raise('lowGas', 'warning', found(1))
      await tell(table)
      await table.raise('lowGas', 'warning', found(2))
      clock.pass(-hourMs)
      expect(await tell(table)).to.equal(1)
      await table.resolve('lowGas', ['wallet 0'])
      clock.pass(-hourMs)
      expect(await table.tell({ ...telling, overMs: 15_000 })).to.equal(1)
      expect((await messages()).map(({ status }) => status)).to.deep.equal(['raised', 'raised', 'resolved'])
    })

    it('end only when others could have said that they last', async () => {
      const table = tableOf('one')
      await table.raise('lowGas', 'warning', found(1))
      await tell(table)
      clock.pass(60_000)
      await table.resolve('lowGas', ['wallet 0'])
      clock.pass(14_000)
      expect(await table.tell({ ...telling, overMs: 15_000 })).to.equal(0)
      clock.pass(1_000)
      expect(await table.tell({ ...telling, overMs: 15_000 })).to.equal(1)
    })

    it('wait after a message where they are of one rule, and are one message then', async () => {
      const table = tableOf('one')
      await table.raise('lowGas', 'warning', found(1))
      await tell(table)
      await table.raise('lowGas', 'warning', found(3))
      expect(await tell(table)).to.equal(0)
      clock.pass(60_000)
      expect(await tell(table)).to.equal(1)
      expect((await messages()).map(({ count }) => count)).to.deep.equal([1, 2])
    })
  })

  describe('of two servers in PostgreSQL', () => {
    const { place } = places('postgres')
    const lease = (store: Store, serverId: string) =>
      store.openLeases(
        { serverId, serverName: serverId, log: { ...silent, info: () => {} } },
        { requested: () => {}, granted: () => {}, freed: () => {}, owned: () => {} },
      )
    it('are over when the server that saw them says so, or when it has ended', async () => {
      const store = await place().open()
      const first = lease(store, 'first')
      await first.revive()
      const [one, two] = ['first', 'second'].map((serverId) => createAlertTable({ store, serverId }))
      await one?.raise('lowGas', 'warning', found(1))
      await two?.resolve('lowGas', ['wallet 0'])
      expect((await two?.list())?.map(({ isResolved }) => isResolved)).to.deep.equal([false])
      await first.stop()
      await two?.resolve('lowGas', ['wallet 0'])
      expect((await two?.list())?.map(({ isResolved }) => isResolved)).to.deep.equal([true])
    })

    it('are delivered once where the clocks of the servers are minutes apart, and by the other once one has ended', async () => {
      const store = await place().open()
      for (const [name, aheadMs] of [
        ['ahead', 5 * 60_000],
        ['behind', -5 * 60_000],
      ] as const) {
        const ids = [`${name} holder`, `${name} other`]
        const leases = ids.map((serverId) => lease(store, serverId))
        for (const each of leases) await each.revive()
        const clocks = [() => Date.now() + aheadMs, Date.now]
        const [holder, other] = ids.map((serverId, index) => createOutboxTable({ store, serverId, nowMs: clocks[index] ?? Date.now }))
        const message = { status: 'raised', rule: 'lowGas', severity: 'warning', title: 'Low', remedy: '', count: 0, items: [] } as const
        await holder?.add([name], { ...message, at: Date.now() - 10 * 60_000, server: 'host' })
        const claimed = await holder?.claim(name)
        expect(claimed?.tries).to.equal(0)
        expect(await other?.claim(name), `${name}, while it is delivered`).to.equal(undefined)
        await leases[0]?.stop()
        expect((await other?.claim(name))?.id, `${name}, once that server has ended`).to.equal(claimed?.id)
        await leases[1]?.stop()
      }
    })
  })
})

describe('messages of alerts', function () {
  this.timeout(300_000)
  const { place } = places('embedded')
  let receiver: Receiver
  let store: Store
  let outboxes: Outbox[]
  let clock: ReturnType<typeof createClock>
  beforeEach(async () => {
    clock = createClock()
    outboxes = []
    receiver = await startReceiver()
    store = await place().open()
  })
  afterEach(async () => {
    for (const outbox of outboxes) await outbox.stop()
    await receiver.close()
  })

  const webhook = (of: Partial<ChannelSettings> = {}): ChannelSettings => ({
    kind: 'webhook',
    url: receiver.url,
    allowPrivate: true,
    ...of,
  })
  function outboxOf(of: Readonly<Record<string, ChannelSettings>>, more: { sendMs?: number; resolve?: ResolveAll; said?: object[] } = {}) {
    const { sendMs, resolve, said = [] } = more
    const outbox = createOutbox({
      store,
      channels: createChannels({ channels: of }, { resolve }),
      serverId: `server ${outboxes.length}`,
      log: { warn: (fields, message) => void said.push({ ...fields, message }) },
      nowMs: clock.nowMs,
      ...(sendMs !== undefined && { sendMs }),
    })
    outboxes.push(outbox)
    return outbox
  }
  const add = (outbox: Outbox, name = 'ops', as: Partial<AlertMessage> = {}) =>
    outbox.add([name], {
      status: 'raised',
      rule: 'lowGas',
      severity: 'warning',
      title: 'Low on gas',
      remedy: 'Send some.',
      count: 1,
      items: [{ subject: 'wallet', words: 'it is low' }],
      at: clock.nowMs(),
      server: 'host',
      ...as,
    })
  const stateOf = async (outbox: Outbox) => (await outbox.states())[0]

  it('are tried again after an answer of 500, under the same number, also by the next server, and given up after a day', async () => {
    receiver.answerBy((_, response) => void response.writeHead(500).end('no'))
    const said: { message?: string }[] = []
    const first = outboxOf({ ops: webhook() }, { said })
    await add(first)
    await first.run()
    const reason = 'it answers HTTP 500: "no"'
    expect(await stateOf(first)).to.deep.equal({ name: 'ops', waiting: 1, reason })
    expect(said).to.deep.equal([{ channel: 'ops', reason, message: 'an alert was not delivered; tried again' }])
    await first.stop()
    // Not before its time.
    await outboxOf({ ops: webhook() }).run()
    expect(receiver.received).to.have.length(1)
    clock.pass(6_000)
    await outboxOf({ ops: webhook() }).run()
    expect(receiver.received).to.have.length(2)
    receiver.answerBy((_, response) => void response.writeHead(204).end())
    clock.pass(60_000)
    const third = outboxOf({ ops: webhook() })
    await third.run()
    expect(await stateOf(third)).to.deep.include({ waiting: 0, deliveredAt: clock.nowMs() })
    expect(new Set(receiver.received.map(({ headers }) => headers['x-sluice-message'])).size).to.equal(1)

    receiver.answerBy((_, response) => void response.writeHead(500).end())
    await add(third)
    clock.pass(25 * 3_600_000)
    await third.run()
    expect(await stateOf(third)).to.deep.include({ waiting: 0, reason: 'it answers HTTP 500' })
  })

  describe('that nobody got', () => {
    const raisedBy = async (count: number) => {
      const table = createAlertTable({ store, serverId: 'one', nowMs: clock.nowMs })
      await table.raise('lowGas', 'warning', found(count))
      clock.pass(1_000)
      return table
    }
    const both = { ...telling, channels: [{ name: 'ops' }, { name: 'phone' }] }
    const toldTimes = async (table: AlertTable) => (await table.list()).map(({ toldAt }) => toldAt)

    it('are told again if they last, and shown as told from when the first channel has taken them', async () => {
      receiver.answerBy((_, response) => void response.writeHead(500).end())
      const table = await raisedBy(1)
      await table.tell(both)
      const of = { ops: webhook(), phone: webhook({ url: `${receiver.url}/phone` }) }
      await outboxOf(of).run()
      expect(await toldTimes(table)).to.deep.equal([undefined])
      clock.pass(25 * 3_600_000)
      await outboxOf(of).run()
      expect(await table.tell(both)).to.equal(2)
      clock.pass(5_000)
      receiver.answerBy(({ url }, response) => void response.writeHead(url === '/phone' ? 200 : 500).end())
      await outboxOf(of).run()
      const at = clock.nowMs()
      clock.pass(25 * 3_600_000)
      await outboxOf(of).run()
      expect(await table.tell(both)).to.equal(0)
      expect(await toldTimes(table)).to.deep.equal([at])
    })

    it('are told again also when too many waited, and the least urgent are given up first', async () => {
      const table = await raisedBy(1)
      await table.tell({ ...telling, channels: [{ name: 'ops' }] })
      const message = { status: 'raised', rule: 'outOfRange', title: 'Out', remedy: '', count: 0, items: [], server: 'host' } as const
      const outbox = outboxOf({ ops: webhook() })
      await outbox.add(['ops'], { ...message, severity: 'info', at: clock.nowMs() + 1 })
      for (let count = 0; count < 200; count += 1) await outbox.add(['ops'], { ...message, severity: 'critical', at: clock.nowMs() + 2 })
      receiver.answerBy((_, response) => void response.writeHead(500).end())
      await outbox.run()
      const left = await store.read((db) => db.selectFrom('alert_messages').select('body').where('state', '=', 'waiting').execute())
      expect(left.length).to.equal(200)
      expect(left.every(({ body }) => body.includes('"critical"'))).to.equal(true)
      expect(await table.tell(telling)).to.equal(0)
      clock.pass(60_000)
      expect(await table.tell(telling)).to.equal(1)
    })
  })

  it('of one rule come in their order after an outage, and hold up no other rule', async () => {
    receiver.answerBy((_, response) => void response.writeHead(503).end())
    await add(outboxOf({ ops: webhook() }))
    for (let tries = 0; tries < 4; tries += 1) {
      await outboxOf({ ops: webhook() }).run()
      clock.pass(60_000)
    }
    await outboxOf({ ops: webhook() }).run()
    const failed = receiver.received.length
    receiver.answerBy((_, response) => void response.writeHead(200).end())
    const outbox = outboxOf({ ops: webhook() })
    await add(outbox, 'ops', { status: 'resolved' })
    await add(outbox, 'ops', { rule: 'outOfRange' })
    const came = () => receiver.received.slice(failed).map(({ body }) => /"status":"(\w+)","rule":"(\w+)"/.exec(body)?.slice(1).join(' '))
    await outbox.run()
    expect(came()).to.deep.equal(['raised outOfRange'])
    clock.pass(5 * 60_000)
    await outbox.run()
    expect(came()).to.deep.equal(['raised outOfRange', 'raised lowGas', 'resolved lowGas'])
  })

  it('that wait are tried also where the clock was set back', async () => {
    const outbox = outboxOf({ ops: webhook() })
    receiver.answerBy((_, response) => void response.writeHead(500).end())
    await add(outbox)
    await outbox.run()
    expect(receiver.received).to.have.length(1)
    clock.pass(-2 * hourMs)
    const next = outboxOf({ ops: webhook() })
    await next.run()
    expect(receiver.received).to.have.length(2)
  })

  it('wait no more than a minute longer than they would where the clock was set back a little', async () => {
    receiver.answerBy((_, response) => void response.writeHead(500).end())
    await add(outboxOf({ ops: webhook() }))
    clock.pass(-10 * 60_000)
    for (const [tries, passedMs] of [0, 5_000, 10_000, 20_000].entries()) {
      clock.pass(passedMs)
      await outboxOf({ ops: webhook() }).run()
      expect(receiver.received).to.have.length(tries + 1)
      clock.pass(-2 * 60_000)
    }
  })

  it('are tried again by the same server once its pause after a failure is over, however often it looks meanwhile', async () => {
    receiver.answerBy((_, response) => void response.writeHead(500).end())
    const outbox = outboxOf({ ops: webhook() })
    await add(outbox)
    await outbox.run()
    receiver.answerBy((_, response) => void response.writeHead(200).end())
    clock.pass(hourMs)
    for (const until = performance.now() + 180_000; receiver.received.length < 2 && performance.now() < until;) {
      await outbox.run()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    expect(receiver.received).to.have.length(2)
    expect(await stateOf(outbox)).to.deep.include({ waiting: 0 })
  })

  it('that a person waits for are tried at once, also where others before failed', async () => {
    receiver.answerBy((_, response) => void response.writeHead(500).end())
    const outbox = outboxOf({ ops: webhook() })
    await add(outbox)
    await outbox.run()
    receiver.answerBy((_, response) => void response.writeHead(200).end())
    await outbox.run()
    expect(receiver.received).to.have.length(1)
    await add(outbox, 'ops', { rule: 'test' })
    await outbox.run()
    expect(receiver.received.map(({ body }) => /"rule":"(\w+)"/.exec(body)?.[1])).to.deep.equal(['lowGas', 'test'])
  })

  it('do not follow a redirect', async () => {
    const other = await startReceiver()
    receiver.answerBy((_, response) => void response.writeHead(307, { location: other.url }).end())
    const outbox = outboxOf({ ops: webhook() })
    await add(outbox)
    await outbox.run()
    expect((await stateOf(outbox))?.reason).to.equal('it answers HTTP 307, and no redirect is followed')
    expect(other.received).to.deep.equal([])
    await other.close()
  })

  it('wait for no other channel that hangs, and what hangs is tried again', async () => {
    const hanging = await startReceiver()
    hanging.answerBy(() => {})
    const outbox = outboxOf({ slow: webhook({ url: hanging.url }), ops: webhook() }, { sendMs: 3_000 })
    await add(outbox, 'slow')
    await add(outbox, 'ops')
    const run = outbox.run()
    await receiver.message(({ rule }) => rule === 'lowGas')
    await run
    expect(await outbox.states()).to.deep.equal([
      { name: 'slow', waiting: 1, reason: 'no answer in time' },
      { name: 'ops', waiting: 0, deliveredAt: clock.nowMs() },
    ])
    await hanging.close()
  })

  it('read little of an answer that does not end', async () => {
    receiver.answerBy((_, response) => {
      response.writeHead(200)
      const timer = setInterval(() => response.write('x'.repeat(10_000)), 1)
      response.on('close', () => clearInterval(timer))
    })
    const outbox = outboxOf({ ops: webhook() })
    await add(outbox)
    await outbox.run()
    expect((await stateOf(outbox))?.reason).to.match(/size/i)
  })

  it('go to no address of a private network, whatever name leads there, unless it is allowed', async () => {
    const answers = [
      [{ address: '127.0.0.1', family: 4 }],
      [
        { address: '8.8.8.8', family: 4 },
        { address: '10.0.0.1', family: 4 },
      ],
    ]
    for (const [url, resolve] of [
      [`https://127.0.0.1:${receiver.port}/`, undefined],
      [`https://[::1]:${receiver.port}/`, undefined],
      [`https://localhost:${receiver.port}/`, undefined],
      ['https://169.254.169.254/latest/meta-data/', undefined],
      ...answers.map((addresses) => ['https://hooks.example.org/', resolving(addresses)] as const),
    ] as const) {
      const outbox = outboxOf({ [url]: webhook({ url, allowPrivate: false }) }, resolve && { resolve })
      await add(outbox, url)
      await outbox.run()
      expect((await stateOf(outbox))?.reason, url).to.match(/is not a public address/)
    }
    expect(receiver.received).to.deep.equal([])
  })

  it('are delivered once where they do not reach everybody, and that is said', async () => {
    const said: object[] = []
    const log = { warn: (fields: object, words: string) => void said.push({ ...fields, words }) }
    let sent = 0
    const partly = { name: 'mail', send: async () => `${(sent += 1)} of 2 was refused` }
    const outbox = createOutbox({ store, channels: [partly], serverId: 'mails', log, nowMs: clock.nowMs })
    outboxes.push(outbox)
    await add(outbox, 'mail')
    await outbox.run()
    clock.pass(3_600_000)
    await outbox.run()
    expect([sent, said]).to.deep.equal([1, [{ channel: 'mail', reason: '1 of 2 was refused', words: 'an alert did not reach everybody' }]])
    expect(await stateOf(outbox)).to.include({ waiting: 0, reason: '1 of 2 was refused' })
  })

  it('say nothing of the URL, the token or the secret where they fail', async () => {
    const said: object[] = []
    const of = {
      ops: webhook({ url: 'http://127.0.0.1:1/services/T0SECRET/B0SECRETSECRET', secret: 'hidden-key' }),
      phone: { kind: 'telegram', token: '1234:hidden-token', chat: '1', apiUrl: 'http://127.0.0.1:1', allowPrivate: true } as const,
    }
    const outbox = outboxOf(of, { said })
    for (const name of ['ops', 'phone']) await add(outbox, name)
    await outbox.run()
    const shown = JSON.stringify([said, await outbox.states()])
    expect(said).to.have.length(2)
    for (const hidden of ['SECRET', 'hidden']) expect(shown).to.not.contain(hidden)
  })

  it('go to Telegram as plain text, to the chat, by the token of the bot', async () => {
    const outbox = outboxOf({ phone: { kind: 'telegram', token: '1234:abc', chat: '-100', apiUrl: receiver.url, allowPrivate: true } })
    await add(outbox, 'phone')
    await outbox.run()
    const [sent] = receiver.received
    expect(sent?.path).to.equal('/bot1234:abc/sendMessage')
    const body: unknown = JSON.parse(sent?.body ?? '')
    expect(body).to.deep.equal({
      chat_id: '-100',
      text: '[WARNING] Low on gas\n- it is low\nWhat to do: Send some.\nSluice, host, 2027-01-15 08:00:00 UTC',
      link_preview_options: { is_disabled: true },
    })
  })
})
