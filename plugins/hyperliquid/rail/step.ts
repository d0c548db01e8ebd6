import type { Traced } from './trace.ts'

/** An order as the exchange takes it: `OrderRequest` of @nktkas/hyperliquid, whose order of keys is part of what is signed. */
export type WireOrder = {
  readonly a: number
  readonly b: boolean
  readonly p: string
  readonly s: string
  readonly r: boolean
  readonly t: { readonly limit: { readonly tif: 'Gtc' | 'Ioc' | 'Alo' } }
  readonly c: string
}

/** Actions of the exchange's own chain: a hash of them is signed, by the wallet or its agent. */
export type ChainAction =
  | { readonly type: 'order'; readonly orders: readonly WireOrder[]; readonly grouping: 'na' }
  | { readonly type: 'cancel'; readonly cancels: readonly { readonly a: number; readonly o: number }[] }
  | { readonly type: 'cancelByCloid'; readonly cancels: readonly { readonly asset: number; readonly cloid: string }[] }
  | { readonly type: 'updateLeverage'; readonly asset: number; readonly isCross: boolean; readonly leverage: number }
  | {
      readonly type: 'borrowLend'
      readonly operation: 'supply' | 'withdraw' | 'repay' | 'borrow'
      readonly token: number
      /** Null: all that there is. */
      readonly amount: string | null
    }
  | { readonly type: 'noop' }

/** What is signed in plain words, by the wallet itself; its nonce is in it. */
export type PlainAction =
  | { readonly type: 'withdraw3'; readonly destination: string; readonly amount: string }
  | { readonly type: 'usdClassTransfer'; readonly amount: string; readonly toPerp: boolean }

/** One step of a plan that goes by the exchange's rail. */
export type Step = Traced & { readonly action: ChainAction | PlainAction }

export const isPlain = (action: Step['action']): action is PlainAction => action.type === 'withdraw3' || action.type === 'usdClassTransfer'
