import { generateKeyPairSigner, type KeyPairSigner } from '@solana/kit'
import { expect } from 'chai'
import { assert, asyncProperty, bigInt, constantFrom } from 'fast-check'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import artifact from '../programs/artifacts/pool.json' with { type: 'json' }
import { createPool, poolErrors, swapInstruction, type Pool, type Swap } from '../programs/pool.ts'
import { startSolana, type Solana } from '../start-solana.ts'
import { clientOf, send, sign, statusOf, type Client } from './site.ts'

const most = 2n ** 64n - 1n

describe('the pool program on the test service', () => {
  let solana: Solana
  let client: Client
  let wallet: KeyPairSigner
  let pool: Pool

  before(async () => {
    solana = await startSolana({ slotMs: 'by hand' })
    client = clientOf(solana)
    wallet = await generateKeyPairSigner()
    await solana.fund(wallet.address, 50_000_000_000n)
    const sol = solana.mints.BASE
    pool = await createPool(solana, [sol, solana.mints.USDC], [1_000_000_000_000n, 150_000_000_000n], 30n)
    await solana.mintTo(wallet.address, sol, 10n ** 15n)
    await solana.mintTo(wallet.address, solana.mints.USDC, 10n ** 15n)
  })
  after(() => solana.stop())

  const amount = async (account: string) =>
    BigInt((await client.getTokenAccountBalance(account as never, { commitment: 'processed' }).send()).value.amount)
  const reserves = async () => [await amount(pool.vaults[0]), await amount(pool.vaults[1])] as const
  const trade = async (swap: Swap, by = wallet) => {
    const transaction = await sign(client, by, [await swapInstruction(pool, by, swap)])
    await send(client, transaction)
    solana.blocks(1)
    return (await statusOf(client, transaction))?.err
  }

  /** The arithmetic of the program, to be held against it. */
  function traded([reserve0, reserve1]: readonly [bigint, bigint], { pays, exact, amountRaw }: Swap): { paid: bigint; got: bigint } {
    const [reserveIn, reserveOut] = pays === 0 ? [reserve0, reserve1] : [reserve1, reserve0]
    const up = (a: bigint, b: bigint) => (a + b - 1n) / b
    if (exact === 'got')
      return { paid: up(up(reserveIn * amountRaw, reserveOut - amountRaw) * 10_000n, 10_000n - pool.feeBasisPoints), got: amountRaw }
    const taken = amountRaw - up(amountRaw * pool.feeBasisPoints, 10_000n)
    return { paid: amountRaw, got: (taken * reserveOut) / (reserveIn + taken) }
  }

  it('trades what its arithmetic says, to the unit, both ways and from both ends; its product never falls', () =>
    assert(
      asyncProperty(
        constantFrom(0, 1),
        constantFrom('paid', 'got'),
        bigInt({ min: 1n, max: 250_000n }),
        async (pays, exact, millionths) => {
          const before = await reserves()
          const gets = pays === 0 ? 1 : 0
          const amountRaw = 100_000n + (before[exact === 'paid' ? pays : gets] * millionths) / 1_000_000n
          const swap = { pays, exact, amountRaw, limitRaw: exact === 'paid' ? 1n : most } as const
          const { paid, got } = traded(before, swap)
          expect(await trade(swap)).to.equal(null)
          const after = await reserves()
          const moved = [after[0] - before[0], after[1] - before[1]]
          expect(moved).to.deep.equal(pays === 0 ? [paid, -got] : [-got, paid])
          expect(after[0] * after[1] >= before[0] * before[1]).to.equal(true)
        },
      ),
      { numRuns: 40 },
    ))

  it('keeps to the limit, to the unit, and moves nothing past it', async () => {
    for (const exact of ['paid', 'got'] as const) {
      const before = await reserves()
      const swap = { pays: 1, exact, amountRaw: 7_000_000n } as const
      const { paid, got } = traded(before, { ...swap, limitRaw: 0n })
      const [exactly, beyond] = exact === 'paid' ? [got, got + 1n] : [paid, paid - 1n]
      expect(await trade({ ...swap, limitRaw: beyond })).to.deep.equal({ InstructionError: [0n, { Custom: BigInt(poolErrors.overLimit) }] })
      expect(await reserves()).to.deep.equal(before)
      expect(await trade({ ...swap, limitRaw: exactly })).to.equal(null)
    }
  })

  it('is of the source that is beside it', async () => {
    const source = await readFile(new URL('../programs/pool.c', import.meta.url))
    expect(createHash('sha256').update(source).digest('hex')).to.equal(artifact.sourceSha256)
  })

  it('refuses what is not its own, what nobody signed, and more than there is', async () => {
    const refused = async (change: (instruction: Awaited<ReturnType<typeof swapInstruction>>) => unknown, swap: Partial<Swap> = {}) => {
      const instruction = await swapInstruction(pool, wallet, { pays: 0, exact: 'paid', amountRaw: 1_000_000n, limitRaw: 1n, ...swap })
      const transaction = await sign(client, wallet, [Object.assign(instruction, change(instruction))])
      const { value } = await client.simulateTransaction(transaction.wire, { encoding: 'base64', commitment: 'processed' }).send()
      const reason: unknown = Reflect.get(Object(Reflect.get(Object(value.err), 'InstructionError')), 1)
      return Number(Reflect.get(Object(reason), 'Custom'))
    }
    const replaced = (index: number, by: number) => (instruction: { accounts?: readonly unknown[] }) => ({
      accounts: instruction.accounts!.map((each, at) => (at === index ? instruction.accounts![by] : each)),
    })
    expect(await refused(replaced(5, 3))).to.equal(poolErrors.notItsAccount)
    expect(await refused(replaced(6, 4))).to.equal(poolErrors.notItsAccount)
    expect(await refused(replaced(0, 5))).to.equal(poolErrors.notAPool)
    expect(await refused(replaced(2, 1))).to.equal(poolErrors.notSigned)
    expect(await refused(() => ({ data: new Uint8Array(23) }))).to.equal(poolErrors.noSuchInstruction)
    expect(await refused(({ accounts }) => ({ accounts: accounts!.slice(0, 7) }))).to.equal(poolErrors.tooFewAccounts)
    expect(await refused(() => ({}), { amountRaw: 0n })).to.equal(poolErrors.nothing)
    expect(await refused(() => ({}), { exact: 'got', amountRaw: most, limitRaw: most })).to.equal(poolErrors.tooLarge)
    expect(await refused(replaced(7, 0))).to.equal(poolErrors.notItsAccount)
    // The Token program's own: insufficient funds.
    expect(await refused(() => ({}), { amountRaw: 10n ** 17n })).to.equal(1)
  })
})
