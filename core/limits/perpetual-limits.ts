// Limits of what a client has open in perpetuals: `maxLeverage` and `maxOpenNotional`. What stands at the exchange is read before, and what is on its way is held until it is there.
import { randomUUID } from 'node:crypto'
import { formatRaw, toFraction, toRaw, type Fraction } from '../base/decimal.ts'
import { SluiceError } from '../base/errors.ts'
import type { ClientLimits } from '../config/clients.ts'
import type { Store } from '../store/store.ts'
import type { PerpetualExposure, Spending } from '../transactions/budgets.ts'
import type { Account, Measure } from './account.ts'
import { accountOf, ownerOf } from './reservations.ts'

/** In millionths of the exchange's unit of account. */
const decimals = 6

export const notionalMeasureOf = ({ account }: Pick<PerpetualExposure, 'account'>): Measure => `notional:${account}`

/** A loss that is limited can be no greater than what is held, as with tokens, unless the operator allows more. */
const leverageWithMaxLoss = 1

/** Of a client, with defaults where they hold. */
type PerpetualLimits = Pick<ClientLimits, 'maxLeverage' | 'maxOpenNotional' | 'maxDailyLoss'>

/** The greatest leverage of a client; undefined: it has none. */
export function maxLeverageOf({ maxLeverage, maxDailyLoss }: PerpetualLimits): string | undefined {
  const most = maxLeverage ?? (maxDailyLoss === undefined ? undefined : leverageWithMaxLoss)
  return most === undefined ? undefined : String(most)
}

/** Whether what a client has open in perpetuals has to be read. */
export const limitsExposure = (limits: PerpetualLimits | undefined): boolean =>
  limits !== undefined && (limits.maxOpenNotional !== undefined || maxLeverageOf(limits) !== undefined)

interface Orders {
  readonly limits: PerpetualLimits
  readonly exposure: PerpetualExposure
  /** What they may lose at once. */
  readonly lossMicros: bigint
}

/** @throws SluiceError LIMIT_EXCEEDED for orders of perpetuals that open more than the client may */
export function withOrders({ commitment }: Pick<Spending, 'commitment'>, limits: PerpetualLimits, account: Account): Account {
  const { perpetual: exposure, market } = commitment ?? {}
  if (!exposure) return account
  const refusal = exposureRefusal({ limits, exposure, lossMicros: market?.lossMicros ?? 0n }, account)
  if (refusal) throw refusal
  // Another name for each: whoever has read between two plans of one request has not read the second.
  const name = `${exposure.turn} ${randomUUID()}`
  return { ...account, lastOrders: { ...account.lastOrders, [exposure.account]: name } }
}

/** @param account as it is before the orders */
function exposureRefusal({ limits, exposure, lossMicros }: Orders, account: Account): SluiceError | undefined {
  const { openMicros, addedMicros, valueMicros, turn, lastOrders, heldMicros, withdraws = false } = exposure
  const last = account.lastOrders?.[exposure.account] ?? ''
  // Orders of the same request are all in what it adds.
  if (last !== lastOrders && !last.startsWith(`${turn} `)) return overtaken()
  const beforeMicros = openMicros + heldMicros
  // What only reduces, with nothing on its way, leaves less than there was.
  if (addedMicros === 0n && heldMicros === 0n && !withdraws) return undefined
  const afterMicros = beforeMicros + addedMicros
  const { maxOpenNotional } = limits
  const mostMicros = maxOpenNotional === undefined ? undefined : (toRaw(maxOpenNotional, decimals) ?? 0n)
  if (mostMicros !== undefined && afterMicros > mostMicros && !withdraws)
    return refusal('maxOpenNotional', `${maxOpenNotional} at most may be open in perpetuals`, {
      beforeMicros,
      addedMicros,
      leftMicros: mostMicros - beforeMicros,
    })
  const maxLeverage = maxLeverageOf(limits)
  if (maxLeverage === undefined) return undefined
  const worthMicros = valueMicros > lossMicros ? valueMicros - lossMicros : 0n
  const { numerator, denominator } = toFraction(maxLeverage)
  if (afterMicros * denominator <= worthMicros * numerator) return undefined
  const isByLoss = limits.maxLeverage === undefined
  const rule = `the leverage of the account may be ${maxLeverage} at most${isByLoss ? ', because the client has a maxDailyLoss and no maxLeverage' : ''}; it is worth ${formatRaw(worthMicros, decimals)} after ${withdraws ? 'the withdrawal' : 'the order at worst'}`
  return refusal('maxLeverage', rule, { beforeMicros, addedMicros, leftMicros: (worthMicros * numerator) / denominator - beforeMicros })
}

function refusal(
  limit: 'maxLeverage' | 'maxOpenNotional',
  rule: string,
  { beforeMicros, addedMicros, leftMicros }: { beforeMicros: bigint; addedMicros: bigint; leftMicros: bigint },
): SluiceError {
  const left = formatRaw(leftMicros > 0n ? leftMicros : 0n, decimals)
  return new SluiceError(
    'LIMIT_EXCEEDED',
    `${limit}: ${rule}. ${formatRaw(beforeMicros, decimals)} is open, with orders, and this may add ${formatRaw(addedMicros, decimals)}: nothing was signed. What is left: ${left}. Close positions or cancel orders, or trade less; orders with reduceOnly pass. Or the operator raises limits.${limit} in conf/clients.yml.`,
    { details: { limit, left } },
  )
}

/** By another server: what was read is not what stands now. */
const overtaken = () =>
  new SluiceError(
    'LIMIT_EXCEEDED',
    'Another order of this account was signed since its positions were read, and the client has a limit of what may be open: nothing was signed. Send it again.',
    { details: { limit: 'maxOpenNotional', reason: 'another order' }, retryAfterSeconds: 1 },
  )

/** @throws SluiceError LIMIT_EXCEEDED for a setting at the exchange that is above the client's */
export function requireLeverageSetting(leverage: string | undefined, limits: PerpetualLimits | undefined): void {
  const most = limits && maxLeverageOf(limits)
  if (leverage === undefined || most === undefined || !isMore(toFraction(leverage), toFraction(most))) return
  throw new SluiceError('LIMIT_EXCEEDED', `maxLeverage of the client is ${most}, and leverage is ${leverage}: nothing was signed.`, {
    details: { limit: 'maxLeverage', left: most },
  })
}

const isMore = (one: Fraction, other: Fraction): boolean => one.numerator * other.denominator > other.numerator * one.denominator

export type PerpetualTurn = Pick<PerpetualExposure, 'turn' | 'lastOrders' | 'heldMicros'>

/** The orders of each account, one request after another: each reads what those before it have left. */
export interface PerpetualTurns {
  /** @param work reads what is open after its turn was made, and submits the orders @throws StoreUnavailable */
  take<T>(of: { client: string; account: string }, work: (turn: PerpetualTurn) => Promise<T>): Promise<T>
}

export function createPerpetualTurns(store: Pick<Store, 'read'>): PerpetualTurns {
  const last = new Map<string, Promise<unknown>>()

  /** By the store: other servers have turns of their own. */
  async function newTurn(client: string, account: string): Promise<PerpetualTurn> {
    const owner = ownerOf(client)
    const row = await store.read((db) => db.selectFrom('budgets').select('body').where('owner', '=', owner).executeTakeFirst())
    const { lastOrders, open } = accountOf(owner, row)
    return { turn: randomUUID(), lastOrders: lastOrders?.[account] ?? '', heldMicros: open[notionalMeasureOf({ account })] ?? 0n }
  }

  return {
    async take({ client, account }, work) {
      const key = `${client} ${account}`
      const before = last.get(key) ?? Promise.resolve()
      const mine = before.catch(() => {}).then(async () => work(await newTurn(client, account)))
      last.set(key, mine)
      try {
        return await mine
      } finally {
        if (last.get(key) === mine) last.delete(key)
      }
    },
  }
}
