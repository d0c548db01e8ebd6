import { SigningKey } from 'ethers/crypto'
import { HDNodeWallet } from 'ethers/wallet'
import type { UnlockedWallet } from '../keystore/unlock-keystore.ts'
import { devnetWalletCount, wellKnownMnemonic, wellKnownPath } from './well-known-keys.ts'

/** The devnet's trading wallets: anvil's accounts 0, 1 and 2, in memory only. For the signer's process only. */
export function devnetWallets(): UnlockedWallet[] {
  return Array.from({ length: devnetWalletCount }, (_, index) => {
    const { address, privateKey } = HDNodeWallet.fromPhrase(wellKnownMnemonic, '', wellKnownPath(index))
    return { chain: 'ethereum', address, label: `devnet ${index}`, devnet: true, curve: 'secp256k1', key: new SigningKey(privateKey) }
  })
}
