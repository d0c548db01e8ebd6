import { expect } from 'chai'
import { actOf, ledgerLines, type LedgerReaders } from '../../core/books/ledger.ts'
import type { Entry } from '../../core/transactions/entry.ts'

const [coin, usdc, weth] = [
  '0x0000000000000000000000000000000000000000',
  '0x00000000000000000000000000000000000000C3',
  '0x00000000000000000000000000000000000000C4',
]
const tokens = [
  { symbol: 'ETH', address: coin, decimals: 18 },
  { symbol: 'USDC', address: usdc, decimals: 6 },
  { symbol: 'WETH', address: weth, decimals: 18 },
]

const entryOf = (more: object): Entry =>
  ({
    key: '1',
    chain: 'ethereum',
    network: 'local',
    address: '0xA',
    kind: 'trade',
    connector: 'exchange',
    client: 'one',
    createdAt: 5,
    state: 'CONFIRMED',
    part: { index: 0, of: 1 },
    attempts: [],
    landed: { id: '0x1', ok: true, blockNumber: 7, receipt: null },
    movements: {},
    ...more,
  }) as unknown as Entry

const readers: LedgerReaders = {
  costOf: () => ({ feeRaw: '3' }),
  tokenOf: ({ signer }, symbol) => (signer === undefined ? tokens.find((each) => each.symbol === symbol) : undefined),
  tokenAt: (_entry, address) => tokens.find((each) => each.address === address),
  coinOf: () => tokens[0],
  isOwn: (_entry, { txHash }) => txHash === '0xown',
  isWallet: (_entry, address) => address === '0xB',
}
const linesOf = (more: object) =>
  ledgerLines(entryOf(more), readers).map(({ wallet, part, heldBy, symbol, change, rawChange, note }) => [
    `${wallet} ${part}${heldBy === undefined ? '' : ` at ${heldBy}`}`,
    symbol,
    change,
    rawChange === undefined ? undefined : String(rawChange),
    ...(note === undefined ? [] : [note]),
  ])
const fee = ['0xA fee', 'ETH', '-0.000000000000000003', '-3']

describe('the ledger of a transaction', () => {
  it('has its movements and its fee, of one that failed the fee alone, and of one that is not final nothing', () => {
    expect(linesOf({ movements: { [weth]: '-5', [usdc]: '7', '0xE': '2' } })).to.deep.equal([
      ['0xA moved', 'WETH', '-0.000000000000000005', '-5'],
      ['0xA moved', 'USDC', '0.000007', '7'],
      ['0xA moved', undefined, undefined, '2'],
      fee,
    ])
    expect(linesOf({ state: 'REVERTED', landed: { id: '0x1', ok: false, blockNumber: 7, receipt: null } })).to.deep.equal([fee])
    for (const more of [
      { state: 'MINED', movements: { [usdc]: '7' } },
      { state: 'DROPPED', landed: undefined },
    ])
      expect(linesOf(more)).to.deep.equal([])
  })

  it('says what nobody knows, and guesses nothing', () => {
    expect(linesOf({ movements: { [coin]: null } })[0]).to.deep.equal([
      '0xA moved',
      undefined,
      undefined,
      undefined,
      'it may have moved the coin, and nobody could tell how much',
    ])
    expect(linesOf({ movements: undefined })[0]).to.deep.equal([
      '0xA moved',
      undefined,
      undefined,
      undefined,
      'nothing tells what it moved',
    ])
  })

  it('is also of the wallet of the server that it sent to', () => {
    const send = (to: string) => linesOf({ kind: 'send', request: { path: '/evm/send', fields: { to } }, movements: { [usdc]: '-7' } })
    expect(send('0xB')).to.deep.equal([['0xA moved', 'USDC', '-0.000007', '-7'], ['0xB received', 'USDC', '0.000007', '7'], fee])
    expect(send('0xC')).to.deep.equal([['0xA moved', 'USDC', '-0.000007', '-7'], fee])
  })

  it('tells fees of a pool from what was removed', () => {
    const outcome = { tokenId: '7', liquidity: '2', amount0: '0.000057', amount1: '0', fees0: '0.000007', fees1: '0' }
    const removed = {
      kind: 'liquidity',
      request: { path: '/amm/liquidity/remove', fields: {} },
      movements: { [usdc]: '57', '0xF/7': '-1' },
      outcome,
    }
    expect(linesOf(removed).slice(0, 3)).to.deep.equal([
      ['0xA moved', 'USDC', '0.00005', '50'],
      ['0xA poolFees', 'USDC', '0.000007', '7'],
      ['0xA moved', undefined, undefined, '-1'],
    ])
  })

  it('has fills by others of orders on a chain, and both sides of fills at an exchange', () => {
    const fill = (tradeId: string, txHash?: string) => ({
      tradeId,
      price: '2000',
      amount: '0.5',
      fee: '1',
      feeToken: 'USDC',
      timestamp: 9,
      ...(txHash !== undefined && { txHash }),
    })
    const placed = (side: string, fills: readonly object[]) => ({
      kind: 'order',
      orders: [
        { clientOrderId: 'o', type: 'CLOB', market: 'WETH-USDC', about: { side }, report: { state: 'OPEN', filledAmount: '0' }, fills },
      ],
    })
    expect(linesOf(placed('SELL', [fill('a', '0xother'), fill('b', '0xown')]))).to.deep.equal([
      fee,
      ['0xA fill', 'USDC', '999', '999000000'],
    ])
    const atExchange = linesOf({ ...placed('BUY', [fill('a')]), signer: '0xA', movements: undefined })
    expect(atExchange.slice(1)).to.deep.equal([
      ['0xA fill at exchange', 'WETH', '0.5', undefined],
      ['0xA fill at exchange', 'USDC', '-1001', undefined],
    ])
  })

  it('names what it was, also where an earlier version did not keep the request', () => {
    const request = (path: string, fields: object = {}) => ({ path, fields })
    const named = [
      ['trade', request('/amm/trade', { side: 'BUY' }), 'buy'],
      ['wrap', request('/evm/unwrap'), 'unwrap'],
      ['collateral', request('/perp/deposit'), 'deposit'],
      ['liquidity', request('/amm/liquidity/collect_fees'), 'collect_fees'],
      ['send', request('/evm/send'), 'send'],
    ] as const
    for (const [kind, words, act] of named) expect(actOf({ kind, request: words } as never, coin)).to.equal(act)
    expect(actOf({ kind: 'wrap', movements: { [coin]: '5', [weth]: '-5' } }, coin)).to.equal('unwrap')
    expect(actOf({ kind: 'wrap', movements: { [coin]: '-5', [weth]: '5' } }, coin)).to.equal('wrap')
    expect(actOf({ kind: 'collateral', movements: { [usdc]: '5' } }, coin)).to.equal('withdraw')
  })
})
