// The wallet that a request names: its address, key, fees and nonce, and the plan that is submitted for it.
import type { FeeOverrides, GasTerms } from '../contracts/index.ts'
import { formatRaw, fromRaw, toRaw } from '../base/decimal.ts'
import { badFields, SluiceError } from '../base/errors.ts'
import { command } from '../base/layout.ts'
import { givesNothing, type Commitment } from '../transactions/budgets.ts'
import type { SubmitRequest, SubmitResult } from '../transactions/submit-request.ts'
import type { ConnectorContext, Services } from './context.ts'
import { journaledPositions } from './amm/journaled-positions.ts'
import { checkOutcome, mostLeaving, type OutcomeBounds } from './outcome.ts'
import { journaledBounds, refuseQuarantined } from './mined-bounds.ts'
import { limitPlan, mostOf } from './plan-limits.ts'
import { explainRefusal } from './refusals.ts'
import type { NetworkEntry } from '../plugins/index.ts'
import { requireSimulated, simulatedCommitment, unsimulatedCommitment } from './simulated-commitment.ts'
import { refuseNewApprovals, refuseStandingRights } from './standing-rights.ts'
import { isSameAddress } from '../base/addresses.ts'

interface FeeFields {
  maxFeePerGas?: string
  maxPriorityFeePerGas?: string
}

interface WalletFields extends FeeFields {
  address: string
  nonce?: number
}

/** The wallet that signs for a request, with the fees and nonce that the caller sets. */
export interface SigningWallet {
  address: string
  feeOverrides: FeeOverrides
  nonce: number | undefined
}

/** @throws SluiceError INCOMPLETE_PARAMS, or LOAD_WALLET if the server cannot sign for the address */
export function readWallet(
  request: WalletFields,
  { network, services }: { network: NetworkEntry; services: Pick<Services, 'wallets'> },
): SigningWallet {
  const address = readAddress(network, request.address)
  requireKey(services.wallets, network, address)
  return { address, feeOverrides: readFees(request, network), nonce: request.nonce }
}

/** The address in its canonical spelling. @throws SluiceError INCOMPLETE_PARAMS */
export function readAddress({ impl, chain }: NetworkEntry, text: string, field = 'address'): string {
  const address = impl.address(text)
  if (address !== undefined) return address
  throw badFields([
    { field, problem: `"${text}" is not an address of ${chain}: give it in full, each letter in its own case (mixed case is a checksum)` },
  ])
}

/** @throws SluiceError LOAD_WALLET unless the server can sign for the address on that network */
export function requireKey(wallets: Services['wallets'], { chain, network, impl }: NetworkEntry, address: string): void {
  const isSame = (other: string) => isSameAddress(other, address) && impl.address(other) === impl.address(address)
  const wallet = wallets.all().find((each) => each.chain === chain && isSame(each.address))
  if (!wallet)
    throw new SluiceError(
      'LOAD_WALLET',
      `The server holds no key for ${address} on ${chain}; an operator adds it with \`${command} wallet add\`.`,
    )
  if (wallet.devnet && !impl.local)
    throw new SluiceError('LOAD_WALLET', `${address} is a devnet wallet with a well-known key: it is refused on ${chain}/${network}.`)
}

const gweiDecimals = 9

/** The fees that a request sets, in wei. @throws SluiceError INCOMPLETE_PARAMS, also above the network's fee cap */
export function readFees(fields: FeeFields, { impl, chain }: NetworkEntry): FeeOverrides {
  const read = (field: keyof FeeFields): bigint | undefined => {
    const text = fields[field]
    if (text === undefined) return undefined
    if (!impl.evm) throw badFields([{ field, problem: `is for EVM chains: on ${chain} leave it out` }])
    const raw = toRaw(text, gweiDecimals)
    if (raw === undefined) throw badFields([{ field, problem: `${text} gwei has more than ${gweiDecimals} decimals` }])
    if (raw > impl.feeCapRaw) {
      const cap = formatRaw(impl.feeCapRaw, gweiDecimals)
      throw badFields([{ field, problem: `${text} gwei is above the network's feeCap of ${cap} gwei; the unit is gwei, not wei` }])
    }
    return raw
  }
  const maxFeePerGasRaw = read('maxFeePerGas')
  const maxPriorityFeePerGasRaw = read('maxPriorityFeePerGas')
  if (maxFeePerGasRaw !== undefined && maxPriorityFeePerGasRaw !== undefined && maxPriorityFeePerGasRaw > maxFeePerGasRaw) {
    throw badFields([{ field: 'maxPriorityFeePerGas', problem: 'is above maxFeePerGas' }])
  }
  return { maxFeePerGasRaw, maxPriorityFeePerGasRaw }
}

/** The gas fields of a response. One gwei is 10^-9 of the native coin, whatever its decimals are. */
export function showGas({ gasLimit, gasPriceRaw, gasPriceDecimals = 0, gasCostRaw, tipRaw, rentRaw }: GasTerms, { impl }: NetworkEntry) {
  const { symbol, decimals } = impl.nativeCurrency
  return {
    gasPrice: gasPriceGwei(gasPriceRaw, decimals + gasPriceDecimals),
    gasPriceToken: symbol,
    gasLimit: Number(gasLimit),
    gasCost: fromRaw(gasCostRaw, decimals),
    ...(tipRaw !== undefined && { tip: fromRaw(tipRaw, decimals) }),
    ...(rentRaw !== undefined && { rent: fromRaw(rentRaw, decimals) }),
  }
}

/** The last one: it is the same for all prices of a block. */
let lastGasPrice = { raw: 0n, decimals: 0, gwei: 0 }

function gasPriceGwei(raw: bigint, decimals: number): number {
  if (lastGasPrice.raw !== raw || lastGasPrice.decimals !== decimals)
    lastGasPrice = { raw, decimals, gwei: Number(fromRaw(raw * 10n ** BigInt(gweiDecimals), decimals)) }
  return lastGasPrice.gwei
}

/** Submits a plan of a connector. The response is what `shown` has, with gas, nonce and hash. */
export async function submitAndShow<S extends object>(
  {
    bounds,
    ...change
  }: Pick<PlanRequest, 'plan' | 'scope' | 'kind' | 'reduces' | 'about' | 'commitment' | 'touches' | 'newAccounts'> & {
    bounds: OutcomeBounds
  },
  shown: S,
  wallet: SigningWallet,
  context: ConnectorContext,
) {
  const answer = ({ gas, nonce, txHash }: SubmitResult) => ({ ...shown, ...showGas(gas, context.network), nonce, txHash })
  return answer(await submit({ ...context, ...wallet, ...change, answer }, context, bounds))
}

/** A request whose commitment, where it has none, is what its plan may take from the wallet. */
type PlanRequest = Omit<SubmitRequest, 'commitment'> & Partial<Pick<SubmitRequest, 'commitment'>>

/** A removal takes shares or a position, and gives their tokens back to the wallet. What is repaid is owed no more. */
export const commitmentOf = ({ kind, reduces, commitment }: PlanRequest, bounds: OutcomeBounds): Commitment =>
  commitment ?? ((kind === 'liquidity' || kind === 'funds') && reduces === true ? givesNothing : { gives: mostLeaving(bounds) })

/**
 * Submits a plan of a connector; what the plan of one that is not built in does to the wallet is simulated first. In errors, refusal codes of
 * the exchange are explained and tokens have their listed symbols.
 * @param bounds what the plan may do to the wallet
 */
export async function submit(planned: PlanRequest, context: ConnectorContext, bounds: OutcomeBounds): Promise<SubmitResult> {
  const { network, venue, services, signal } = context
  if (!venue.builtIn) refuseQuarantined(venue.connector, services.registry)
  const asked = await contained({ ...planned, commitment: commitmentOf(planned, bounds) }, context)
  const request = venue.builtIn ? asked : limited(asked, context, bounds)
  requireSimulated(request, context)
  const { plan, address: wallet, precondition } = request
  let gains: ReadonlyMap<string, bigint> | undefined
  let counted: ReadonlySet<string> = new Set()
  /** What counts of the wallet's rights that are in no block. */
  const rightsSoon = () => {
    const of = { chain: network.chain, network: network.network, address: wallet }
    return { allowedSpenders: services.settings.wallet.allowedSpenders, underWay: () => services.transactions.rightsUnderWay(of) }
  }
  const simulation: SubmitRequest['precondition'] =
    venue.builtIn || 'via' in plan
      ? undefined
      : async (checked) => {
          const tokens = [...bounds.keys()]
          const positions = () => journaledPositions(wallet, network, services)
          const planned = { plan, wallet, tokens, bounds, positions, ...rightsSoon() }
          const standing = refuseStandingRights(planned, network, venue, services.registry, { signal })
          const [approvals, outcome] = await Promise.all([
            standing,
            checkOutcome({ plan, wallet, bounds, checked }, network, venue, { signal }),
          ])
          gains = outcome?.gains
          counted = approvals
          return outcome && simulatedCommitment(outcome, request, { ...context, signal })
        }
  const quarantine = venue.builtIn ? undefined : () => services.quarantine.refuse(venue.connector)
  const all = [precondition, simulation, quarantine].filter((each) => each !== undefined)
  const conditions: Pick<SubmitRequest, 'precondition'> =
    all.length === 0
      ? {}
      : { precondition: async (checked) => (await Promise.all(all.map((each) => each(checked)))).find((each) => each !== undefined) }
  try {
    const simulated = simulation &&
      !('via' in plan) && {
        simulated: () => gains && journaledGains(gains),
        recheck: () => refuseNewApprovals({ plan, ...rightsSoon() }, counted, network, venue, services.registry),
      }
    return await services.transactions.submit({ ...request, ...conditions, ...simulated }, signal)
  } catch (error) {
    throw error instanceof SluiceError ? explainRefusal(error, request, context) : error
  }
}

const journaledGains = (gains: ReadonlyMap<string, bigint>): Record<string, string> =>
  Object.fromEntries([...gains].flatMap(([token, raw]) => (raw === 0n ? [] : [[token, raw.toString()]])))

/** On chains whose programs get the signature of their caller, a contained plugin's get that of a new account. */
async function contained(request: SubmitRequest, { network, venue, services, signal }: ConnectorContext): Promise<SubmitRequest> {
  const { plan, address: wallet, checkFromCache: _, ...others } = request
  const { chain, network: name, impl } = network
  if (venue.builtIn || venue.trusted || 'via' in plan || !impl.altchain?.contain) return request
  const newAccounts = await services.transactions.newAccounts({ chain, network: name, address: wallet }, 1)
  const [delegate = ''] = Object.keys(newAccounts)
  return { ...others, address: wallet, plan: await impl.altchain.contain(plan, { wallet, delegate }, { signal }), newAccounts }
}

/**
 * Limits the gas of a plan, and keeps what it may do to the wallet for when it is mined. An action on the exchange's own rail (`via`) costs none, and nobody
 * simulates it.
 */
function limited(request: SubmitRequest, { network, venue }: ConnectorContext, bounds: OutcomeBounds): SubmitRequest {
  const { plan, scope } = request
  if ('via' in plan) return { ...request, commitment: unsimulatedCommitment(request) }
  return {
    ...request,
    plan: limitPlan(plan, network, venue),
    scope: { ...scope, most: mostOf(network) },
    bounds: journaledBounds(bounds),
  }
}
