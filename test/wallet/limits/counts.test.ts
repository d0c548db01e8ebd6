import { expect } from 'chai'
import { createCounts, type Bounds, type Charge, type CountedCharge } from '../../../core/wallet/limits/counts.ts'
import { randomOf } from '../../../tools/chaos/random.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const begin = 1_700_000_000_000

const chargeOf = (amountRaw: bigint, nonce?: string, what = 'native'): Charge => ({
  wallet: '0xa',
  chain: '1',
  nonce,
  amounts: new Map([[what, amountRaw]]),
})
const bounds: Bounds = { perTransaction: 60n, perHour: 100n, perDay: 250n }
const boundsOf = (): Bounds => bounds

describe('the count of what was signed', () => {
  it('has room again when what was signed is wholly outside of the window, and says when', () => {
    const counts = createCounts()
    counts.add(chargeOf(60n, '0'), begin)
    counts.add(chargeOf(40n, '1'), begin + 10 * minuteMs)
    const nowMs = begin + 20 * minuteMs
    const excess = counts.check(chargeOf(50n, '2'), boundsOf, nowMs)
    expect(excess).to.include({ what: 'native', limit: 'perHour', mostRaw: 100n, leftRaw: 0n })
    const freesAtMs = excess?.freesAtMs ?? 0
    expect(freesAtMs).to.be.within(begin + hourMs, begin + hourMs + minuteMs)
    expect(counts.check(chargeOf(50n, '2'), boundsOf, freesAtMs - 1)).not.to.equal(undefined)
    expect(counts.check(chargeOf(50n, '2'), boundsOf, freesAtMs)).to.equal(undefined)
  })

  it('counts a nonce once, with the largest transaction that was signed for it', () => {
    const counts = createCounts()
    for (const amountRaw of [50n, 50n, 60n, 10n]) {
      expect(counts.check(chargeOf(amountRaw, '7'), boundsOf, begin)).to.equal(undefined)
      counts.add(chargeOf(amountRaw, '7'), begin)
    }
    const used = (window: 'perHour' | 'perDay', atMs: number) => counts.usedRaw({ wallet: '0xa', chain: '1', what: 'native' }, window, atMs)
    expect(used('perHour', begin)).to.equal(60n)
    // The small one counts where the large one does not any more.
    counts.add(chargeOf(20n, '7'), begin + 30 * minuteMs)
    expect(used('perHour', begin + 65 * minuteMs)).to.equal(20n)
    expect(used('perDay', begin + 65 * minuteMs)).to.equal(60n)
  })

  it('keeps wallets, chains and things apart', () => {
    const counts = createCounts()
    counts.add(chargeOf(60n, '0'), begin)
    for (const other of [{ ...chargeOf(60n, '0'), wallet: '0xb' }, { ...chargeOf(60n, '0'), chain: '2' }, chargeOf(60n, '1', 'gasCost')]) {
      expect(counts.usedRaw({ ...other, what: [...other.amounts.keys()][0] ?? '' }, 'perDay', begin)).to.equal(0n)
      counts.add(other, begin)
    }
    expect(counts.usedRaw({ wallet: '0xa', chain: '1', what: 'native' }, 'perDay', begin)).to.equal(60n)
  })

  it('says that there never is room for more than the whole limit', () => {
    const excess = createCounts().check(chargeOf(300n, '0'), () => ({ perDay: 250n }), begin)
    expect(excess).to.deep.equal({ what: 'native', limit: 'perDay', mostRaw: 250n, leftRaw: 250n })
  })

  it('lets what counts already be signed again where a limit was lowered below it', () => {
    const counts = createCounts()
    counts.add(chargeOf(60n, '0'), begin)
    expect(counts.check(chargeOf(60n, '0'), () => ({ perDay: 10n }), begin)).to.equal(undefined)
    expect(counts.check(chargeOf(1n, '1'), () => ({ perDay: 10n }), begin)).to.include({ leftRaw: 0n })
  })

  for (const seed of [1, 2, 3, 4, 5, 6])
    it(`gives away no more than its limits in any window, over restarts and replacements (seed ${seed})`, () => {
      const random = randomOf(String(seed))
      let counts = createCounts()
      let nowMs = begin
      const signed: { readonly ms: number; readonly nonce: string; readonly amountRaw: bigint }[] = []
      let nonce = 0
      for (let step = 0; step < 1_500; step += 1) {
        const kind = random.below(100)
        nowMs += kind < 60 ? random.below(minuteMs) : kind < 95 ? random.below(20 * minuteMs) : random.below(8 * hourMs)
        if (kind % 10 === 0) {
          const again = createCounts()
          for (const charge of counts.charges(nowMs)) again.add(charge, charge.ms)
          counts = again
        }
        // Half of them replace a recent one, some ask for a new nonce, and some have none.
        const isNew = random.below(2) === 0
        const own = isNew ? (nonce += 1) : Math.max(0, nonce - random.below(4))
        const isLoose = random.below(5) === 0
        const charge = chargeOf(BigInt(random.below(80)), isLoose ? undefined : String(own))
        if (counts.check(charge, boundsOf, nowMs)) continue
        counts.add(charge, nowMs)
        signed.push({ ms: nowMs, nonce: isLoose ? `loose ${step}` : String(own), amountRaw: charge.amounts.get('native') ?? 0n })
      }
      expect(signed.length).to.be.greaterThan(200)
      for (const [windowMs, mostRaw] of [
        [hourMs, 100n],
        [dayMs, 250n],
      ] as const)
        for (const { ms } of signed) {
          const largest = new Map<string, bigint>()
          for (const each of signed)
            if (each.ms <= ms && each.ms > ms - windowMs && each.amountRaw > (largest.get(each.nonce) ?? 0n))
              largest.set(each.nonce, each.amountRaw)
          const sum = [...largest.values()].reduce((all, each) => all + each, 0n)
          expect(sum <= mostRaw, `${sum} of ${mostRaw} in the window that ends at ${ms}`).to.equal(true)
        }
    })

  it('stays the same after a restart from what still counts', () => {
    const random = randomOf('restart')
    const counts = createCounts()
    let nowMs = begin
    for (let step = 0; step < 300; step += 1) {
      nowMs += random.below(10 * minuteMs)
      counts.add(chargeOf(BigInt(random.below(50)), random.below(3) === 0 ? undefined : String(random.below(40))), nowMs)
    }
    const again = createCounts()
    const kept: readonly CountedCharge[] = counts.charges(nowMs)
    for (const charge of kept) again.add(charge, charge.ms)
    for (const window of ['perHour', 'perDay'] as const)
      expect(again.usedRaw({ wallet: '0xa', chain: '1', what: 'native' }, window, nowMs)).to.equal(
        counts.usedRaw({ wallet: '0xa', chain: '1', what: 'native' }, window, nowMs),
      )
  })
})
