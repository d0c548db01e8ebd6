import type { At, BookMarket } from '../../../contracts/index.ts'
import type { CallResult, EvmReader } from '../../../../kits/evm/types.ts'
import { oasisAbi } from '../abi.ts'
import { amountText } from '../../../../kits/oasis/decimal.ts'
import type { Pair, Place } from '../../../../kits/oasis/contract.ts'
import { answered } from './answered.ts'

const flags = ['isClosed', 'matchingEnabled', 'buyEnabled'] as const

/** The markets by the contract's own flags and least amounts, in one round trip. */
export async function readMarkets(reader: EvmReader, { market, pairs }: Place, at: At): Promise<readonly BookMarket[]> {
  const tokens = [...new Set(pairs.flatMap(({ base, quote }) => [base.address, quote.address]))]
  const call = (method: string, ...args: readonly unknown[]) => ({ to: market, data: oasisAbi.encodeFunctionData(method, [...args]) })
  const { results } = await reader.read([...flags.map((flag) => call(flag)), ...tokens.map((token) => call('getMinSell', token))], at)
  const value = (method: string, result: CallResult | undefined): unknown => answered(market, method, result)[0]
  const [isClosed, matches, sells] = flags.map((flag, index) => value(flag, results[index]) === true)
  // Offers are taken where matching is off, too, but none is matched with another one; where buying is off none can be taken.
  const status = isClosed ? 'closed' : matches && sells ? 'open' : 'paused'
  const least = new Map(tokens.map((token, index) => [token, BigInt(String(value('getMinSell', results[flags.length + index])))]))
  return pairs.map((pair) => toMarket(pair, status, least))
}

function toMarket({ id, base, quote }: Pair, status: BookMarket['status'], least: ReadonlyMap<string, bigint>): BookMarket {
  const [leastBaseRaw, leastQuoteRaw] = [least.get(base.address) ?? 0n, least.get(quote.address) ?? 0n]
  return {
    id,
    base: base.symbol,
    quote: quote.symbol,
    prices: 'any',
    lotSize: amountText(1n, base.decimals),
    // The contract holds each against what an order pays: base of a SELL, quote of a BUY.
    ...(leastBaseRaw > 0n && { minOrderSize: amountText(leastBaseRaw, base.decimals) }),
    ...(leastQuoteRaw > 0n && { minNotional: amountText(leastQuoteRaw, quote.decimals) }),
    takes: { LIMIT: ['GTC'], MARKET: ['FOK'] },
    makerFee: '0',
    takerFee: '0',
    status,
  }
}
