// What all changes of liquidity have in common: how long they wait, which requests are equal, and what is read of the receipt.
import { Type, type InterfaceCall } from 'sluice/interface'
import type { HummingbotConfig, Networks } from './networks.ts'
import { feeOf, type PollAnswer } from './poll.ts'
import { signOnce, successOf } from './signed.ts'
import { Decimal, slippageOf, type Venue } from './venues.ts'
import { walletKey, walletOf } from './wallets.ts'

export const walletFields = {
  walletAddress: Type.Optional(Type.String({ maxLength: 256 })),
  address: Type.Optional(Type.String({ maxLength: 256, description: 'As walletAddress, in requests of 2.16.' })),
}
export const slippagePct = Type.Optional(Decimal)
export const added = { baseTokenAmountAdded: Type.String(), quoteTokenAmountAdded: Type.String() }
export const removed = { baseTokenAmountRemoved: Type.String(), quoteTokenAmountRemoved: Type.String() }
export const fee = { fee: Type.String() }

export interface ChangeParts {
  readonly networks: Networks
  readonly config: HummingbotConfig
}

export const waitUntil = (seconds: number): number => performance.now() + seconds * 1000
/** As in what makes two requests equal. */
export const named = ({ on, own }: Venue, address: string) => ({
  on: on.chainNetwork,
  connector: own.connector,
  address: walletKey(address),
})

export const addressOf = (request: { walletAddress?: string; address?: string }, { on }: Venue, networks: Networks, call: InterfaceCall) =>
  walletOf(request.walletAddress ?? request.address, on.chain, networks, call)

/** The field of a request, where the percentage is tighter than what is configured. */
export async function slippage(percent: string | undefined, venue: Venue, version: string, call: InterfaceCall) {
  const allowedSlippage = await slippageOf(percent, venue.own, version, call)
  return allowedSlippage === undefined ? {} : { allowedSlippage }
}

interface SignedChange {
  readonly venue: Venue
  readonly call: InterfaceCall
  /** By `performance.now()`. */
  readonly untilMs: number
}

/**
 * @param dataOf what it brought; undefined where the receipt does not tell it
 * @throws SluiceError what signing refuses with; TRADE_FAILED, only where it can never succeed
 */
export async function changed<D extends object>(
  sign: () => Promise<{ txHash: string }>,
  { venue, call, untilMs }: SignedChange,
  dataOf: (done: PollAnswer) => D | undefined,
) {
  const { txHash: signature } = await signOnce(sign, call)
  const done = await successOf(signature, { on: venue.on, call, untilMs })
  if (!done) return { signature }
  const [data, paid] = [dataOf(done), feeOf(done.txReceipt)]
  return { signature, status: 1 as const, ...(data && paid !== undefined && { data: { ...data, fee: paid } }) }
}
