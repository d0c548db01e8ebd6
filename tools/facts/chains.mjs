// What viem says of chains, and what projects publish on npm about tokens: those that stand in a list of ours by address, and those
// that have a symbol of ours, so that a wrong address of ours shows beside the right one.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const plugins = fileURLToPath(new URL('../../plugins', import.meta.url))

/** Ours → viem's. */
const definitions = {
  'arbitrum/mainnet': 'arbitrum',
  'arbitrum/sepolia': 'arbitrumSepolia',
  'avalanche/fuji': 'avalancheFuji',
  'avalanche/mainnet': 'avalanche',
  'base/mainnet': 'base',
  'base/sepolia': 'baseSepolia',
  'binance-smart-chain/mainnet': 'bsc',
  'binance-smart-chain/testnet': 'bscTestnet',
  'celo/mainnet': 'celo',
  'celo/sepolia': 'celoSepolia',
  'cronos/mainnet': 'cronos',
  'cronos/testnet': 'cronosTestnet',
  'ethereum/mainnet': 'mainnet',
  'ethereum/sepolia': 'sepolia',
  'gnosis/chiado': 'gnosisChiado',
  'gnosis/mainnet': 'gnosis',
  'hyperliquid/mainnet': 'hyperEvm',
  'hyperliquid/testnet': 'hyperliquidEvmTestnet',
  'linea/mainnet': 'linea',
  'linea/sepolia': 'lineaSepolia',
  'monad/mainnet': 'monad',
  'monad/testnet': 'monadTestnet',
  'optimism/mainnet': 'optimism',
  'optimism/sepolia': 'optimismSepolia',
  'polygon/amoy': 'polygonAmoy',
  'polygon/mainnet': 'polygon',
  'robinhood/mainnet': 'robinhood',
  'unichain/mainnet': 'unichain',
  'unichain/sepolia': 'unichainSepolia',
  'worldchain/mainnet': 'worldchain',
  'worldchain/sepolia': 'worldchainSepolia',
}
// What Pancakeswap calls the chains that are taken from it.
const pancakeChains = { BSC: 56, LINEA: 59144, ROBINHOOD: 4663 }
// And Uniswap's router.
const routedChains = { WORLDCHAIN: 480 }

const ourTokens = readdirSync(plugins).flatMap((plugin) => {
  try {
    return JSON.parse(readFileSync(path.join(plugins, plugin, 'tokens.json'), 'utf8')).tokens
  } catch (error) {
    if (error.code === 'ENOENT') return []
    throw error
  }
})

export const chains = [
  {
    pack: 'viem@2.57.20',
    name: 'viem',
    // Some of its modules import more than there is: they are read as text.
    read: (files) =>
      Object.fromEntries(
        Object.entries(definitions).map(([ours, name]) => {
          const text = textOf(files, `_esm/chains/definitions/${name}.js`)
          const one = (pattern) => pattern.exec(text)[1]
          const coin = one(/nativeCurrency: \{(.*?)\}/s)
          return [
            ours,
            {
              id: Number(one(/\bid: ([\d_]+)/).replaceAll('_', '')),
              nativeCurrency: { symbol: /symbol: '(.+?)'/.exec(coin)[1], decimals: Number(/decimals: (\d+)/.exec(coin)[1]) },
              // It does not know of one everywhere.
              multicall3: /multicall3: \{\s*address: '(0x\w{40})'/.exec(text)?.[1] ?? null,
              rpcUrls: [...one(/default: \{\s*http: \[(.*?)\]/s).matchAll(/'(.+?)'/g)].map(([, url]) => url),
            },
          ]
        }),
      ),
  },
  {
    pack: '@uniswap/sdk-core@7.19.4',
    name: 'uniswap-sdk-core-chains',
    read(files) {
      const wrapped = textOf(files, 'dist/esm/src/entities/weth9.js').matchAll(/new Token\((\d+), '(0x\w{40})', (\d+), '([^']+)'/g)
      const text = textOf(files, 'dist/esm/src/chains.js')
      const ids = new Map([...text.matchAll(/ChainId\["(\w+)"\] = (\d+)/g)].map(([, name, id]) => [name, id]))
      const times = text.matchAll(/\[ChainId\.(\w+)\]: ([\d.]+),/g)
      return {
        blockSeconds: Object.fromEntries([...times].map(([, name, seconds]) => [ids.get(name), Number(seconds)])),
        tokens: like([...wrapped].map(([, chainId, address, decimals, symbol]) => ({ chainId, address, decimals, symbol }))),
      }
    },
  },
  ...Object.entries({
    'uniswap-default-token-list': ['@uniswap/default-token-list@22.21.0', 'build/uniswap-default.tokenlist.json'],
    'sushiswap-default-token-list': ['@sushiswap/default-token-list@43.3.0', 'build/sushiswap-default.tokenlist.json'],
    'aave-address-book': ['@bgd-labs/aave-address-book@4.44.22', 'tokenlist.json'],
    'ubeswap-default-token-list': ['@ubeswap/default-token-list@4.1.77', 'ubeswap.token-list.json'],
  }).map(([name, [pack, file]]) => ({ pack, name, read: (files) => ({ tokens: like(JSON.parse(textOf(files, file)).tokens) }) })),
  {
    pack: '@pancakeswap/tokens@0.9.1',
    name: 'pancakeswap-tokens',
    read(files) {
      const tokens = textOf(files, 'dist/index.mjs').matchAll(
        /new ERC20Token\(\s*ChainId(?:\$1)?\.(\w+),\s*"(0x\w{40})",\s*(\d+),\s*"([^"]+)"/g,
      )
      const found = [...tokens].map(([, chain, address, decimals, symbol]) => ({
        chainId: pancakeChains[chain],
        address,
        decimals,
        symbol,
      }))
      return { tokens: like(found) }
    },
  },
  {
    pack: '@uniswap/smart-order-router@4.31.10',
    name: 'uniswap-smart-order-router',
    read(files) {
      const tokens = textOf(files, 'build/module/providers/token-provider.js').matchAll(
        /new Token\(ChainId\.(\w+), '(0x\w{40})', (\d+), '([^']+)'/g,
      )
      const found = [...tokens].map(([, chain, address, decimals, symbol]) => ({ chainId: routedChains[chain], address, decimals, symbol }))
      return { tokens: like(found.filter(({ chainId }) => chainId)) }
    },
  },
  {
    // Circle's own: where USDC and EURC are.
    pack: '@circle-fin/bridge-kit@1.15.1',
    name: 'circle-bridge-kit',
    read(files) {
      const found = [...textOf(files, 'chains.mjs').matchAll(/defineChain\(\{(.*?)\n\}\);/gs)].flatMap(([, chain]) =>
        ['USDC', 'EURC'].map((symbol) => ({
          chainId: /chainId: (\d+)/.exec(chain)?.[1],
          address: new RegExp(`${symbol.toLowerCase()}Address: '(0x\\w+)'`).exec(chain)?.[1],
          decimals: 6,
          symbol,
        })),
      )
      return { tokens: like(found.filter(({ address }) => address)) }
    },
  },
  {
    pack: '@across-protocol/constants@3.1.127',
    name: 'across-constants',
    read(files) {
      const ids = new Map(
        [...textOf(files, 'dist/esm/networks.js').matchAll(/\b(HYPEREVM\w*): (\d{3}),/g)].map(([, name, id]) => [name, id]),
      )
      const blocks = textOf(files, 'dist/esm/tokens.js').matchAll(/symbol: "([^"]+)",\s*decimals: (\d+),\s*addresses: \{(.*?)\}/gs)
      const found = [...blocks].flatMap(([, symbol, decimals, addresses]) =>
        [...addresses.matchAll(/\[CHAIN_IDs\.(HYPEREVM\w*)\]: "(0x\w{40})"/g)].map(([, name, address]) => ({
          chainId: ids.get(name),
          address,
          symbol,
          decimals,
        })),
      )
      return { tokens: like(found) }
    },
  },
  {
    pack: '@mento-protocol/mento-sdk@1.19.0',
    name: 'mento-sdk',
    read: (files) => ({
      tokens: like(
        [42220, 11142220].flatMap((chainId) => {
          const text = textOf(files, `dist/esm/constants/tokens.${chainId}.js`)
          const found = text.matchAll(/address: '(0x\w+)',\s*symbol: TokenSymbol\.(\w+),\s*name: '[^']+',\s*decimals: (\d+)/g)
          return [...found].map(([, address, symbol, decimals]) => ({ chainId, address, symbol, decimals }))
        }),
      ),
    }),
  },
  {
    // The token that CCIP takes fees in besides LINK, on most networks the wrapped coin: ours are among them. It says no symbols.
    pack: '@chainlink/local@0.2.9',
    name: 'chainlink-local',
    read(files) {
      const networks = textOf(files, 'src/ccip/Register.sol').matchAll(
        /s_networkDetails\[(\d+)\] = NetworkDetails\(\{[^}]*?wrappedNativeAddress: address\((0x\w{40})\)/g,
      )
      const listed = [...networks].filter(([, id, address]) => ours.has(key(id, address)))
      return { wrapped: Object.fromEntries(listed.map(([, id, address]) => [id, address])) }
    },
  },
]

const key = (chainId, name) => `${chainId} ${name.toLowerCase()}`
const ours = new Set(ourTokens.flatMap(({ chainId, symbol, address }) => [key(chainId, symbol), key(chainId, address)]))

const like = (tokens) =>
  tokens
    .filter(({ chainId, symbol, address }) => ours.has(key(chainId, symbol)) || ours.has(key(chainId, address)))
    .map(({ chainId, symbol, address, decimals }) => ({ chainId: Number(chainId), symbol, address, decimals: Number(decimals) }))

const textOf = (files, file) => readFileSync(path.join(files, file), 'utf8')
