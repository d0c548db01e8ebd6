import { evm } from 'sluice/evm'
import { defineConnector, versionedSchema } from 'sluice/plugin'
import { networksIn, poolAMM } from 'sluice/pools'
import { uniswapV2 } from 'sluice/uniswap-v2'
import { uniswapV3, v3Events } from 'sluice/uniswap-v3'

// INIT_CODE_HASH_MAP of npm @pancakeswap/v2-sdk 1.2.2.
const initCodeHash = '0x57224589c67f3f30a6b0d7a1b54cf3153ab84563bc609ef41dfb34f8b2974d2d'

// FACTORY_ADDRESS_MAP of npm @pancakeswap/v2-sdk 1.2.2.
const liveV2 = {
  'ethereum/mainnet': { factory: '0x1097053Fd2ea711dad45caCcc45EfF7548fCB362', initCodeHash },
  'ethereum/sepolia': { factory: '0x1bdc540dEB9Ed1fA29964DeEcCc524A8f5e2198e', initCodeHash },
  'arbitrum/mainnet': { factory: '0x02a84c1b3BBD7401a5f7fa98a384EBC70bB5749E', initCodeHash },
  'base/mainnet': { factory: '0x02a84c1b3BBD7401a5f7fa98a384EBC70bB5749E', initCodeHash },
  'binance-smart-chain/mainnet': {
    factory: '0xcA143Ce32Fe78f1f7019d7d551a6402fC5350c73',
    initCodeHash: '0x00fb7f630766e6a796048ea87d01acd3068e8ff67d078148a3fa3f4a84f69bd5',
  },
  'linea/mainnet': { factory: '0x02a84c1b3BBD7401a5f7fa98a384EBC70bB5749E', initCodeHash },
  'monad/mainnet': { factory: '0x02a84c1b3BBD7401a5f7fa98a384EBC70bB5749E', initCodeHash },
  'robinhood/mainnet': { factory: '0x02a84c1b3BBD7401a5f7fa98a384EBC70bB5749E', initCodeHash },
}

// This folder's devnet.ts: the hash is that of the pairs of artifacts/PancakeFactory.json.
const localV2 = {
  factory: '0x1cd05b3BEcA6c285ec91fd1eB1e0d8f62151544E',
  initCodeHash: '0xf5a0e19b6e7edf9c87d358997c57e5e033bd8bf75022b12a7c97c76a175a9058',
}

export const v2Deployments = { ...liveV2, 'ethereum/local': localV2 }

// FACTORY_ADDRESSES, DEPLOYER_ADDRESSES and POOL_INIT_CODE_HASHES of npm @pancakeswap/v3-sdk 3.10.2: the same everywhere.
const v3 = {
  factory: '0x0BFbCF9fa4f9C56B0F40a671Ad40E0805A091865',
  deployer: '0x41ff9AA7e16B8B1a8a8dc4f0eFacd93D02d071c9',
  initCodeHash: '0x6ce8eb472fa82df5469c6ab6d485f17c3ad13c8cd7af59b3d4a8026c5ce0f7e2',
}

export const v3Deployments = {
  'ethereum/mainnet': v3,
  'ethereum/sepolia': v3,
  'arbitrum/mainnet': v3,
  'base/mainnet': v3,
  'binance-smart-chain/mainnet': v3,
  'linea/mainnet': v3,
  'monad/mainnet': v3,
  'robinhood/mainnet': v3,
  // This folder's devnet.ts, with pools of npm @uniswap/v3-core 1.0.1, which the factory itself makes.
  'ethereum/local': {
    factory: '0xe1FbC38b3cCF7a7f80Dcd43E2af83ef65f2947A4',
    initCodeHash: '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54',
  },
}

// FeeAmount of npm @pancakeswap/v3-sdk 3.10.2.
export const feeTiers = { LOWEST: 100, LOW: 500, MEDIUM: 2500, HIGH: 10_000 }

export default defineConnector({
  family: evm,
  manifest: {
    name: 'pancakeswap',
    apiVersion: '1.0',
    trading_type: ['AMM', 'AMM_RANGE', 'AMM_SHARES'],
    available_networks: networksIn(v2Deployments),
    schema: versionedSchema({ v2: ['v2RouterAddress'], v3: ['v3RouterAddress', 'positionManagerAddress'] }),
  },
  create(venue) {
    // PancakePair, `_mintFee`: 8 of 25 parts of the growth.
    const v2 = uniswapV2(venue, { version: 'v2', fee: [25n, 10_000n], protocolShare: [8n, 25n], deployments: v2Deployments })
    // Uniswap's router, which the devnet has, knows no other's pairs: there no route passes pools of both versions.
    const v3 = uniswapV3(venue, { deployments: v3Deployments, feeTiers, mixedWith: { version: 'v2', deployments: liveV2 } })
    const AMM = poolAMM(venue, v2, v3)
    const spenders = { ...AMM.spenders, positions: v3.range.positionManager }
    return { AMM, AMM_RANGE: v3.range, AMM_SHARES: v2.shares, spenders, events: v3Events }
  },
})
