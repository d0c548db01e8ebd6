// What a mined transaction touched, as the request that made it was held against the lists of its client: by its receipt and by what its entry has.
import { isObject } from '../base/json.ts'
import type { MinedTouches } from '../limits/replay.ts'
import type { NetworkEntry, Registry } from '../plugins/index.ts'
import type { Entry } from '../transactions/entry.ts'
import { isSameAddress } from '../base/addresses.ts'
import { exchangesCoinOf } from './mined-amounts.ts'
import { isAboutShares } from './amm/shares.ts'
import { limitedToken, networkOf } from './limited-amounts.ts'
import { connectorsOf, touchedTokens } from './touches.ts'

type Plugins = Pick<Registry, 'networks' | 'plannedBy' | 'venuesOn' | 'venueOf'>

export function minedTouches(entry: Entry, registry: Plugins): MinedTouches {
  const on = networkOf(entry, registry)
  return {
    connectors: on ? connectorsTouched(entry, on, registry) : 'unknown',
    tokens: on ? tokensTouched(entry, on, registry) : 'unknown',
  }
}

function connectorsTouched(entry: Entry, on: NetworkEntry, registry: Plugins): MinedTouches['connectors'] {
  const { kind, connector, plugin } = entry
  if (kind !== 'approve')
    return connector === undefined ? [] : [{ name: connector, builtIn: registry.venueOf(entry, on)?.builtIn ?? plugin === undefined }]
  // One of Permit2 has an event of its own.
  const approvals = approvalsOf(entry, on)
  if (approvals === undefined || approvals.length === 0) return 'unknown'
  const found = connectorsOf(
    approvals.map(({ spender }) => spender),
    on,
    registry,
  )
  return found.length > 0 ? found : approvals.some(({ spender }) => isPermit2(spender, on, registry)) ? 'unknown' : []
}

const isPermit2 = (spender: string, { chain, network }: NetworkEntry, registry: Plugins): boolean =>
  registry.venuesOn(chain, network).some(({ impl: { permit2 } }) => permit2 !== undefined && isSameAddress(permit2.address, spender))

function tokensTouched(entry: Entry, on: NetworkEntry, registry: Plugins): MinedTouches['tokens'] {
  const { kind, landed, about } = entry
  // It moved nothing.
  if (landed && !landed.ok) return []
  if (kind === 'position') return marketOf(entry, on, registry) ?? 'unknown'
  if (kind === 'funds') {
    const symbol = isObject(about) && about['how'] !== 'leverage' ? about['token'] : undefined
    const token = typeof symbol === 'string' ? limitedToken(on, symbol, registry) : undefined
    return token ? touchedTokens([token.address], on) : 'unknown'
  }
  if (kind === 'approve') {
    const approvals = approvalsOf(entry, on)
    return approvals === undefined || approvals.length === 0
      ? 'unknown'
      : touchedTokens(
          approvals.map(({ token }) => token),
          on,
        )
  }
  if (kind === 'liquidity' && isAboutShares(about) && isObject(about) && Array.isArray(about['tokens']))
    return touchedTokens(about['tokens'].map(String), on)
  return movedTokens(entry, on)
}

/** By events of tokens, with the coin where the request named it. */
function movedTokens(entry: Entry, on: NetworkEntry): MinedTouches['tokens'] {
  const { kind, landed, address, about, signer } = entry
  const receipt = landed?.receipt
  const gains = receipt === undefined || receipt === null || signer !== undefined ? undefined : on.impl.evm?.gains?.(receipt, address)
  if (!gains) return 'unknown'
  // What a deposit gets, such as a position, is the exchange's own.
  const moved = [...gains].filter(([, raw]) => (kind === 'liquidity' ? raw < 0n : raw !== 0n)).map(([token]) => token)
  const { address: coin } = on.impl.nativeCurrency
  const isWithCoin = kind === 'wrap' || (kind === 'trade' && isObject(about) && exchangesCoinOf(entry, on))
  const all = isWithCoin ? [...moved, coin] : moved
  return all.length > 0 ? touchedTokens(all, on) : 'unknown'
}

/** By the exchange's event. */
function marketOf(entry: Entry, on: NetworkEntry, registry: Plugins): MinedTouches['tokens'] | undefined {
  const venue = registry.plannedBy(entry, on)
  const receipt = entry.landed?.receipt
  if (!venue?.builtIn || receipt === undefined || receipt === null) return undefined
  try {
    const fill = venue.impl.PERP_AMM?.perpFill(receipt, entry.memo)
    if (!fill || fill instanceof Promise) return undefined
    return [fill.market.base, fill.market.quote].map((symbol) => ({ name: symbol, symbol }))
  } catch {
    return undefined
  }
}

function approvalsOf({ landed, address }: Entry, on: NetworkEntry) {
  const receipt = landed?.receipt
  return receipt === undefined || receipt === null ? undefined : on.impl.evm?.approvals?.(receipt, address)
}
