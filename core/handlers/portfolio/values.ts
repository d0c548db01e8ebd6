// What amounts of a network's tokens are worth, by the market that limits use. Nothing is guessed: what has no value says why.
import { fromRaw } from '../../base/decimal.ts'
import { referenceDecimals } from '../../limits/limit-checks.ts'
import type { ValueBound } from '../../market/exchange-values.ts'
import type { NetworkEntry } from '../../plugins/index.ts'
import { microsOf } from '../../transactions/budgets.ts'
import type { RequestContext } from '../context.ts'

/** In millionths of the reference token. */
export type Worth = { readonly micros: bigint } | { readonly noValue: string }

export interface Amount {
  /** Address of the token. */
  readonly token: string
  readonly raw: bigint
}

export interface Values {
  /** Symbol of the reference token. Undefined: nothing has a value. */
  readonly reference: string | undefined
  /** Of all of these together: what is held counts at least, what could be lost at most. */
  worth(amounts: readonly Amount[], as: 'held' | 'at risk'): Worth
}

export function valuesOn(network: NetworkEntry, { services: { market }, caller }: Pick<RequestContext, 'services' | 'caller'>): Values {
  const reference = market.isChecked(network) ? market.referenceOf(network) : undefined
  const isKnown = (token: string) => token === network.impl.nativeCurrency.address || network.tokens.listedAt(token) !== undefined

  function worth(amounts: readonly Amount[], as: 'held' | 'at risk'): Worth {
    if (reference === undefined) return { noValue: 'nothing is compared with a market on this network' }
    const tokens = [...new Set(amounts.flatMap(({ token, raw }) => (raw > 0n ? [token] : [])))]
    const unlisted = tokens.find((token) => !isKnown(token))
    if (unlisted !== undefined) return { noValue: `${unlisted} is on no list` }
    const isRead = tokens.length === 0 || market.watch(network, tokens, caller.id)
    const [bound, rounding]: [ValueBound, 'up' | 'down'] = as === 'held' ? ['lowX', 'down'] : ['highX', 'up']
    const values = market.shownValues(network, tokens, bound)
    const missing = tokens.find((token) => values[token] === undefined)
    if (missing !== undefined) {
      const name = network.tokens.listedAt(missing)?.symbol ?? network.impl.nativeCurrency.symbol
      return {
        noValue: isRead ? `${name} has no market with real depth now` : `the market of ${name} is read from now on: ask again in a minute`,
      }
    }
    return { micros: amounts.reduce((sum, { token, raw }) => sum + (raw > 0n ? microsOf(raw, values[token] ?? 0n, rounding) : 0n), 0n) }
  }

  return { reference, worth }
}

export const showWorth = (worth: Worth): { value?: string; noValue?: string } =>
  'micros' in worth ? { value: showMicros(worth.micros) } : worth

export const showMicros = (micros: bigint): string => fromRaw(micros, referenceDecimals)

/** An amount of a token, which may be on no list: then in its smallest units. */
export const showAmount = (raw: bigint, decimals: number | undefined): string => fromRaw(raw, decimals ?? 0)
