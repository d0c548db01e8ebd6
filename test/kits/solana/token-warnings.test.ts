import { expect } from 'chai'
import { AccountState, getTokenEncoder, type TokenArgs } from '@solana-program/token'
import { address, none, some } from '@solana/kit'
import { addressBytes, tokenAccountOf } from '../../../kits/solana/addresses.ts'
import { createTokenWarnings } from '../../../kits/solana/token-warnings.ts'
import { wrappedMint } from '../../../kits/solana/swap-accounts.ts'
import { token2022Program, tokenProgram } from '../../../kits/solana/tokens.ts'
import type { Token } from '../../../core/contracts/index.ts'
import type { RpcCall } from '../../../kits/nodes/dialect.ts'
import type { Rpc } from '../../../kits/nodes/rpc.ts'

const [mintAddress, wallet, somebody] = [
  'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  'D4FPEruKEHrG5TenZ2mpDGEfu1iUvTiqBxvpU8HLBvC2',
  'HLnpSz9h2S4hiLQ43rnSD9XkcUThA7B8hQMKmDaiTLcC',
]
const token: Token = { symbol: 'X', address: mintAddress, decimals: 6 }
const coin: Token = { symbol: 'SOL', address: '11111111111111111111111111111111', decimals: 9, native: true }
const at = { signal: new AbortController().signal }
const who = addressBytes(somebody)
const nobody = new Uint8Array(32)

function mint({ freezes = false, decimals = 6 } = {}): Uint8Array {
  const data = new Uint8Array(82)
  data[44] = decimals
  data[45] = 1
  if (freezes) {
    data[46] = 1
    data.set(who, 50)
  }
  return data
}

const extended = (...extensions: readonly (readonly [type: number, ...content: Uint8Array[]])[]): Uint8Array => {
  const bytes = extensions.flatMap(([type, ...parts]) => {
    const content = parts.flatMap((part) => [...part])
    return [type, 0, content.length & 255, content.length >> 8, ...content]
  })
  return Uint8Array.of(...mint(), ...new Uint8Array(83), 1, ...bytes)
}

interface Account {
  readonly owner: string
  readonly data: Uint8Array
}

/** A node that has these accounts; `asked` are the addresses that were asked of it, call by call. */
function nodeOf(accounts: Readonly<Record<string, Account>>) {
  const asked: string[][] = []
  const rpc = {
    batch: async (calls: readonly RpcCall[]) =>
      calls.map(({ params }) => {
        const addresses = (params as readonly string[][])[0] ?? []
        asked.push(addresses)
        const value = addresses.map((each) => {
          const found = accounts[each]
          // As nodes do it by `dataSlice`.
          return found
            ? { owner: found.owner, lamports: 1, data: [Buffer.from(found.data.subarray(0, 2_048)).toString('base64'), 'base64'] }
            : null
        })
        return { result: { context: { slot: 7 }, value } }
      }),
  } as unknown as Rpc
  const log = { info() {}, warn() {} }
  return { asked, warnings: createTokenWarnings({ rpc, log, refused: [] }) }
}

const codesOf = async (data: Uint8Array, owner = token2022Program) => {
  const found = await nodeOf({ [mintAddress]: { owner, data } }).warnings.of({ tokens: [token] }, at)
  for (const each of found) expect(each.text).to.contain(mintAddress)
  return found.map(({ code }) => code)
}

const held = (fields: Partial<TokenArgs>): Account => ({
  owner: tokenProgram,
  data: Uint8Array.from(
    getTokenEncoder().encode({
      mint: address(mintAddress),
      owner: address(wallet),
      amount: 5n,
      delegate: none(),
      state: AccountState.Initialized,
      isNative: none(),
      delegatedAmount: 0n,
      closeAuthority: none(),
      ...fields,
    }),
  ),
})

describe('warnings about tokens of Solana', () => {
  it('name what whoever a mint names may do to it', async () => {
    expect(await codesOf(mint(), tokenProgram)).to.deep.equal([])
    expect(await codesOf(mint({ freezes: true }), tokenProgram)).to.deep.equal(['freeze-authority'])
    expect(await codesOf(extended([12, who]))).to.deep.equal(['permanent-delegate'])
    expect(await codesOf(extended([26, who, Uint8Array.of(0)]))).to.deep.equal(['pausable'])
    expect(await codesOf(extended([26, who, Uint8Array.of(1)]))).to.deep.equal(['paused'])
    expect(await codesOf(extended([3, who]))).to.deep.equal(['mint-close-authority'])
    expect(await codesOf(extended([14, nobody, who]))).to.deep.equal(['transfer-hook'])
    expect(await codesOf(extended([14, who, nobody]))).to.deep.equal(['transfer-hook'])
    expect(await codesOf(extended([6, Uint8Array.of(2)], [9], [10, new Uint8Array(52)], [25, new Uint8Array(56)]))).to.deep.equal([
      'frozen-accounts',
      'non-transferable',
      'interest-bearing',
      'scaled-amount',
    ])
    expect(await codesOf(extended([4, new Uint8Array(65)], [16, new Uint8Array(129)]))).to.deep.equal(['confidential'])
    expect(await codesOf(extended([77, who], [12, who]))).to.deep.equal(['unknown-extension', 'permanent-delegate'])
    expect(await codesOf(extended([12, who], [12, who]))).to.deep.equal(['malformed-mint'])
  })

  it('are none where whoever might have been named was given up', async () => {
    const free = [
      [1, new Uint8Array(108)],
      [3, nobody],
      [6, Uint8Array.of(1)],
      [12, nobody],
      [14, nobody, nobody],
      [18, who, who],
    ] as const
    expect(await codesOf(extended(...free, [26, nobody, Uint8Array.of(0)]))).to.deep.equal([])
  })

  it('say what a transfer costs at most, and who may change it', async () => {
    const fee = (changes: Uint8Array, basisPoints: number) => {
      const content = new Uint8Array(108)
      content.set(changes)
      new DataView(content.buffer).setUint16(106, basisPoints, true)
      return nodeOf({ [mintAddress]: { owner: token2022Program, data: extended([1, content]) } }).warnings.of({ tokens: [token] }, at)
    }
    expect((await fee(nobody, 250))[0]?.text).to.equal(`X at ${mintAddress}: up to 250 basis points of each transfer are withheld`)
    expect((await fee(who, 0))[0]?.text).to.equal(`X at ${mintAddress}: ${somebody} may change its fee`)
  })

  it('are not hidden behind a long description of the token', async () => {
    expect(await codesOf(extended([12, who], [19, new Uint8Array(5_000)]))).to.deep.equal(['permanent-delegate'])
  })

  it("name what others may do to the wallet's own account", async () => {
    const place = tokenAccountOf(wallet, mintAddress)
    const of = async (fields: Partial<TokenArgs>) =>
      nodeOf({ [mintAddress]: { owner: tokenProgram, data: mint() }, [place]: held(fields) }).warnings.of({ tokens: [token], wallet }, at)
    const codes = async (fields: Partial<TokenArgs>) => (await of(fields)).map(({ code }) => code)
    expect(await codes({})).to.deep.equal([])
    const [delegate] = await of({ delegate: some(address(somebody)), delegatedAmount: 1_500_000n })
    expect(delegate).to.include({ code: 'account-delegate', token: mintAddress })
    expect(delegate?.text).to.contain(`${somebody} may take up to 1.5 out of the wallet's account ${place}`)
    expect(await codes({ delegate: some(address(somebody)), delegatedAmount: 0n })).to.deep.equal([])
    expect(await codes({ closeAuthority: some(address(somebody)) })).to.deep.equal(['account-close-authority'])
    expect(await codes({ closeAuthority: some(address(wallet)) })).to.deep.equal([])
    expect(await codes({ state: AccountState.Frozen })).to.deep.equal(['account-frozen'])
    expect(await codes({ owner: address(somebody) })).to.deep.equal(['account-owner'])
  })

  it('of SOL are those of the account that it is wrapped into', async () => {
    const place = tokenAccountOf(wallet, wrappedMint)
    const wrapped = { owner: tokenProgram, data: mint({ decimals: 9 }) }
    const account = held({ mint: address(wrappedMint), isNative: some(2_039_280n), closeAuthority: some(address(somebody)) })
    const { warnings } = nodeOf({ [wrappedMint]: wrapped, [place]: account })
    const [found] = await warnings.of({ tokens: [coin], wallet }, at)
    expect(found?.code).to.equal('account-close-authority')
    expect(found?.text).to.contain('all SOL')
    expect(await warnings.of({ tokens: [coin] }, at)).to.deep.equal([])
  })

  it('of tokens that were read a moment ago cost no call of a node, and those of a wallet always one', async () => {
    const { asked, warnings } = nodeOf({ [mintAddress]: { owner: token2022Program, data: extended([12, who]) } })
    const first = await warnings.of({ tokens: [coin, token] }, at)
    const again = warnings.of({ tokens: [coin, token] }, at)
    expect(again).not.to.be.instanceOf(Promise)
    expect([await again, asked.length]).to.deep.equal([first, 1])
    await warnings.of({ tokens: [token], wallet }, at)
    await warnings.of({ tokens: [token], isNow: true }, at)
    expect(asked).to.have.length(3)
  })
})
