import { expect } from 'chai'
import { AskedTokens } from '../../core/market/asked-tokens.ts'

const hour = 3_600_000
const window = 1_200_000
const most = 48
const exotic = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `exotic ${from + index}`)

describe('the tokens that the market reads', () => {
  let asked: AskedTokens
  let read: ReadonlySet<string>
  beforeEach(() => {
    asked = new AskedTokens(24 * hour)
    read = new Set()
  })
  const readAt = (nowMs: number) => {
    read = new Set(asked.inTurns((token) => read.has(token), nowMs - window, nowMs).slice(0, most))
    return read
  }

  it('keep those of a client, however many and however often another asks for others', () => {
    asked.ask('bot', ['weth', 'wbtc'], 0)
    readAt(0)
    for (let minute = 1; minute < 60; minute += 1) {
      asked.ask('thief', exotic(24, 24 * minute), minute * 60_000)
      expect(readAt(minute * 60_000))
        .to.include('weth')
        .and.include('wbtc')
    }
  })

  it('take in those of a client that comes after another has filled all places', () => {
    asked.ask('thief', exotic(200), 0)
    expect(readAt(0).size).to.equal(most)
    asked.ask('bot', ['weth', 'wbtc'], 1)
    // Also where the other asks last.
    asked.ask('thief', exotic(200), 2)
    expect(readAt(2)).to.include('weth').and.include('wbtc')
  })

  it('keep their places among those of one client while they are asked for in a window', () => {
    asked.ask('bot', exotic(most), 0)
    readAt(0)
    asked.ask('bot', ['weth'], 10)
    expect(readAt(10)).to.not.include('weth')
    // Nothing else was asked for since.
    asked.ask('bot', ['weth'], window + 20)
    expect(readAt(window + 20)).to.include('weth')
  })

  it('are forgotten after a day', () => {
    asked.ask('bot', ['weth'], 0)
    readAt(24 * hour + 1)
    expect(read.size).to.equal(0)
    expect(asked.wasAsked('weth', Infinity)).to.equal(false)
  })
})
