import { expect } from 'chai'
import { clockSysvar } from '../../../../kits/solana/accounts.ts'
import { accountsAMM, constantProductPools, dammPools } from '../../../../kits/solana/amm/index.ts'
import { configAddress, constantProductProgram, poolAddress } from '../../../../kits/solana/amm/constant-product/accounts.ts'
import { dammProgram } from '../../../../kits/solana/amm/damm/accounts.ts'
import { isFurther, type FurtherPools } from '../../../../kits/solana/amm/further-pools.ts'
import type { SolanaReader } from '../../../../kits/solana/types.ts'
import { cpmmAccounts, cpmmConfig, cpmmPool, dammAccounts, image, mints, pool as usualPool } from './pool-bytes.ts'
import { at, createAccounts } from './two-vaults.ts'

const [tokenIn, tokenOut] = mints
const swap = {
  tokenIn: { symbol: 'A', address: tokenIn, decimals: 9 },
  tokenOut: { symbol: 'B', address: tokenOut, decimals: 9 },
  exact: 'in',
  amountRaw: 1_000n,
} as const
const head = { number: 9n, timestamp: 1_000 }

/** A node that tells the classes of a program, or refuses to. */
function start({ told }: { told?: readonly string[] | 'refused' } = {}) {
  const { chain, asked, reader: plain } = createAccounts()
  for (const [address, data] of cpmmAccounts()) if (data && address !== usualPool) chain.set(address, data)
  let questions = 0
  const ofProgram = async () => {
    questions += 1
    return told === 'refused' ? undefined : told
  }
  const reader: SolanaReader = { ...plain, ...(told && { ofProgram }) }
  const raydium = constantProductPools({ programVersion: 'creator-fees', classes: [0, 1] })
  const amm = accountsAMM(reader, { protocols: [raydium] })
  const followed = amm.followed?.basis(swap, {}).find(({ key }) => key.includes(' '))
  if (!followed) throw new Error('No further pools are followed.')
  const poolOf = (number: number) => poolAddress(configAddress(number), mints)
  const addPool = (number: number) => {
    chain.set(configAddress(number), image(constantProductProgram, cpmmConfig()))
    chain.set(poolOf(number), image(constantProductProgram, cpmmPool([8, configAddress(number)])))
    return poolOf(number)
  }
  const quoted = async () => (await amm.quote(swap, {}, at)).route.map(({ pool }) => pool)
  async function load(): Promise<FurtherPools> {
    const { states } = await followed!.followed.load([followed!.key], head, at)
    const state = states.get(followed!.key)
    if (!isFurther(state)) throw new Error('There is no state.')
    return state
  }
  return { chain, asked, amm, poolOf, addPool, quoted, load, ...followed, questions: () => questions }
}

describe('pools of classes that no list has', () => {
  it('are quoted where a node tells which classes the program has, whatever their number', async () => {
    const { addPool, quoted, questions } = start({ told: [configAddress(0), configAddress(40_000), 'no address'] })
    const found = addPool(40_000)
    expect(await quoted()).to.deep.equal([found])
    expect(await quoted()).to.deep.equal([found])
    expect(questions()).to.equal(1)
  })

  it('are quoted of the first hundred numbers where nodes refuse to tell', async () => {
    for (const told of ['refused', undefined] as const) {
      const { addPool, quoted } = start(told && { told })
      const found = addPool(57)
      expect(await quoted()).to.deep.equal([found])
    }
  })

  it('are none where the node tells of addresses whose pool is not there, or is no pool', async () => {
    const { chain, poolOf, quoted } = start({ told: [configAddress(5), configAddress(6)] })
    chain.set(poolOf(6), image(constantProductProgram, Buffer.alloc(637)))
    const refused = await quoted().catch((error: Error) => error.message)
    expect(refused).to.match(/^There is no pool of A and B .*pool=<its address>/)
  })

  it('are bounded in their number', async () => {
    const { asked, quoted } = start({ told: Array.from({ length: 1_200 }, (_, index) => configAddress(index)) })
    await quoted().catch(() => {})
    expect(Math.max(...asked.map(({ addresses }) => addresses.length))).to.be.at.most(1_000)
  }).timeout(20_000)

  it('are listed, but not between more than twenty pairs at once', async () => {
    const { addPool, amm } = start({ told: [configAddress(5)] })
    const found = addPool(5)
    const listed = async (count: number) =>
      (
        await amm.pools?.(
          Array.from({ length: count }, () => swap),
          { depths: [100], most: 5 },
          at,
        )
      )?.pools.map(({ pool }) => pool)
    expect(new Set(await listed(20))).to.deep.equal(new Set([found]))
    expect(await listed(21)).to.deep.equal([])
  })

  it('of Meteora are found as well', async () => {
    const { chain, reader } = createAccounts()
    const pools = dammPools({ configs: [0] })
    const place = pools.classes?.poolOf(pools.classes.configOf(71), mints) ?? ''
    for (const [address, data] of dammAccounts(0, place)) if (data) chain.set(address, data)
    chain.set(pools.classes?.configOf(71) ?? '', image(dammProgram, new Uint8Array(328)))
    const { route } = await accountsAMM(reader, { protocols: [pools] }).quote(swap, {}, at)
    expect(route.map(({ pool }) => pool)).to.deep.equal([place])
  })

  it('are in memory like others: one that changes is another state, and nothing else is', async () => {
    const { addPool, load, amm, followed, key } = start({ told: [configAddress(5)] })
    const found = addPool(5)
    const state = await load()
    expect(followed.followOf?.(key, state)).to.include.members([clockSysvar, found, configAddress(5)])
    const quote = amm.followed?.quote(swap, {}, [state], head, 0)
    if (!quote || !('route' in quote)) throw new Error('It lacks state.')
    expect(quote.route.map(({ pool }) => pool)).to.deep.equal([found])
    const closed = followed.apply(state, { address: found, slot: 10, data: null }, head)
    expect(closed).to.not.equal(state)
    expect(() => amm.followed?.quote(swap, {}, [closed], head, 0)).to.throw('There is no pool of A and B')
    expect(followed.apply(state, { address: configAddress(9), slot: 10, data: null }, head)).to.equal(state)
    const views = await amm.followed?.pools?.(swap, { depths: [100], most: 5 }, [state], head, at)
    expect(views?.map(({ pool }) => pool)).to.deep.equal([found])
  })

  it('are looked for again after an hour of the cluster, and found since are no difference of memory and chain', async () => {
    const { addPool, load, followed, key } = start({ told: [configAddress(5)] })
    const empty = await load()
    const tick = { address: clockSysvar, slot: 10, data: null }
    expect(followed.apply(empty, tick, { ...head, timestamp: 4_600 })).to.equal(empty)
    expect(followed.apply(empty, tick, { ...head, timestamp: 4_601 })).to.equal('reload')
    addPool(5)
    const other = start({ told: [configAddress(5)] })
    other.addPool(5)
    const filled = await other.load()
    expect(followed.same?.(empty, filled, head)).to.equal(true)
    expect(followed.same?.(filled, filled, head)).to.equal(true)
    const closed = followed.apply(filled, { address: other.poolOf(5), slot: 10, data: null }, head)
    expect(closed !== 'reload' && followed.same?.(filled, closed, head)).to.equal(false)
    expect(key).to.equal(mints.toSorted().join(' '))
  })
})
