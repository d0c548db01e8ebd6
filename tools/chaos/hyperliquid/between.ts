import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { CarriedRequest, Fault } from '../../hyperliquid-simulator/exchange/faults.ts'
import type { HyperliquidExchange } from '../../hyperliquid-simulator/exchange/start-exchange.ts'
import type { SentBytes } from '../history.ts'
import type { Random } from '../random.ts'
import type { Intermediary } from '../stage.ts'

/** An action that the exchange carried out: its nonce is used. */
export interface ExecutedAction {
  /** As the journal knows the bytes: by their hash. */
  id: string
  at: number
  /** Something came of it. */
  ok: boolean
}

/** A book as the exchange told it, whether that arrived or not. */
export interface ToldBook {
  at: number
  coin: string
  time: number
  content: string
}

/** What the websocket does to a message, and when it is let go. */
type Tamper = NonNullable<Parameters<HyperliquidExchange['feed']['tamper']>[0]>

export interface Trouble {
  /** How many of the actions have it, and how many of the questions: 0 to 1. */
  ofActions?: number
  ofQuestions?: number
  fault?(random: Random, over: AbortSignal): Fault
  tamper?(random: Random): Tamper
  /** What is done to the websocket besides; gives what ends it. */
  feed?(feed: HyperliquidExchange['feed'], random: Random): () => void
}

export interface ExchangeProxy extends Intermediary {
  executed: readonly ExecutedAction[]
  toldBooks: readonly ToldBook[]
  /** From now on there is this trouble; without one all is well. */
  become(trouble?: Trouble): void
}

/** Stands before the exchange: keeps what came to it and what it did, and makes trouble. What it does follows from the seed and the order in which requests come. */
export function standBetween(exchange: HyperliquidExchange, random: Random, clock: () => number): ExchangeProxy {
  const sent: SentBytes[] = []
  const executed: ExecutedAction[] = []
  const toldBooks: ToldBook[] = []
  let current: { trouble: Trouble; over: AbortController; tamper: Tamper | undefined; end: () => void } | undefined
  let count = 0

  const noted = (carried: CarriedRequest): CarriedRequest => ({
    ...carried,
    run() {
      const told = carried.run()
      if (carried.endpoint === 'exchange' && wasCarriedOut(told.body))
        executed.push({ id: idOf(carried.body), at: clock(), ok: hasEffect(told.body) })
      if (carried.type === 'l2Book') keepBook(told.body)
      return told
    },
  })

  function keepBook(book: unknown): void {
    const { coin, time, levels } = Object(book)
    if (!Array.isArray(levels)) return
    const [buys, sells] = levels.map((side: readonly { px: string; sz: string }[]) =>
      side.map(({ px, sz }) => ({ price: px, quantity: sz })),
    )
    toldBooks.push({ at: clock(), coin, time, content: bookContent(buys ?? [], sells ?? []) })
  }

  exchange.faults.add(async (carried) => {
    const isAction = carried.endpoint === 'exchange'
    if (isAction) sent.push({ at: clock(), raw: rawOf(carried.body) })
    count += 1
    const own = random.fork(count)
    const through = noted(carried)
    const { trouble, over } = current ?? {}
    const share = (isAction ? trouble?.ofActions : trouble?.ofQuestions) ?? 0
    if (!trouble?.fault || !over || !own.chance(share)) return through.send(through.run())
    between.faults += 1
    await trouble.fault(own, over.signal)(through)
  })
  exchange.feed.tamper((message) => {
    if (message.channel === 'l2Book') keepBook(message.data)
    return current?.tamper ? current.tamper(message) : [message]
  })

  const between: ExchangeProxy = {
    sent,
    executed,
    toldBooks,
    faults: 0,
    become(trouble) {
      current?.over.abort()
      current?.end()
      current = undefined
      if (!trouble) return
      count += 1
      const own = random.fork(`trouble ${count}`)
      const over = new AbortController()
      // Every request that waits listens.
      setMaxListeners(0, over.signal)
      current = {
        trouble,
        over,
        tamper: trouble.tamper?.(own),
        end: trouble.feed?.(exchange.feed, own) ?? (() => {}),
      }
    },
  }
  return between
}

/** The bytes as they came: whatever wrote them wrote no spaces. */
const rawOf = (body: unknown) => `0x${Buffer.from(JSON.stringify(body)).toString('hex')}`
export const idOf = (body: unknown) => `0x${createHash('sha256').update(JSON.stringify(body)).digest('hex')}`

/** What was refused before its nonce was taken, or came too late, was not. */
const notCarriedOut = /\bnonce\b|does not exist|must deposit|unable to recover|already expired|too many/i

function wasCarriedOut(told: unknown): boolean {
  const { status, response } = Object(told)
  return status === 'ok' || (status === 'err' && !notCarriedOut.test(String(response)))
}

function hasEffect(told: unknown): boolean {
  const { status, response } = Object(told)
  const statuses: unknown = Object(Object(response).data).statuses
  if (status !== 'ok' || !Array.isArray(statuses)) return status === 'ok'
  return statuses.some((each) => typeof each === 'string' || !('error' in Object(each)))
}

/** The levels of a book in one spelling: of an exchange's words or of ours. */
export const bookContent = (buys: readonly Level[], sells: readonly Level[]): string =>
  [buys, sells].map((side) => side.map(({ price, quantity }) => `${plain(price)}x${plain(quantity)}`).join(' ')).join(' | ')

interface Level {
  price: string
  quantity: string
}

const plain = (decimal: string) => (decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal)
