import { expect } from 'chai'
import { setTimeout as sleep } from 'node:timers/promises'
import { address, type Address } from '@solana/kit'
import { tokenAccountOf, wrappedMint } from '../../../kits/solana/index.ts'
import { wrappedSol } from '../../../tools/solana-node/mints.ts'
import { healthy } from '../../http/trouble/faulty-proxy.ts'
import { here, startAmmSite, type AmmSite } from './amm-site.ts'

const inMemory = { connector: 'poolswap', base: 'BASE', quote: 'USDC' } as const
/** A copy that is trusted, so that its plans are simulated once more, beside their check. */
const ofSol = { connector: 'solswap', base: 'SOL', quote: 'USDC' } as const
const farMs = 300
type Pair = typeof inMemory | typeof ofSol

describe('the round trips of a trade on Solana', () => {
  let site: AmmSite
  /** The requests to the node from some moment on: each is one step behind those that were answered before it. */
  interface RequestLog {
    answered: number
    readonly requests: { readonly step: number; readonly methods: readonly string[] }[]
  }
  const empty = (): RequestLog => ({ answered: 0, requests: [] })
  let log = empty()
  let awayMs = 0
  before(async () => {
    site = await startAmmSite({ withSol: true })
    await site.proxy.become(async (exchange) => {
      const { methods } = exchange
      // The head is followed beside all else.
      if (methods.join() === 'getAccountInfo') return healthy(exchange)
      const [into, step] = [log, log.answered + 1]
      into.requests.push({ step, methods })
      await sleep(awayMs)
      await healthy(exchange)
      into.answered = Math.max(into.answered, step)
    })
  })
  after(() => site?.stop())

  const account = () => address(tokenAccountOf(site.wallets[0], wrappedMint))
  const isWrappedThere = () => site.solana.svm.getAccount(account()).exists

  /** @returns how many round trips it takes until the transaction is sent, how often it was simulated for its check, and the fill */
  async function traded(pair: Pair, side: 'SELL' | 'BUY') {
    const swap = { ...here, ...pair, side, amount: '0.5' }
    await site.priceAtTip(swap)
    const { requests } = (log = empty())
    // Far enough that what is asked at once is on its way at once, however busy this machine is.
    awayMs = farMs
    const { status, text, body } = await site.client.post('/amm/trade', { ...swap, address: site.wallets[0] })
    awayMs = 0
    const asked = [...requests]
    expect(status, text).to.equal(200)
    const { fill } = await site.polled(body.txHash, { txState: 'CONFIRMED', txStatus: 1 })
    return {
      fill,
      roundTrips: asked.find(({ methods }) => methods.includes('sendTransaction'))?.step,
      checks: asked.filter(({ methods }) => methods.includes('getLatestBlockhash') && methods.includes('simulateTransaction')).length,
    }
  }

  for (const pair of [inMemory, ofSol])
    it(`are two, its check and its sending, of ${pair.base} for ${pair.quote} and back, once the wallet's accounts are known`, async () => {
      // The first reads the wallet's accounts, of both tokens.
      expect(await traded(pair, 'SELL')).to.include({ roundTrips: 3, checks: 1 })
      for (const side of ['BUY', 'SELL', 'BUY'] as const) expect(await traded(pair, side), side).to.include({ roundTrips: 2, checks: 1 })
    })

  it('are more where an account of wrapped SOL came meanwhile: what is in it stays there', async () => {
    await traded(ofSol, 'SELL')
    expect(isWrappedThere()).to.equal(false)
    await site.solana.mintTo(site.wallets[0] as Address, wrappedSol, 3_000_000n)
    site.solana.blocks(2)
    const { checks, fill } = await traded(ofSol, 'SELL')
    expect([checks, fill.amountIn]).to.deep.equal([2, '0.500000000'])
    expect(site.heldRaw(account())).to.equal(3_000_000n)
    // It is known from then on.
    expect(await traded(ofSol, 'SELL')).to.include({ roundTrips: 2, checks: 1 })
    expect(site.heldRaw(account())).to.equal(3_000_000n)
  })

  it('are more where that account was closed meanwhile: none is left behind with its rent', async () => {
    await traded(ofSol, 'SELL')
    expect(isWrappedThere()).to.equal(true)
    // A swap for SOL closes it, and all that was in it is SOL.
    await traded(ofSol, 'BUY')
    expect(isWrappedThere()).to.equal(false)
    expect(await traded(ofSol, 'SELL')).to.include({ checks: 2 })
    expect(isWrappedThere()).to.equal(false)
  })
})
