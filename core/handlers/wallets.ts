import { badFields, SluiceError } from '../api/index.ts'
import type { FeeWish, GasTerms } from '../contracts/index.ts'
import { fromRaw, toRaw } from '../decimal.ts'
import type { Services } from './context.ts'
import type { NetworkEntry } from './registry.ts'

interface WalletEntry {
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

interface WalletFields {
  address: string
  nonce?: number
  maxFeePerGas?: string
  maxPriorityFeePerGas?: string
}

/** Who acts, and what the wallet offers for gas. @throws SluiceError where the server cannot sign for it */
export function readWallet(request: WalletFields, { network, services }: { network: NetworkEntry; services: Services }) {
  const address = readAddress(network, request.address)
  requireKey(services.wallets, network, address)
  return { address, feeOverrides: readFees(request, network), nonce: request.nonce }
}

const gweiDecimals = 9

interface FeeFields {
  maxFeePerGas?: string
  maxPriorityFeePerGas?: string
}

/** The fees that a request asks for, checked against the network's cap. */
export function readFees(fields: FeeFields, { impl, chain }: NetworkEntry): FeeWish {
  const read = (field: keyof FeeFields): bigint | undefined => {
    const text = fields[field]
    if (text === undefined) return undefined
    if (!impl.evm) throw badFields([{ field, problem: `is for EVM chains: on ${chain} leave it out` }])
    const raw = toRaw(text, gweiDecimals)
    if (raw === undefined) throw badFields([{ field, problem: `${text} gwei has more than ${gweiDecimals} decimals` }])
    if (raw > impl.feeCapRaw) {
      throw badFields([
        { field, problem: `${text} gwei is above the network's feeCap of ${shortGwei(impl.feeCapRaw)} gwei; the unit is gwei, not wei` },
      ])
    }
    return raw
  }
  const maxFeePerGasRaw = read('maxFeePerGas')
  const maxPriorityFeePerGasRaw = read('maxPriorityFeePerGas')
  if (maxFeePerGasRaw !== undefined && maxPriorityFeePerGasRaw !== undefined && maxPriorityFeePerGasRaw > maxFeePerGasRaw) {
    throw badFields([{ field: 'maxPriorityFeePerGas', problem: 'is above maxFeePerGas' }])
  }
  return { maxFeePerGasRaw, maxPriorityFeePerGasRaw }
}

const shortGwei = (raw: bigint) => fromRaw(raw, gweiDecimals).replace(/\.?0+$/, '')

/** The gas fields of an answer. One gwei is 10^-9 of the coin, however many decimals that has. */
export function showGas({ gasLimit, gasPriceRaw, gasPriceDecimals = 0, gasCostRaw }: GasTerms, { impl }: NetworkEntry) {
  const { symbol, decimals } = impl.nativeCurrency
  return {
    gasPrice: Number(fromRaw(gasPriceRaw * 10n ** BigInt(gweiDecimals), decimals + gasPriceDecimals)),
    gasPriceToken: symbol,
    gasLimit: Number(gasLimit),
    gasCost: fromRaw(gasCostRaw, decimals),
  }
}
