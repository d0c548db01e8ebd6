// Which requests wait for a second person, and that none gets into the journal without one.
import type { RequestEffect } from '../api/approvals.ts'
import { formatRaw } from '../base/decimal.ts'
import { SluiceError } from '../base/errors.ts'
import type { ClientLimits } from '../config/clients.ts'
import type { Prepared } from '../contracts/index.ts'
import type { Budgets, Commitment, Spending } from '../transactions/budgets.ts'
import type { Kind } from '../transactions/entry.ts'
import { gasOf, type Origin, type SubmitRequest } from '../transactions/submit-request.ts'
import type { Transactions } from '../transactions/transactions.ts'
import { limitRaw, referenceDecimals, type GivenValue, type LimitedToken } from './limit-checks.ts'
import { requireApproved } from './approvals.ts'
import type { NetworkName } from '../base/networks.ts'

/** A request that has to wait: nothing was signed. Who handles the request writes it down, and answers PENDING_APPROVAL. */
export class HeldRequest extends SluiceError {
  readonly effect: RequestEffect

  constructor(effect: RequestEffect) {
    super('PENDING_APPROVAL', 'The request has to wait for an approval: nothing was signed. Send it again.')
    this.effect = effect
  }
}

/** Above which something waits. */
type Thresholds = Pick<ClientLimits, 'approveAbove' | 'approveTokensAbove'>

/** The strictest that holds now; undefined: the client has none. */
type LimitsOf = (client: string) => Thresholds | undefined

/** Whether anything of the client waits. */
function mayHold(client: string, limitsOf: LimitsOf): boolean {
  const { approveAbove, approveTokensAbove } = limitsOf(client) ?? {}
  return approveAbove !== undefined || approveTokensAbove !== undefined
}

/** What takes back, cancels, or changes the form of what the wallet has. */
const harmless: ReadonlySet<Kind> = new Set(['cancel', 'fill', 'order-cancel', 'wrap', 'token-account'])

const mayWait = ({ kind, reduces }: { readonly kind: Kind; readonly reduces?: boolean | undefined }): boolean =>
  !harmless.has(kind) && reduces !== true

/** In the journal's write: of a client whose large requests wait, nothing gets in that was not looked at, or is not approved any more. */
export const approvalBudgets = (limitsOf: LimitsOf, nowMs: () => number = Date.now): Budgets => ({
  concerns: ({ is, client, approval }) => is === 'new' && (approval?.is === 'approved' || mayHold(client, limitsOf)),
  async reserve({ approval, steps }: Spending, tx) {
    if (approval?.is === 'approved') return requireApproved(approval.id, tx, nowMs())
    if (approval?.is === 'below' || !steps.some(({ entry }) => mayWait(entry))) return
    throw changedMeanwhile()
  },
})

/** Something of the request would have to be looked at now that was not when it was checked. */
export const changedMeanwhile = (): SluiceError =>
  new SluiceError('OVERLOADED', 'The limits of the client, or the market, have changed meanwhile: nothing was signed. Send it again.', {
    retryAfterSeconds: 1,
  })

interface ApprovalCheckParts {
  limitsOf: LimitsOf
  /** Of listed tokens, by address or symbol. */
  tokenOf(on: NetworkName, name: string): LimitedToken | undefined
  /** What the client gives is worth at most. */
  valueOf(on: NetworkName & { readonly client: string }, gives: Commitment['gives']): GivenValue
  admit: Transactions['admit']
}

type RequestTerms = Pick<SubmitRequest, 'caller' | 'approval' | 'network' | 'kind' | 'reduces' | 'commitment'>

export interface ApprovalCheck {
  concerns(client: string): boolean
  /** The same transactions, where what has to wait is refused with `HeldRequest`, once its check has passed and limits have let it through. */
  holding(transactions: Transactions): Transactions
  /**
   * For a request of several plans, before the first of them. Their fees are not known then.
   * @param commitment of all of them
   * @throws HeldRequest; the refusal of a limit, or a stop, that no approval lifts
   */
  require(requests: readonly SubmitRequest[], commitment: Commitment, signal: AbortSignal): Promise<void>
}

export function createApprovalCheck({ limitsOf, tokenOf, valueOf, admit }: ApprovalCheckParts): ApprovalCheck {
  /** In millionths of the reference token; undefined where nobody can tell. */
  function worthOf({ kind, commitment, network: { chain, network }, caller }: RequestTerms): bigint | undefined {
    const given = Object.entries(commitment.gives).filter(([, raw]) => raw > 0n)
    // Of a perpetual nothing leaves the wallet now, and its margin is at stake.
    if (given.length === 0) return kind === 'position' || kind === 'order' ? undefined : 0n
    const value = valueOf({ chain, network, client: caller.id }, Object.fromEntries(given))
    return value.is === 'priced' ? value.micros : undefined
  }

  function hasToWait(request: RequestTerms): boolean {
    const { caller, approval } = request
    if (approval?.is === 'preview') return true
    if (approval?.is === 'approved' || !mayWait(request)) return false
    const { approveAbove, approveTokensAbove } = limitsOf(caller.id) ?? {}
    return (
      (approveAbove !== undefined && isWorthMore(request, limitRaw(approveAbove, referenceDecimals))) ||
      (approveTokensAbove !== undefined && givesMore(request, approveTokensAbove))
    )
  }

  /** What has no price is worth any amount. */
  function isWorthMore(request: RequestTerms, aboveMicros: bigint): boolean {
    const worthMicros = worthOf(request)
    return worthMicros === undefined || worthMicros > aboveMicros
  }

  /** Of a token that is not named nothing may be given. */
  function givesMore({ kind, commitment, network }: RequestTerms, above: NonNullable<Thresholds['approveTokensAbove']>): boolean {
    const given = Object.entries(commitment.gives).filter(([, raw]) => raw > 0n)
    if (given.length === 0) return kind === 'position' || kind === 'order'
    const most = new Map<string, bigint>()
    for (const [name, amount] of Object.entries(above[`${network.chain}/${network.network}`] ?? {})) {
      const token = tokenOf(network, name)
      const raw = token && limitRaw(amount, token.decimals)
      const other = token && most.get(token.address)
      // By its symbol and by its address: the stricter of the two.
      if (token && raw !== undefined) most.set(token.address, other !== undefined && other < raw ? other : raw)
    }
    return given.some(([address, raw]) => raw > (most.get(address) ?? 0n))
  }

  function effectOf(request: RequestTerms): RequestEffect {
    const { commitment, network } = request
    const show = (amounts: Commitment['gives'] = {}) =>
      Object.entries(amounts).map(([address, raw]) => {
        const token = tokenOf(network, address)
        return token
          ? { token: address, symbol: token.symbol, amount: formatRaw(raw, token.decimals) }
          : { token: address, amount: raw.toString() }
      })
    const [gives, gets] = [show(commitment.gives), show(commitment.gets)]
    const worthMicros = worthOf(request)
    return {
      ...(gives.length > 0 && { gives }),
      ...(gets.length > 0 && { gets }),
      ...(worthMicros !== undefined && { valueGiven: formatRaw(worthMicros, referenceDecimals) }),
      ...(commitment.market && { valueLost: formatRaw(commitment.market.lossMicros, referenceDecimals) }),
    }
  }

  /** Nothing that a preview does is signed: neither the cancels that a request begins with. */
  function refusePreview({ approval }: Pick<Origin, 'approval'>): void {
    if (approval?.is === 'preview') throw new HeldRequest({})
  }

  return {
    concerns: (client) => mayHold(client, limitsOf),
    async require(requests, commitment, signal) {
      const waiting = requests.find((each) => hasToWait({ ...each, commitment }))
      if (!waiting) return
      await admit(requests, commitment, signal)
      throw new HeldRequest(effectOf({ ...waiting, commitment }))
    },
    holding: (transactions) => ({
      ...transactions,
      submit(request, signal) {
        if (!mayHold(request.caller.id, limitsOf) && request.approval === undefined) return transactions.submit(request, signal)
        // By what the check finds that it gives: of a plugin that is not built in, the request has its words alone.
        const hold: SubmitRequest['hold'] = ({ commitment, prepared }) => {
          const checked = { ...request, commitment, ...(commitment.takes && { reduces: false }) }
          if (hasToWait(checked)) throw new HeldRequest({ ...effectOf(checked), ...planOf(request, prepared) })
        }
        const { checkFromCache: _fromMemory, ...atNode } = request
        // What a person is shown is simulated at the node.
        if (hasToWait(request)) return transactions.submit({ ...atNode, hold }, signal)
        return transactions.submit({ ...request, hold, approval: request.approval ?? { is: 'below' } }, signal)
      },
      async cancel(origin, signal) {
        refusePreview(origin)
        return transactions.cancel(origin, signal)
      },
      async speedUp(origin, signal) {
        refusePreview(origin)
        return transactions.speedUp(origin, signal)
      },
    }),
  }
}

function planOf({ network, answer, plan }: SubmitRequest, prepared: readonly Prepared[]): RequestEffect {
  const { rail, nativeCurrency } = network.impl
  const isOnChain = !('via' in plan)
  const feeRaw = isOnChain ? prepared.reduce((sum, { step, fees }) => sum + rail.cost(step, fees) - rail.outline(step).valueRaw, 0n) : 0n
  const {
    nonce: _nonce,
    txHash: _txHash,
    ...shown
  }: Record<string, unknown> = {
    ...answer({ transactions: prepared.map(() => ({ txHash: '', nonce: 0 })), txHash: '', nonce: 0, gas: gasOf(prepared) }),
  }
  return {
    ...(isOnChain && { maxFee: formatRaw(feeRaw, nativeCurrency.decimals), feeToken: nativeCurrency.symbol }),
    answer: shown,
  }
}
