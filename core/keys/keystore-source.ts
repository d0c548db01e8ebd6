// The keystore as a source of signatures.
import * as Type from 'typebox'
import { defineKeySource } from './key-source.ts'
import { keystoreHasKeys } from './keystore-files.ts'

export const keystoreSource = defineKeySource({
  description: 'Encrypted key files in data.dir/keystore, one passphrase for all',
  options: Type.Object({}, { additionalProperties: false }),
  signsFor: 'real',
  needsPassphrase: true,
  hasKeys: keystoreHasKeys,
  async open(_options, { dataDir, passphrase }) {
    // What decrypts them takes long to load, and only the signer needs it.
    const { unlockKeystore } = await import('./keystore.ts')
    return unlockKeystore(dataDir, passphrase)
  },
})
