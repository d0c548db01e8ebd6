import { expect } from 'chai'
import type { At } from '../../../../core/contracts/index.ts'
import { dataOf, vaultHolds } from '../../../../kits/solana/amm/account-data.ts'
import { followedPools, type FollowedPool } from '../../../../kits/solana/amm/followed.ts'
import type { AccountPools } from '../../../../kits/solana/amm/protocol.ts'
import { addressBytes, addressFrom, tokenProgram, type SolanaImageData } from '../../../../kits/solana/index.ts'

const at: At = { signal: new AbortController().signal }
const address = (digit: number) => addressFrom(new Uint8Array(32).fill(digit))
const [program, own, first, second, third] = [1, 2, 3, 4, 5].map(address) as [string, string, string, string, string]
const layout = { owner: program, size: 72, discriminator: Uint8Array.from([7]) }
const image = (owner: string, data: Uint8Array): SolanaImageData => ({ owner, lamports: '1', base64: Buffer.from(data).toString('base64') })
/** A pool's own account, which names its vaults. */
const naming = (...vaults: readonly [string, string]) =>
  image(program, Uint8Array.from([7, 0, 0, 0, 0, 0, 0, 0, ...vaults.flatMap((each) => [...addressBytes(each)])]))
const amount = (raw: number) => image(tokenProgram, Uint8Array.from([raw]))

/** A pool of two vaults of one byte each. */
const kind: AccountPools<readonly number[]> = {
  version: 'test',
  places: () => [own],
  parts(_address, account) {
    const data = dataOf(account, layout)
    return data && [8, 40].map((from) => addressFrom(data.subarray(from, from + 32)))
  },
  decode(of, accounts) {
    const held = [...accounts.values()].slice(1).map((each) => Buffer.from(each?.base64 ?? '', 'base64')[0])
    const [one, other] = held
    return !accounts.get(own) || one === undefined || other === undefined ? null : { address: of, tokens: ['A', 'B'], state: [one, other] }
  },
  pass: () => undefined,
  spot: () => ({ numerator: 1n, denominator: 1n }),
  fee: () => '0',
  swap() {
    throw new Error('Nobody trades here.')
  },
}

describe('a pool that is a set of accounts', () => {
  const chain = new Map<string, SolanaImageData>()
  let calls = 0
  const reader = {
    async accounts(addresses: readonly string[]) {
      calls += 1
      const accounts = addresses.map((each) => {
        const found = chain.get(each)
        return found && { owner: found.owner, lamportsRaw: 1n, data: Buffer.from(found.base64, 'base64') }
      })
      return { head: { number: 9n }, accounts }
    },
  }
  const followed = followedPools(kind, reader, () => {})
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
    calls = 0
  })

  it('is read in two round trips, and in one once it is known what it is made of', async () => {
    const state = await load()
    expect([state.pool?.state, calls]).to.deep.equal([[5, 6], 2])
    expect(followed.followOf?.(own, state)).to.deep.equal([own, first, second])
    await load(state)
    expect(calls).to.equal(3)
  })

  it('is the same object where an image says nothing new, and another where it does', async () => {
    const state = await load()
    expect(next(state, first, amount(5))).to.equal(state)
    expect(next(state, third, amount(9))).to.equal(state)
    expect(next(state, second, amount(8)).pool?.state).to.deep.equal([5, 8])
  })

  it('is none while one of its accounts is closed, and comes again', async () => {
    const closed = next(await load(), first, null)
    expect(closed.pool).to.equal(null)
    expect(next(closed, first, amount(3)).pool?.state).to.deep.equal([3, 6])
  })

  it('is loaded again where its account names others', async () => {
    expect(followed.apply(await load(), change(own, naming(first, third)), head)).to.equal('reload')
  })

  it('is none where its account has another owner, discriminator or length', () => {
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
