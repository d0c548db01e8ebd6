import { getBytes } from 'ethers/utils'
import { Transaction, type TransactionLike } from 'ethers/transaction'
import { readPolicy, type EvmRules, type SignerPolicy } from '../../core/wallet/policy.ts'
import type { SignRequest } from '../../core/wallet/signer-messages.ts'

export const router = '0x1111111111111111111111111111111111111111'
export const wrapper = '0x2222222222222222222222222222222222222222'
export const token = '0x3333333333333333333333333333333333333333'
/** In the token list of the devnet. */
export const listed = '0x1010101010101010101010101010101010101010'
export const allowedSpender = '0x4444444444444444444444444444444444444444'
export const stranger = '0x5555555555555555555555555555555555555555'
/** Exchanges elsewhere take deposits of it by the bridge; of the wrapper, which is declared besides, by the other one. */
export const dollar = '0x7777777777777777777777777777777777777777'
export const bridge = '0x8888888888888888888888888888888888888888'
export const otherBridge = '0x9999999999999999999999999999999999999999'
export const feeCapRaw = 100n * 10n ** 9n
/** SHA-256 of the files of a plugin of a third party that the operator trusts. */
export const trustedSha256: string = 'ab'.repeat(32)

const network = {
  keys: 'secp256k1' as const,
  chain: 'ethereum',
  feeCapRaw: feeCapRaw.toString(),
  contracts: [router, wrapper],
  spenders: [router],
  typedData: [{ domain: 'Book', primaryType: 'Order' }],
}

/** A devnet and a public network with a router, and a token that is declared so that it can be wrapped. */
export const examplePolicy: SignerPolicy = {
  networks: [
    {
      ...network,
      network: 'local',
      chainId: 31337,
      local: true,
      tokens: [listed],
      deposits: [
        { token: dollar, recipient: bridge, plugin: trustedSha256 },
        { token: wrapper, recipient: otherBridge, plugin: trustedSha256 },
      ],
    },
    { ...network, network: 'mainnet', chainId: 1, local: false, deposits: [] },
  ],
  allowedSpenders: [allowedSpender],
}

/** What of a policy holds on the devnet. */
export const localRules = (policy?: SignerPolicy): EvmRules => rulesOn('ethereum/local', policy)

export function rulesOn(name: string, policy: SignerPolicy = examplePolicy): EvmRules {
  const rules = readPolicy(policy).get(name)
  if (rules?.keys !== 'secp256k1') throw new Error(`the policy has no network ${name}`)
  return rules
}

/** An unsigned call of the router on the devnet, with what the test changes. */
export const transaction = (changes: TransactionLike = {}): Transaction =>
  Transaction.from({
    type: 2,
    chainId: 31337,
    to: router,
    value: 1n,
    nonce: 0,
    data: '0x38ed1739',
    gasLimit: 200_000n,
    maxFeePerGas: feeCapRaw,
    maxPriorityFeePerGas: 1n,
    ...changes,
  })

export const bytesOf = (tx: Transaction): Uint8Array => getBytes(tx.unsignedSerialized)

export const requestOf = (address: string, tx: Transaction, changes: Partial<SignRequest> = {}): SignRequest => ({
  chain: 'ethereum',
  network: 'local',
  address,
  draft: { scheme: 'secp256k1', bytes: bytesOf(tx) },
  ...changes,
})
