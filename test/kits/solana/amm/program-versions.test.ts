import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { accountsAMM, constantProductPools } from '../../../../kits/solana/amm/index.ts'
import { constantProductProgram } from '../../../../kits/solana/amm/constant-product/accounts.ts'
import { followedPools, isFollowedPool, type FollowedPool } from '../../../../kits/solana/amm/followed.ts'
import { programVersions } from '../../../../kits/solana/amm/program-versions.ts'
import type { SolanaImageData } from '../../../../kits/solana/index.ts'
import { cpmmAccounts, image, mints, pool } from './pool-bytes.ts'
import { at, createAccounts } from './two-vaults.ts'

const loader = 'BPFLoaderUpgradeab1e11111111111111111111111'
/** What stands for a program, without a table of sections: all of it is hashed. */
const codeOf = (text: string) => Buffer.from(text)
const sha256 = (code: Uint8Array) => createHash('sha256').update(code).digest('hex')
const [known, other] = [codeOf('the program that was tried'), codeOf('another program')]
const versions = { [sha256(known)]: 'creator-fees' } as const

/** UpgradeableLoaderState::ProgramData. */
function programData(slot: bigint, code: Uint8Array): SolanaImageData {
  const data = Buffer.alloc(45 + code.length)
  data.writeUInt32LE(3)
  data.writeBigUInt64LE(slot, 4)
  data.set(code, 45)
  return image(loader, data)
}
const headerOf = ({ owner, base64 }: SolanaImageData) => image(owner, Buffer.from(base64, 'base64').subarray(0, 45))

describe('the bytes of a program', () => {
  const { chain, asked, reader } = createAccounts()
  const { header } = programVersions(constantProductProgram, versions)
  const [account = ''] = header.split('/')
  const head = { number: 9n, timestamp: 1_000 }
  const deploy = (slot: bigint, code: Uint8Array) => {
    const data = programData(slot, code)
    chain.set(account, data).set(header, headerOf(data))
    return headerOf(data)
  }
  const site = () => {
    const pools = constantProductPools({ programVersion: versions, classes: [0] })
    const followed = followedPools(pools, reader)
    const amm = accountsAMM(reader, { protocols: [pools] })
    return {
      amm,
      followed,
      async load(): Promise<FollowedPool> {
        const state = (await followed.load([pool], head, at)).states.get(pool)
        if (!isFollowedPool(state)) throw new Error('There is no state.')
        return state
      },
    }
  }
  const token = (address: string) => ({ symbol: address.slice(0, 2), address, decimals: 9 })
  const swap = { tokenIn: token(mints[0]), tokenOut: token(mints[1]), exact: 'in', amountRaw: 1_000n } as const
  const readings = () => asked.filter(({ addresses }) => addresses.includes(account)).length

  beforeEach(() => {
    chain.clear()
    for (const [address, data] of cpmmAccounts()) if (data) chain.set(address, data)
    asked.length = 0
  })

  it('are read once for all of its pools, and what they are quoted by says its version', async () => {
    deploy(5n, known)
    const { load, amm } = site()
    const state = await load()
    expect(state.pool).to.have.nested.property('state.state.version', 'creator-fees')
    await load()
    expect(readings()).to.equal(1)
    expect((await amm.quote(swap, {}, at)).amountRaw).to.equal((997n * 1_000_000n) / 1_000_997n)
  })

  it('are followed by their header alone, and read again where it tells of another slot', async () => {
    deploy(5n, known)
    const { load, followed } = site()
    const state = await load()
    expect(followed.followOf?.(pool, state)).to.include(header)
    const replaced = deploy(10n, known)
    expect(followed.apply(state, { address: header, slot: 10, data: replaced }, head)).to.equal('reload')
    const after = await load()
    expect([after.pool === null, readings()]).to.deep.equal([false, 2])
    // Back to what has been read, as after a fork, it is not read again.
    expect(followed.apply(after, { address: header, slot: 11, data: headerOf(programData(5n, known)) }, head)).to.have.property('pool')
  })

  it('that are none of those known are left out, and the refusal says which they are', async () => {
    deploy(5n, other)
    const { load, amm } = site()
    expect((await load()).pool).to.equal(null)
    const said = await amm.quote(swap, {}, at).catch(({ message }: Error) => message)
    expect(said).to.match(/is left out: its program has bytes that it is not quoted by here/)
    // What to write, to be pasted.
    expect(said).to.match(
      /\(sha256 ([0-9a-f]{64}), since .* writes programs: \{ \1: <version> \} in the connector's file in conf\/connectors/,
    )
    expect(said).to.contain(sha256(other)).and.contain('since the slot 5')
  })

  it('are quoted by no more in the slot in which they were replaced by others', async () => {
    deploy(5n, known)
    const { load, followed } = site()
    const state = await load()
    const replaced = deploy(10n, other)
    expect(followed.apply(state, { address: header, slot: 10, data: replaced }, head)).to.equal('reload')
    expect((await load()).pool).to.equal(null)
  })

  it('give no quote where the program is closed', async () => {
    deploy(5n, known)
    const { load, followed } = site()
    const state = await load()
    const closed = followed.apply(state, { address: header, slot: 10, data: null }, head)
    expect(closed).to.have.property('pool', null)
    chain.delete(header)
    const said = await site()
      .amm.quote(swap, {}, at)
      .catch(({ message }: Error) => message)
    expect(said).to.match(/is left out: its program is closed/)
  })

  it('are not taken of a node that has not heard of the deployment', async () => {
    deploy(5n, known)
    chain.set(header, headerOf(programData(10n, other)))
    const refusal = await site()
      .load()
      .catch((error: unknown) => error)
    expect(refusal).to.include({ name: 'NETWORK' })
  })
})
