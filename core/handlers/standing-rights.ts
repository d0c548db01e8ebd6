// What a wallet has allowed to spenders that the plan of a contained plugin names. A simulation is no proof, so this is what bounds a plan that acts
// otherwise when it is mined: it reaches no right that is larger than what the plan needs.
import { approvableOf, type At, type Grant, type Plan } from '../contracts/index.ts'
import { formatRaw } from '../decimal.ts'
import { SluiceError } from '../errors.ts'
import { isObject } from '../json.ts'
import type { NetworkEntry, Registry, VenueEntry } from './registry.ts'

interface Planned {
  readonly plan: Pick<Plan, 'steps' | 'needs'>
  readonly wallet: string
  /** Tokens of the request, which need not be on the list. */
  readonly tokens: readonly string[]
}

interface Known {
  readonly spenders: readonly string[]
  readonly permit2s: readonly string[]
  readonly collections: readonly string[]
}

const distinct = (all: readonly string[]): string[] => [...new Map(all.map((each) => [each.toLowerCase(), each])).values()]

/** What connectors of a network have approved, and where wallets have positions. */
function knownOf(venues: readonly VenueEntry[]): Known {
  const permit2s = distinct(venues.flatMap(({ impl }) => impl.permit2?.address ?? []))
  // By the contract itself nobody takes anything: what counts are its spenders.
  const isPermit2 = (address: string) => permit2s.some((each) => each.toLowerCase() === address.toLowerCase())
  return {
    spenders: distinct(venues.flatMap(({ impl }) => [...Object.values(approvableOf(impl)), ...(impl.permit2?.spenders ?? [])])).filter(
      (each) => !isPermit2(each),
    ),
    permit2s,
    collections: distinct(venues.flatMap(({ impl }) => Object.values(impl.AMM_RANGE?.positionManagers ?? {}))),
  }
}

/** Spenders that steps call, or name anywhere in what they say: a contract may be told whom to call. */
export function spendersNamed(steps: Plan['steps'], known: readonly string[]): string[] {
  const texts = steps.flatMap((step) => {
    const { to, data } = isObject(step) ? step : {}
    return [to, data].flatMap((each) => (typeof each === 'string' ? [each.toLowerCase()] : []))
  })
  return known.filter((spender) => texts.some((text) => text.includes(spender.slice(2).toLowerCase())))
}

/**
 * @returns nothing where each spender that the plan names may take no more than the plan needs
 * @throws SluiceError TRADE_FAILED
 */
export async function refuseStandingRights(
  { plan, wallet, tokens }: Planned,
  { impl, chain, network, tokens: book }: NetworkEntry,
  venue: VenueEntry,
  registry: Pick<Registry, 'venuesOn'>,
  at: At,
): Promise<void> {
  const standing = impl.evm?.standing
  if (!standing) return
  const { spenders, permit2s, collections } = knownOf(registry.venuesOn(chain, network))
  const own = Object.values(approvableOf(venue.impl)).map((each) => each.toLowerCase())
  const named = spendersNamed(plan.steps, spenders).filter((each) => !own.includes(each.toLowerCase()))
  if (named.length === 0) return
  const needed = plan.needs.flatMap((need) => (need.is === 'allowance' ? [need] : []))
  const isToken = (address: string) => address !== impl.nativeCurrency.address && impl.address(address) !== undefined
  const asked = distinct([...book.listed.map(({ address }) => address), ...tokens, ...needed.map(({ token }) => token)]).filter(isToken)
  const rights = await standing(wallet, named, { tokens: asked, permit2s, collections }, at)
  const excess = rights.find((right) => exceeds(right, needed))
  if (!excess) return
  const { token, spender, amountRaw } = excess
  const { symbol, decimals } = book.listedAt(token) ?? { symbol: token, decimals: 0 }
  const current = amountRaw === undefined ? 'everything' : formatRaw(amountRaw, decimals)
  const revoking = { chain, network, address: wallet, spender, token, amount: '0' }
  throw new SluiceError(
    'TRADE_FAILED',
    `${spender} may take ${current} of ${symbol} from the wallet, and the plan of ${venue.connector}, which is not built in, names that contract and needs less of it: nothing was signed, because the plan could use that right when it is mined. Trade with a wallet of its own, or take the right back first: ${amountRaw === undefined ? `setApprovalForAll(${spender}, false) of ${token}` : `POST /evm/approve ${JSON.stringify(revoking)}`}.`,
    { details: { reason: 'a standing right', spender, token, current } },
  )
}

function exceeds({ token, spender, amountRaw }: Grant, needed: readonly { token: string; spender: string; amountRaw: bigint }[]): boolean {
  if (amountRaw === undefined) return true
  const isOf = (need: { token: string; spender: string }) =>
    need.token.toLowerCase() === token.toLowerCase() && need.spender.toLowerCase() === spender.toLowerCase()
  return amountRaw > needed.filter(isOf).reduce((sum, need) => sum + need.amountRaw, 0n)
}
