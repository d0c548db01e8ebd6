import { SigningKey } from 'ethers/crypto'
import { HDNodeWallet } from 'ethers/wallet'
import { devnetWalletCount, wellKnownMnemonic, wellKnownPath } from './keys.ts'
import type { LockedWallet, UnlockedWallet } from './keystore.ts'
import { signEvm } from './policy-evm.ts'
import { Refusal, networkKey, type SignerRules } from './policy.ts'
import type { SignRequest } from './signer-messages.ts'

export interface Keyring {
  /** @returns the signature, in its curve's form. @throws Refusal */
  sign(request: SignRequest, rules: SignerRules): Uint8Array
}

/** The unlocked keys, and the one way to use them. For the signer's process only. */
export async function createKeyring(wallets: readonly UnlockedWallet[], locked: readonly LockedWallet[] = []): Promise<Keyring> {
  const unlocked = new Map(wallets.map((wallet) => [walletKey(wallet), wallet]))
  const problems = new Map(locked.map((wallet) => [walletKey(wallet), wallet.problem]))
  // What reads these messages is large: only who has such a key waits for it.
  const ed25519 = wallets.some(({ curve }) => curve === 'ed25519') ? await import('./policy-solana.ts') : undefined

  return {
    sign(request, rules) {
      const wallet = unlocked.get(walletKey(request))
      if (!wallet) throw missing(request, problems.get(walletKey(request)))
      const network = rules.get(networkKey(request.chain, request.network))
      if (!network) throw new Refusal(`nothing is signed for ${networkKey(request.chain, request.network)}: no plugin serves it`)
      if (wallet.curve === 'secp256k1' && network.keys === 'secp256k1') return signEvm(wallet.key, request, network)
      if (wallet.curve === 'ed25519' && network.keys === 'ed25519' && ed25519) return ed25519.signMessage(wallet, request, network)
      throw new Refusal(`the key of ${wallet.address} is one of ${wallet.curve}, and ${network.name} takes keys of ${network.keys}`)
    },
  }
}

const walletKey = ({ chain, address }: { chain: string; address: string }): string => `${chain}/${address.toLowerCase()}`

function missing({ chain, address }: SignRequest, problem: string | undefined): Refusal {
  if (problem === undefined)
    return new Refusal(`there is no key for ${address} on ${chain}; add it with "sluice wallet add" and restart the server`, 'LOAD_WALLET')
  return new Refusal(`the key of ${address} is locked: ${problem}`, 'SERVICE_UNINITIALIZED')
}

/** The devnet's trading wallets: anvil's accounts 0, 1 and 2, in memory only. For the signer's process only. */
export function devnetWallets(): UnlockedWallet[] {
  return Array.from({ length: devnetWalletCount }, (_, index) => {
    const { address, privateKey } = HDNodeWallet.fromPhrase(wellKnownMnemonic, '', wellKnownPath(index))
    return { chain: 'ethereum', address, label: `devnet ${index}`, devnet: true, curve: 'secp256k1', key: new SigningKey(privateKey) }
  })
}
