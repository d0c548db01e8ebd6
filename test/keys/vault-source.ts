// An example of a key source that is not of the release: a service that signs. One file, and its line in a table of sources.
import * as Type from 'typebox'
import { curves } from '../../core/keys/curves.ts'
import { defineKeySource } from '../../core/keys/key-source.ts'

export const vaultKey = `0x${'a1b2c3d4'.repeat(8)}`

export const vault = defineKeySource({
  description: 'Keys in a vault that signs',
  options: Type.Object(
    { host: Type.String({ minLength: 1 }), port: Type.Optional(Type.Integer({ minimum: 1 })) },
    { additionalProperties: false },
  ),
  signsFor: 'real',
  environment: { VAULT_TOKEN: 'what the vault knows the signer by' },
  network: ({ host, port = 8200 }) => [`${host}:${port}`],
  async open({ host }, { environment, curveOf }) {
    const address = curves.secp256k1.addressOf(vaultKey)
    const chain = 'ethereum'
    const problem = `The vault ${host} takes no request without VAULT_TOKEN: set it.`
    if (environment['VAULT_TOKEN'] === undefined) return { wallets: [], locked: [{ chain, address, problem }] }
    const sign = curves.secp256k1.signerOf(vaultKey)
    return { wallets: [{ chain, address, curve: curveOf(chain), label: Object.keys(environment).join(), sign }], locked: [] }
  },
})
