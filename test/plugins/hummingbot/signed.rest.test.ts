import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { InterfaceCall } from '../../../core/contracts/interface.ts'
import { createNetworks } from '../../../plugins/hummingbot/networks.ts'
import { successOf } from '../../../plugins/hummingbot/signed.ts'
import { until } from '../../transactions/site.ts'

const on = createNetworks({ networks: { 'ethereum-local': 'ethereum/local' }, defaultNetworks: { ethereum: 'local' } }).of({
  chain: 'ethereum',
})
const pending = { currentBlock: 100, txBlock: -1, txStatus: 0, txReceipt: null, confirmations: 0, txState: 'BROADCAST', final: false }

/** A request for a transaction that is pending until it is mined. */
function held(seconds: number) {
  let polls = 0
  let ended: object | undefined
  let lose = (): void => {}
  const call = {
    signal: new AbortController().signal,
    delivered: new Promise<boolean>((resolve) => (lose = () => resolve(false))),
    call: async () => {
      polls += 1
      return ended ? { ...pending, ...ended, final: true } : pending
    },
  } as unknown as InterfaceCall
  const found = successOf('0x1', { on, call, untilMs: performance.now() + seconds * 1000 })
  return { found, polls: () => polls, cut: () => lose(), end: (as: object) => (ended = as) }
}

describe('the wait for a transaction of a bot', function () {
  this.timeout(300_000)

  it('asks less often after the first seconds, and once more before its end', async () => {
    const { found, polls, end } = held(8)
    await pause(7_500)
    // Four a second would be 30.
    expect(polls()).to.be.within(3, 18)
    end({ txState: 'CONFIRMED', txBlock: 101 })
    expect(await found).to.include({ txState: 'CONFIRMED' })
  })

  it('ends with what became of one that never succeeds', async () => {
    for (const [as, words] of [
      [{ txState: 'CANCELLED' }, 'it is CANCELLED'],
      [{ txState: 'REVERTED', txBlock: 101 }, 'the chain reverted it'],
    ] as const) {
      const { found, end } = held(8)
      end(as)
      const told = await found.catch(({ name, message }: Error) => `${name}: ${message}`)
      expect(told).to.equal(`TRADE_FAILED: The transaction 0x1 did nothing: ${words}.`)
    }
  })

  it('ends when its client is gone', async () => {
    const { found, polls, cut } = held(600)
    await until('it has asked twice', async () => polls() >= 2)
    cut()
    const before = polls()
    expect(await found).to.equal(undefined)
    await pause(1_000)
    expect(polls() - before).to.be.at.most(1)
  })
})
