// Questions about pools of all kinds, whose answers at one block are equal, whatever else is asked and whatever came first.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Rpc } from '../../core/devnet/anvil.ts'
import { randomBits } from '../../testkit/random-bits.ts'
import type { TestServer } from '../../testkit/server.ts'
import { drawing } from '../kits/amm/walk/any-swap.ts'
import { local, outcome } from './shared-server.ts'

/** Connectors of every kind of pool, and pairs that they have on the devnet. */
const kinds = [
  ['quickswap', ['WETH-USDC']],
  ['uniswap', ['WETH-USDC', 'WBTC-DAI', 'USDC-WETH']],
  ['pancakeswap', ['WETH-USDC']],
  ['quickswap-v3', ['USDC-WETH', 'WETH-DAI', 'WBTC-USDC']],
  ['camelot-v4', ['WETH-DAI', 'USDC-WETH', 'WBTC-DAI']],
  ['quickswap-v4', ['WETH-USDC', 'WETH-DAI', 'WBTC-USDC']],
  ['balancer', ['WETH-USDC', 'DAI-USDC', 'WETH-DAI']],
  ['curve', ['USDC-DAI', 'USDT-DAI']],
  ['any', ['WETH-USDC', 'WBTC-DAI', 'DAI-USDC']],
] as const
/** Their fees change with the block. */
const kindsOfBlockFees = kinds.slice(3, 6)
const worth: Readonly<Record<string, number>> = { WETH: 1, WBTC: 0.05, USDC: 3_000, DAI: 3_000, USDT: 3_000 }
const decimals: Readonly<Record<string, number>> = { WETH: 18, WBTC: 8, USDC: 6, DAI: 18, USDT: 6 }
const percents = [['1'], ['1', '2'], ['0.5', '7']] as const
/** What is no part of an answer by the block: when it was given, and the price of gas, which nodes say. */
const ofTheTime = new Set([
  'timestamp',
  'latency',
  'gasPrice',
  'gasCost',
  'gasCostInQuote',
  'quotes',
  'network',
  'source',
  'leftOut',
  'base',
  'quote',
])
const shown = (answer: object): string => JSON.stringify(answer, (key, value: unknown) => (ofTheTime.has(key) ? undefined : value))

interface AnswerCounts {
  /** How many answers were compared, and how many there were. */
  readonly compared: number
  readonly answers: number
  readonly blocks: number
  /** Of those that were compared: how many came from memory. */
  readonly fromMemory: number
}

/** Asks until there are so many answers. @throws AssertionError where two of one block differ */
export async function walkAnswers(server: TestServer, rpc: Rpc, seed: number, wanted: number): Promise<AnswerCounts> {
  const random = randomBits(seed)
  const { below } = random
  const { pick } = drawing([], '', random)
  const known = new Map<string, string>()
  const blocks = new Set<number>()
  const different: string[] = []
  let [answers, compared, fromMemory] = [0, 0, 0]

  function hold(question: string, answer: { readonly blockNumber: number; readonly source: string }): void {
    answers += 1
    blocks.add(answer.blockNumber)
    const key = `${answer.blockNumber} ${question}`
    const [text, before] = [shown(answer), known.get(key)]
    known.set(key, text)
    if (before === undefined) return
    compared += 1
    if (answer.source === 'memory') fromMemory += 1
    if (text !== before) different.push(`${key}\n${before}\n${text}`)
  }

  async function ask(question: Question): Promise<void> {
    const { connector, base, quote, amounts, side, list } = question
    const fields = { ...local, base, quote, connector }
    if (list) {
      const answer = await server.client.get('/amm/pools', { ...fields, percents: [...list] })
      if (isBusy(answer)) return
      expect(outcome(answer), answer.text).to.equal('200')
      for (const pool of answer.body.pools) hold(`${pool.connector} ${pool.pool} ${base} ${quote} ${list.join()}`, pool)
      return
    }
    const [first] = amounts
    const answer = await server.client.post('/amm/price', { ...fields, side, ...(amounts.length > 1 ? { amounts } : { amount: first }) })
    if (isBusy(answer)) return
    expect(outcome(answer), answer.text).to.equal('200')
    for (const [index, each] of (answer.body.quotes ?? [answer.body]).entries())
      if (each.error === undefined) hold(`${connector} ${side} ${base} ${quote} ${amounts[index]}`, each)
  }
  const isBusy = (answer: Parameters<typeof outcome>[0]) => ['503 NETWORK', '504 TIMEOUT'].includes(outcome(answer))

  /** Few amounts, so that the same is asked again: alone, and beside others. */
  function questionsOf(): readonly Question[] {
    const [connector, pairs] = below(3) === 0 ? pick(kinds) : pick(kindsOfBlockFees)
    const [base = '', quote = ''] = pick<string>(pairs).split('-')
    const amountOf = (units: number) => ((worth[base] ?? 1) * units).toFixed(Math.min(6, decimals[base] ?? 0))
    const [small, large, other] = [amountOf(0.0034), amountOf(145.4), amountOf(pick([1.1, 40]))]
    const question = { connector, base, quote, side: pick(['BUY', 'SELL'] as const) }
    const prices = [[small], [large], [small, large], [other, large], [large, small, other]].map((amounts) => ({ ...question, amounts }))
    return [...prices, ...percents.map((list) => ({ ...question, amounts: [], list }))]
  }

  for (let round = 0; answers < wanted; round += 1) {
    await change(round)
    const asked = questionsOf().map(async (question) => {
      await sleep(below(30))
      await ask(question)
    })
    if (below(4) === 0) asked.push(sleep(below(40)).then(async () => void (await rpc('evm_mine'))))
    await Promise.all(asked)
    expect(different.length, `seed ${seed}, round ${round}\n${different.join('\n')}`).to.equal(0)
    if (round % 50 === 49) known.clear()
  }
  return { compared, answers, blocks: blocks.size, fromMemory }

  /** Another block, in which prices moved, or time went by. */
  async function change(round: number): Promise<void> {
    if (round % 3 === 1) await rpc('evm_increaseTime', 1 + below(3_000))
    if (round % 3 !== 0) return void (await rpc('evm_mine'))
    const [connector] = pick(kindsOfBlockFees)
    const [base, quote] = pick([
      ['WETH', 'USDC'],
      ['WETH', 'DAI'],
    ] as const)
    const fields = {
      ...local,
      address: trader,
      base,
      quote,
      connector,
      side: pick(['BUY', 'SELL'] as const),
      amount: pick(['3', '9', '0.4']),
    }
    const answer = await server.client.post('/amm/trade', { ...fields, allowedSlippage: '1/2' })
    if (outcome(answer) !== '200') await rpc('evm_mine')
  }
}

interface Question {
  readonly connector: string
  readonly base: string
  readonly quote: string
  readonly side: 'BUY' | 'SELL'
  readonly amounts: readonly string[]
  /** The depths, where it asks for pools. */
  readonly list?: readonly string[]
}

/** Account 0 of the devnet. */
const trader = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
