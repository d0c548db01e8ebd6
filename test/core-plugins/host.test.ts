import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { openChannel } from '../../core/plugins/isolate/channel.ts'
import type { ContainedProcess, ProcessEnd } from '../../core/plugins/isolate/containment.ts'
import type { Log } from '../../core/contracts/index.ts'
import { startHost, type HostOptions } from '../../core/plugins/isolate/host.ts'
import { PluginFault } from '../../core/plugins/refusal.ts'
import { createBroker } from '../../core/plugins/isolate/broker.ts'
import type { HostVenue } from '../../core/plugins/isolate/messages.ts'
import { evm, evmChain, multicall3 } from '../../kits/evm/index.ts'
import { answering, startFakeNode } from '../kits/evm/fake-node.ts'
import { keptLog } from './fixtures.ts'

/** Processor time of a step, and time by the clock. */
const budget = { processorMs: 5_000, clockMs: 400 }

const settings = { name: 'hangs', local: [], staleBlocks: 2, staleBlockSeconds: 60, staleSeconds: 30, checkSeconds: 10, cachedQuotes: 100 }

interface FakeProcess extends ContainedProcess {
  /** It ends by itself. */
  end(): void
}

interface Fake {
  /** What its plugin does where it is started, created, and asked whether it is there. */
  readonly start?: () => Promise<unknown>
  readonly create?: () => Promise<unknown>
  readonly ping?: () => Promise<unknown>
  /** What it tells when it is asked whether it is there. */
  readonly tells?: readonly unknown[]
  readonly processorMs: () => number
}

async function fakeProcess({ start, create, ping, tells, processorMs }: Fake): Promise<FakeProcess> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  const inside = connect({ port: typeof address === 'object' && address ? address.port : 0, host: '127.0.0.1' })
  const [channel]: Socket[] = await once(listener, 'connection')
  listener.close()
  if (!channel) throw new Error('no connection')
  const answer = (method: string, [word]: readonly unknown[]) => {
    if (method === 'load') return { description: { kind: 'connector', family: 'evm', manifest: {} } }
    if (method === 'create') return create?.() ?? { venues: [] }
    if (tells) told.tell('log', tells)
    return method === 'start' ? start?.() : (ping ?? (() => word))()
  }
  const told = openChannel({
    socket: inside,
    answer,
    onTold: () => {},
    onClosed: () => inside.destroy(),
    maxFrameBytes: 10_000,
    maxQuestions: 10,
  })
  let finish: (end: ProcessEnd) => void = () => {}
  const ended = new Promise<ProcessEnd>((resolve) => (finish = resolve))
  const end = () => {
    inside.destroy()
    finish({ status: 1, reason: 'it ended with the status 1', said: '' })
  }
  return { channel, ended, kill: end, use: () => ({ processes: 1, residentBytes: 0, processorMs: processorMs() }), end }
}

const hostOptions = (log: Log, spawn: () => Promise<ContainedProcess>): HostOptions => ({
  name: 'hangs',
  log,
  request: { entry: '', news: { folders: [], compiled: {} } },
  budget,
  stallSeconds: 60,
  takeTurn: async () => () => {},
  spawn,
  web: { fetch: () => Promise.reject(new Error('none')), close: async () => {} },
  stopping: new AbortController().signal,
  onFault: () => {},
  onDeath: () => {},
})

describe('the host of a plugin', function () {
  this.timeout(300_000)

  it('fails for the budget of its load where create() loops, however short the time is that it may stand still later', async () => {
    let usedMs = 0
    const never = () => new Promise(() => {})
    const spawn = () => fakeProcess({ create: never, ping: never, processorMs: () => (usedMs += 100) })
    const options = { ...hostOptions(keptLog().log, spawn), budget: { processorMs: 4_000, clockMs: 60_000 }, stallSeconds: 0.1 }
    const host = await startHost(options)
    try {
      const fault = await host.create([], settings).then(
        () => expect.fail('it was created'),
        (thrown: unknown) => thrown,
      )
      expect(fault).to.be.instanceOf(PluginFault).and.include({ step: 'create', isTemporary: true })
      expect((fault as PluginFault).message).to.match(/^create\(\) was not done after 4 s of processor time/)
    } finally {
      await host.stop()
    }
  })

  it('tells a create() that loops where others have the processors from one that waits', async () => {
    let usedMs = 0
    const spawn = () => fakeProcess({ create: () => new Promise(() => {}), processorMs: () => usedMs })
    const host = await startHost({ ...hostOptions(keptLog().log, spawn), budget: { processorMs: 5_000, clockMs: 400 } })
    try {
      const refused = host.create([], settings).then(
        () => expect.fail('it was created'),
        (thrown: unknown) => thrown,
      )
      usedMs = 4_000
      expect(await refused)
        .to.have.property('message')
        .that.matches(/^create\(\) was not done after 0\.4 s, 4 s of them of processor time: an endless loop/)
    } finally {
      await host.stop()
    }
  })

  for (const { what, isLoop, reason } of [
    { what: 'never settles', isLoop: false, reason: /start\(\) was not done after 0\.4 s: an await that never settles/ },
    { what: 'loops', isLoop: true, reason: /start\(\) was not done after 5 s of processor time: an endless loop/ },
  ])
    it(`ends where start() ${what} after a restart, as where it is loaded, and starts again`, async () => {
      const processes: FakeProcess[] = []
      let starts = 0
      const hang = async () => {
        starts += 1
        // Not the first start, which the venue watches, and not the last one.
        if (starts === 2) await new Promise(() => {})
      }
      const { log, lines } = keptLog()
      const spawn = async () => {
        const child = await fakeProcess({ start: hang, processorMs: () => (isLoop && starts === 2 ? 60_000 : 0) })
        processes.push(child)
        return child
      }
      const host = await startHost({ ...hostOptions(log, spawn), ...(isLoop && { budget: { ...budget, clockMs: 60_000 } }) })
      try {
        await host.create([], settings)
        const start = async () => void (await host.ask('start', [0]))
        await start()
        host.atRestart(start)
        processes[0]?.end()
        while (host.deaths < 2) await wait(20)
        while (host.notReady() !== undefined) await wait(20)
        expect(starts).to.equal(3)
        const told = lines.flatMap(({ fields }) => ('reason' in fields ? [String(fields.reason)] : []))
        expect(told[1]).to.match(reason)
      } finally {
        await host.stop()
      }
    })

  it('stays down where its process ends while it is asked again for what is followed, which fails quietly', async () => {
    const processes: FakeProcess[] = []
    const { log } = keptLog()
    const spawn = async () => {
      const child = await fakeProcess({ processorMs: () => 0 })
      processes.push(child)
      return child
    }
    const host = await startHost(hostOptions(log, spawn))
    try {
      await host.create([], settings)
      host.atRestart(async () => {
        processes.at(-1)?.end()
        await host.ask('call', ['follow']).catch(() => {})
      })
      processes[0]?.end()
      while (host.deaths < 2) await wait(5)
      await wait(20)
      expect(host.notReady()).to.match(/its process ended and is being started again/)
    } finally {
      await host.stop()
    }
  })

  it('answers after it has told what JSON cannot hold', async () => {
    const { log, lines } = keptLog()
    const spawn = () => fakeProcess({ processorMs: () => 0, tells: ['info', { a: 1n, b: [2n] }, 'told'] })
    const host = await startHost(hostOptions(log, spawn))
    try {
      await host.create([], settings)
      expect(await host.ask('call', ['word'])).to.equal('word')
      while (!lines.some(({ message }) => message === 'told')) await wait(5)
      expect(await host.ask('call', ['again'])).to.equal('again')
      expect(host.deaths).to.equal(0)
      expect(lines.find(({ message }) => message === 'told')?.fields).to.deep.equal({ said: '{"a":"1","b":["2"]}' })
    } finally {
      await host.stop()
    }
  })

  it('leaves no connection of its own to the nodes of its chain', async () => {
    const { log } = keptLog()
    const node = await startFakeNode(answering({ eth_call: '0x' }))
    const { rpcUrls, wrapped } = { rpcUrls: [node.url], wrapped: { symbol: 'WETH', address: `0x${'11'.repeat(20)}`, decimals: 18 } }
    const chain = evmChain(
      { chain: 'ethereum', network: 'local', config: { rpcUrls }, log, meter: { rpc: () => {} } },
      {
        chainId: 31337,
        nativeCurrency: 'ETH',
        wrapped,
        intermediates: [],
        multicall: multicall3,
        blockSeconds: 1,
        confirmations: 1,
        local: true,
      },
    )
    const broker = createBroker({ chain, remote: evm.remote!, network: 'ethereum/local', staleBlocks: 2, onHead: () => {}, log })
    const spawn = () => fakeProcess({ create: async () => ({ venues: [{}] }), processorMs: () => 0 })
    const host = await startHost(hostOptions(log, spawn))
    try {
      await host.create([{ venue: () => ({}) as HostVenue, broker }], settings)
      const call = { do: 'call', call: { to: wrapped.address, data: '0x' } }
      await broker.answer('read', [call], new AbortController().signal)
      const open = await node.connections()
      expect(open).to.be.at.least(2)
      await host.stop()
      while ((await node.connections()) === open) await wait(5)
    } finally {
      await host.stop()
      await chain.stop?.()
      await node.close()
    }
  })
})
