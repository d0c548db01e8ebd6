// What projects publish on npm about Solana's clusters and the tokens on them; of tokens, those that stand in our list by address or symbol.
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'

const textOf = (files, file) => readFileSync(path.join(files, file), 'utf8')
const ours = JSON.parse(readFileSync(new URL('../../plugins/solana/tokens.json', import.meta.url), 'utf8')).tokens
const isOurs = ({ chainId, symbol, address }) =>
  ours.some((each) => each.chainId === chainId && (each.address === address || each.symbol.toLowerCase() === symbol.toLowerCase()))

/** Those that a trade may meet. */
const meteoraErrors = ['6002', '6003']

/** As in the list of Solana Labs. */
const chainIds = { Solana: 101, 'Solana Devnet': 103 }
const decimals = { FIVE: 5, SIX: 6, QUOTE_PRECISION_EXP: 6, EIGHT: 8, NINE: 9, LAMPORTS_EXP: 9 }

export const solana = [
  {
    // CAIP-2: the first 32 characters of the genesis hash.
    pack: '@metamask/keyring-api@23.7.0',
    name: 'metamask-keyring-api',
    read: (files) => ({
      genesis: Object.fromEntries(
        [...textOf(files, 'dist/sol/constants.mjs').matchAll(/SolScope\["(\w+)"\] = "solana:(\w+)"/g)].map(([, name, hash]) => [
          name.toLowerCase(),
          hash,
        ]),
      ),
    }),
  },
  {
    pack: '@drift-labs/sdk@2.145.0',
    name: 'drift-sdk',
    read(files) {
      const text = textOf(files, 'lib/node/constants/spotMarkets.js')
      const native = /WRAPPED_SOL_MINT = new web3_js_1\.PublicKey\('(\w+)'\)/.exec(text)[1]
      const markets = text
        .slice(text.indexOf('MainnetSpotMarkets = ['))
        .matchAll(/symbol: '([^']+)',.*?mint: new web3_js_1\.PublicKey\(([^)]+)\).*?precisionExp: numericConstants_1\.(\w+)/gs)
      const tokens = [...markets].map(([, symbol, mint, exponent]) => ({
        chainId: 101,
        symbol,
        address: mint.startsWith("'") ? mint.slice(1, -1) : native,
        decimals: decimals[exponent],
      }))
      return { tokens: tokens.filter(isOurs) }
    },
  },
  {
    // Meteora's own, MIT: of its program's IDL what a connector has of it. Raydium's own package is under the GPL, so nothing is kept of that.
    pack: '@meteora-ag/cp-amm-sdk@1.5.0',
    name: 'meteora-cp-amm-sdk',
    read(files) {
      const text = textOf(files, 'dist/index.js')
      const bytesOf = (name) => JSON.parse(`[${new RegExp(`name: "${name}",\\s*discriminator: \\[([\\d,\\s]+)\\]`).exec(text)[1]}]`)
      const authority = /name: "pool_authority",\s*address: "(\w+)"/.exec(text)[1]
      const errors = [...text.matchAll(/code: (6\d{3}),\s*name: "(\w+)"/g)].map(([, code, name]) => [code, name])
      return {
        program: /CP_AMM_PROGRAM_ID = new [^"]*"(\w+)"/.exec(text)[1],
        authority,
        instructions: { swap2: bytesOf('swap2') },
        accounts: { Pool: bytesOf('Pool') },
        errors: Object.fromEntries(errors.filter(([code]) => meteoraErrors.includes(code))),
      }
    },
  },
  {
    // Circle's own: where USDC and EURC are.
    pack: '@circle-fin/bridge-kit@1.15.1',
    name: 'circle-bridge-kit-solana',
    read(files) {
      const chains = [...textOf(files, 'chains.mjs').matchAll(/defineChain\(\{(.*?)\n\}\);/gs)].map(([, chain]) => chain)
      const tokens = chains.flatMap((chain) =>
        ['USDC', 'EURC'].map((symbol) => ({
          chainId: chainIds[/ name: '([^']+)'/.exec(chain)?.[1]],
          symbol,
          address: new RegExp(`${symbol.toLowerCase()}Address: '(\\w+)'`).exec(chain)?.[1],
          decimals: 6,
        })),
      )
      return { tokens: tokens.filter(isOurs) }
    },
  },
]

// What the packages of Solana's programs say of where these are deployed; the packages themselves are not needed.

const programs = {
  // From 0.11 on it speaks to another program, which is not on every network.
  'solana-memo': '@solana-program/memo@0.10.0',
  'solana-token-2022': '@solana-program/token-2022@0.15.0',
}

export const solanaPrograms = Object.entries(programs).map(([name, pack]) => ({
  pack,
  name,
  read(files) {
    const folder = path.join(files, 'dist/types/generated/programs')
    const text = readdirSync(folder)
      .filter((file) => file.endsWith('.d.ts'))
      .map((file) => readFileSync(path.join(folder, file), 'utf8'))
      .join('\n')
    const constants = [...text.matchAll(/declare const (\w+_PROGRAM_ADDRESS): Address<["'](\w+)["']>/g)]
    return Object.fromEntries(constants.map(([, constant, address]) => [constant, address]))
  },
}))
