import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { createTokenBook } from '../../core/live-state/token-book.ts'
import { originalOf } from '../../core/live-state/looks.ts'
import { evmChain } from '../../kits/evm/chain.ts'
import { multicall3 } from '../../kits/evm/network.ts'
import { networks } from '../../plugins/polygon/index.ts'

const tokenOf = (symbol: string, index: number) => ({ symbol, address: `0x${(index + 0xa0).toString(16).padStart(40, '0')}`, decimals: 18 })
const real = ['ETH', 'USDC', 'USDT', 'WETH', 'DAI', 'LINK', 'cbETH', 'USDC.e'].map(tokenOf)
const other = '0x00000000000000000000000000000000000000ff'

describe('symbols that look like that of a listed token', () => {
  for (const [script, symbol, original] of [
    ['the same', 'USDC', 'USDC'],
    ['another letter case', 'usdc', 'USDC'],
    ['Cyrillic', 'UЅDС', 'USDC'],
    ['small Cyrillic', 'ԁаі', 'DAI'],
    ['Greek', 'WΕΤΗ', 'WETH'],
    ['Lisu', 'ꓴꓢꓓꓚ', 'USDC'],
    ['Lisu', 'ꓓꓮꓲ', 'DAI'],
    ['Cherokee', 'ᎠᎪᎥ', 'DAI'],
    ['Cherokee', 'ᎳᎬᎢᎻ', 'WETH'],
    ['Cherokee', 'ᏞINK', 'LINK'],
    ['small Cherokee', 'ꮮinꮶ', 'LINK'],
    ['Armenian', 'ՍSDC', 'USDC'],
    ['Coptic', 'USDⲤ', 'USDC'],
    ['Deseret', 'USD𐐕', 'USDC'],
    ['Canadian syllabics', 'ᑌSDT', 'USDT'],
    ['full width', 'ＵＳＤＣ', 'USDC'],
    ['mathematical letters', '𝐔𝕊𝒟𝖢', 'USDC'],
    ['enclosed letters', 'ⓊⓈⒹⒸ', 'USDC'],
    ['Roman numerals', 'USDⅭ', 'USDC'],
    ['marks', 'USDĆ', 'USDC'],
    ['what cannot be seen', 'US\u200bD\u00adC\u2060', 'USDC'],
    ['variation selectors', 'USDC\ufe0f', 'USDC'],
    ['digits', 'DA1', 'DAI'],
    ['letters for one another', 'LlNK', 'LINK'],
    ['a sign', 'USD₮', 'USDT'],
    ['mixed case', 'CBETН', 'cbETH'],
  ] as const)
    it(`match in ${script}: ${JSON.stringify(symbol)}`, () =>
      expect(originalOf({ symbol, address: other }, real)?.symbol).to.equal(original))

  it('exclude those that differ for a reader', () => {
    for (const symbol of ['USD', 'USDD', 'BUSD', 'USDC.f', 'sDAI', 'WETH+', 'GEM', 'ΩMEGA', '币安'])
      expect(originalOf({ symbol, address: other }, real)?.symbol, symbol).to.equal(undefined)
  })

  it('include those of listed tokens that imitate another one', () => {
    const impostors = ['UЅDС', 'LlNK', 'Uѕdc'].map((symbol, index) => tokenOf(symbol, 50 + index))
    const listed = [impostors[0] ?? tokenOf('', 1), ...real, ...impostors.slice(1)]
    expect(impostors.map((each) => originalOf(each, listed)?.symbol)).to.deep.equal(['USDC', 'LINK', 'USDC'])
    for (const each of real) expect(originalOf(each, listed), each.symbol).to.equal(undefined)
    // Nor is it the real one that is kept from a list.
    expect(originalOf({ symbol: 'DAI', address: other }, [tokenOf('DАI', 1)])).to.equal(undefined)
  })

  it('appear in no list of the release', () => {
    const plugins = new URL('../../plugins/', import.meta.url)
    for (const name of readdirSync(plugins)) {
      const file = new URL(`${name}/tokens.json`, plugins)
      const text = readdirSync(new URL(`${name}/`, plugins)).includes('tokens.json') ? readFileSync(file, 'utf8') : '{"tokens":[]}'
      const { tokens }: { tokens: { chainId: number; symbol: string; address: string; decimals: number }[] } = JSON.parse(text)
      for (const chainId of new Set(tokens.map((each) => each.chainId))) {
        const listed = tokens.filter((each) => each.chainId === chainId)
        for (const each of listed) expect(originalOf(each, listed)?.symbol, `${name}: ${each.symbol}`).to.equal(undefined)
      }
    }
  })
})

describe('a listed impostor', () => {
  it('does not keep the real symbol from its token, in any letter case', async () => {
    const [wrapped = tokenOf('', 0)] = real
    const chain = evmChain(
      {
        chain: 'polygon',
        network: 'mainnet',
        config: { rpcUrls: ['http://127.0.0.1:1'] },
        log: { info() {}, warn() {} },
        meter: { rpc() {} },
      },
      { ...networks.mainnet, wrapped, intermediates: [], multicall: multicall3 },
    )
    const impostors = ['LIN\u212a', 'UЅDС', 'ＤＡＩ', 'LlNK'].map((symbol, index) => tokenOf(symbol, 50 + index))
    const book = createTokenBook(chain, [...impostors, ...real], 'polygon/mainnet')
    const at = { signal: AbortSignal.timeout(60_000) }
    for (const { symbol, address } of real.slice(1))
      for (const name of [symbol, symbol.toLowerCase(), symbol.toUpperCase()])
        expect((await book.resolve(name, 'token', at)).address, name).to.equal(address)
  })
})
