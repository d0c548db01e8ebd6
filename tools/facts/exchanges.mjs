// What exchanges publish on npm about their deployments, by chain id: `v2` and `v3` have the same names for every exchange.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { runInNewContext } from 'node:vm'
import { Interface, getAddress } from 'ethers'

// Those that a plugin of ours may serve: more only makes the files larger.
const chainIds = {
  ETHEREUM: 1,
  OPTIMISM: 10,
  CRONOS: 25,
  BSC: 56,
  BSC_TESTNET: 97,
  GNOSIS: 100,
  UNICHAIN: 130,
  POLYGON: 137,
  MONAD: 143,
  SONIC: 146,
  WORLDCHAIN: 480,
  ROBINHOOD: 4663,
  BASE: 8453,
  ARBITRUM: 42161,
  CELO: 42220,
  FUJI: 43113,
  AVALANCHE: 43114,
  LINEA: 59144,
  BASE_SEPOLIA: 84532,
  ARBITRUM_SEPOLIA: 421614,
  SEPOLIA: 11155111,
}
// What Pancakeswap calls some of them.
const pancakeNames = { ARBITRUM_ONE: 42161, MONAD_MAINNET: 143 }
// Those with pools of ours, as Balancer calls them.
const balancerNetworks = { MAINNET: 1, POLYGON: 137, ARBITRUM: 42161 }

/** @param constants bundles a module and gives its exports */
export const exchanges = (constants) => [
  {
    pack: '@uniswap/sdk-core@7.19.4',
    name: 'uniswap-sdk-core',
    async read(files) {
      const names = [
        'V2_FACTORY_ADDRESSES',
        'V2_ROUTER_ADDRESSES',
        'V3_CORE_FACTORY_ADDRESSES',
        'NONFUNGIBLE_POSITION_MANAGER_ADDRESSES',
        'SWAP_ROUTER_02_ADDRESSES',
        'CHAIN_TO_ADDRESSES_MAP',
      ]
      const [factory, router, factoryV3, positionManager, routerOf, addresses] = Object.values(
        await constants(path.join(files, 'dist/esm/src/addresses.js'), names),
      )
      return {
        v2: byChain((id) => ({ factory: factory[id], router: router[id] })),
        v3: byChain((id) => ({ factory: factoryV3[id], router: routerOf(id) || undefined, positionManager: positionManager[id] })),
        v4: byChain((id) => ({
          poolManager: addresses[id]?.v4PoolManagerAddress,
          positionManager: addresses[id]?.v4PositionManagerAddress,
        })),
      }
    },
  },
  {
    pack: '@uniswap/universal-router-sdk@5.13.0',
    name: 'uniswap-universal-router-sdk',
    // It imports ethers 5, so the map is read as text: for each chain, the routers by their versions.
    read(files) {
      const text = textOf(files, 'dist/cjs/src/utils/constants.js')
      const chains = [...text.matchAll(/^ {4}\[(\d+)\]: \{(.*?)^ {4}\}/gms)]
      const routers = chains.flatMap(([, id, chain]) => {
        const [, router] = /V2_1_1\]: \{\s*address: '(0x[0-9a-fA-F]{40})'/.exec(chain) ?? []
        return router ? [[id, router]] : []
      })
      const routerOf = Object.fromEntries(routers)
      return { v4: byChain((id) => ({ router: routerOf[id] })) }
    },
  },
  {
    pack: '@uniswap/v2-sdk@4.21.4',
    name: 'uniswap-v2-sdk',
    read: (files) => ({ initCodeHash: constantIn(textOf(files, 'dist/esm/src/constants.js'), 'INIT_CODE_HASH') }),
  },
  {
    pack: '@uniswap/v3-sdk@3.31.5',
    name: 'uniswap-v3-sdk',
    read: (files) => ({ initCodeHash: constantIn(textOf(files, 'dist/esm/src/constants.js'), 'POOL_INIT_CODE_HASH') }),
  },
  {
    pack: 'sushi@7.3.15',
    name: 'sushi',
    // Its modules import all of viem, so the maps are read as text.
    read(files) {
      const features = (file) => textOf(files, `_esm/evm/config/features/${file}`)
      const [v2, v3] = [features('sushiswap-v2.js'), features('sushiswap-v3.js')]
      const poolHash = constantIn(v3, 'POOL_INIT_CODE_HASH')
      const sushi = (text, name) => mapIn(text, name, chainIds, { POOL_INIT_CODE_HASH: poolHash })
      return {
        v2: joined({
          factory: sushi(v2, 'SUSHISWAP_V2_FACTORY_ADDRESS'),
          router: sushi(v2, 'SUSHISWAP_V2_ROUTER_ADDRESS'),
          initCodeHash: sushi(v2, 'SUSHISWAP_V2_INIT_CODE_HASH'),
        }),
        v3: joined({
          factory: sushi(v3, 'SUSHISWAP_V3_FACTORY_ADDRESS'),
          initCodeHash: sushi(v3, 'SUSHISWAP_V3_INIT_CODE_HASH'),
          positionManager: sushi(v3, 'SUSHISWAP_V3_POSITION_MANAGER'),
        }),
      }
    },
  },
  {
    pack: '@pancakeswap/v2-sdk@1.2.2',
    name: 'pancakeswap-v2-sdk',
    read(files) {
      const text = textOf(files, 'dist/constants.d.ts')
      return { v2: joined({ factory: mapIn(text, 'FACTORY_ADDRESS_MAP'), initCodeHash: mapIn(text, 'INIT_CODE_HASH_MAP') }) }
    },
  },
  {
    pack: '@pancakeswap/v3-sdk@3.10.2',
    name: 'pancakeswap-v3-sdk',
    read(files) {
      const text = textOf(files, 'dist/constants.d.ts')
      return {
        v3: joined({
          factory: mapIn(text, 'FACTORY_ADDRESSES'),
          deployer: mapIn(text, 'DEPLOYER_ADDRESSES'),
          initCodeHash: mapIn(text, 'POOL_INIT_CODE_HASHES'),
          positionManager: mapIn(text, 'NFT_POSITION_MANAGER_ADDRESSES'),
        }),
        feeTiers: Object.fromEntries(
          [.../enum FeeAmount \{(.*?)\}/s.exec(text)[1].matchAll(/(\w+) = (\d+)/g)].map(([, name, fee]) => [name, Number(fee)]),
        ),
      }
    },
  },
  {
    // What its router's package takes from here, instead of naming it.
    pack: '@pancakeswap/chains@0.9.0',
    name: 'pancakeswap-chains',
    read(files) {
      const [, chain] = /^var robinhood = \{(.*?)^\};/ms.exec(textOf(files, 'dist/index.js'))
      return { v2: { [chainIds.ROBINHOOD]: { router: /v2Router: "(0x\w{40})"/.exec(chain)[1] } } }
    },
  },
  {
    pack: '@pancakeswap/smart-router@7.7.3',
    name: 'pancakeswap-smart-router',
    read(files) {
      const text = textOf(files, 'dist/evm.mjs')
      const code = text.match(/from '\.\/(chunk-\w+\.mjs)'/)[1]
      const [, abi] = /^var swapRouter02Abi = (\[.*?^\]);/ms.exec(text)
      return {
        // What the router has: a literal of data alone.
        functions: new Interface(runInNewContext(abi)).fragments.filter(({ type }) => type === 'function').map((each) => each.format()),
        v2: joined({ router: mapIn(textOf(files, `dist/${code}`), 'V2_ROUTER_ADDRESS', { ...chainIds, ...pancakeNames }) }),
        v3: joined({ router: mapIn(textOf(files, 'dist/evm/constants/exchange.d.ts'), 'SMART_ROUTER_ADDRESSES') }),
      }
    },
  },
  {
    pack: '@makerdao/dai@0.42.4',
    name: 'makerdao-dai',
    read(files) {
      const { MAKER_OTC: market, SAI_GEM: weth, SAI_GOV: mkr } = JSON.parse(textOf(files, 'dist/addresses/mainnet.json'))
      const abi = new Interface(JSON.parse(textOf(files, 'dist/abis/MatchingMarket.json')))
      return {
        market,
        weth: getAddress(weth),
        mkr: getAddress(mkr),
        signatures: abi.fragments.filter(({ type }) => type === 'function' || type === 'event').map((each) => each.format()),
      }
    },
  },
  {
    pack: '@perp/curie-deployments@2023.4.12-1681295833590',
    name: 'perp-curie-deployments',
    read(files) {
      const { contracts, pools, chainId } = JSON.parse(textOf(files, 'optimism/core/metadata.json'))
      const functionsOf = (name) => {
        const { abi } = JSON.parse(textOf(files, `optimism/core/artifacts/contracts/${name}.sol/${name}.json`))
        return new Interface(abi).fragments.filter(({ type }) => type === 'function' || type === 'event').map((each) => each.format())
      }
      const asked = [
        'AccountBalance',
        'BaseToken',
        'ClearingHouse',
        'ClearingHouseConfig',
        'CollateralManager',
        'Exchange',
        'MarketRegistry',
        'Vault',
      ]
      return {
        chainId,
        clearingHouse: contracts.ClearingHouse.address,
        vault: contracts.Vault.address,
        bases: Object.fromEntries(pools.map(({ baseSymbol, baseAddress }) => [baseSymbol, baseAddress])),
        signatures: [...new Set(asked.flatMap(functionsOf))].toSorted(),
      }
    },
  },
  {
    pack: 'quickswap-sdk@3.0.43',
    name: 'quickswap-sdk',
    read(files) {
      const text = textOf(files, 'dist/quickswap-sdk.esm.js')
      return { v2: { 137: { factory: /ChainId\.MATIC\] = '(0x\w{40})'/.exec(text)[1], initCodeHash: constantIn(text, 'INIT_CODE_HASH') } } }
    },
  },
  {
    pack: '@paraswap/dex-lib@5.0.6',
    name: 'paraswap-dex-lib',
    read(files) {
      const of = (file, exchange, chain) => {
        const own = new RegExp(`${exchange}: \\{\\s*\\[constants_1\\.Network\\.${chain}\\]: \\{([^}]*)\\}`).exec(textOf(files, file))[1]
        return (name) => new RegExp(`\\b${name}: '(0x\\w+)'`).exec(own)[1]
      }
      const v3 = of('build/dex/algebra/config.js', 'QuickSwapV3', 'POLYGON')
      const v4 = of('build/dex/algebra-integral/config.js', 'QuickSwapV4', 'BASE')
      const [factory, router, poolDeployer, initCodeHash] = ['factory', 'router', 'deployer', 'initHash'].map(v3)
      return {
        quickswapV3: { [chainIds.POLYGON]: { factory, router, poolDeployer, initCodeHash } },
        quickswapV4: { [chainIds.BASE]: { factory: v4('factory'), router: v4('router') } },
      }
    },
  },
  {
    pack: '@cryptoalgebra/camelot-integral-sdk@1.0.0',
    name: 'camelot-integral-sdk',
    read(files) {
      const text = textOf(files, 'dist/camelot-integral-sdk.cjs.development.js')
      const on = (name) => new RegExp(`_${name}\\w*\\[ChainId\\.Arbitrum\\] = '(0x\\w+)'`).exec(text)[1]
      return { v4: { [chainIds.ARBITRUM]: { poolDeployer: on('POOL_DEPLOYER_ADDRES'), initCodeHash: on('POOL_INIT_CODE_HASH') } } }
    },
  },
  {
    pack: '@traderjoe-xyz/sdk@5.0.16',
    name: 'traderjoe-sdk',
    read(files) {
      const text = textOf(files, 'dist/index.mjs')
      const [factory, router, initCodeHash] = ['FACTORY_ADDRESS', 'ROUTER_ADDRESS', 'INIT_CODE_HASH'].map((name) =>
        mapIn(text, name, chainIds),
      )
      return { v2: only([43113, 43114], joined({ factory, router, initCodeHash })) }
    },
  },
  {
    pack: '@pangolindex/sdk@5.8.8',
    name: 'pangolin-sdk',
    read(files) {
      const text = textOf(files, 'dist/sdk.esm.js')
      const initCodeHash = constantIn(text, 'INIT_CODE_HASH')
      const on = (name) => {
        const [, factory, router] = new RegExp(`var ${name} = \\{.*?factory: '(\\w+)',\\s*router: '(\\w+)'`, 's').exec(text)
        return { factory, router, initCodeHash }
      }
      return { v2: { 43113: on('AVALANCHE_FUJI'), 43114: on('AVALANCHE_MAINNET') } }
    },
  },
  {
    pack: '@balancer-labs/v2-deployments@3.2.0',
    name: 'balancer-v2-deployments',
    read: (files) => ({
      vault: Object.fromEntries(
        Object.entries(balancerNetworks).map(([name, id]) => [
          id,
          JSON.parse(textOf(files, `dist/tasks/20210418-vault/output/${name.toLowerCase()}.json`)).Vault,
        ]),
      ),
    }),
  },
  {
    pack: '@balancer-labs/sdk@1.1.6',
    name: 'balancer-sdk',
    // The ids of all pools that it names, by network; of what kind they are it does not say.
    read(files) {
      const sections = textOf(files, 'dist/index.esm.js').split(/\[\w+\.([A-Z]+)\]:\{IdsMap:/)
      const ids = (name) => [...new Set(sections[sections.indexOf(name) + 1].match(/\b0x[0-9a-f]{64}\b/g))].toSorted()
      return { pools: Object.fromEntries(Object.entries(balancerNetworks).map(([name, id]) => [id, ids(name)])) }
    },
  },
  {
    pack: '@curvefi/api@2.70.1',
    name: 'curve-api',
    // Its older pools of coins that are worth the same, without lending and other pools below them. Some are spelt in small letters.
    read(files) {
      const entries = textOf(files, 'lib/constants/pools/ethereum.js').split(/^ {4}'?([\w-]+)'?: \{$/m)
      const listed = (text, name) =>
        [...(new RegExp(`${name}: \\[(.*?)\\]`, 's').exec(text)?.[1] ?? '').matchAll(/'?(\w+)'?/g)].map(([, value]) => value)
      const pools = entries.flatMap((name, at) => {
        const text = at % 2 === 1 ? entries[at + 1] : ''
        const [, address] = /swap_address: ['"](0x\w+)/.exec(text) ?? []
        const [, shareToken] = /token_address: ['"](0x\w+)/.exec(text) ?? []
        if (!address || !/is_plain: true/.test(text) || /is_(?:crypto|meta|lending|factory): true/.test(text)) return []
        const decimals = listed(text, 'underlying_decimals').map(Number)
        return [
          [
            name,
            {
              address,
              shareToken,
              coins: listed(text, 'underlying_coin_addresses').map((coin, index) => ({ address: coin, decimals: decimals[index] })),
            },
          ],
        ]
      })
      const networks = textOf(files, 'lib/constants/network_constants.js')
      const abi = JSON.parse(textOf(files, 'lib/constants/abis/router.json'))
      const router = /"router": "(0x\w+)"/.exec(networks.replaceAll(/\/\/ "router".*/g, ''))[1]
      const shown = ({ type, name, inputs }) =>
        `${type} ${name}(${inputs.map((each) => `${each.type}${each.indexed ? ' indexed' : ''}`).join(',')})`
      const interfaces = abi.filter(({ name }) => ['exchange', 'get_dy', 'Exchange'].includes(name)).map(shown)
      return { pools: { 1: Object.fromEntries(pools) }, routers: { 1: router }, routerInterface: interfaces }
    },
  },
]

const textOf = (files, file) => readFileSync(path.join(files, file), 'utf8')

/** `NAME = '0x…'`. */
const constantIn = (text, name) => new RegExp(`\\b${name} = ['"](0x\\w+)['"]`).exec(text)[1]

/**
 * `NAME = { [ChainId.ETHEREUM]: '0x…', … }`, or `NAME: { readonly 1: "0x…"; … }` of a declaration, by chain id.
 * @param values what names of constants stand for that take the place of a value
 */
function mapIn(text, name, ids = chainIds, values = {}) {
  const [, map] = new RegExp(`\\b${name}(?: =|:) \\{(.*?)\n\\}`, 's').exec(text)
  const constantsOfMap = [...text.matchAll(/^var (\w+) = "(0x\w+)";$/gm)].map(([, constant, value]) => [constant, value])
  const named = { ...Object.fromEntries(constantsOfMap), ...values }
  const entries = [...map.matchAll(/(?:readonly (\d+)|ChainId\.(\w+)\]): (?:['"](0x\w+)['"]|(\w+))/g)]
  const known = Object.values(chainIds)
  return Object.fromEntries(
    entries
      .map(([, id, chain, value, constant]) => [Number(id ?? ids[chain]), value ?? named[constant]])
      .filter(([id, value]) => known.includes(id) && value !== undefined && BigInt(value) !== 0n),
  )
}

const byChain = (facts) =>
  Object.fromEntries(
    Object.values(chainIds)
      .map((id) => [id, facts(id)])
      .filter(([, { factory, poolManager, router }]) => (factory ?? poolManager ?? router) !== undefined),
  )

/** `{ factory: { 1: a }, router: { 1: b } }` as `{ 1: { factory: a, router: b } }`. */
function joined(maps) {
  const ids = [...new Set(Object.values(maps).flatMap((map) => Object.keys(map)))]
  const at = (id) =>
    Object.fromEntries(
      Object.entries(maps)
        .map(([name, map]) => [name, map[id]])
        .filter(([, value]) => value !== undefined),
    )
  return Object.fromEntries(ids.map((id) => [id, at(id)]))
}

const only = (ids, map) => Object.fromEntries(Object.entries(map).filter(([id]) => ids.includes(Number(id))))
