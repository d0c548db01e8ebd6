import type { Permission } from '../api/index.ts'
import { SluiceError } from '../errors.ts'

/** Who sends a request: a client certificate and its entry in `conf/clients.yml`. */
export interface Caller {
  commonName: string
  /** SHA-256 of the certificate. */
  fingerprint: string
  permissions: ReadonlySet<Permission>
  /** Addresses in lower case. */
  wallets: 'all' | ReadonlySet<string>
  /** Requests per second; absent: no limit of its own. */
  requestsPerSecond?: number
}

export const hasPermission = (caller: Caller, permission: Permission) => caller.permissions.has(permission)

export const mayUseWallet = ({ wallets }: Caller, address: string) => wallets === 'all' || wallets.has(address.toLowerCase())

/** The wallets, in lower case, that a list for the caller is limited to; undefined: all. */
export const visibleWallets = ({ wallets }: Caller): ReadonlySet<string> | undefined => (wallets === 'all' ? undefined : wallets)

/** @throws SluiceError FORBIDDEN */
export function requirePermission(caller: Caller, permission: Permission): void {
  if (hasPermission(caller, permission)) return
  throw new SluiceError(
    'FORBIDDEN',
    `The client certificate "${caller.commonName}" lacks the permission ${permission}; an operator gives it in conf/clients.yml.`,
  )
}

/** @throws SluiceError FORBIDDEN */
export function requireWallet(caller: Caller, address: string): void {
  if (mayUseWallet(caller, address)) return
  throw new SluiceError(
    'FORBIDDEN',
    `The client certificate "${caller.commonName}" may not use the wallet ${address}; an operator allows it in conf/clients.yml.`,
  )
}
