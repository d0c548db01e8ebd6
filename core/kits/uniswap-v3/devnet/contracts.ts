import { getCreateAddress, toQuantity } from 'ethers'
import type { DevnetSite } from '../../../contracts/devnet.ts'

// A round number, so that addresses stay where they are however many transactions the exchange's other pools take.
const firstNonce = 1000
// The first that the exchange deploys: see the kit of constant-product pools.
const v2FactoryNonce = 0

// Said beforehand: to estimate it would run everything twice, and whoever starts for the first time waits for it.
export const mostGas = 15_000_000n

export type Contracts = ReturnType<typeof contractsOf>

/** Where the contracts of such an exchange lie on the devnet. */
export function contractsOf(deployer: string) {
  const at = (nonce: number) => getCreateAddress({ from: deployer, nonce })
  return {
    v2Factory: at(v2FactoryNonce),
    factory: at(firstNonce),
    positionManager: at(firstNonce + 1),
    router: at(firstNonce + 2),
    quoter: at(firstNonce + 3),
    mixedQuoter: at(firstNonce + 4),
  }
}

/** The next transaction is the first of these contracts'. */
export async function startingNonce({ provider, signer }: DevnetSite): Promise<void> {
  await provider.send('anvil_setNonce', [signer.address, toQuantity(firstNonce)])
}
