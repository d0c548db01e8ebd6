import { subscribe, unsubscribe } from 'node:diagnostics_channel'

/** Records the HTTP requests that this process makes to a node, where they leave: at the HTTP client. */
export function roundTripsTo(rpcUrl: string) {
  const { origin } = new URL(rpcUrl)
  let bodies: string[] = []
  const record = (event: unknown): void => {
    // As undici documents the event.
    const { request } = event as { request: { origin: string | URL; body: Buffer | string | null } }
    if (new URL(request.origin).origin === origin) bodies.push(String(request.body))
  }
  return {
    record: () => subscribe('undici:request:create', record),
    /** Ends the recording: the JSON-RPC methods of each request. */
    take(): readonly (readonly string[])[] {
      unsubscribe('undici:request:create', record)
      const taken = bodies.map(methodsOf)
      bodies = []
      return taken
    },
  }
}

function methodsOf(body: string): string[] {
  const parsed: unknown = JSON.parse(body)
  return [parsed].flat().map((call) => (typeof call === 'object' && call !== null && 'method' in call ? String(call.method) : 'unknown'))
}
