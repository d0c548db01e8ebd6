import { expect } from 'chai'
import type { Client, ClientLimits } from '../../core/config/clients.ts'
import { unknownNames, unknownReferences } from '../../core/limits/unknown-names.ts'

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

  it('are said of addresses: mistyped, of no wallet here, or to whom nothing can be sent', () => {
    const mistyped = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eb48'
    expect(problemsOf({ allowed: { tokens: [mistyped], pools: [mistyped] } }).join('\n')).to.match(
      /^limits\.allowed\.tokens .* right checksum[^\n]*\nlimits\.allowed\.pools .* right checksum[^\n]*$/,
    )
    expect(problemsOf(ofLocal({ [mistyped]: { perDay: '1' } })).join('\n')).to.match(/limits no token: .* right checksum/)
    const client: Client = {
      ...clientOf('operator', { allowed: { recipients: ['0x02', '0x01'] } }),
      wallets: ['0xAA', '0xBB'],
      sendTo: new Map([['0xaa', ['0x01']]]),
    }
    expect(unknownNames([client], { ...known, wallets: ['0xaa'] })).to.deep.equal([
      'wallets of the client "operator" in conf/clients.yml has 0xBB, and the server holds no such wallet (did you mean "0xaa"?).',
      'sendTo of the client "operator" in conf/clients.yml gives nothing: the client has not the permission send.',
      'limits.allowed.recipients of the client "operator" in conf/clients.yml has 0x02, and sendTo does not (did you mean "0x01"?): it allows nothing.',
    ])
  })

  it('are said of the reference tokens that somebody wrote', () => {
    expect(unknownReferences(['DAI', 'USDC'], known.networks)).to.deep.equal([])
    expect(unknownReferences(['USCD'], known.networks)).to.deep.equal([
      'limits.referenceTokens has USCD, and no network of this server lists such a token (did you mean "USDC"?).',
    ])
  })
})
