import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { CertificateError } from './certificate-error.ts'

const dnsName = /^(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?$/

/** What a server certificate is valid for: this machine by all its usual names, and the names that were asked for. */
export function serverNames(wanted: readonly string[] = []): string[] {
  const asked = wanted.map((name) => name.trim().toLowerCase())
  const wrong = asked.find((name) => !isServerName(name))
  if (wrong !== undefined) {
    throw new CertificateError(
      `"${wrong}" is neither a host name nor an IP address: give names such as sluice.example.org or 10.0.0.7, without a port.`,
    )
  }
  // A machine's own name may be something that no certificate can hold; then it is left out.
  const machine = [hostname().toLowerCase()].filter(isServerName)
  return [...new Set(['localhost', '127.0.0.1', '::1', ...machine, ...asked])]
}

function isServerName(name: string): boolean {
  return isIP(name) !== 0 || (name.length <= 253 && dnsName.test(name))
}
