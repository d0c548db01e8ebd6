import type { Services } from '../handlers/context.ts'
import type { NetworkEntry } from '../handlers/registry.ts'
import { readFees } from './fees.ts'
import { readAddress, requireKey } from '../handlers/wallets.ts'

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
  return { address, wish: readFees(request, network), nonce: request.nonce }
}
