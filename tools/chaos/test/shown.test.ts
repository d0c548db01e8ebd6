import { expect } from 'chai'
import { lpVersions, type PositionLife } from '../hummingbot/position-bots.ts'
import type { PositionEvent } from '../hummingbot/position-facts.ts'
import { missingOfPositions, missingOfSwaps } from '../hummingbot/shown.ts'
import { versions, type SwapOrder } from '../hummingbot/swap-bots.ts'
import type { SwapOutcome } from '../hummingbot/swap-calls.ts'
import { wallet } from './made-history.ts'

const repeated = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index))

describe('whether a run of swaps showed anything', () => {
  const outcomes: Readonly<Record<string, SwapOutcome>> = {
    signature: { is: 'signature', signature: '0x1', isMined: true, text: '' },
    lost: { is: 'lost', reason: 'ECONNRESET', unread: () => undefined },
    'no server': { is: 'refusal', status: 502, name: '', code: '', text: '' },
    'a wrong 4xx': { is: 'refusal', status: 422, name: 'INSUFFICIENT_BALANCE', code: '', text: '' },
    'a wrong 5xx': { is: 'refusal', status: 503, name: 'NETWORK', code: '', text: '' },
  }
  const order = (index: number, booked: SwapOrder['booked'], last: string): SwapOrder => ({
    intent: { id: index, wants: 'one', amountRaw: 1n, wallet },
    version: versions[index % versions.length]?.name ?? '',
    way: 'tls',
    calls: [outcomes[last] ?? expect.fail(last)].map((outcome) => ({ sentAt: 0, endedAt: 0, requestId: '', outcome })),
    booked,
  })
  const run = (filled: number, unfilled: number, last: string) => [
    ...repeated(filled, (index) => order(index, 'filled', 'signature')),
    ...repeated(unfilled, (index) => order(index, 'unknown', last)),
  ]

  it('is enough where lines and deaths took a third of the orders, and too little where they took half', () => {
    for (const last of ['lost', 'no server', 'signature']) {
      expect(missingOfSwaps(run(66, 34, last), 1), last).to.equal(undefined)
      expect(missingOfSwaps(run(50, 50, last), 1), last).to.contain('50 of 100 orders were filled')
    }
  })

  it('is too little where a live server refused a third of them', () => {
    for (const last of ['a wrong 4xx', 'a wrong 5xx']) {
      expect(missingOfSwaps(run(66, 34, last), 1), last).to.contain('34 refused by a live server')
      expect(missingOfSwaps(run(85, 15, last), 1), last).to.equal(undefined)
    }
  })

  it('is too little without a version, and where no lost answer was collected', () => {
    expect(missingOfSwaps(run(100, 0, 'lost'), 0)).to.contain('0 lost answers collected')
    const [first] = versions
    expect(
      missingOfSwaps(
        run(100, 0, 'lost').filter(({ version }) => version !== first?.name),
        1,
      ),
    ).to.contain(`none of ${first?.name}`)
  })
})

describe('whether a run of positions showed anything', () => {
  const life = (index: number, booked: PositionLife['booked']): PositionLife => ({
    id: index,
    amountRaw: 1n,
    wallet,
    version: lpVersions[index % lpVersions.length]?.name ?? '',
    wants: 'life',
    calls: [],
    booked,
  })
  const burnt = (index: number): PositionEvent => ({
    txHash: `0x${index}`,
    is: 'burnt',
    tokenId: String(index),
    raw: [0n, 0n],
    paidRaw: 1n,
    input: '',
    block: 1,
  })

  it('is enough where most are burnt on the chain', () => {
    const lives = [...repeated(50, (index) => life(index, 'closed')), ...repeated(50, (index) => life(index, 'gone'))]
    expect(missingOfPositions(lives, repeated(90, burnt))).to.equal(undefined)
  })

  it('is too little where bots are told that positions are gone which were never opened', () => {
    const lives = [...repeated(10, (index) => life(index, 'closed')), ...repeated(90, (index) => life(index, 'gone'))]
    expect(missingOfPositions(lives, repeated(10, burnt))).to.contain('10 of 100 positions are burnt')
    expect(
      missingOfPositions(
        lives,
        repeated(100, () => burnt(1)),
      ),
    ).to.contain('1 of 100 positions are burnt')
  })

  it('is too little where none was closed in a version of the clients', () => {
    const lives = repeated(100, () => life(0, 'closed'))
    expect(missingOfPositions(lives, repeated(100, burnt))).to.contain(`none of ${lpVersions[1]?.name}`)
  })
})
