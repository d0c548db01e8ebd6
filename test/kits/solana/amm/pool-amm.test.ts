import { expect } from 'chai'
import { clockSysvar } from '../../../../kits/solana/accounts.ts'
import { accountsAMM } from '../../../../kits/solana/amm/pool-amm.ts'
import type { AMM, Quote } from '../../../../core/contracts/index.ts'
import { tokenAccountOf, tokenProgram, type Solana } from '../../../../kits/solana/index.ts'
import { amount, at, createAccounts, first, image, kind, mintA, mintB, naming, own, program, second, third } from './two-vaults.ts'

describe('an exchange of pools that are sets of accounts', () => {
  const { chain, asked, reader } = createAccounts()
  const amm = accountsAMM(reader, { protocols: [kind] })

  beforeEach(() => {
    chain.clear()
    chain.set(own, naming(first, second)).set(first, amount(5)).set(second, amount(6))
    asked.length = 0
  })

  const swap = {
    tokenIn: { symbol: 'A', address: mintA, decimals: 0 },
    tokenOut: { symbol: 'B', address: mintB, decimals: 0 },
    exact: 'in',
    amountRaw: 1n,
  } as const
  const facts = { programIn: tokenProgram, programOut: tokenProgram, isThere: true, hasWrapped: false, missing: '0', wrapping: '0' }
  const terms = { recipient: third, boundRaw: 1n, deadline: 0, read: facts }
  /** What the pool held that the instruction of its swap is made of. */
  const heldIn = (exchange: AMM<Solana>, quote: Quote) => {
    const [instruction] = exchange.swap(quote, terms).steps[0]?.instructions ?? []
    expect(instruction?.accounts.map(({ address }) => address)).to.deep.equal([mintA, mintB].map((mint) => tokenAccountOf(third, mint)))
    return [...Buffer.from(instruction?.data ?? '', 'base64')]
  }
  const head = { number: 9n, timestamp: 1 }
  /** Of an exchange of its own, as its quotes from memory have it. */
  function follows() {
    const other = accountsAMM(reader, { protocols: [kind] })
    const [basis] = other.followed?.basis(swap, {}) ?? []
    if (!other.followed || !basis) throw new Error('Nothing is followed.')
    return { amm: other, quotes: other.followed, ...basis }
  }

  describe('trades by the pool that it has quoted', () => {
    it('where that could be traded only after it was loaded', async () => {
      chain.set(first, amount(0))
      const { amm: exchange, quotes, followed, key } = follows()
      const { states } = await followed.load([key], head, at)
      expect(() => quotes.quote(swap, {}, [states.get(key)], head, 0)).to.throw('There is no pool of A and B')
      const filled = followed.apply(states.get(key), { address: first, slot: 10, data: amount(7) }, head)
      const quote = quotes.quote(swap, {}, [filled], head, 0)
      if (!('route' in quote)) throw new Error('It lacks state.')
      expect(heldIn(exchange, quote)).to.deep.equal([7, 6])
    })

    it('as it was then, and not as it was when it was loaded', async () => {
      const { amm: exchange, quotes, followed, key } = follows()
      const { states } = await followed.load([key], head, at)
      const changed = followed.apply(states.get(key), { address: second, slot: 10, data: amount(8) }, head)
      const quote = quotes.quote(swap, {}, [changed], head, 0)
      if (!('route' in quote)) throw new Error('It lacks state.')
      expect(heldIn(exchange, quote)).to.deep.equal([5, 8])
    })

    it('where it was read for the quote', async () => {
      expect(heldIn(amm, await amm.quote(swap, {}, at))).to.deep.equal([5, 6])
    })
  })

  describe('quotes by a pool that a caller names', () => {
    it('wherever it is, and trades by it', async () => {
      chain.clear()
      chain.set(third, naming(first, second)).set(first, amount(9)).set(second, amount(4))
      const missing = await amm.quote(swap, {}, at).catch((error: Error) => error.message)
      expect(missing).to.match(/^There is no pool of A and B .*pool=<its address>.*conf\/connectors/)
      const quote = await amm.quote(swap, { pool: third }, at)
      expect(quote.route.map(({ pool }) => pool)).to.deep.equal([third])
      expect(heldIn(amm, quote)).to.deep.equal([9, 4])
    })

    it('and by no other one, where it is there too', async () => {
      chain.set(third, naming(second, first))
      expect((await amm.quote(swap, { pool: third }, at)).route.map(({ pool }) => pool)).to.deep.equal([third])
      expect((await amm.quote(swap, { pool: own }, at)).route.map(({ pool }) => pool)).to.deep.equal([own])
    })

    it('and says what is no pool of its program, without asking for what is no address', async () => {
      chain.set(third, image(third, new Uint8Array(72).fill(7)))
      const refused = (pool: string) => amm.quote(swap, { pool }, at).catch((error: Error) => error.message)
      expect(await refused(third)).to.equal(`${third} is no pool of ${program}: give the address of the pool's own account.`)
      asked.length = 0
      expect(await refused('0xabc')).to.contain('is no pool of')
      expect(asked).to.deep.equal([])
    })

    it('and not where it has other tokens', async () => {
      const other = { ...swap, tokenOut: { symbol: 'C', address: third, decimals: 0 } }
      const refused = await amm.quote(other, { pool: own }, at).catch((error: Error) => error.message)
      expect(refused).to.match(/^There is no pool of A and C/)
    })
  })

  it('reads the clock of a quote together with its pool', async () => {
    expect((await amm.quote(swap, {}, at)).head).to.deep.equal({ number: 9n, timestamp: 1 })
    expect(asked.map(({ addresses }) => addresses)).to.deep.equal([[own], [own, first, second, clockSysvar]])
  })

  describe('tells the tokens of a pool that a caller names', () => {
    it('by its accounts', async () => {
      expect(await amm.poolTokens?.(own, at)).to.deep.equal([mintA, mintB])
    })

    it('and asks no node for what is no address: it would be put aside for refusing it', async () => {
      for (const wrong of ['', 'x', '0x00', `${own}11`, own.slice(1), ` ${own}`, '1'.repeat(256)])
        expect(await amm.poolTokens?.(wrong, at), wrong).to.equal(undefined)
      expect(asked).to.deep.equal([])
    })

    it('and reads no more of a stranger account than a pool can have', async () => {
      chain.set(third, image(program, new Uint8Array(1_000_000).fill(7)))
      expect(await amm.poolTokens?.(third, at)).to.equal(undefined)
      expect(asked.map(({ addresses }) => addresses)).to.deep.equal([[third]])
      expect(asked[0]?.bytes).to.be.below(20_000)
    })
  })
})
