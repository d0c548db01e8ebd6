import { expect } from 'chai'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { fetchProgram } from '../../../core/devnet/fetch-program.ts'
import pinned from '../../../core/devnet/solana-programs.json' with { type: 'json' }
import { emptyFolder, removeFolders } from '../../../test/tls/certificates.ts'
import type { Swap } from '../../../kits/solana/amm/swap-quote.ts'
import type { SolanaInstruction } from '../../../kits/solana/types.ts'
import { randomBits } from '../../../testkit/random-bits.ts'
import artifact from '../programs/artifacts/pool.json' with { type: 'json' }
import type { Market } from '../programs/market.ts'
import { judgeProgram } from '../walk/judge.ts'
import { walk, WalkDifference, type WalkPool } from '../walk/walk.ts'
import { addRealProgram, programsVariable, realProgram } from '../programs/real.ts'
import { startSolana } from '../start-solana.ts'

const names = Object.keys(pinned) as (keyof typeof pinned)[]

describe('real programs', () => {
  after(removeFolders)

  it('are left out with what to do where no folder has them, or other bytes', async () => {
    const folder = await emptyFolder()
    const missing = () => names.map((name) => Reflect.get(realProgram(name, folder), 'missing') as string)
    for (const each of missing()) expect(each).to.contain('is missing: sluice devnet programs fetch')
    for (const name of names) writeFileSync(path.join(folder, `${name}.so`), 'other bytes')
    for (const each of missing()) expect(each).to.contain('has another sha256 than')
    expect(realProgram('cp_amm', '')).to.have.property('missing').which.contains(programsVariable)
  })

  it('are of a known build, or of bytes that the operator has named, under the name that fetch gives them', async () => {
    const folder = await emptyFolder()
    const own = Buffer.from('bytes that only the operator knows')
    const sha256 = createHash('sha256').update(own).digest('hex')
    writeFileSync(path.join(folder, 'cp_amm.so'), 'other bytes')
    writeFileSync(path.join(folder, `cp_amm.${sha256.slice(0, 8)}.so`), own)
    expect(realProgram('cp_amm', folder)).to.have.property('missing')
    expect(realProgram('cp_amm', folder, [sha256])).to.deep.equal(own)
    expect(realProgram('raydium_cp_swap', folder, [sha256])).to.have.property('missing')
  })

  it('are not compared where they make no pool, and differ where a swap moves one unit more', async () => {
    const [found, ...others] = await judgeProgram('cp_amm', Buffer.from(artifact.program, 'base64'), 5)
    expect([found?.is, others]).to.deep.equal(['not compared', []])
    const mints = ['A', 'B'].map((symbol) => ({ symbol, address: symbol, program: 'T', decimals: 0 }))
    const held = new Map(mints.map(({ address }) => [address, 10n ** 12n]))
    let runs = 0
    const market = {
      clock: { slot: 0n, epoch: 0n, unixTime: 0n },
      setClock() {},
      balance: ({ address }: { address: string }) => held.get(address) ?? 0n,
      account: () => undefined,
      run([instruction]: readonly SolanaInstruction[]) {
        const { accounts = [], data = '' } = instruction ?? {}
        const [paid, got] = accounts.map((each) => each.address)
        const [inRaw = 0n, outRaw = 0n, bound = 0n] = data.split(' ').map(BigInt)
        if (bound !== inRaw && bound !== outRaw) return 'past the bound'
        runs += 1
        held.set(paid ?? '', (held.get(paid ?? '') ?? 0n) - inRaw)
        held.set(got ?? '', (held.get(got ?? '') ?? 0n) + outRaw + (runs > 3 ? 1n : 0n))
        return null
      },
    } as unknown as Market
    const pool = {
      name: 'test',
      mints,
      reserves: () => [10n ** 6n, 10n ** 6n],
      quote: ({ amountRaw }: Swap) => ({ inRaw: amountRaw, outRaw: amountRaw, feeRaw: 0n, feeOn: 'in', transferFeesRaw: [0n, 0n] }),
      instruction: ({ pays, amountRaw }: Swap, boundRaw: bigint) => ({
        program: 'P',
        accounts: [mints[pays], mints[1 - pays]].map((each) => ({ address: each?.address, writable: true, signer: false })),
        data: `${amountRaw} ${amountRaw} ${boundRaw}`,
      }),
      vector: () => undefined,
      owed: () => [0n, 0n],
      adds: () => [0n, 0n],
      change() {},
    } as unknown as WalkPool
    const go = () => walk(market, [pool], { trades: 5, random: randomBits(1) })
    expect(go)
      .to.throw(WalkDifference, /moved .* and was quoted as/)
      .with.property('equal', 3)
  })

  it('are taken from a node that runs them as they were put there', async function () {
    const absent = names.map((name) => realProgram(name)).find((each) => 'missing' in each)
    if (absent) {
      console.log(`      ${absent.missing}`)
      this.skip()
    }
    const solana = await startSolana({ slotMs: 'by hand' })
    try {
      for (const name of names) addRealProgram(solana.svm, name)
      solana.blocks(40)
      for (const name of names) expect((await fetchProgram(solana.url, pinned[name].id)).sha256).to.equal(pinned[name].sha256)
    } finally {
      await solana.stop()
    }
  })
})
