import { expect } from 'chai'
import { id } from 'ethers'
import type { Chain, Grant, Plan, SimulatedOutcome } from '../../core/contracts/index.ts'
import { atMostLeaves, checkOutcome, nothingLeaves, swapBounds, type OutcomeBounds } from '../../core/handlers/outcome.ts'
import type { NetworkEntry, VenueEntry } from '../../core/plugins/registry.ts'
import { tokenRights } from '../../core/wallet/token-rights.ts'

const token = (address: string) => ({ symbol: address, address, decimals: 0 })
const boundsOf = (exact: 'in' | 'out', slippage = { numerator: 1n, denominator: 200n }) => {
  const quoted = { quotedRaw: 1010n, boundRaw: exact === 'in' ? 1000n : 1020n, slippage }
  const bounds = swapBounds({ tokenIn: token('in'), tokenOut: token('out'), exact, amountRaw: 500n }, quoted)
  return [bounds.get('in'), bounds.get('out')]
}

describe('what a swap may do to the wallet', () => {
  it('takes the exact amount at most, and gives from its bound to 1 % above its quote', () => {
    expect(boundsOf('in')).to.deep.equal([
      { minRaw: -500n, maxRaw: 0n },
      { minRaw: 1000n, maxRaw: 1020n, isQuoted: true },
    ])
  })

  it('gives the exact amount, and takes from 1 % below its quote to its bound', () => {
    expect(boundsOf('out')).to.deep.equal([
      { minRaw: -1020n, maxRaw: -1000n, isQuoted: true },
      { minRaw: 500n, maxRaw: 505n },
    ])
  })

  it('may be better than its quote by the slippage where that is more', () => {
    expect(boundsOf('in', { numerator: 1n, denominator: 10n })[1]).to.deep.equal({ minRaw: 1000n, maxRaw: 1111n, isQuoted: true })
    expect(boundsOf('out', { numerator: 1n, denominator: 10n })[0]).to.deep.equal({ minRaw: -1020n, maxRaw: -909n, isQuoted: true })
  })
})

describe('a plan by what its simulation says', () => {
  const nft = 'positions/7'
  const bridges = { arbitrum: { network: 'mainnet', token: `0x${'A1'.repeat(20)}`, recipient: `0x${'B2'.repeat(20)}` } }
  /** The error of such a plan, or `signed`. */
  async function judged(
    outcome: SimulatedOutcome | 'unavailable',
    bounds: OutcomeBounds | undefined,
    steps: Plan['steps'] = [null],
  ): Promise<string> {
    const evm = { simulate: async () => outcome } as unknown as Chain['evm']
    const impl = { evm, nativeCurrency: token('coin'), address: (text: string) => text } as unknown as Chain
    const network = { chain: 'ethereum', network: 'mainnet', impl } as NetworkEntry
    const planned = { plan: { steps, needs: [] }, wallet: 'wallet', bounds } as const
    const at = { signal: AbortSignal.timeout(10_000) }
    return checkOutcome(planned, network, { connector: 'rogue', bridges } as unknown as VenueEntry, at).then(
      () => 'signed',
      ({ name, message }: Error) => `${name} ${message}`,
    )
  }
  const done = (gains: Record<string, bigint>, grants: readonly Grant[] = [], sent: Record<string, bigint> = {}): SimulatedOutcome => ({
    is: 'done',
    gains: new Map(Object.entries(gains)),
    sent: new Map(Object.entries(sent)),
    grants,
  })
  const swap = swapBounds(
    { tokenIn: token('in'), tokenOut: token('out'), exact: 'in', amountRaw: 500n },
    { quotedRaw: 1010n, boundRaw: 1000n, slippage: { numerator: 1n, denominator: 100n } },
  )
  const deposit = atMostLeaves([
    { token: 'in', amountRaw: 5n },
    { token: 'in', amountRaw: 2n },
  ])

  const cases: readonly [string, OutcomeBounds | undefined, SimulatedOutcome | 'unavailable', RegExp][] = [
    ['a swap that does what was asked', swap, done({ in: -500n, out: 1005n, coin: 0n }), /^signed$/],
    ['a swap that takes less for as much', swap, done({ in: -400n, out: 1000n }), /^signed$/],
    ['a swap that takes a unit more', swap, done({ in: -501n, out: 1005n }), /takes 501 of in .* taking 0 to 500/],
    [
      'a swap that gives a unit less than its bound',
      swap,
      done({ in: -500n, out: 999n }),
      /gives the wallet 999 of out, where the request allows giving 1000 to 1020/,
    ],
    [
      'a swap that gives the wallet nothing',
      swap,
      done({ in: -500n, out: 0n }),
      /gives the wallet 0 of out.*recipient .* has to be terms\.recipient/,
    ],
    [
      'a swap that gives far more than quoted',
      swap,
      done({ in: -500n, out: 5000n }),
      /5000 of out.*amountRaw of its quote is far .* the ABI/,
    ],
    [
      'a swap that gives far less than quoted',
      swap,
      done({ in: -500n, out: 5n }),
      /gives the wallet 5 of out.*amountRaw of its quote is far/,
    ],
    [
      'a swap of a token with a fee',
      swap,
      done({ in: -500n, out: 980n }),
      /gives the wallet 980 of out.*transfers of this token take a fee.*`loan`/,
    ],
    ['a swap of which nobody says what it gives', swap, done({ in: -500n }), /gives the wallet 0 of out/],
    [
      'a swap that gives over 1 % more than quoted, which is no fault of the plugin: the price moved',
      swap,
      done({ in: -500n, out: 1021n }),
      /^TRADE_FAILED .*gives the wallet 1021 of out.*The price has moved.*send the request again for a new quote/,
    ],
    [
      'a swap for an exact amount that takes over 1 % less than quoted, which is none either',
      swapBounds(
        { tokenIn: token('in'), tokenOut: token('out'), exact: 'out', amountRaw: 500n },
        { quotedRaw: 1010n, boundRaw: 1020n, slippage: { numerator: 1n, denominator: 100n } },
      ),
      done({ in: -999n, out: 500n }),
      /^TRADE_FAILED .*takes 999 of in.*send the request again/,
    ],
    ['a swap that gives more and takes more', swap, done({ in: -501n, out: 1021n }), /^UNKNOWN_ERROR .*takes 501 of in.*defect/],
    ['a swap that gives the wallet more of what it sells', swap, done({ in: 1n, out: 1005n }), /^UNKNOWN_ERROR .*gives the wallet 1 of in/],
    ['a swap that takes the native coin too', swap, done({ in: -500n, out: 1005n, coin: -1n }), /takes 1 of coin/],
    ['a swap that takes a token which nobody asked about', swap, done({ in: -500n, out: 1005n, other: -1n }), /takes 1 of other/],
    ['a swap that gives such a token', swap, done({ in: -500n, out: 1005n, other: 1n }), /^signed$/],
    ['a swap that takes what it may and gives a part back', swap, done({ in: -400n, out: 1005n }, [], { in: 500n }), /^signed$/],
    [
      'a swap that takes more and gives it back',
      swap,
      done({ in: -500n, out: 1005n }, [], { in: 501n }),
      /^UNKNOWN_ERROR .*moves 501 of in out of the wallet, where the request allows 500/,
    ],
    [
      'a swap that takes another token and gives it back',
      swap,
      done({ in: -500n, out: 1005n }, [], { in: 500n, other: 1n }),
      /^UNKNOWN_ERROR .*moves 1 of other out .* allows 0/,
    ],
    ['a swap that takes a token of EIP-721', swap, done({ in: -500n, out: 1005n, [nft]: -1n }), /takes 1 of positions\/7/],
    [
      'a swap that gives a right',
      swap,
      done({ in: -500n, out: 1005n }, [{ token: 'other', spender: 'thief' }]),
      /lets thief move .* other/,
    ],
    ['a deposit of all that was offered', deposit, done({ in: -7n }), /^signed$/],
    ['a deposit of a unit more', deposit, done({ in: -8n }), /takes 8 of in/],
    ['a change that takes nothing', nothingLeaves, done({ in: 9n, [nft]: 1n }), /^signed$/],
    ['a change that takes something', nothingLeaves, done({ in: 9n, [nft]: -1n }), /takes 1 of positions\/7/],
    [
      'a plan without bounds that gives a right',
      undefined,
      done({ in: -9n }, [{ token: 'in', spender: 'thief', amountRaw: 1n }]),
      /lets thief/,
    ],
    ['a plan that fails', swap, { is: 'failed', reason: 'too little' }, /^TRADE_FAILED .*too little/],
    ['a plan that no node can simulate', swap, 'unavailable', /^UNSUPPORTED .*nothing was signed/],
  ]
  for (const [what, bounds, outcome, says] of cases)
    it(`is ${says.source === '^signed$' ? 'signed' : 'refused'}: ${what}`, async () => {
      expect(await judged(outcome, bounds)).to.match(says)
    })

  const { token: bridged, recipient } = bridges.arbitrum
  const callOf = (call: string, ...args: readonly string[]) =>
    `${id(call).slice(0, 10)}${args.map((each) => each.slice(2).padStart(64, '0')).join('')}`
  const step = (data: string, to = bridged) => ({ to, data, value: '0' })
  const thief = `0x${'d1'.repeat(20)}`

  it('fails whatever its simulation says: a step that moves a token or gives a right over it', async () => {
    for (const { call } of tokenRights.values()) {
      const data = callOf(call, thief, thief, '0x01')
      for (const each of [data, `0x${data.slice(2).toUpperCase()}`])
        expect(await judged(done({ in: -500n, out: 1005n }), swap, [null, step(each)]))
          .to.include(`UNKNOWN_ERROR`)
          .and.include(`calls ${call}`)
    }
    expect(await judged(done({ in: -500n, out: 1005n }), swap, [step(callOf('swap(address,uint256)', thief, '0x01'))])).to.equal('signed')
  })

  it('fails with the same inside of calls of a contract to itself, and calls that cannot be read', async () => {
    const word = (value: number) => value.toString(16).padStart(64, '0')
    const inner = callOf('approve(address,uint256)', thief, '0x01').slice(2)
    const batch = `0xac9650d8${word(32)}${word(1)}${word(32)}${word(68)}${inner.padEnd(192, '0')}`
    expect(await judged(done({ in: -500n, out: 1005n }), swap, [step(batch)])).to.include('calls approve(address,uint256)')
    expect(await judged(done({ in: -500n, out: 1005n }), swap, [step(batch.slice(0, 200))])).to.include('calls inside that cannot be read')
  })

  it('passes with the deposit by a declared bridge, and with no other transfer', async () => {
    const transfer = (to: string) => callOf('transfer(address,uint256)', to, '0x07')
    expect(await judged(done({}), undefined, [step(transfer(recipient))])).to.equal('signed')
    expect(await judged(done({}), undefined, [step(transfer(thief))])).to.match(/calls transfer/)
    expect(await judged(done({}), undefined, [step(transfer(recipient), recipient)])).to.match(/calls transfer/)
    expect(await judged(done({}), undefined, [step(`${transfer(recipient)}00`)])).to.match(/calls transfer/)
  })
})
