import { expect } from 'chai'
import type { Client, ClientLimits } from '../../core/config/clients.ts'
import { unknownNames } from '../../core/limits/unknown-names.ts'

const known = {
  connectors: ['uniswap', 'perp'],
  networks: [
    {
      chain: 'ethereum',
      network: 'local',
      tokens: [
        { address: '0xAA', symbol: 'USDC', decimals: 6 },
        { address: '0xBB', symbol: 'TWO', decimals: 18 },
        { address: '0xCC', symbol: 'TWO', decimals: 18 },
      ],
    },
  ],
  certificates: ['bot-a', 'operator'],
}
const clientOf = (name: string, limits?: ClientLimits): Client => ({ name, permissions: [], wallets: [], ...(limits && { limits }) })
const problemsOf = (limits: ClientLimits) => unknownNames([clientOf('operator', limits)], known)
const ofLocal = (tokens: Record<string, object>): ClientLimits => ({ tokens: { 'ethereum/local': tokens } })

describe('names in conf/clients.yml that nobody knows', () => {
  it('are said with what was probably meant: connectors, networks and tokens', () => {
    expect(problemsOf({ allowed: { connectors: ['unswap', 'perp'] } })).to.deep.equal([
      'limits.allowed.connectors of the client "operator" in conf/clients.yml has unswap, and this server has no such connector (did you mean "uniswap"?).',
    ])
    const lokal = /ethereum\/lokal, and this server has no such network \(did you mean "ethereum\/local"\?\)/
    for (const limits of [
      { allowed: { networks: ['ethereum/lokal'] } },
      { tokens: { 'ethereum/lokal': {} } },
      { approveTokensAbove: { 'ethereum/lokal': {} } },
      { maxFee: { 'ethereum/lokal': '1' } },
      { maxDailyGas: { 'ethereum/lokal': '1' } },
    ])
      expect(problemsOf(limits).join('\n')).to.match(lokal)
    expect(problemsOf({ allowed: { tokens: ['USDX', '0xaa', '0xdd', 'USDC'] } }).join('\n')).to.match(
      /^limits\.allowed\.tokens .* has USDX, and no network .* lists such a token \(did you mean "USDC"\?\)[^\n]*$/,
    )
    expect(problemsOf(ofLocal({ FOO: { perDay: '1' } })).join('\n')).to.match(
      /tokens\["ethereum\/local"\]\.FOO .*lists none of this name\.$/,
    )
    expect(problemsOf(ofLocal({ TWO: { perDay: '1' } })).join('\n')).to.match(/lists several of this symbol/)
    expect(problemsOf({ approveTokensAbove: { 'ethereum/local': { USDCC: '1' } } }).join('\n')).to.match(/did you mean "USDC"/)
  })

  it('are said of a certificate that is spelt otherwise and has no entry', () => {
    expect(unknownNames([clientOf('Bot-A'), clientOf('operator'), clientOf('elsewhere')], known)).to.deep.equal([
      'No certificate that was made here has the name of the client "Bot-A" in conf/clients.yml (did you mean "bot-a"?). Its entry holds for nobody.',
    ])
    expect(unknownNames([clientOf('Bot-A'), clientOf('bot-a')], known)).to.deep.equal([])
  })

  it('are said beside amounts that allow nothing, or never refuse anything', () => {
    expect(problemsOf(ofLocal({ USDC: { perHour: '0.0000001', perDay: '0' } })).join('\n')).to.match(
      /USDC\.perHour .* is 0\.0000001, which is less than the smallest unit of USDC: it allows nothing\.$/,
    )
    expect(problemsOf({ value: { perTransaction: '3', perHour: '5', perDay: '4' } })).to.deep.equal([
      'limits.value.perHour of the client "operator" in conf/clients.yml is 5, which is above perDay (4): it never refuses anything.',
    ])
    expect(problemsOf(ofLocal({ USDC: { perHour: '1', perDay: '2' } }))).to.deep.equal([])
  })
})
