// Whether an address is one of the internet, for what must not lead into the operator's own network.
import { lookup as resolveName, type LookupAddress } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** The special-purpose address registries of IANA: everything that is not reachable over the internet, or leads elsewhere. */
const special4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const
/** Of the addresses that are given out at all (2000::/3): protocols that carry IPv4 addresses, and documentation. */
const special6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const

const special = new BlockList()
for (const [network, prefix] of special4) special.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of special6) special.addSubnet(network, prefix, 'ipv6')
const givenOut = new BlockList()
givenOut.addSubnet('2000::', 3, 'ipv6')

/** Whether an address is one of the internet. */
export function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !special.check(address, 'ipv4')
  return isIP(address) === 6 && givenOut.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

/** Resolves a name to all of its addresses, as `lookup` of `node:dns`. */
export type ResolveAll = (
  hostname: string,
  options: { readonly all: true; readonly family?: number | 'IPv4' | 'IPv6'; readonly hints?: number },
  done: (error: Error | null, addresses: LookupAddress[]) => void,
) => void

/**
 * For `connect`: what is resolved is what is dialled, so that a name cannot lead elsewhere after it was looked at.
 * @param wordsFor what to say of an address that is not public
 * @param resolve of the system, but where a test has names change
 */
export const lookupPublic =
  (wordsFor: (address: string) => string, resolve: ResolveAll = resolveName): LookupFunction =>
  (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const hidden = error ? undefined : addresses.find(({ address }) => !isPublic(address))
      const [first] = error ? [] : addresses
      if (error) done(error, '')
      else if (hidden) done(new Error(wordsFor(hidden.address)), '')
      else if (options.all) done(null, addresses)
      else done(null, first?.address ?? '', first?.family)
    })
  }
