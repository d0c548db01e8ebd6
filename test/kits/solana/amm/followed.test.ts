import { expect } from 'chai'
import { dataOf, vaultHolds } from '../../../../kits/solana/amm/account-data.ts'
import { followedPools, type FollowedPool } from '../../../../kits/solana/amm/followed.ts'
import { addressBytes, tokenProgram, type SolanaImageData } from '../../../../kits/solana/index.ts'
import { amount, at, createAccounts, first, image, kind, layout, naming, own, program, second, third } from './two-vaults.ts'

describe('a pool that is a set of accounts', () => {
  const { chain, asked, reader } = createAccounts()
  const followed = followedPools(kind, reader)
  const load = async (state?: FollowedPool) => {
    const known = new Map([[own, { more: [], state }]])
    const { states } = await followed.load([own], { number: 9n, timestamp: 1 }, at, known)
    const found = states.get(own)
    if (!found) throw new Error('There is no state.')
    return found
  }
  const change = (of: string, data: SolanaImageData | null) => ({ address: of, slot: 10, data })
  const head = { number: 10n, timestamp: 2 }
  const next = (state: FollowedPool, of: string, data: SolanaImageData | null): FollowedPool => {
    const after = followed.apply(state, change(of, data), head)
    if (after === 'reload') throw new Error('It is to be loaded again.')
    return after
  }

  beforeEach(() => {
    chain.clear()
    chain.set(own, naming(first, second)).set(first, amount(5)).set(second, amount(6))
    asked.length = 0
  })

  it('is read in two round trips, and in one once it is known what it is made of', async () => {
    const state = await load()
    expect([state.pool?.state, asked.length]).to.deep.equal([[5, 6], 2])
    expect(followed.followOf?.(own, state)).to.deep.equal([own, first, second])
    await load(state)
    expect(asked).to.have.length(3)
  })

  it('stays the same object where an image says nothing new, and becomes another where it does', async () => {
    const state = await load()
    expect(next(state, first, amount(5))).to.equal(state)
    expect(next(state, third, amount(9))).to.equal(state)
    expect(next(state, second, amount(8)).pool?.state).to.deep.equal([5, 8])
  })

  it('counts as none while one of its accounts is closed, and comes again', async () => {
    const closed = next(await load(), first, null)
    expect(closed.pool).to.equal(null)
    expect(next(closed, first, amount(3)).pool?.state).to.deep.equal([3, 6])
  })

  it('is loaded again where its account names others', async () => {
    expect(followed.apply(await load(), change(own, naming(first, third)), head)).to.equal('reload')
  })

  it('counts as none where its account has another owner, discriminator or length', () => {
    const good = Buffer.from(naming(first, second).base64, 'base64')
    expect(dataOf(image(program, good), layout)).to.deep.equal(good)
    for (const wrong of [image(third, good), image(program, good.subarray(1)), image(program, Buffer.concat([good, good]))])
      expect(dataOf(wrong, layout)).to.equal(undefined)
    expect(dataOf(image(program, good.fill(8, 0, 1)), layout)).to.equal(undefined)
    expect(dataOf(null, layout)).to.equal(undefined)
  })

  it('has a vault that is its own, of its mint, and not frozen', () => {
    const [mint, owner] = [addressBytes(first), addressBytes(second)]
    const account = (state: number) =>
      image(
        tokenProgram,
        Buffer.concat([
          mint,
          owner,
          Uint8Array.from([7, 1, 0, 0, 0, 0, 0, 0]),
          new Uint8Array(36),
          Uint8Array.from([state]),
          new Uint8Array(56),
        ]),
      )
    expect(vaultHolds(account(1), { mint, owner })).to.equal(263n)
    expect(vaultHolds(account(2), { mint, owner })).to.equal(undefined)
    expect(vaultHolds(account(1), { mint: owner, owner })).to.equal(undefined)
    expect(vaultHolds(account(1), { mint, owner: mint })).to.equal(undefined)
    expect(vaultHolds({ ...account(1), owner: program }, { mint, owner })).to.equal(undefined)
  })
})
