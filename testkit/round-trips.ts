import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { isObject } from '../core/base/json.ts'

/** One HTTP request to a node. */
export interface RoundTrip {
  /** The methods of its JSON-RPC calls. */
  methods: readonly string[]
  /** One more than the step of the last answered request before it: requests of the same step ran concurrently. */
  step: number
}

/**
 * Records this process's HTTP requests to a node, by the HTTP client's diagnostics channel.
 * @param ignores which requests are not counted, such as those that follow the head beside all else
 */
export function roundTripsTo(rpcUrl: string, ignores: (methods: readonly string[]) => boolean = () => false) {
  const { origin } = new URL(rpcUrl)
  let taken: RoundTrip[] = []
  let answered = 0
  const open = new Map<unknown, RoundTrip>()
  const created = (event: unknown): void => {
    // The event's type is documented by undici.
    const { request } = event as { request: { origin: string | URL; body: Buffer | string | null } }
    if (new URL(request.origin).origin !== origin) return
    const trip = { methods: methodsOf(String(request.body)), step: answered + 1 }
    if (ignores(trip.methods)) return
    open.set(request, trip)
    taken.push(trip)
  }
  const ended = (event: unknown): void => {
    const { request } = event as { request: object }
    const trip = open.get(request)
    open.delete(request)
    if (trip) answered = Math.max(answered, trip.step)
  }
  return {
    record(): void {
      subscribe('undici:request:create', created)
      subscribe('undici:request:trailers', ended)
    },
    /** Ends the recording. */
    take(): readonly RoundTrip[] {
      unsubscribe('undici:request:create', created)
      unsubscribe('undici:request:trailers', ended)
      const all = taken
      taken = []
      answered = 0
      open.clear()
      return all
    },
  }
}

function methodsOf(body: string): string[] {
  const parsed: unknown = JSON.parse(body)
  return [parsed].flat().map((call) => (isObject(call) && 'method' in call ? String(call.method) : 'unknown'))
}
