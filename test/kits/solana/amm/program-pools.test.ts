import { expect } from 'chai'
import { accountsAMM, constantProductPools, dammPools, type Accounts } from '../../../../kits/solana/amm/index.ts'
import { constantProductProgram } from '../../../../kits/solana/amm/constant-product/accounts.ts'
import { dammAuthority, dammProgram } from '../../../../kits/solana/amm/damm/accounts.ts'
import { followedPools, isFollowedPool, type FollowedPool } from '../../../../kits/solana/amm/followed.ts'
import { maxU64 } from '../../../../kits/solana/amm/swap-quote.ts'
import { tokenProgram, type SolanaImageData } from '../../../../kits/solana/index.ts'
import { token2022Program } from '../../../../kits/solana/tokens.ts'
import { cpmmAccounts, cpmmPool, dammAccounts, dammPool, extendedMint, image, mint, mints, pool, vault, vaults } from './pool-bytes.ts'
import { at, createAccounts } from './two-vaults.ts'

const raydium = constantProductPools({ programVersion: 'creator-fees', classes: [0] })
const meteora = dammPools({ configs: [] })
const [tokenIn, tokenOut] = mints
const sell = (amountRaw: bigint, exact: 'in' | 'out' = 'in') => ({
  tokenIn: { symbol: 'A', address: tokenIn, decimals: 9 },
  tokenOut: { symbol: 'B', address: tokenOut, decimals: 9 },
  exact,
  amountRaw,
})
const head = { number: 9n, timestamp: 1_000 }
const dammVault = ({ of = mints[1], state = 1 }: { of?: string; state?: number } = {}) => vault(of, 1_000_000n, state, dammAuthority)
const moment = { slot: 9n, epoch: 0n, unixTime: 1_000n }

describe('pools by the table of a program', () => {
  const { chain, asked, reader } = createAccounts()
  const amm = accountsAMM(reader, { protocols: [raydium] })
  const followed = followedPools(raydium, reader)
  beforeEach(() => {
    chain.clear()
    for (const [address, data] of cpmmAccounts()) if (data) chain.set(address, data)
    asked.length = 0
  })

  const quoted = async (amountRaw = 1_000n, exact: 'in' | 'out' = 'in') => (await amm.quote(sell(amountRaw, exact), {}, at)).amountRaw
  const refusal = async (amountRaw = 1_000n, exact: 'in' | 'out' = 'in') =>
    quoted(amountRaw, exact).then(String, (error: Error) => `${(error as Error & { name: string }).name}: ${error.message}`)
  async function load(): Promise<FollowedPool> {
    const { states } = await followed.load([pool], head, at)
    const state = states.get(pool)
    if (!isFollowedPool(state)) throw new Error('There is no state.')
    return state
  }

  it('are found in both orders of their tokens, and quoted as the program does it', async () => {
    expect(raydium.places([[tokenIn, tokenOut]])).to.deep.equal(raydium.places([[tokenOut, tokenIn]]))
    // 1,000 less a fee of 0.25 %, rounded up, on a million of each.
    expect(await quoted()).to.equal((997n * 1_000_000n) / 1_000_997n)
    expect(await quoted(996n, 'out')).to.equal(1_000n)
  })

  it('count as none where the account has another owner, discriminator or length', async () => {
    const good = cpmmPool()
    const other = Buffer.from(good)
    other[0] = (other[0] ?? 0) ^ 1
    for (const wrong of [
      image(tokenProgram, good),
      image(constantProductProgram, other),
      image(constantProductProgram, good.subarray(1)),
      image(constantProductProgram, Buffer.concat([good, Buffer.alloc(1)])),
      image(constantProductProgram, Buffer.alloc(0)),
    ]) {
      chain.set(pool, wrong)
      expect(await refusal()).to.match(/^PAIR_NOT_FOUND: There is no pool of A and B at the addresses that are looked for\. .*pool=/)
    }
  })

  it('count as none while an account of theirs is closed, and come again', async () => {
    const state = await load()
    for (const address of [vaults[0], mints[1], pool]) {
      const data = chain.get(address) ?? null
      const closed = followed.apply(state, { address, slot: 10, data: null }, head)
      if (closed === 'reload') throw new Error('It is to be loaded again.')
      expect(closed.pool, address).to.equal(null)
      expect(followed.apply(closed, { address, slot: 11, data }, head))
        .to.have.property('pool')
        .that.is.not.equal(null)
    }
  })

  it('refuse amounts up to the end of 64 bits and beyond, and never fail by them', async () => {
    for (const amountRaw of [maxU64, maxU64 + 1n, 1n << 200n])
      for (const exact of ['in', 'out'] as const) expect(await refusal(amountRaw, exact)).to.match(/^PRICE_FAILED/)
    expect(await refusal(1_000_000n, 'out')).to.match(/^PRICE_FAILED/)
    expect(await refusal(1n)).to.match(/^PRICE_FAILED: .* is too little/)
    chain.set(vaults[0], image(tokenProgram, vault(mints[0], maxU64)))
    expect(await refusal()).to.match(/^PRICE_FAILED/)
  })

  it('count as none where what they owe eats what they hold', async () => {
    chain.set(pool, image(constantProductProgram, cpmmPool([341, 1_000_000n])))
    expect(await refusal()).to.match(/is left out: it holds nothing but what it owes to others\.$/)
    chain.set(pool, image(constantProductProgram, cpmmPool([341, maxU64], [357, maxU64])))
    expect(await refusal()).to.match(/is left out: it holds nothing but what it owes to others\.$/)
  })

  for (const [what, changed, words] of [
    ['gets a transfer hook', extendedMint(14, new Uint8Array(64).fill(1)), 'transfer hook'],
    ['freezes new accounts', extendedMint(6, Uint8Array.of(2)), 'freezes new accounts'],
    ['is paused', extendedMint(26, new Uint8Array(33).fill(1)), 'is paused'],
    ['bears interest', extendedMint(10, new Uint8Array(52)), 'bears interest'],
    ['has confidential transfers', extendedMint(4, new Uint8Array(65)), 'confidential transfers'],
    ['scales its amounts', extendedMint(25, new Uint8Array(56)), 'scales its amounts'],
    ['gets an extension that nobody knows', extendedMint(999, new Uint8Array(4)), 'an extension that is not known'],
  ] satisfies readonly (readonly [string, SolanaImageData, string])[])
    it(`are left out from the slot on in which a token ${what}, and the refusal says so`, async () => {
      const before = await load()
      expect(before.pool).to.not.equal(null)
      const after = followed.apply(before, { address: mints[1], slot: 10, data: changed }, head)
      expect(after).to.have.property('pool', null)
      chain.set(mints[1], changed)
      const said = await refusal()
      expect(said).to.match(/^PAIR_NOT_FOUND: There is no pool of A and B that is traded here\. The pool \w+ is left out: the token \w+ /)
      expect(said).to.contain(words).and.contain(mints[1])
    })

  it('are left out with a frozen vault, before they open and while swaps are switched off', async () => {
    chain.set(vaults[1], image(tokenProgram, vault(mints[1], 1_000_000n, 2)))
    expect(await refusal()).to.match(/is left out: a vault of it is not there, not its own, or frozen\.$/)
    chain.set(vaults[1], image(tokenProgram, vault(mints[1], 1_000_000n)))
    chain.set(pool, image(constantProductProgram, cpmmPool([329, 4])))
    expect(await refusal()).to.match(/is left out: its swaps are switched off\.$/)
    chain.set(pool, image(constantProductProgram, cpmmPool([373, 2n])))
    expect(await refusal()).to.match(/is left out: it has not opened yet\.$/)
  })

  it('open with the clock of the cluster, and stay the same object while it changes nothing', () => {
    const accounts: Accounts = cpmmAccounts().set(pool, image(constantProductProgram, cpmmPool([373, 1_001n])))
    const found = raydium.decode(pool, accounts)
    if (!found || !raydium.asOf) throw new Error('There is no pool.')
    expect(raydium.asOf(found, moment)).to.equal(null)
    const open = raydium.asOf(found, { ...moment, unixTime: 1_001n })
    expect(open).to.not.equal(null)
    expect(raydium.asOf(found, { ...moment, slot: 10n, unixTime: 1_002n })).to.equal(open)
  })

  it('of Meteora are left out where their way to take fees is not known', () => {
    const [address = ''] = meteora.places([[tokenIn, tokenOut]])
    const known = meteora.decode(address, dammAccounts(0, address))
    expect(known && meteora.asOf?.(known, moment)).to.not.equal(null)
    const limited = dammAccounts(2, address)
    const found = meteora.decode(address, limited)
    expect(found && meteora.asOf?.(found, moment)).to.equal(null)
    expect(meteora.leftOut?.(address, limited, moment)?.why).to.equal('it takes fees in a way that is not known here')
    expect(meteora.decode(address, limited.set(address, image(tokenProgram, dammPool(0))))).to.equal(null)
    expect(meteora.decode(address, dammAccounts(0, address).set(mints[0], mint()))).to.not.equal(null)
  })

  it('of Meteora are left out where their fees stay in them and a side is empty', async () => {
    const [address = ''] = meteora.places([[tokenIn, tokenOut]])
    const exchange = accountsAMM(reader, { protocols: [meteora] })
    const sold = sell(1_000n)
    const bothWays = async (first: bigint, second: bigint) => {
      const accounts = dammAccounts(0, address).set(address, image(dammProgram, dammPool(0, [484, 2], [680, first], [688, second])))
      for (const [place, data] of accounts) if (data) chain.set(place, data)
      const swaps = [sold, { ...sold, tokenIn: sold.tokenOut, tokenOut: sold.tokenIn }]
      return Promise.all(
        swaps.map((swap) =>
          exchange.quote(swap, {}, at).then(
            () => 'quoted',
            ({ message }: Error) => message.replace(/^.* is left out: /, ''),
          ),
        ),
      )
    }
    expect(await bothWays(1_000_000n, 1_000_000n)).to.deep.equal(['quoted', 'quoted'])
    const empty = 'it holds nothing but what it owes to others.'
    for (const [first, second] of [[0n, 5n] as const, [5n, 0n] as const, [0n, 0n] as const])
      expect(await bothWays(first, second)).to.deep.equal([empty, empty])
  })

  for (const [what, changed] of [
    ['is frozen', image(tokenProgram, dammVault({ state: 2 }))],
    ['is of another mint', image(tokenProgram, dammVault({ of: mints[0] }))],
    ["is another's", image(tokenProgram, vault(mints[1], 1_000_000n))],
    ['is of another program', image(token2022Program, dammVault())],
    ['is a byte shorter', image(tokenProgram, dammVault().subarray(0, -1))],
    ['is a byte longer', image(tokenProgram, Buffer.concat([dammVault(), Buffer.alloc(1)]))],
    ['is closed', null],
  ] satisfies readonly (readonly [string, SolanaImageData | null])[])
    it(`of Meteora are left out from the slot on in which a vault ${what}, and the refusal says so`, async () => {
      const [address = ''] = meteora.places([[tokenIn, tokenOut]])
      chain.clear()
      for (const [at, data] of dammAccounts(0, address)) if (data) chain.set(at, data)
      const pools = followedPools(meteora, reader)
      const before = (await pools.load([address], head, at)).states.get(address)
      if (!isFollowedPool(before) || !before.pool) throw new Error('There is no pool.')
      const after = pools.apply(before, { address: vaults[1], slot: 10, data: changed }, head)
      expect(after).to.have.property('pool', null)
      if (changed) chain.set(vaults[1], changed)
      else chain.delete(vaults[1])
      const refused = accountsAMM(reader, { protocols: [meteora] }).quote(sell(1_000n), {}, at)
      expect(await refused.then(String, (error: Error) => error.message)).to.match(
        /The pool \w+ is left out: a vault of it is not there, not its own, or frozen\.$/,
      )
    })
})
