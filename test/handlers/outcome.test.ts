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
    chain = 'ethereum',
  ): Promise<string> {
    const evm = { simulate: async () => outcome } as unknown as Chain['evm']
    const impl = { evm, nativeCurrency: token('coin'), address: (text: string) => text } as unknown as Chain
    const network = { chain, network: 'mainnet', impl } as NetworkEntry
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

  describe('of several steps, each a transaction of its own', () => {
    const stepOf = (gains: Record<string, bigint>, sent: Record<string, bigint> = {}) => ({
      gains: new Map(Object.entries(gains)),
      sent: new Map(Object.entries(sent)),
    })
    /** A swap of up to 500 `in` for 1000 `out` at least, or a deposit of 7. */
    const inSteps = (bounds: OutcomeBounds, ...steps: readonly ReturnType<typeof stepOf>[]) => {
      const total: Record<string, bigint> = {}
      for (const { gains } of steps) for (const [each, raw] of gains) total[each] = (total[each] ?? 0n) + raw
      const outcome = { ...done(total), steps } as SimulatedOutcome
      return judged(outcome, bounds, [null, ...steps.slice(1).map(() => null)])
    }

    it('is signed where each brings what the request wants for what it takes, or takes nothing', async () => {
      expect(await inSteps(swap, stepOf({ in: -200n, out: 405n }), stepOf({ in: -300n, out: 600n }))).to.equal('signed')
      expect(await inSteps(swap, stepOf({}), stepOf({ in: -500n, out: 1005n }), stepOf({ out: 1n }))).to.equal('signed')
      expect(await inSteps(deposit, stepOf({ in: -3n }), stepOf({ in: -4n }))).to.equal('signed')
    })

    it('is refused where one takes what another pays for, in whatever order', async () => {
      const [takes, pays] = [stepOf({ in: -500n }, { in: 500n }), stepOf({ out: 1005n })]
      const says = /^UNKNOWN_ERROR .*takes 500 of in in step 1 and brings 0 of out there, where the request wants 1000 for that.*by itself/
      expect(await inSteps(swap, takes, pays)).to.match(says)
      expect(await inSteps(swap, pays, takes)).to.match(/takes 500 of in in step 2 and brings 0 of out/)
      expect(await inSteps(swap, stepOf({ in: -200n, out: 399n }), stepOf({ in: -300n, out: 606n }))).to.match(
        /takes 200 of in in step 1 and brings 399 of out there, where the request wants 400/,
      )
      // What comes back before the step ends is lost where it does not.
      expect(await inSteps(swap, stepOf({ in: -100n }, { in: 400n }), stepOf({ in: -100n, out: 1005n }))).to.match(
        /takes 400 of in in step 1/,
      )
    })

    it('is refused where they take more together than the request allows, though a step gives some back', async () => {
      expect(await inSteps(deposit, stepOf({ in: -7n }), stepOf({ in: 7n }), stepOf({ in: -1n }))).to.match(
        /moves 8 of in out of the wallet in its steps, where the request allows 7/,
      )
      expect(await inSteps(deposit, stepOf({ in: -7n, coin: 1n }), stepOf({ coin: -1n }))).to.match(/moves 1 of coin .* allows 0/)
      expect(await inSteps(nothingLeaves, stepOf({ 'positions/7': -1n }), stepOf({ 'positions/7': 1n }))).to.match(
        /moves 1 of positions\/7 .* allows 0/,
      )
    })

    it('is refused where nobody says what each does by itself', async () => {
      const outcome = done({ in: -500n, out: 1005n })
      expect(await judged(outcome, swap, [null, null])).to.match(
        /^UNSUPPORTED .*what each of its 2 transactions does by itself.*nothing was signed/,
      )
      expect(await judged({ ...outcome, steps: [stepOf({ in: -500n, out: 1005n })] } as SimulatedOutcome, swap, [null, null])).to.match(
        /^UNSUPPORTED /,
      )
    })
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
        expect(await judged(done({ in: -500n, out: 1005n }), swap, [step(each), null]))
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

  it('passes with the deposit by a bridge from the chain that it is sent on, and with no other transfer', async () => {
    const transfer = (to: string) => callOf('transfer(address,uint256)', to, '0x07')
    const on = (chain: string, ...steps: Plan['steps']) => judged(done({}), undefined, steps, chain)
    expect(await on('arbitrum', step(transfer(recipient)))).to.equal('signed')
    expect(await on('arbitrum', step(transfer(thief)))).to.match(/calls transfer/)
    expect(await on('arbitrum', step(transfer(recipient), recipient))).to.match(/calls transfer/)
    expect(await on('arbitrum', step(`${transfer(recipient)}00`))).to.match(/calls transfer/)
    // A plan of its own chain, and one that has more than the server's transfer.
    expect(await on('ethereum', step(transfer(recipient)))).to.match(/calls transfer/)
    expect(await on('arbitrum', step(transfer(recipient)), null)).to.match(/calls transfer/)
  })
})
