// What a wallet has allowed to spenders that the plan of a contained plugin names. A simulation is no proof, so this is what bounds a plan that acts
// otherwise when it is mined: it reaches no right that is larger than what the plan needs.
import { approvableOf, canonicalPermit2, type At, type Grant, type Plan } from '../contracts/index.ts'
import { formatRaw } from '../base/decimal.ts'
import { SluiceError } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import { orUndefined } from './context.ts'
import type { OutcomeBounds } from './outcome.ts'
import type { NetworkEntry, Registry, VenueEntry } from '../plugins/index.ts'
import { addressKey, isSameAddress } from '../base/addresses.ts'

interface PlanToCheck {
  readonly plan: Pick<Plan, 'steps' | 'needs'>
  readonly wallet: string
  /** Tokens of the request, which need not be on the list. */
  readonly tokens: readonly string[]
  /** What the request lets leave the wallet. Absent: what the plan says that it needs. */
  readonly bounds?: OutcomeBounds | undefined
  /** What the operator lets wallets approve beside connectors' spenders. */
  readonly allowedSpenders?: readonly string[]
  /** Ids of positions that the wallet may have, by the contract: one that does not list a wallet's is told of them. */
  readonly positions?: () => Promise<readonly Position[]>
}

interface Position {
  readonly collection: string
  readonly tokenId: bigint
}

interface KnownContracts {
  readonly spenders: readonly string[]
  readonly permit2s: readonly string[]
  readonly collections: readonly string[]
}

const distinct = (all: readonly string[]): string[] => [...new Map(all.map((each) => [addressKey(each), each])).values()]

export const spendersOf = (impl: SpendingVenue['impl']): readonly string[] => [
  ...Object.values(approvableOf(impl)),
  ...(impl.permit2?.spenders ?? []),
]

/** Of a connector on one network: who takes what of a wallet. */
export interface SpendingVenue {
  readonly impl: {
    readonly spenders?: Readonly<Record<string, string>> | undefined
    readonly permit2?: { readonly address: string; readonly spenders: readonly string[] } | undefined
    readonly AMM_RANGE?: { readonly positionManager: string; readonly positionManagers?: Readonly<Record<string, string>> } | undefined
    readonly AMM_SHARES?: { readonly depositSpenders?: Readonly<Record<string, string>> } | undefined
  }
}

/** What connectors of a network have approved, and where wallets have positions. */
export function knownOf(venues: readonly SpendingVenue[], allowedSpenders: readonly string[]): KnownContracts {
  const named = distinct(venues.flatMap(({ impl }) => impl.permit2?.address ?? []))
  // Wallets may have used it elsewhere.
  const permit2s = named.length > 0 ? named : [canonicalPermit2]
  // By the contract itself nobody takes anything: what counts are its spenders.
  const isPermit2 = (address: string) => permit2s.some((each) => isSameAddress(each, address))
  return {
    spenders: distinct([...venues.flatMap(({ impl }) => spendersOf(impl)), ...allowedSpenders]).filter((each) => !isPermit2(each)),
    permit2s,
    collections: distinct(
      venues.flatMap(({ impl: { AMM_RANGE: range } }) =>
        [range?.positionManager ?? [], ...Object.values(range?.positionManagers ?? {})].flat(),
      ),
    ),
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
 * A spender may take no more than the request lets leave the wallet, all that the plan calls or names together. That holds for the plugin's own
 * spenders, too: it names these itself, a built-in exchange's router among them, and a contract may take its whole allowance at any time.
 * @throws SluiceError TRADE_FAILED
 */
export async function refuseStandingRights(
  { plan, wallet, tokens, bounds, allowedSpenders = [], positions }: PlanToCheck,
  on: NetworkEntry,
  venue: VenueEntry,
  registry: Pick<Registry, 'venuesOn'>,
  at: At,
): Promise<void> {
  const { impl, chain, network, tokens: book } = on
  const standing = impl.evm?.standing
  if (!standing) return
  const venues = registry.venuesOn(chain, network)
  const { spenders, permit2s, collections } = knownOf(venues, allowedSpenders)
  const named = distinct([...targetsOf(plan.steps, impl), ...spendersNamed(plan.steps, spenders)]).filter(
    (each) => !isApprovedFor(venue, each, { venues, allowedSpenders }) && !permit2s.some((permit2) => isSameAddress(permit2, each)),
  )
  if (named.length === 0) return
  const needed = plan.needs.flatMap((need) => (need.is === 'allowance' ? [need] : []))
  const isToken = (address: string) => address !== impl.nativeCurrency.address && impl.address(address) !== undefined
  const asked = distinct([...book.listed.map(({ address }) => address), ...tokens, ...needed.map(({ token }) => token)]).filter(isToken)
  const known = collections.length === 0 ? [] : ((await positions?.()) ?? [])
  const rights = await standing(wallet, named, { tokens: asked, permit2s, collections, ...(known.length > 0 && { positions: known }) }, at)
  const excess = excessOf(rights, plan.needs, bounds)
  if (excess) throw await refusal(excess, { wallet, on, venue, venues }, at)
}

/** A spender that was approved for this plugin knowingly: for code that runs in the server, or where the server only tries, and nobody else has it. */
function isApprovedFor(venue: VenueEntry, spender: string, { venues, allowedSpenders }: OtherSpenders): boolean {
  const has = ({ impl }: VenueEntry) => spendersOf(impl).some((each) => isSameAddress(each, spender))
  if (!has(venue)) return false
  if (venue.trusted === true) return true
  const isShared = venues.some((each) => each.connector !== venue.connector && has(each))
  return venue.tried === true && !isShared && !allowedSpenders.some((each) => isSameAddress(each, spender))
}

interface OtherSpenders {
  readonly venues: readonly VenueEntry[]
  readonly allowedSpenders: readonly string[]
}

/** Whoever a step calls may be somebody that the wallet approved elsewhere. */
const targetsOf = (steps: Plan['steps'], impl: NetworkEntry['impl']): readonly string[] =>
  steps.flatMap((step) => {
    const to = isObject(step) ? step['to'] : undefined
    return typeof to === 'string' ? (impl.address(to) ?? []) : []
  })

interface Excess {
  readonly grant: Grant
  readonly neededRaw: bigint
  /** Whom the plan needs: the others get nothing. */
  readonly isNeeded: boolean
}

/** Where spenders may take more of a token than the request lets leave. */
function excessOf(rights: readonly Grant[], needs: Plan['needs'], bounds: OutcomeBounds | undefined): Excess | undefined {
  const uncounted = rights.find(({ amountRaw }) => amountRaw === undefined)
  if (uncounted) return { grant: uncounted, neededRaw: 0n, isNeeded: false }
  const isNeeded = ({ token, spender }: Grant) =>
    needs.some((need) => need.is === 'allowance' && isSameAddress(need.token, token) && isSameAddress(need.spender, spender))
  for (const { token } of rights) {
    const ofToken = rights.filter((each) => isSameAddress(each.token, token))
    const currentRaw = ofToken.reduce((sum, { amountRaw = 0n }) => sum + amountRaw, 0n)
    const neededRaw = mayLeave(token, needs, bounds)
    if (currentRaw <= neededRaw) continue
    const grant = ofToken.find((each) => !isNeeded(each)) ?? ofToken[0]
    // With a single spender it does not matter whether the plan says that it needs it.
    if (grant) return { grant, neededRaw, isNeeded: ofToken.length === 1 || isNeeded(grant) }
  }
  return undefined
}

/** The most that the request lets leave of a token: the plugin's word on what its plan needs is not asked where the request is known. */
function mayLeave(token: string, needs: Plan['needs'], bounds: OutcomeBounds | undefined): bigint {
  if (!bounds)
    return needs.reduce((sum, need) => (need.is === 'allowance' && isSameAddress(need.token, token) ? sum + need.amountRaw : sum), 0n)
  const [, range] = [...bounds].find(([address]) => isSameAddress(address, token)) ?? []
  if (!range) return 0n
  const leavesRaw = range.minRaw < 0n ? -range.minRaw : 0n
  const { acceptedRaw = 0n } = range
  return acceptedRaw > leavesRaw ? acceptedRaw : leavesRaw
}

interface RefusalContext {
  readonly wallet: string
  readonly on: NetworkEntry
  readonly venue: VenueEntry
  readonly venues: readonly VenueEntry[]
}

/** Says what stands, what is needed, and how the one becomes the other. */
async function refusal(
  { grant, neededRaw, isNeeded }: Excess,
  { wallet, on, venue, venues }: RefusalContext,
  at: At,
): Promise<SluiceError> {
  const { chain, network, tokens: book } = on
  const { token, spender, amountRaw, tokenId } = grant
  const counted = book.listedAt(token) ?? (neededRaw > 0n ? await orUndefined(() => book.resolve(token, 'token', at)) : undefined)
  const { symbol, decimals } = counted ?? { symbol: token, decimals: 0 }
  const current = tokenId !== undefined ? `number ${tokenId}` : amountRaw === undefined ? 'everything' : formatRaw(amountRaw, decimals)
  const needed = isNeeded ? formatRaw(neededRaw, decimals) : '0'
  const of = { chain, network, address: wallet, venues }
  const take = `take the right back: ${revoking(grant, of)}`
  const remedy =
    amountRaw !== undefined && neededRaw > 0n && isNeeded && counted
      ? `approve exactly what is needed: ${approving(grant, { ...of, amount: needed })}. Or ${take}`
      : take
  const needs = neededRaw > 0n && isNeeded ? `needs ${needed} of it at most` : 'needs none of it'
  return new SluiceError(
    'TRADE_FAILED',
    `${spender} may take ${current} of ${symbol} from the wallet, and the plan of ${venue.connector}, which is not built in, names that contract and ${needs}: nothing was signed, because the plan could use that right when it is mined. Trade with a wallet of its own, or ${remedy}.`,
    { details: { reason: 'a standing right', spender, token, current, needed } },
  )
}

interface ApprovalContext {
  readonly chain: string
  readonly network: string
  /** The wallet. */
  readonly address: string
  readonly venues: readonly SpendingVenue[]
}

/** The request that sets such a right. One by Permit2 of a spender that no connector has ends with the token's allowance for Permit2. */
function approving(
  { token, spender, byPermit2 }: Grant,
  { venues, amount, ...wallet }: ApprovalContext & { readonly amount: string },
): string {
  const isKnown = venues.some(({ impl }) => impl.permit2?.spenders.some((each) => isSameAddress(each, spender)) === true)
  const fields = { ...wallet, spender: byPermit2 === undefined || isKnown ? spender : byPermit2, token, amount }
  return `POST /evm/approve ${JSON.stringify(fields)}`
}

/** How a right is taken back: by a request, or by a call that the wallet's owner makes. */
export function revoking(grant: Grant, of: ApprovalContext): string {
  const { token, spender, amountRaw, tokenId } = grant
  if (tokenId !== undefined) return `approve(0x${'0'.repeat(40)}, ${tokenId}) of ${token}`
  return amountRaw === undefined ? `setApprovalForAll(${spender}, false) of ${token}` : approving(grant, { ...of, amount: '0' })
}
