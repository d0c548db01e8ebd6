export { keystoreHasKeys, listWallets } from './keystore/keystore.ts'
export { getPassphrase, passphraseFromFile } from './keystore/passphrase.ts'
export type { NetworkPolicy, SignerPolicy } from './signer/signer-policy.ts'
export { startSigner, type Signer } from './signer/start-signer.ts'
