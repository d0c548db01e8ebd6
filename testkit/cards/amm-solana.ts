// What exchanges of the trading type AMM do on Solana otherwise than on EVM chains: how a trade that nobody takes ends, and fees of Token-2022.
import { expect } from 'chai'
import type { AmmCard } from './amm-fixture.ts'
import { askPrice } from './amm-quotes.ts'
import { expectTradedOnly, signedTrade, tradeLate } from './amm-trades.ts'
import { waitForMined } from './venue.ts'

/**
 * In the place of a deadline, which its programs do not know, stands the last valid height of the blockhash. That the server keeps it is the server's,
 * and no connector can change it.
 */
export const blockhashCard: AmmCard = [
  'AMM-08',
  'a late transaction gives its bound, or fails and costs only fees; no deadline is planned, the last valid height of its blockhash stands in for it',
  ['AMM-06'],
  (fixture) => tradeLate(fixture),
]

/** Of Token-2022: a program may trade such a token exactly, since the fee is in the mint. */
export const transferFeeCard: AmmCard = [
  'AMM-12',
  'a token that takes a fee on transfer is refused, or quoted by what leaves and what arrives',
  ['AMM-01', 'AMM-05', 'AMM-06'],
  async ({ venue, changesOf }) => {
    const { feeToken: symbol, tokens: others } = venue.chainControl ?? { feeToken: '', tokens: [] }
    const [, address] = venue.wallets
    let tried = false
    for (const quote of others)
      for (const side of ['SELL', 'BUY'] as const) {
        const request = { base: symbol, quote, amount: '0.1', side }
        const what = `${side} 0.1 ${symbol}-${quote}`
        const { status, body } = await askPrice(venue, request, true)
        if (body.name === 'UNKNOWN_ERROR' || body.name === 'TIMEOUT')
          expect.fail(`${what} fails by a defect of the connector (${body.message}).`)
        tried ||= status === 200 || body.name === 'TOKEN_NOT_SUPPORTED' || String(body.message).includes(' is left out: ')
        if (status !== 200) continue
        const trade = await signedTrade(venue, { address, ...request, limitPrice: body.slippagePrice }, `${what}. ${whereFeesAre}`)
        await waitForMined(venue, trade.txHash)
        const [paid, got] = side === 'BUY' ? [trade.expectedAmount, trade.amount] : [trade.amount, trade.expectedAmount]
        const changes = await changesOf?.(address, trade.txHash)
        if (changes) expectTradedOnly(changes, { trade, side, paid, got, what: `${what}. ${whereFeesAre}` })
      }
    if (tried) return
    return { notTested: `the exchange has no pool of ${symbol}, whose transfers take a fee, with ${others.join(' or ')}` }
  },
]

const whereFeesAre =
  'Transfers of this token take a fee, by its mint: a quote is of what leaves the wallet and of what arrives there. Where the program does not take such tokens, give why by `leftOut` of the pools.'
