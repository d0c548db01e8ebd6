import { setTimeout as sleep } from 'node:timers/promises'
import { bookAt } from '../../hyperliquid-simulator/exchange/info/markets.ts'
import { wrongSums } from '../../hyperliquid-simulator/exchange/wrong-sums.ts'
import type { HyperliquidExchange } from '../../hyperliquid-simulator/exchange/start-exchange.ts'
import { signedBytes } from '../checker/known.ts'
import type { Random } from '../random.ts'
import { settle } from '../settle.ts'
import { bookContent, idOf } from './between.ts'
import { keptOrders, askForOrder, listOrders, type ExchangeHistory } from './exchange-history.ts'
import { checkSeconds, ttlSeconds } from './home.ts'
import type { HyperliquidStage } from './hyperliquid-stage.ts'
import { lookAtBook, type ShownBook } from './watch-books.ts'

/** By whom an exchange names a market. */
const coins: Readonly<Record<string, string>> = { 'HYPE-USDC': '@107', 'ETH-USD': 'ETH' }
const lookMs = 1_000
/** Ten of what is open are looked at every two seconds, and each twice before it is over: an exchange that was away leaves a hundred, and a busy machine looks less often. */
const allowedLooks = 150
/** What a look asks for by its clock is believed dead after so long. */
const marginSeconds = 10
const askedByName = 40

export async function settleHyperliquid(stage: HyperliquidStage, random: Random): Promise<ExchangeHistory> {
  const { exchange, proxy } = stage
  let told: ExchangeHistory['told'] = []
  let toldByName: ExchangeHistory['toldByName'] = []
  let atEnd: ExchangeHistory['books']['atEnd'] = []
  let passed = 0
  const seen = await settle(stage, random, {
    allowed: allowedLooks,
    async pass() {
      // All that was signed is over then.
      if (passed === 0) exchange.clock.advance((ttlSeconds + marginSeconds + 1) * 1000)
      passed += 1
      await sleep(lookMs)
      return 1
    },
    async atEnd() {
      told = await listOrders(stage)
      const some = random.shuffled(told.filter(({ clientOrderId }) => clientOrderId !== undefined)).slice(0, askedByName)
      toldByName = (await Promise.all(some.map((each) => askForOrder(stage, each)))).flatMap((each) => each ?? [])
      atEnd = await Promise.all(Object.entries(coins).map(([market, coin]) => lastBook(stage, market, coin)))
    },
  })
  const { executed, toldBooks, sent } = proxy
  const signed = signedBytes({ journal: seen.journal, sent }, readAction)
  const done = new Map(executed.map((each) => [each.id, each]))
  const now = exchange.clock.now()
  return {
    ...seen,
    signed,
    live: liveActions(signed, { journal: seen.journal, executed, now }),
    mined: signed.flatMap(({ txHash, from, nonce }) => {
      const { at, ok } = done.get(txHash) ?? {}
      return at === undefined || ok === undefined ? [] : [{ txHash, from, to: '', nonce, valueRaw: 0n, block: at, ok }]
    }),
    nextNonces: new Map(),
    kept: keptOrders(exchange, stage.wallets),
    told,
    toldByName,
    executed,
    books: { told: toldBooks, shown: stage.shownBooks, atEnd },
    wrongSums: wrongSums(exchange.engine),
  }
}

/** Signed actions that the exchange would still accept: not expired, and with a nonce that their signer has not used. */
export function liveActions(
  signed: ExchangeHistory['signed'],
  { journal, executed, now }: Pick<ExchangeHistory, 'journal' | 'executed'> & { now: number },
): ReadonlySet<string> {
  const signers = new Map(journal.map(({ key, signer, address }) => [key, signer ?? address]))
  // Bytes that the journal does not have share their nonce with nobody.
  const slotOf = ({ txHash, entry = txHash, nonce }: (typeof signed)[number]) => `${signers.get(entry) ?? txHash}/${nonce}`
  const carriedOut = new Set(executed.map(({ id }) => id))
  const used = new Set(signed.flatMap((each) => (carriedOut.has(each.txHash) ? slotOf(each) : [])))
  return new Set(signed.flatMap((each) => (!used.has(slotOf(each)) && (each.expiresAfter ?? Infinity) >= now ? each.txHash : [])))
}

/** A book that missed a message is healed by the next comparison: each has its turn. */
async function lastBook(stage: HyperliquidStage, market: string, coin: string): Promise<ExchangeHistory['books']['atEnd'][number]> {
  const is = contentOf(stage.exchange, coin)
  let seen: ShownBook | undefined
  for (const end = performance.now() + 30 * checkSeconds * 1000; performance.now() < end; await sleep(200)) {
    seen = await lookAtBook(stage, market)
    if (seen?.content === is) break
  }
  return { market, shown: seen?.content ?? 'nothing', is }
}

function contentOf({ engine }: HyperliquidExchange, coin: string): string {
  const market = engine.listing.byCoin(coin)
  if (!market) throw new Error(`There is no market ${coin}.`)
  const [buys, sells] = bookAt(engine, market, 0).levels.map((side) => side.map(({ px, sz }) => ({ price: px, quantity: sz })))
  return bookContent(buys ?? [], sells ?? [])
}

function readAction(raw: string) {
  const body: unknown = JSON.parse(Buffer.from(raw.slice(2), 'hex').toString('utf8'))
  const { nonce, expiresAfter, action } = Object(body)
  return {
    txHash: idOf(body),
    // Who signed is not in the bytes; whose lane it is, the nonces tell.
    from: '',
    nonce: Number(nonce),
    valueRaw: 0n,
    call: JSON.stringify(action),
    ...(typeof expiresAfter === 'number' && { expiresAfter }),
  }
}
