// Whether a request names this server as its own names do. A page whose name its owner points at this server's address is of the same origin for a browser
// (DNS rebinding): only the name in `Host` tells.
import { isIP } from 'node:net'
import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'

type HostRequest = Pick<IncomingMessage, 'headers' | 'socket'>

export interface HostNames {
  /** Also counts the others. An address is always one: nobody can point it elsewhere. */
  isOwn(request: HostRequest): boolean
}

const names = new WeakMap<object, ReadonlySet<string>>()

/** @param own as it is configured @param onOther told of each request with another name, or without one */
export function createHostNames(own: string, onOther: () => void): HostNames {
  return {
    isOwn({ headers: { host }, socket }) {
      const name = host === undefined ? undefined : nameIn(host)
      if (name !== undefined && (name === 'localhost' || name === own.toLowerCase() || isIP(name) !== 0 || isCertified(name, socket)))
        return true
      onOther()
      return false
    },
  }
}

/** Without the port, the brackets of an address and the dot at the end. */
function nameIn(host: string): string | undefined {
  const [, address, name] = /^(?:\[([\da-f:.]+)\]|([\w.-]+?)\.?)(?::\d{1,5})?$/i.exec(host) ?? []
  return (address ?? name)?.toLowerCase()
}

/** Whether the certificate that this connection was opened with is for the name. */
function isCertified(name: string, socket: IncomingMessage['socket']): boolean {
  if (!(socket instanceof TLSSocket)) return false
  let certified = names.get(socket)
  if (!certified) names.set(socket, (certified = namesOf(socket)))
  return certified.has(name) || certified.has(name.replace(/^[^.]+/, '*'))
}

function namesOf(socket: TLSSocket): ReadonlySet<string> {
  const certificate = socket.getCertificate()
  const text = certificate && 'subjectaltname' in certificate ? String(certificate.subjectaltname) : ''
  return new Set([...text.matchAll(/DNS:([^,\s"]+)/g)].map(([, name = '']) => name.toLowerCase()))
}

/** Whether a browser says that it sends the request: it lets no page set or leave out these headers. */
export const isOfBrowser = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers.origin !== undefined || browserHeaders.some((name) => headers[name] !== undefined)

const browserHeaders = ['sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest', 'sec-fetch-user'] as const
