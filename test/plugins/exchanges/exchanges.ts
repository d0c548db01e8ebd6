import type { Connector, ConnectorConfig, Manifest, Venue } from '../../../core/contracts/index.ts'
import type { Evm } from '../../../kits/evm/index.ts'
import camelotV4Plugin, { deployments as camelotV4 } from '../../../plugins/camelot-v4/index.ts'
import pangolinPlugin, { deployments as pangolin } from '../../../plugins/pangolin/index.ts'
import pancakeswapPlugin, * as pancakeswap from '../../../plugins/pancakeswap/index.ts'
import quickswapPlugin, { deployments as quickswap } from '../../../plugins/quickswap/index.ts'
import quickswapV3Plugin, { deployments as quickswapV3 } from '../../../plugins/quickswap-v3/index.ts'
import quickswapV4Plugin, { deployments as quickswapV4 } from '../../../plugins/quickswap-v4/index.ts'
import sushiswapPlugin, * as sushiswap from '../../../plugins/sushiswap/index.ts'
import traderjoePlugin, { deployments as traderjoe } from '../../../plugins/traderjoe/index.ts'
import * as uniswap from '../../../plugins/uniswap/deployments.ts'
import uniswapPlugin from '../../../plugins/uniswap/index.ts'
import camelotSdk from '../../fixtures/published/camelot-integral-sdk.json' with { type: 'json' }
import pancakeswapChains from '../../fixtures/published/pancakeswap-chains.json' with { type: 'json' }
import pancakeswapRouters from '../../fixtures/published/pancakeswap-smart-router.json' with { type: 'json' }
import pancakeswapV2Sdk from '../../fixtures/published/pancakeswap-v2-sdk.json' with { type: 'json' }
import pancakeswapV3Sdk from '../../fixtures/published/pancakeswap-v3-sdk.json' with { type: 'json' }
import pangolinSdk from '../../fixtures/published/pangolin-sdk.json' with { type: 'json' }
import quickswapSdk from '../../fixtures/published/quickswap-sdk.json' with { type: 'json' }
import paraswap from '../../fixtures/published/paraswap-dex-lib.json' with { type: 'json' }
import sushi from '../../fixtures/published/sushi.json' with { type: 'json' }
import traderjoeSdk from '../../fixtures/published/traderjoe-sdk.json' with { type: 'json' }
import uniswapCore from '../../fixtures/published/uniswap-sdk-core.json' with { type: 'json' }
import uniswapRouterSdk from '../../fixtures/published/uniswap-universal-router-sdk.json' with { type: 'json' }
import uniswapV2Sdk from '../../fixtures/published/uniswap-v2-sdk.json' with { type: 'json' }
import uniswapV3Sdk from '../../fixtures/published/uniswap-v3-sdk.json' with { type: 'json' }

type Facts = Readonly<Record<string, string>>
type ByChain = Readonly<Record<string, Facts>>

/** One protocol version of an exchange: our constants and the published ones, by chain id. */
export interface Version {
  readonly version: string
  readonly deployments: Readonly<
    Record<
      string,
      | { factory: string; deployer?: string; poolDeployer?: string; initCodeHash: string }
      | { poolManager: string; factory?: never; deployer?: never; initCodeHash?: never }
    >
  >
  readonly published: ByChain
  /** Values that no package contains; the source stands beside each. */
  readonly unpublished?: readonly string[]
  /** Networks that no package names; the source stands beside each. */
  readonly unpublishedOn?: readonly string[]
  /** Of the configuration. */
  readonly keys: { readonly router: string; readonly positionManager?: string; readonly permit2?: string }
}

export interface Exchange {
  readonly name: string
  readonly plugin: { readonly manifest: Manifest; create(venue: Venue<Evm, ConnectorConfig>): Connector<Evm, 'AMM'> }
  readonly versions: readonly Version[]
}

const single = { router: 'routerAddress' }
const v2 = { router: 'v2RouterAddress' }
const v3 = { router: 'v3RouterAddress', positionManager: 'positionManagerAddress' }
const v4 = { router: 'v4RouterAddress', permit2: 'permit2Address', positionManager: 'v4PositionManagerAddress' }

export const exchanges: readonly Exchange[] = [
  {
    name: 'uniswap',
    plugin: uniswapPlugin,
    versions: [
      {
        version: 'v2',
        deployments: uniswap.v2Deployments,
        published: together(uniswapCore.facts.v2, everywhere(uniswapCore.facts.v2, uniswapV2Sdk.facts)),
        // Uniswap's own records: plugins/uniswap/deployments.ts names them.
        unpublishedOn: ['hyperliquid/mainnet'],
        keys: v2,
      },
      {
        version: 'v3',
        deployments: uniswap.v3Deployments,
        published: together(uniswapCore.facts.v3, everywhere(uniswapCore.facts.v3, uniswapV3Sdk.facts)),
        unpublishedOn: ['hyperliquid/mainnet'],
        keys: v3,
      },
      {
        version: 'v4',
        deployments: uniswap.v4Deployments,
        published: together(uniswapCore.facts.v4, uniswapRouterSdk.facts.v4),
        keys: v4,
      },
    ],
  },
  {
    name: 'sushiswap',
    plugin: sushiswapPlugin,
    versions: [
      { version: 'v2', deployments: sushiswap.v2Deployments, published: sushi.facts.v2, keys: v2 },
      { version: 'v3', deployments: sushiswap.v3Deployments, published: sushi.facts.v3, unpublished: ['router'], keys: v3 },
    ],
  },
  {
    name: 'pancakeswap',
    plugin: pancakeswapPlugin,
    versions: [
      {
        version: 'v2',
        deployments: pancakeswap.v2Deployments,
        published: together(pancakeswapV2Sdk.facts.v2, pancakeswapRouters.facts.v2, pancakeswapChains.facts.v2),
        keys: v2,
      },
      {
        version: 'v3',
        deployments: pancakeswap.v3Deployments,
        published: together(pancakeswapV3Sdk.facts.v3, pancakeswapRouters.facts.v3),
        keys: v3,
      },
    ],
  },
  {
    name: 'quickswap',
    plugin: quickswapPlugin,
    versions: [{ version: 'v2', deployments: quickswap, published: quickswapSdk.facts.v2, unpublished: ['router'], keys: single }],
  },
  {
    name: 'quickswap-v3',
    plugin: quickswapV3Plugin,
    versions: [{ version: 'v1', deployments: quickswapV3, published: paraswap.facts.quickswapV3, keys: single }],
  },
  {
    name: 'camelot-v4',
    plugin: camelotV4Plugin,
    versions: [
      {
        version: 'integral',
        deployments: camelotV4,
        published: camelotSdk.facts.v4,
        // https://docs.camelot.exchange/contracts/arbitrum/one-mainnet
        unpublished: ['factory', 'router'],
        keys: single,
      },
    ],
  },
  {
    name: 'quickswap-v4',
    plugin: quickswapV4Plugin,
    versions: [
      {
        version: 'integral',
        deployments: quickswapV4,
        published: paraswap.facts.quickswapV4,
        // The factory says them, and the server compares.
        unpublished: ['poolDeployer', 'initCodeHash'],
        keys: single,
      },
    ],
  },
  {
    name: 'traderjoe',
    plugin: traderjoePlugin,
    versions: [{ version: 'v2', deployments: traderjoe, published: traderjoeSdk.facts.v2, keys: single }],
  },
  {
    name: 'pangolin',
    plugin: pangolinPlugin,
    versions: [{ version: 'v2', deployments: pangolin, published: pangolinSdk.facts.v2, keys: single }],
  },
]

/** The values of several packages for the same chains. */
function together(...maps: readonly ByChain[]): ByChain {
  const ids = new Set(maps.flatMap((map) => Object.keys(map)))
  return Object.fromEntries([...ids].map((id) => [id, Object.assign({}, ...maps.map((map) => map[id]))]))
}

/** A value that is the same on each chain. */
function everywhere(chains: object, facts: Facts): ByChain {
  return Object.fromEntries(Object.keys(chains).map((id) => [id, facts]))
}
