import { badFields, SluiceError } from '../api/index.ts'
import type { NetworkEntry } from './registry.ts'

export interface WalletEntry {
  chain: string
  address: string
  label?: string
  /** A well-known key: only for local networks. */
  devnet?: true
}

/** The wallets that the server holds keys of. */
export interface Wallets {
  all(): readonly WalletEntry[]
}

/** The address in its canonical spelling. @throws SluiceError INCOMPLETE_PARAMS */
export function readAddress({ impl, chain }: NetworkEntry, text: string, field = 'address'): string {
  const address = impl.address(text)
  if (address !== undefined) return address
  throw badFields([
    { field, problem: `"${text}" is no address of ${chain}: give the whole of it, each letter in its own case (mixed case is a checksum)` },
  ])
}

/** @throws SluiceError LOAD_WALLET unless the server can sign for the address on that network */
export function requireKey(wallets: Wallets, { chain, network, impl }: NetworkEntry, address: string): void {
  // Letters that differ in case only are a matter of spelling where the chain says so.
  const isSame = (other: string) => other.toLowerCase() === address.toLowerCase() && impl.address(other) === impl.address(address)
  const wallet = wallets.all().find((each) => each.chain === chain && isSame(each.address))
  if (!wallet)
    throw new SluiceError(
      'LOAD_WALLET',
      `The server holds no key for ${address} on ${chain}; an operator adds it with \`sluice wallet add\`.`,
    )
  if (wallet.devnet && !impl.local)
    throw new SluiceError('LOAD_WALLET', `${address} is a devnet wallet with a well-known key: it is refused on ${chain}/${network}.`)
}
