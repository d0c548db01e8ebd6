import { expect } from 'chai'
import { createHash } from 'node:crypto'
import { addressBytes, addressFrom, derivedAddress } from '../../../../kits/solana/addresses.ts'
import { authority, constantProductProgram } from '../../../../kits/solana/amm/constant-product/accounts.ts'
import { maxU64, type Clock } from '../../../../kits/solana/amm/swap-quote.ts'
import { tokenProgram } from '../../../../kits/solana/tokens.ts'
import type { SolanaInstruction } from '../../../../kits/solana/types.ts'
import { randomBits } from '../../../../testkit/random-bits.ts'
import type { Mint } from '../../../../tools/solana-node/mints.ts'
import type { Market } from '../../../../tools/solana-node/programs/market.ts'
import { poolInstruction } from '../../../../tools/solana-node/programs/raydium.ts'
import { constantProductPool, creatorFeeKinds } from '../../../../tools/solana-node/walk/constant-product-market.ts'
import { ofCreatorFees } from '../../../../tools/solana-node/walk/judge.ts'
import { walk, WalkDifference } from '../../../../tools/solana-node/walk/walk.ts'

const key = (name: string): string => addressFrom(createHash('sha256').update(name).digest())
const hash = (text: string) => createHash('sha256').update(text).digest().subarray(0, 8)
const mintOf = (symbol: string): Mint => ({ symbol, decimals: 6, address: key(symbol), program: tokenProgram }) as Mint

/** Bytes of an account: each part at its place. */
function account(owner: string, length: number, parts: Readonly<Record<number, Uint8Array | string | bigint | number>>) {
  const data = Buffer.alloc(length)
  for (const [place, part] of Object.entries(parts))
    if (typeof part === 'bigint') data.writeBigUInt64LE(part, Number(place))
    else if (typeof part === 'number') data.writeUInt8(part, Number(place))
    else data.set(typeof part === 'string' ? addressBytes(part) : part, Number(place))
  return { owner, data, lamportsRaw: 1n }
}

const whole = 1_000_000n
const up = (dividend: bigint, divisor: bigint) => (dividend + divisor - 1n) / divisor
const before = (raw: bigint, rate: bigint) => up(raw * whole, whole - rate)

interface Rates {
  readonly trade: bigint
  readonly creator: bigint
}

/** What the program's source says of a swap, by itself: what is paid, what comes, and both fees. @param roundsOnce a build that rounds each fee up does not */
function byTheSource(
  exact: 'in' | 'out',
  amount: bigint,
  [reserveIn, reserveOut]: readonly [bigint, bigint],
  isPaidIn: boolean,
  rates: Rates,
  roundsOnce: boolean,
) {
  const { trade, creator } = rates
  const rate = isPaidIn ? trade + creator : trade
  const shareOf = (fees: bigint) => (roundsOnce ? (fees * creator) / (trade + creator) : up(fees * creator, trade + creator))
  if (exact === 'in') {
    const fees = up(amount * rate, whole)
    const swapped = ((amount - fees) * reserveOut) / (reserveIn + amount - fees)
    const ofCreator = isPaidIn ? shareOf(fees) : up(swapped * creator, whole)
    return { paid: amount, got: isPaidIn ? swapped : swapped - ofCreator, ofTrade: isPaidIn ? fees - ofCreator : fees, ofCreator }
  }
  const leaves = isPaidIn ? amount : before(amount, creator)
  if (leaves >= reserveOut) return undefined
  const enters = up(leaves * reserveIn, reserveOut - leaves)
  const paid = before(enters, rate)
  const ofCreator = isPaidIn ? shareOf(paid - enters) : leaves - amount
  return { paid, got: amount, ofTrade: isPaidIn ? paid - enters - ofCreator : paid - enters, ofCreator }
}

/** A runtime with pools of such a program: what others than us say that it does. */
function marketOf(feesOn: readonly number[], roundsOnce = true) {
  const rates = { trade: 2_500n, creator: 777n }
  const [protocolRate, fundRate] = [120_000n, 40_000n]
  const accounts = new Map<string, ReturnType<typeof account>>([
    [
      key('config'),
      account(constantProductProgram, 236, {
        0: hash('account:AmmConfig'),
        12: rates.trade,
        20: protocolRate,
        28: fundRate,
        108: rates.creator,
      }),
    ],
  ])
  const held = new Map<string, bigint>()
  let clock: Clock = { slot: 1n, epoch: 1n, unixTime: 1_790_000_000n }
  const pools = feesOn.map((on, index) => {
    const mints = [mintOf(`${index} first`), mintOf(`${index} second`)] as const
    for (const mint of mints) {
      held.set(mint.address, 2n ** 60n)
      accounts.set(mint.address, account(tokenProgram, 82, { 44: 6, 45: 1 }))
      accounts.set(
        key(`vault ${mint.symbol}`),
        account(tokenProgram, 165, { 0: mint.address, 32: authority(), 64: 10n ** 12n + BigInt(index), 108: 1 }),
      )
    }
    const vaults = mints.map(({ symbol }) => key(`vault ${symbol}`))
    const parts = {
      8: key('config'),
      72: vaults[0]!,
      104: vaults[1]!,
      168: mints[0].address,
      200: mints[1].address,
      232: tokenProgram,
      264: tokenProgram,
      296: key('observation'),
    }
    accounts.set(
      key(`pool ${index}`),
      account(constantProductProgram, 637, { 0: hash('account:PoolState'), ...parts, 331: 6, 332: 6, 389: on, 390: 1 }),
    )
    return { address: key(`pool ${index}`), mints, vaults, on }
  })
  const dataOf = (of: string) => accounts.get(of)!.data
  const add = (of: string, place: number, raw: bigint) => {
    const found = accounts.get(of)!
    const data = Buffer.from(found.data)
    data.writeBigUInt64LE(data.readBigUInt64LE(place) + raw, place)
    accounts.set(of, { ...found, data })
  }

  function run([instruction]: readonly SolanaInstruction[]): string | null {
    const data = Buffer.from(instruction!.data, 'base64')
    const exact = data.subarray(0, 8).equals(hash('global:swap_base_input')) ? 'in' : 'out'
    const { address, mints, vaults, on } = pools.find((each) => each.address === instruction!.accounts[3]!.address)!
    const pays = instruction!.accounts[4]!.address === key(`of ${mints[0].symbol}`) ? 0 : 1
    const gets = 1 - pays
    const [first, second] = [data.readBigUInt64LE(8), data.readBigUInt64LE(16)]
    const owed = (which: number) => [341, 357, 397].reduce((sum, place) => sum + dataOf(address).readBigUInt64LE(place + 8 * which), 0n)
    const reserve = (which: number) => dataOf(vaults[which]!).readBigUInt64LE(64) - owed(which)
    const isPaidIn = on === 0 || on === pays + 1
    const done = byTheSource(exact, exact === 'in' ? first : second, [reserve(pays), reserve(gets)], isPaidIn, rates, roundsOnce)
    if (!done || done.got <= 0n || done.paid <= 0n || (exact === 'in' ? done.got < second : done.paid > first)) return 'refused'
    const [own, other] = [mints[pays].address, mints[gets]!.address]
    if (dataOf(vaults[pays]!).readBigUInt64LE(64) + done.paid > maxU64 || done.paid > held.get(own)!) return 'refused'
    add(vaults[pays]!, 64, done.paid)
    add(vaults[gets]!, 64, -done.got)
    add(address, 341 + 8 * pays, (done.ofTrade * protocolRate) / whole)
    add(address, 357 + 8 * pays, (done.ofTrade * fundRate) / whole)
    add(address, 397 + 8 * (isPaidIn ? pays : gets), done.ofCreator)
    held.set(own, held.get(own)! - done.paid)
    held.set(other, held.get(other)! + done.got)
    return null
  }

  const market = {
    get clock() {
      return clock
    },
    setClock: (change: Partial<Clock>) => void (clock = { ...clock, ...change }),
    wallet: key('wallet'),
    account: (of: string) => accounts.get(of),
    tokenAccount: ({ symbol }: Mint) => key(`of ${symbol}`),
    balance: ({ address }: Mint) => held.get(address) ?? 0n,
    run,
  } as unknown as Market
  return {
    market,
    pools: pools.map(({ address, mints }) => ({ ...constantProductPool(market, address, mints, 'creator-fees'), change() {} })),
  }
}

describe("pools of Raydium's constant product with a creator's fee", () => {
  it('are walked on both sides of the fee and in both directions, and counted', () => {
    const { market, pools } = marketOf([0, 1, 2])
    const { equal, in: exactIn, out: exactOut, kinds } = walk(market, pools, { trades: 150, random: randomBits(1) })
    for (const each of [exactIn, exactOut, kinds[creatorFeeKinds.in], kinds[creatorFeeKinds.out]]) expect(each).to.be.above(15)
    expect(equal).to.equal(150)
  })

  it('differ where the program splits a fee with its creator otherwise', () => {
    const { market, pools } = marketOf([0, 1, 2], false)
    expect(() => walk(market, pools, { trades: 150, random: randomBits(1) })).to.throw(WalkDifference, /the pool owes/)
  })

  it('are told beside an equal walk, also where the program makes none', () => {
    expect(ofCreatorFees({ kinds: { 'too-little': 3 } })).to.equal("none with a creator's fee: these were not compared")
    expect(ofCreatorFees({ kinds: { [creatorFeeKinds.in]: 9, [creatorFeeKinds.out]: 4 } })).to.equal(
      "9 with a creator's fee of what is paid, 4 with a creator's fee of what comes out",
    )
  })

  // The discriminator and the accounts as decoders of the deployed program have them: carbon, decoders/raydium-cpmm-decoder.
  it('are made by the instruction that needs a permission, and others by the usual one', () => {
    const mints = [mintOf('A'), mintOf('B')] as const
    const seed = { config: key('config'), creator: key('creator'), mints, amountsRaw: [1n, 2n] as const, openTime: 3n }
    const made = poolInstruction(key('pool'), { ...seed, creatorFeeOn: 2 })
    const permission = derivedAddress(constantProductProgram, [Buffer.from('permission'), addressBytes(key('creator'))])
    expect([...made.data!.subarray(0, 8)]).to.deep.equal([0x3f, 0x37, 0xfe, 0x41, 0x31, 0xb2, 0x59, 0x79])
    expect([...made.data!.subarray(8)]).to.deep.equal([1, ...Array(7).fill(0), 2, ...Array(7).fill(0), 3, ...Array(7).fill(0), 2])
    expect(made.accounts!.map(({ address }) => address)).to.have.length(21)
    expect([0, 1, 2, 4, 15].map((at) => made.accounts![at]!.address)).to.deep.equal([
      key('creator'),
      key('creator'),
      key('config'),
      key('pool'),
      permission,
    ])
    const usual = poolInstruction(key('pool'), seed)
    expect(usual.accounts).to.have.length(20)
    expect(usual.data).to.have.length(32)
  })
})
