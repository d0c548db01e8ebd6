// The devnet's trading wallets, whose keys everybody knows.
import * as Type from 'typebox'
import { curves, type CurveName } from './curves.ts'
import { defineKeySource, type KeySourceSetting, type SigningWallet } from './key-source.ts'

/**
 * The keys of anvil's and hardhat's accounts 0, 1 and 2, which their documentation prints: https://getfoundry.sh/anvil/overview. No secrets:
 * what reaches these accounts on a public network is taken at once.
 */
export const devnetPrivateKeys: readonly string[] = [
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
]

/** The same of ed25519: SHA-256 of "sluice devnet wallet 0", 1 and 2. */
export const devnetSeeds: readonly string[] = [
  '0xa4e0c8727f25065025db5e62bcf881feb546eec58bcb17100be013371a528dad',
  '0x3c763f8c7fc29f0ae05c7f86e82dcfd4c5aa05e5be5729f083aa1a0da949e308',
  '0xb9e501782f885b7dc307cb6a0c44b47c92fe30a280c7ff79a7ef924924e006c2',
]

const keysOf = (curve: CurveName): readonly string[] => (curve === 'ed25519' ? devnetSeeds : devnetPrivateKeys)

/** The devnet's trading wallets on a chain with such keys. */
export const devnetAddresses = (curve: CurveName): readonly string[] => keysOf(curve).map((key) => curves[curve].addressOf(key))

/** The setting of the source on a chain; absent: the devnet's own. */
export const devnetSetting = (chain?: string): KeySourceSetting => ({ kind: 'devnet', ...(chain !== undefined && { chain }) })

export const devnetKeys = defineKeySource({
  description: 'Anvil’s well-known accounts 0, 1 and 2, which sign on local networks only. With devnet.enabled they are there anyway',
  options: Type.Object(
    {
      chain: Type.Optional(
        Type.String({ minLength: 1, description: 'Chain whose wallets they are, with keys of its kind; absent: ethereum' }),
      ),
    },
    { additionalProperties: false },
  ),
  signsFor: 'devnet',
  async open({ chain = 'ethereum' }, { curveOf }) {
    const curve = curveOf(chain)
    const wallets = keysOf(curve).map((privateKey, index): SigningWallet => {
      const address = curves[curve].addressOf(privateKey)
      const sign = curves[curve].signerOf(privateKey)
      return { chain, address, curve, label: `devnet ${index}`, devnet: true, sign }
    })
    return { wallets, locked: [] }
  },
})
