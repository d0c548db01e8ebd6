// Holds the worst outcome that signed bytes permit against the market, whatever limit price, slippage or pool the request has: those are the caller's words.
import { SluiceError } from '../base/errors.ts'
import { formatRatio } from '../base/decimal.ts'
import type { Exchanged } from '../market/token-values.ts'
import type { Commitment } from '../transactions/budgets.ts'
import type { NetworkContext } from './context.ts'

/**
 * What a request commits its wallet to, valued by the market where there is one.
 * @throws SluiceError LIMIT_EXCEEDED where its worst outcome is far below the market, FORBIDDEN where no market tells; not for callers who may use
 * thin markets, nor on networks that are not checked
 */
export function heldAgainstMarket(exchanged: Exchanged, { network, services, caller }: Omit<NetworkContext, 'signal'>): Commitment {
  const { market, settings } = services
  if (!market.isChecked(network)) return exchanged
  const compared = market.compare(network, exchanged)
  const isFree = caller.permissions.has('thin')
  if (compared.is !== 'priced') {
    if (isFree) return exchanged
    throw needsThin(compared, caller.id, network, settings.limits)
  }
  const { givenMicros, lostMicros } = compared
  const { maxPriceImpact } = settings.limits
  // In millionths of a percent.
  if (!isFree && lostMicros * 100_000_000n > givenMicros * BigInt(Math.round(maxPriceImpact * 1e6))) {
    const worse = givenMicros === 0n ? 'without end' : formatRatio(lostMicros * 100n, givenMicros, 'up', 4)
    throw new SluiceError(
      'LIMIT_EXCEEDED',
      `At worst this is ${worse} % below the market, and limits.maxPriceImpact allows the client certificate "${caller.id}" ${maxPriceImpact} %: nothing was signed. Tighten limitPrice or allowedSlippage, trade less, or through deeper pools. What is worth it all the same needs the permission thin.`,
      { details: { limit: 'maxPriceImpact', allowedPercent: String(maxPriceImpact), worstPercent: worse } },
    )
  }
  const coin = network.impl.nativeCurrency.address
  const tokens = [...new Set([...Object.keys(exchanged.gives), ...Object.keys(exchanged.gets), coin])]
  return { ...exchanged, market: { lossMicros: lostMicros > 0n ? lostMicros : 0n, prices: market.valuesNow(network, tokens) } }
}

function needsThin(
  compared: Exclude<ReturnType<NetworkContext['services']['market']['compare']>, { is: 'priced' }>,
  client: string,
  { chain, network, tokens }: NetworkContext['network'],
  { marketDepth, referenceTokens, marketMinutes }: NetworkContext['services']['settings']['limits'],
): SluiceError {
  const needs = `Without a market only a client certificate with the permission thin may do this, and "${client}" lacks it: nothing was signed.`
  if (compared.is === 'too short') {
    const seconds = Math.ceil(compared.leftMs / 1000)
    return new SluiceError(
      'FORBIDDEN',
      `The market of these tokens on ${chain}/${network} has been read for less than ${marketMinutes / 4} minutes. ${needs} Send it again in ${seconds} s.`,
      { retryAfterSeconds: seconds, details: { reason: 'market too short', seconds } },
    )
  }
  const named = compared.tokens.map((token) => tokens.listedAt(token)?.symbol ?? token)
  return new SluiceError(
    'FORBIDDEN',
    `${named.join(', ')} ${named.length === 1 ? 'has' : 'have'} no market on ${chain}/${network}: that takes a listed token and two pools of built-in connectors, each with a depth of ${marketDepth} ${referenceTokens[0]} (limits.marketDepth). ${needs}`,
    { details: { reason: 'no market', tokens: compared.tokens } },
  )
}
