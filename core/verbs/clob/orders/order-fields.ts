/** What a request says of an order. */
export interface OrderFields {
  side: 'BUY' | 'SELL' | 'LONG' | 'SHORT'
  orderType: 'LIMIT' | 'LIMIT_MAKER' | 'MARKET'
  price?: string
  amount: string
  clientOrderId?: string
  timeInForce?: 'GTC' | 'IOC' | 'FOK'
  limitPrice?: string
  allowedSlippage?: string
  leverage?: string
  reduceOnly?: boolean
}

/** LONG and SHORT of a perpetual are a purchase and a sale. */
export const sideOf = ({ side }: Pick<OrderFields, 'side'>): 'BUY' | 'SELL' => (side === 'BUY' || side === 'LONG' ? 'BUY' : 'SELL')
