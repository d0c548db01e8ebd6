import { getBytes } from 'ethers/utils'
import { checkTransaction } from './check-transaction.ts'
import { checkTypedData } from './check-typed-data.ts'
import { Refusal } from './refusal.ts'
import { networkKey, type NetworkRules, type SignerRules } from './signer-policy.ts'
import type { SignRequest } from './sign-request.ts'
import type { LockedWallet, UnlockedWallet } from '../keystore/unlock-keystore.ts'
import { isWellKnown } from './well-known-keys.ts'

export interface Keyring {
  /** @returns r, s and the parity of y: 65 bytes. @throws Refusal */
  sign(request: SignRequest, rules: SignerRules): Uint8Array
}

/** The unlocked keys, and the one way to use them. For the signer's process only. */
export function createKeyring(wallets: readonly UnlockedWallet[], locked: readonly LockedWallet[] = []): Keyring {
  const unlocked = new Map(wallets.map((wallet) => [walletKey(wallet), wallet]))
  const problems = new Map(locked.map((wallet) => [walletKey(wallet), wallet.problem]))

  return {
    sign(request, rules) {
      const wallet = unlocked.get(walletKey(request))
      if (!wallet) throw missing(request, problems.get(walletKey(request)))
      const network = rules.get(networkKey(request.chain, request.network))
      if (!network) throw new Refusal(`nothing is signed for ${networkKey(request.chain, request.network)}: no plugin serves it`)
      checkWallet(wallet, network)
      const { r, s, yParity } = wallet.key.sign(checkDraft(request, network))
      return Uint8Array.of(...getBytes(r), ...getBytes(s), yParity)
    },
  }
}

const walletKey = ({ chain, address }: { chain: string; address: string }): string => `${chain}/${address.toLowerCase()}`

function missing({ chain, address }: SignRequest, problem: string | undefined): Refusal {
  if (problem === undefined)
    return new Refusal(`there is no key for ${address} on ${chain}; add it with "sluice wallet add" and restart the server`, 'LOAD_WALLET')
  return new Refusal(`the key of ${address} is locked: ${problem}`, 'SERVICE_UNINITIALIZED')
}

function checkWallet({ address }: UnlockedWallet, network: NetworkRules): void {
  if (network.local || !isWellKnown(address)) return
  throw new Refusal(
    `everybody has the key of ${address} (it is a test account of anvil and hardhat), so it signs on a devnet only, not on ${network.name}`,
  )
}

function checkDraft({ draft, address, admin = false }: SignRequest, rules: NetworkRules): string {
  if (draft.scheme === 'eip712') return checkTypedData(draft.typedData, rules)
  return checkTransaction({ bytes: draft.bytes, from: address, admin, rules })
}
