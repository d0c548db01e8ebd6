import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { arrivesLate, losesAnswer } from '../../hyperliquid-simulator/exchange/faults.ts'
import { until } from '../../hyperliquid-simulator/client.ts'
import { gate } from '../../../test/transactions/site.ts'
import { ask } from '../ask.ts'
import { createHyperliquidStage, type HyperliquidStage } from '../hyperliquid/hyperliquid-stage.ts'
import { lookAtBook } from '../hyperliquid/watch-books.ts'
import { play, type Scenario } from '../scenarios/scenario.ts'

/** A server with a defect, and what a run of it violates. */
async function violationsOf(patches: readonly string[], work: (stage: HyperliquidStage) => Promise<void>): Promise<string[]> {
  const mutant: Scenario = {
    name: 'mutant',
    small: {},
    full: {},
    async run(_, random, judge) {
      const stage = await createHyperliquidStage({ random, patches })
      return judge(stage, async () => {
        // One that all is well with.
        await order(stage)
        await work(stage)
        return {}
      })
    },
  }
  const { violations } = await play(mutant, {}, 'mutant')
  return violations.map(({ invariant, what }) => `${invariant} ${what}`)
}

const market = 'HYPE-USDC'

function order(stage: HyperliquidStage) {
  const { recorder, wallets } = stage
  return ask(stage, recorder.newRequest({ op: 'order', market, wallet: wallets[0] ?? '' }))
}

async function loseAnAnswer(stage: HyperliquidStage): Promise<void> {
  stage.proxy.become({ ofActions: 1, fault: () => losesAnswer })
  await order(stage)
  stage.proxy.become()
}

/** It arrives when it is given up, and before its time is over: the exchange's clock is set back for that. */
async function arriveLate(stage: HyperliquidStage): Promise<void> {
  const { pass, open } = gate()
  stage.proxy.become({ ofActions: 1, fault: () => arrivesLate(pass) })
  await order(stage)
  stage.exchange.clock.advance(-60_000)
  const { client } = await stage.someServer()
  await until(async () => (await client.get('/transactions', { state: 'EXPIRED' })).body.transactions.length > 0)
  open()
  stage.proxy.become()
}

async function orderAtOnce(stage: HyperliquidStage): Promise<void> {
  await Promise.all(Array.from({ length: 8 }, () => order(stage)))
}

/** Every third book that is told is followed by the first. */
async function repeatOld(stage: HyperliquidStage): Promise<void> {
  const told: unknown[] = []
  stage.proxy.become({
    tamper: () => (message) => {
      if (message.channel !== 'l2Book') return [message]
      told.push(message)
      return told.length % 3 === 0 ? [message, told[0]] : [message]
    },
  })
  const looked = async () => {
    const seen = await lookAtBook(stage, market)
    if (seen) stage.shownBooks.push(seen)
  }
  for (let count = 0; count < 12; count += 1) {
    await looked()
    await order(stage)
    await sleep(50)
  }
  await looked()
}

describe('the checker of orders on Hyperliquid finds a server', function () {
  this.timeout(900_000)
  /** Most of their time they wait, so all at once. */
  const runs = {
    'a lost answer is a refusal': loseAnAnswer,
    'given up before its time': arriveLate,
    'nonces given twice': orderAtOnce,
    'older books over newer ones': repeatOld,
  }
  const found = new Map<string, Promise<string[]>>()
  before(() => {
    for (const [name, work] of Object.entries(runs)) found.set(name, violationsOf([name], work))
    // Told by the test whose run it is.
    for (const run of found.values()) run.catch(() => {})
  })
  // None may go on when the others' tests run, whatever became of one.
  after(() => Promise.allSettled(found.values()))

  it('that takes a lost answer for a refusal', async () => {
    expect(await found.get('a lost answer is a refusal')).to.include('I1 the journal says REVERTED and the exchange shows the effect')
  })

  it('that gives up before the time is over', async () => {
    expect(await found.get('given up before its time')).to.include('I1 the journal says EXPIRED and the exchange carried it out')
  })

  it('that gives a nonce twice', async () => {
    expect(await found.get('nonces given twice')).to.include('I4 two actions have one nonce')
  })

  it('that shows older books after newer ones', async () => {
    expect(await found.get('older books over newer ones')).to.include('I5 a book was shown after a newer one')
  })
})
