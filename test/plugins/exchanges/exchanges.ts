import { deployments as sushiswap } from '../../../plugins/sushiswap/deployments.ts'
import { v2Deployments as uniswapV2 } from '../../../plugins/uniswap/deployments.ts'
import sushi from '../../fixtures/published/sushi.json' with { type: 'json' }
import uniswapCore from '../../fixtures/published/uniswap-sdk-core.json' with { type: 'json' }
import uniswapV2Sdk from '../../fixtures/published/uniswap-v2-sdk.json' with { type: 'json' }

type Facts = Readonly<Record<string, string>>

/** One protocol version of an exchange: ours beside what its project publishes, by chain id. */
interface Version {
  readonly version: string
  readonly deployments: Readonly<Record<string, { factory: string; deployer?: string; initCodeHash: string }>>
  readonly published: Readonly<Record<string, Facts>>
  /** What no package has: its source stands beside it. */
  readonly unpublished?: readonly string[]
  /** Of the configuration. */
  readonly keys: { readonly router: string; readonly positionManager?: string }
}

export const exchanges: readonly { readonly name: string; readonly versions: readonly Version[] }[] = [
  {
    name: 'uniswap',
    versions: [
      {
        version: 'v2',
        deployments: uniswapV2,
        published: together(uniswapCore.facts.v2, everywhere(uniswapCore.facts.v2, uniswapV2Sdk.facts)),
        keys: { router: 'v2RouterAddress' },
      },
    ],
  },
  {
    name: 'sushiswap',
    versions: [{ version: 'v2', deployments: sushiswap, published: sushi.facts.v2, keys: { router: 'routerAddress' } }],
  },
]

/** What several packages say of the same chains. */
function together(...maps: readonly Readonly<Record<string, Facts>>[]): Readonly<Record<string, Facts>> {
  const ids = new Set(maps.flatMap((map) => Object.keys(map)))
  return Object.fromEntries([...ids].map((id) => [id, Object.assign({}, ...maps.map((map) => map[id]))]))
}

/** What is said once, for each chain. */
function everywhere(chains: object, facts: Facts): Readonly<Record<string, Facts>> {
  return Object.fromEntries(Object.keys(chains).map((id) => [id, facts]))
}
