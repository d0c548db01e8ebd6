// An interface in the process of its plugin: what its handlers call goes to the server, as the caller whose request they answer.
import { addressKey } from '../../base/addresses.ts'
import { isObject } from '../../base/json.ts'
import { dropOldest } from '../../base/oldest.ts'
import type { Interface, InterfaceCall, InterfaceError, InterfacePlugin, Log } from '../../contracts/interface.ts'
import {
  checkInterface,
  maxFramedBytes,
  maxHostedAnswerBytes,
  servedHere,
  type CallerRights,
  type PathOutline,
} from '../interface-paths.ts'
import type { Channel } from './channel.ts'

/** A request, as the server sends it. */
export interface HostedRequest {
  /** Names the request in both directions, for as long as it is answered. */
  readonly id: string
  /** Of its path, among those of the interface. */
  readonly index: number
  readonly fields: Readonly<Record<string, unknown>>
  readonly requestId: string
  readonly rights: CallerRights
}

/** What became of a request: the answer as JSON, or which of its calls threw what the handler threw. */
export type HostedAnswer = { readonly text: string } | { readonly threw: number }

/** What became of an act of `once`: which of its calls threw what it threw. What else it threw is told as it is. */
export type HostedOutcome = 'done' | { readonly threw: number }

/** How many are under way at a time; others wait. */
interface Places {
  readonly all: number
  /** Of one client, while others wait. */
  readonly each: number
  /** Of one client, at any time. */
  readonly alone: number
}

/** The server ends a process that has more than 72 under way, with those to the web. What acts once calls endpoints, which have places of their own. */
const callPlaces: Places = { all: 32, each: 8, alone: 24 }
const oncePlaces: Places = { all: 24, each: 6, alone: 18 }

/** Of a request that never comes nobody asks. */
const maxEarly = 1_000

export interface InterfaceProcess {
  readonly outlines: readonly PathOutline[]
  answer(request: HostedRequest, signal: AbortSignal): Promise<HostedAnswer>
  showError(error: InterfaceError): ReturnType<Interface['showError']>
  /** Asked for a request that does something once. */
  prepare(id: string): Promise<object>
  act(id: string, key: string, prepared: object): Promise<HostedOutcome>
  /** Told once of each request. */
  delivered(id: string, isDelivered: boolean): void
}

export async function runInterface(
  plugin: InterfacePlugin,
  { name, config, log, channel }: { name: string; config: object; log: Log; channel: Pick<Channel, 'ask'> },
): Promise<InterfaceProcess> {
  const made = await plugin.create(Object.freeze({ config, log }))
  checkInterface(made)
  const served = servedHere(name, made, maxHostedAnswerBytes)
  const deliveries = new Map<string, (isDelivered: boolean) => void>()
  /** Told before the request itself was read: both may come in one frame. */
  const early = new Map<string, boolean>()
  const takeTurn = createTurns(callPlaces)
  const takeOnceTurn = createTurns(oncePlaces)
  /** By the request that does something once. */
  const acting = new Map<string, ActingOnce>()
  const actingOf = (id: string) => {
    const known = acting.get(id)
    if (!known) throw new Error('No such request does something once.')
    return known
  }

  return {
    // Schemas may have symbols and functions: what crosses is JSON.
    outlines: served.paths.map((path) => JSON.parse(JSON.stringify(path)) as PathOutline),
    async answer({ id, index, fields, requestId, rights }, signal) {
      const path = served.paths[index]
      if (!path) throw new Error('There is no such path.')
      /** Which call threw it. */
      const thrownBy = new WeakMap<object, number>()
      let calls = 0
      let hasOnce = false
      const delivered = deliveryOf(id)
      const permissions = new Set(rights.permissions)
      const wallets = rights.wallets === 'all' ? rights.wallets : new Set(rights.wallets)
      const call: InterfaceCall = {
        caller: Object.freeze({
          id: rights.id,
          may: (permission: string) => permissions.has(permission),
          mayUse: (wallet: string) => wallets === 'all' || wallets.has(addressKey(wallet)),
        }),
        requestId,
        signal,
        delivered,
        async once(request, prepare, act) {
          // Before it has a place, which nothing would pass on.
          if (hasOnce) throw new Error('once() is for one thing of a request.')
          hasOnce = true
          const number = (calls += 1)
          const passOn = await takeOnceTurn(rights.id)
          const state = onceState(prepare, act, thrownBy)
          acting.set(id, state)
          try {
            await channel.ask('once', [id, number, request], signal)
            return state.result()
          } catch (thrown) {
            const own = state.failure()
            if (own) throw own.thrown
            if (isObject(thrown)) thrownBy.set(thrown, number)
            throw thrown
          } finally {
            acting.delete(id)
            passOn()
          }
        },
        follow: withoutFollowing,
        preferences: { read: withoutPreferences, known: withoutPreferences, set: withoutPreferences },
        addKey: withoutKeys,
        ask: (endpoint, wanted) => call.call(endpoint, wanted),
        async call(endpoint, wanted, { key, signal: own } = {}) {
          const number = (calls += 1)
          const ends = own ? AbortSignal.any([own, signal]) : signal
          const passOn = await takeTurn(rights.id)
          try {
            return (await channel.ask('endpoint', [id, number, endpoint, wanted, key], ends)) as never
          } catch (thrown) {
            if (isObject(thrown)) thrownBy.set(thrown, number)
            throw thrown
          } finally {
            passOn()
          }
        },
      }
      try {
        const text = await path.answer(fields, { ...call, isGone: false, rights: () => rights })
        const bytes = Buffer.byteLength(JSON.stringify(text))
        if (bytes > maxFramedBytes) throw new Error(`the answer has ${bytes} bytes as JSON in JSON: at most ${maxFramedBytes} are sent`)
        return { text }
      } catch (thrown) {
        const threw = isObject(thrown) ? thrownBy.get(thrown) : undefined
        if (threw === undefined) throw thrown
        return { threw }
      }
    },
    showError: (error) => made.showError(error),
    prepare: async (id) => actingOf(id).prepare(),
    act: async (id, key, prepared) => actingOf(id).act(key, prepared),
    delivered(id, isDelivered) {
      const tell = deliveries.get(id)
      deliveries.delete(id)
      if (tell) return tell(isDelivered)
      early.set(id, isDelivered)
      dropOldest(early, maxEarly)
    },
  }

  function deliveryOf(id: string): Promise<boolean> {
    const known = early.get(id)
    early.delete(id)
    return known === undefined ? new Promise((resolve) => deliveries.set(id, resolve)) : Promise.resolve(known)
  }
}

/** What the server asks of one `once`. */
interface ActingOnce {
  prepare(): Promise<object>
  act(key: string, prepared: object): Promise<HostedOutcome>
}

/** The callbacks of one `once`. What they give and throw stays here. */
function onceState<P extends object, T>(
  prepare: () => Promise<P>,
  act: (key: string, prepared: P) => Promise<T>,
  thrownBy: WeakMap<object, number>,
): ActingOnce & { failure(): { readonly thrown: unknown } | undefined; result(): T } {
  let acted: { readonly value: T } | undefined
  let failed: { readonly thrown: unknown } | undefined
  const noting = async <R>(work: () => Promise<R>): Promise<R> => {
    try {
      return await work()
    } catch (thrown) {
      failed = { thrown }
      throw thrown
    }
  }
  return {
    prepare: () => noting(prepare),
    async act(key, prepared) {
      try {
        // The server gives back what was prepared, here or for an equal request before.
        acted = { value: await noting(() => act(key, prepared as P)) }
        return 'done'
      } catch (thrown) {
        const threw = isObject(thrown) ? thrownBy.get(thrown) : undefined
        if (threw === undefined) throw thrown
        return { threw }
      }
    },
    failure: () => failed,
    result(): T {
      if (!acted) throw new Error('The server did not ask for the act.')
      return acted.value
    },
  }
}

const withoutFollowing = async (): Promise<never> => {
  throw new Error('positions are followed for interfaces that run in the server')
}

const withoutPreferences = async (): Promise<never> => {
  throw new Error('preferences are for interfaces that run in the server')
}

const withoutKeys = async (): Promise<never> => {
  throw new Error('keys are for interfaces that run in the server')
}

/** What one client has under way and waiting. */
interface ClientTurns {
  used: number
  readonly waiting: (() => void)[]
}

/** Turns of all clients, of whom none takes all: what one calls may be slow. @returns what waits for a turn, and gives what passes it on */
function createTurns({ all, each, alone: most }: Places): (client: string) => Promise<() => void> {
  const clients = new Map<string, ClientTurns>()
  let used = 0

  /** @param alone whether no other client waits */
  const mayBegin = (own: ClientTurns, alone: boolean) => used < all && own.used < (alone ? most : each)

  function next(): void {
    const waiting = [...clients].filter(([, own]) => own.waiting.length > 0)
    const first = waiting.find(([, own]) => mayBegin(own, waiting.length === 1))
    if (!first) return
    const [client, own] = first
    // Behind the others: a map goes by the order of insertion.
    clients.delete(client)
    clients.set(client, own)
    begin(own)
    own.waiting.shift()?.()
    // There may be room for several: nobody else waits any more.
    next()
  }

  function begin(own: ClientTurns): void {
    used += 1
    own.used += 1
  }

  return async (client) => {
    const own = clients.get(client) ?? { used: 0, waiting: [] }
    clients.set(client, own)
    const othersWait = [...clients.values()].some((other) => other !== own && other.waiting.length > 0)
    if (own.waiting.length === 0 && mayBegin(own, !othersWait)) begin(own)
    else await new Promise<void>((resolve) => own.waiting.push(resolve))
    return () => {
      used -= 1
      own.used -= 1
      if (own.used === 0 && own.waiting.length === 0) clients.delete(client)
      next()
    }
  }
}
