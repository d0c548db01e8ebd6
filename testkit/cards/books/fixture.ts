import type { Book } from '../../../core/contracts/index.ts'
import type { Answer, RequestOptions } from '../../client.ts'
import type { BookOperator, BookOperators } from '../../../core/contracts/devnet.ts'
import { venueOf, type Bench } from '../venue.ts'
import { exact } from '../../../core/testing/cards/books/exact.ts'
import type { Market } from './grid.ts'

export type BookType = keyof BookOperators

/** Of a request; what is undefined is left out. */
export type Fields = Readonly<Record<string, string | number | boolean | undefined>>
export type Side = 'BUY' | 'SELL'

/** An order as `/clob/orders` lists it. */
export interface Order {
  orderId?: string
  clientOrderId: string
  market: string
  side: Side
  orderType: string
  price: string
  amount: string
  filledAmount: string
  averagePrice?: string
  state: string
  reason?: string
  createdAt: number
  updatedAt: number
}

export interface Level {
  price: string
  quantity: string
}

export interface BookAnswer {
  market: string
  buys: Level[]
  sells: Level[]
  sequence: number
  timestamp: number
  blockNumber?: number
}

/** In 10^-40. */
export interface FundsExact {
  free: bigint
  locked: bigint
}

/** What the cards do with orders, as a bot would: by the interface alone. */
export interface Desk<O extends BookOperator = BookOperator> {
  readonly bench: Bench
  readonly type: BookType
  readonly operator: O
  /** What the cards trade. Its book is theirs alone. */
  readonly market: Market
  /** What one base was worth in quote when they began. */
  readonly fair: number
  /** What they trade at once, of base. */
  readonly unit: string
  /** The wallet whose orders they are, and another of the server's. */
  readonly owner: string
  readonly other: string
  /** The price of the grid that is next to such a part of the fair one. */
  at(part: number): string
  /** So many units. */
  units(count: number): string
  read(verb: string, fields?: Fields): Promise<Answer>
  act(verb: string, fields?: object, options?: RequestOptions): Promise<Answer>
  remove(fields: Fields, how?: 'query' | 'body'): Promise<Answer>
  /** Takes it as given that it is answered. */
  // eslint-disable-next-line typescript/no-explicit-any -- the cards look into the answer
  answered(answer: Promise<Answer>): Promise<any>
  /** A request for a limit order of one unit at a part of the fair price. */
  order(side: Side, part: number, fields?: Fields): Fields
  /** Waits until the exchange has said what it makes of an order. */
  settled(order: Pick<Order, 'clientOrderId'>, address?: string): Promise<Order>
  /** Takes it as given that the order is taken, and waits until the exchange has said what it made of it. */
  place(fields: Fields): Promise<Order>
  /** The same for its cancellation. */
  cancel(order: Order, fields?: Fields): Promise<Order>
  orders(fields?: Fields): Promise<Order[]>
  find(order: Pick<Order, 'clientOrderId'>, fields?: Fields): Promise<Order>
  trades(fields?: Fields): Promise<Trade[]>
  book(fields?: Fields): Promise<BookAnswer>
  /** Waits until the server's book is so. */
  bookWhere(what: string, holds: (book: BookAnswer) => boolean): Promise<BookAnswer>
  /** Another trader's order, once the server's book shows it. */
  rest(side: Side, part: number, amount?: string): Promise<string>
  /** What the exchange says of a wallet's tokens. */
  funds(owner?: string): Promise<Record<'base' | 'quote', FundsExact>>
  /** As every card finds it: an open market without orders. */
  clear(): Promise<void>
  /** Sees to it that a request for an order is refused so, naming the field, and that nothing was made of it. */
  refused(fields: Fields, outcome: string, field?: string): Promise<Answer>
}

export interface Trade {
  tradeId: string
  orderId?: string
  market: string
  side: Side
  price: string
  amount: string
  fee: string
  feeToken: string
  timestamp: number
  txHash?: string
}

/** States of orders that are in the book. */
export const open = ['OPEN', 'PARTIALLY_FILLED']

export const quantityAt = ({ buys, sells }: Pick<Book, 'buys' | 'sells'>, side: Side, price: string): bigint => {
  const level = (side === 'BUY' ? buys : sells).find((each) => exact(each.price) === exact(price))
  return level ? exact(level.quantity) : 0n
}

export const venueFields = ({ bench }: Pick<Desk, 'bench'>) => venueOf(bench)
