// What spenders may take of a wallet now: those of connectors and of the settings, and those that the wallet's own approvals in the journal named.
import type { AllowancesResponse } from '../../api/index.ts'
import type { Grant } from '../../contracts/index.ts'
import { isSameAddress } from '../../base/addresses.ts'
import { isObject } from '../../base/json.ts'
import { newestEntries } from '../../transactions/newest-entries.ts'
import { standingRightsIn } from '../../contracts/chain.ts'
import { isUnlimited } from '../../contracts/permit2.ts'
import { journaledPositions } from '../amm/journaled-positions.ts'
import { orUndefined, type Handlers } from '../context.ts'
import { knownOf, spendersOf } from '../standing-rights.ts'
import { readWallets, type WalletReading } from './reading.ts'
import { showAmount, showWorth } from './values.ts'

type ShownAllowance = Omit<AllowancesResponse['allowances'][number], 'chain' | 'network' | 'address' | 'reference'>

/** The newest approvals of a wallet that are read. */
const maxApprovals = 500
const maxPages = 20
const part = { part: 'allowances' }

/** The most valuable first. Not of chains of a family that has none. */
export async function readAllowances(of: WalletReading): Promise<ShownAllowance[]> {
  const { network, owner, services, signal } = of
  const standing = network.impl.evm?.standing
  if (!standing) return []
  const venues = services.registry.venuesOn(network.chain, network.network)
  const approved = await of.part({ part: 'approvals of the journal' }, () => approvedBefore(of), { spenders: [], tokens: [] })
  const canonical = (texts: readonly string[]) => texts.flatMap((text) => network.impl.address(text) ?? [])
  const { spenders, permit2s, collections } = knownOf(
    venues,
    canonical([...services.settings.wallet.allowedSpenders, ...approved.spenders]),
  )
  const listed = network.tokens.listed.filter(({ native }) => !native).map(({ address }) => address)
  const tokens = [...new Set([...listed, ...canonical(approved.tokens)])].filter(
    (address) => address !== network.impl.nativeCurrency.address && !collections.some((each) => isSameAddress(each, address)),
  )
  const grants = await of.part(part, async () => {
    const positions = collections.length === 0 ? [] : await journaledPositions(owner, network, services)
    const asked = { tokens, permit2s, collections, withDormant: true, ...(positions.length > 0 && { positions }) } as const
    return standingRightsIn(await standing(owner, spenders, asked, { signal })).grants
  }, [])
  const atRisk = await readAtRisk(grants, of)
  return grants
    .map((grant, index) => {
      const owners = venues.filter(({ impl }) => spendersOf(impl).some((each) => isSameAddress(each, grant.spender)))
      const { shown, micros } = showAllowance(grant, atRisk[index], of)
      return { shown: { ...shown, connectors: [...new Set(owners.map(({ connector }) => connector))] }, micros }
    })
    .toSorted((a, b) => (a.micros === b.micros ? 0 : a.micros > b.micros ? -1 : 1))
    .map(({ shown }) => shown)
}

/** Whom the wallet approved by this server, and for which tokens. */
async function approvedBefore({ network: { chain, network }, owner, services, signal, miss }: WalletReading) {
  const filter = { chain, network, address: owner, kind: 'approve', limit: maxApprovals, archived: true }
  const { entries, isCut } = await newestEntries(services.transactions.list, filter, { maxPages, signal })
  if (isCut)
    miss(
      part,
      `spenders that only older approvals than the newest ${maxApprovals}, or than ${maxPages} pages of the archive, named are not looked at`,
    )
  const said = entries.flatMap(({ planned }) => (isObject(planned) ? [planned] : []))
  const textsOf = (field: 'spender' | 'tokenAddress') => said.flatMap((each) => (typeof each[field] === 'string' ? [each[field]] : []))
  return { spenders: textsOf('spender'), tokens: textsOf('tokenAddress') }
}

interface AtRisk {
  readonly symbol: string | undefined
  readonly decimals: number | undefined
  /** The balance; undefined where it could not be read. */
  readonly balanceRaw: bigint | undefined
}

/** Of the grants' tokens; undefined for those that are not counted in units. */
async function readAtRisk(grants: readonly Grant[], of: WalletReading): Promise<readonly (AtRisk | undefined)[]> {
  const { network, owner, signal } = of
  const counted = [...new Set(grants.flatMap(({ token, amountRaw }) => (amountRaw === undefined ? [] : [token])))]
  if (counted.length === 0) return grants.map(() => undefined)
  const known = await Promise.all(
    counted.map(async (address) => {
      const token = network.tokens.listedAt(address) ?? (await orUndefined(() => network.tokens.resolve(address, 'token', { signal })))
      return token ?? { address }
    }),
  )
  const asked = known.map((each) => ('symbol' in each ? each : { address: each.address, symbol: each.address, decimals: 0 }))
  const raws = await of.part({ part: 'balances of allowances' }, () => network.impl.balances(owner, asked, { signal }), [])
  const read = new Map(
    known.map((each, index) => [
      each.address,
      {
        symbol: network.tokens.listedAt(each.address)?.symbol,
        decimals: 'decimals' in each ? each.decimals : undefined,
        balanceRaw: raws[index],
      },
    ]),
  )
  return grants.map(({ token, amountRaw }) => (amountRaw === undefined ? undefined : read.get(token)))
}

function showAllowance(
  { spender, token, amountRaw, tokenId, byPermit2, dormantRaw }: Grant,
  atRisk: AtRisk | undefined,
  { values }: WalletReading,
) {
  const named = { spender, token, ...(byPermit2 !== undefined && { permit2: byPermit2 }) }
  if (amountRaw === undefined) {
    const shown = { ...named, ...(tokenId !== undefined && { tokenId: tokenId.toString() }), noValue: 'positions are valued as liquidity' }
    return { shown, micros: 0n }
  }
  const { symbol, decimals, balanceRaw } = atRisk ?? {}
  const riskRaw = balanceRaw === undefined ? undefined : balanceRaw < amountRaw ? balanceRaw : amountRaw
  const worth = riskRaw === undefined ? { noValue: 'the balance is not known' } : values.worth([{ token, raw: riskRaw }], 'at risk')
  const shown = {
    ...named,
    ...(symbol !== undefined && { symbol }),
    amount: showAmount(amountRaw, decimals),
    ...(dormantRaw !== undefined && { dormant: showAmount(dormantRaw, decimals) }),
    ...(isUnlimited(amountRaw) && { unlimited: true as const }),
    ...(riskRaw !== undefined && { atRisk: showAmount(riskRaw, decimals) }),
    ...showWorth(worth),
  }
  return { shown, micros: 'micros' in worth ? worth.micros : 0n }
}

export const allowanceHandlers = {
  Allowances: async (request, context) => {
    const { networks, missing } = await readWallets(request, context, {
      types: [],
      read: async (of) => ({ address: of.owner, all: await readAllowances(of) }),
    })
    return {
      allowances: networks.flatMap(({ network: { chain, network }, values: { reference }, wallets }) =>
        wallets.flatMap(({ address, all }) =>
          all.map((each) => ({ chain, network, address, ...each, ...(reference !== undefined && { reference }) })),
        ),
      ),
      ...(missing.length > 0 && { unavailable: missing.map((each) => ({ ...each })) }),
    }
  },
} satisfies Partial<Handlers>
