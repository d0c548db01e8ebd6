import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { isObject } from '../core/base/json.ts'
import type { NodeTrip } from '../kits/nodes/http.ts'

/** One HTTP request to a node. */
export interface RoundTrip {
  /** The methods of its JSON-RPC calls. */
  methods: readonly string[]
  /** One more than the step of the last answered request before it: requests of the same step ran concurrently. */
  step: number
}

/**
 * Records this process's HTTP requests to a node, by the channels of the client of nodes.
 * @param ignores which requests are not counted, such as those that follow the head beside all else
 */
export function roundTripsTo(rpcUrl: string, ignores: (methods: readonly string[]) => boolean = () => false) {
  const { origin } = new URL(rpcUrl)
  let taken: RoundTrip[] = []
  let answered = 0
  const open = new Map<unknown, RoundTrip>()
  const created = (event: unknown): void => {
    const request = event as NodeTrip
    if (request.origin !== origin) return
    const trip = { methods: methodsOf(request.body), step: answered + 1 }
    if (ignores(trip.methods)) return
    open.set(request, trip)
    taken.push(trip)
  }
  const ended = (request: unknown): void => {
    const trip = open.get(request)
    open.delete(request)
    if (trip) answered = Math.max(answered, trip.step)
  }
  return {
    record(): void {
      subscribe('sluice:node:begin', created)
      subscribe('sluice:node:end', ended)
    },
    /** Ends the recording. */
    take(): readonly RoundTrip[] {
      unsubscribe('sluice:node:begin', created)
      unsubscribe('sluice:node:end', ended)
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
