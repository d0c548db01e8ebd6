import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Interface } from 'ethers'
import { mergedFiles } from '../../../core/config/yaml.ts'
import { builtInPlugins } from '../../../core/base/layout.ts'
import type { Connector } from '../../../core/contracts/index.ts'
import { policyFromFiles } from '../../../core/wallet/policy-files.ts'
import { rulesOfPolicy, type EvmRules } from '../../../core/wallet/policy.ts'
import type { Evm } from '../../../kits/evm/index.ts'
import { openDevnetFixture, tokens, type DevnetFixture } from '../../kits/amm/devnet-fixture.ts'

/** The connectors of the release with pools on the devnet. */
export const names = [
  'uniswap',
  'sushiswap',
  'pancakeswap',
  'balancer',
  'curve',
  'camelot-v4',
  'quickswap',
  'quickswap-v3',
  'quickswap-v4',
  'traderjoe',
  'pangolin',
] as const

export type Exchange = Connector<Evm, 'AMM' | 'AMM_RANGE' | 'AMM_SHARES'>

/** The policy of the release, for its connectors on the devnet. */
export function devnetRules(): EvmRules {
  const confDir = mkdtempSync(path.join(tmpdir(), 'sluice-rules-'))
  const plugins = ['ethereum', ...names, 'oasis', 'perp']
  const policy = policyFromFiles({ confDir, plugins, allowedSpenders: [], environment: {}, tries: false }, {})
  const rules = rulesOfPolicy(policy).get('ethereum/local')
  if (rules?.keys !== 'secp256k1') throw new Error('The release has no devnet.')
  return rules
}

/** The devnet with the real contracts of these exchanges. */
export const openExchanges = (of: readonly string[]): Promise<DevnetFixture> =>
  openDevnetFixture(
    [...of, 'ethereum'].map((name) => fileURLToPath(new URL(`../../../plugins/${name}/devnet.ts`, import.meta.url))),
    { pollingSeconds: 0.05 },
  )

export async function exchangeOn(fixture: DevnetFixture, name: string): Promise<Exchange> {
  const { default: plugin } = (await import(`../../../plugins/${name}/index.ts`)) as { default: { create(venue: unknown): Exchange } }
  const defaults = mergedFiles([path.join(builtInPlugins, name, 'defaults.yml')]) as {
    contractAddresses: Record<string, Record<string, string>>
  }
  return plugin.create({ ...fixture.venue(defaults.contractAddresses['local'] ?? {}), config: defaults })
}

const abi = new Interface([
  'function approve(address spender, uint256 value)',
  'function approve(address token, address spender, uint160 amount, uint48 expiration)',
])
const [most, never] = [2n ** 160n - 1n, 2n ** 48n - 1n]

/** Calls that let the exchange take all tokens without end, by Permit2 too. */
export function approvalsOf({ spenders = {}, permit2 }: Exchange): readonly { to: string; data: string }[] {
  return Object.values(tokens).flatMap(({ address }) => [
    ...[...Object.values(spenders), ...(permit2 ? [permit2.address] : [])].map((spender) => ({
      to: address,
      data: abi.encodeFunctionData('approve(address,uint256)', [spender, 2n ** 256n - 1n]),
    })),
    ...(permit2?.spenders ?? []).map((spender) => ({
      to: permit2?.address ?? '',
      data: abi.encodeFunctionData('approve(address,address,uint160,uint48)', [address, spender, most, never]),
    })),
  ])
}
