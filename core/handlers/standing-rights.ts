// What a wallet has allowed to spenders that the plan of a contained plugin names. A simulation is no proof, so this is what bounds a plan that acts
// otherwise when it is mined: it reaches no right that is larger than what the plan needs.
import { approvableOf, canonicalPermit2, type At, type Grant, type Head, type Plan } from '../contracts/index.ts'
import { standingRightsIn } from '../contracts/chain.ts'
import { formatRaw } from '../base/decimal.ts'
import { SluiceError } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import { orUndefined } from './context.ts'
import type { OutcomeBounds } from './outcome.ts'
import type { NetworkEntry, Registry, VenueEntry } from '../plugins/index.ts'
import { txHashOf } from '../transactions/entry.ts'
import type { RightsUnderWay } from '../transactions/transactions.ts'
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
  /** What of the wallet's rights is not in the newest block. */
  readonly underWay: () => Promise<RightsUnderWay>
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
 * @returns the keys of the approvals that are counted: others may come before the plan is signed
 * @throws SluiceError TRADE_FAILED; OVERLOADED while an approval has to be mined first
 */
export async function refuseStandingRights(
  { plan, wallet, tokens, bounds, allowedSpenders = [], underWay, positions }: PlanToCheck,
  on: NetworkEntry,
  venue: VenueEntry,
  registry: Pick<Registry, 'venuesOn'>,
  at: At,
): Promise<ReadonlySet<string>> {
  const { impl, tokens: book } = on
  const standing = impl.evm?.standing
  if (!standing) return new Set()
  const { named, permit2s, collections, venues } = spendersIn({ plan, allowedSpenders }, on, venue, registry)
  if (named.length === 0) return new Set()
  // Before the chain is read: an approval that comes into a block in between is seen there.
  const { approvals, permits } = await underWay()
  const needed = plan.needs.flatMap((need) => (need.is === 'allowance' ? [need] : []))
  const isToken = (address: string) => address !== impl.nativeCurrency.address && impl.address(address) !== undefined
  const asked = distinct([...book.listed.map(({ address }) => address), ...tokens, ...needed.map(({ token }) => token)]).filter(isToken)
  const known = collections.length === 0 ? [] : ((await positions?.()) ?? [])
  const question = { tokens: asked, permit2s, collections, ...(known.length > 0 && { positions: known }) }
  const { head, grants: rights } = standingRightsIn(await standing(wallet, named, question, at))
  for (const approval of approvals) {
    const spender = spenderOf(approval, [...named, ...permit2s])
    if (spender !== undefined && !(await isIn(head, approval, impl, at))) throw approvalUnderWay(approval, spender, venue)
  }
  const excess = excessOf(rights, plan.needs, bounds)
  if (excess) throw await refusal(excess, { wallet, on, venue, venues }, at)
  refusePermits(permits, { named, rights, needs: plan.needs, bounds, venue })
  return new Set(approvals.map(({ key }) => key))
}

/**
 * The same of approvals that another request has journaled since, whether or not they are in a block by now. Of two requests at once, the one with
 * the later nonce sees the other.
 * @param counted the keys of those that were counted
 * @throws SluiceError OVERLOADED
 */
export async function refuseNewApprovals(
  { plan, allowedSpenders = [], underWay }: Pick<PlanToCheck, 'plan' | 'allowedSpenders' | 'underWay'>,
  counted: ReadonlySet<string>,
  on: NetworkEntry,
  venue: VenueEntry,
  registry: Pick<Registry, 'venuesOn'>,
): Promise<void> {
  if (!on.impl.evm?.standing) return
  const { named, permit2s } = spendersIn({ plan, allowedSpenders }, on, venue, registry)
  if (named.length === 0) return
  for (const approval of (await underWay()).approvals) {
    const spender = counted.has(approval.key) ? undefined : spenderOf(approval, [...named, ...permit2s])
    if (spender !== undefined) throw approvalUnderWay(approval, spender, venue)
  }
}

/** Whom a plan calls or names that was not approved for its plugin, and what is known on its network. */
function spendersIn(
  { plan, allowedSpenders }: { readonly plan: Pick<Plan, 'steps'>; readonly allowedSpenders: readonly string[] },
  { impl, chain, network }: NetworkEntry,
  venue: VenueEntry,
  registry: Pick<Registry, 'venuesOn'>,
) {
  const venues = registry.venuesOn(chain, network)
  const { spenders, permit2s, collections } = knownOf(venues, allowedSpenders)
  const named = distinct([...targetsOf(plan.steps, impl), ...spendersNamed(plan.steps, spenders)]).filter(
    (each) => !isApprovedFor(venue, each, { venues, allowedSpenders }) && !permit2s.some((permit2) => isSameAddress(permit2, each)),
  )
  return { named, permit2s, collections, venues }
}

type Approval = RightsUnderWay['approvals'][number]

/**
 * Whom of the plan's spenders an approval is for. By one of Permit2 those take more whom the wallet allowed something there.
 * @param spenders of the plan, with the contracts of Permit2
 */
function spenderOf({ step }: Approval, spenders: readonly string[]): string | undefined {
  const data = isObject(step) ? step['data'] : undefined
  const [spender] = typeof data === 'string' ? spendersNamed([{ data }] as unknown as Plan['steps'], spenders) : spenders
  return spender
}

/** The journal may not have read the block yet; and where it has, this server's nodes may be behind the one that told of it. */
async function isIn(head: Head | undefined, { state, landed, attempts }: Approval, impl: NetworkEntry['impl'], at: At): Promise<boolean> {
  if (!head) return false
  if (state === 'MINED' && landed) return BigInt(landed.blockNumber) <= head.number
  const found = await Promise.all(attempts.map(async ({ id }) => orUndefined(() => impl.find(id, at))))
  return found.some((each) => each?.blockNumber !== undefined && each.blockNumber <= head.number)
}

/** About a block of Ethereum. */
const blockSeconds = 12

/** It may be mined before the trade. That is no fault of the trade, which is not given to another connector, at another price, for it. */
function approvalUnderWay(approval: Approval, spender: string, { connector }: VenueEntry): SluiceError {
  const txHash = txHashOf(approval)
  return new SluiceError(
    'OVERLOADED',
    `An approval of the wallet for ${spender} is under way${txHash === undefined ? '' : ` (${txHash})`}, and the plan of ${connector}, which is not built in, could use it when it is mined: nothing was signed. Send the request again when the approval is mined. Or trade with a wallet of its own.`,
    { retryAfterSeconds: blockSeconds, details: { reason: 'an approval under way', spender, ...(txHash !== undefined && { txHash }) } },
  )
}

/**
 * Whoever has seen a permit may give it to its contract, also where the transaction that it was signed for was never mined.
 * @param rights that stand, which are within what the request lets leave
 * @throws SluiceError TRADE_FAILED
 */
function refusePermits(
  permits: RightsUnderWay['permits'],
  {
    named,
    rights,
    needs,
    bounds,
    venue: { connector },
  }: {
    readonly named: readonly string[]
    readonly rights: readonly Grant[]
    readonly needs: Plan['needs']
    readonly bounds: OutcomeBounds | undefined
    readonly venue: VenueEntry
  },
): void {
  // A block has shown that the others are used or past their time.
  const open = permits.filter(({ permit: { spender, since } }) => since === undefined && named.some((each) => isSameAddress(each, spender)))
  const given = open.map(({ permit: { token, spender, amountRaw, permit2 } }): Grant => {
    return { token, spender, amountRaw: BigInt(amountRaw), byPermit2: permit2 }
  })
  const excess = given.length > 0 ? excessOf([...rights, ...given], needs, bounds) : undefined
  const [last] = open
    .filter(({ permit: { token } }) => excess && isSameAddress(token, excess.grant.token))
    .toSorted((a, b) => b.permit.expires - a.permit.expires)
  if (!last) return
  const { permit, txHash } = last
  const { spender, token, amountRaw, decimals, expires } = permit
  const until = new Date(expires * 1000).toISOString()
  throw new SluiceError(
    'TRADE_FAILED',
    `A permit of the wallet lets ${spender} take ${formatRaw(BigInt(amountRaw), decimals)} of ${token} until ${until}, and the plan of ${connector}, which is not built in, names that contract: nothing was signed, because the plan could use it when it is mined. Send the request again when the permit is used${txHash === undefined ? '' : ` by ${txHash}`} or has expired. Or trade with a wallet of its own.`,
    { details: { reason: 'an outstanding permit', spender, token, expires } },
  )
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
