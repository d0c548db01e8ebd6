import { subscribe } from 'node:diagnostics_channel'

/**
 * Counts the HTTP requests that this process makes to a node, where they leave: at the HTTP client. Each is given as the
 * JSON-RPC methods in it.
 */
export function countRoundTrips(rpcUrl: string): { take(): readonly (readonly string[])[] } {
  let seen: string[][] = []
  const { origin } = new URL(rpcUrl)
  subscribe('undici:request:create', (event) => {
    // As undici documents the event.
    const { request } = event as { request: { origin: string | URL; body: Buffer | string | null } }
    if (new URL(request.origin).origin === origin) seen.push(methodsOf(String(request.body)))
  })
  return {
    take() {
      const taken = seen
      seen = []
      return taken
    },
  }
}

function methodsOf(body: string): string[] {
  const parsed: unknown = JSON.parse(body)
  return [parsed].flat().map((call) => (typeof call === 'object' && call !== null && 'method' in call ? String(call.method) : 'unknown'))
}
