import { expect } from 'chai'
import { AbiCoder, Interface } from 'ethers'
import { v4Range } from '../../../../kits/amm/v4/range.ts'
import type { Call, EvmReader } from '../../../../kits/evm/types.ts'

const addressOf = (digit: string) => `0x${digit.repeat(40)}`
const exchange = {
  version: 'v4',
  poolManager: addressOf('1'),
  positionManager: addressOf('2'),
  permit2: addressOf('3'),
  wrapped: addressOf('4'),
  poolsBetween: () => [],
}
const owner = addressOf('5')
const views = new Interface(['poolManager()', 'permit2()', 'WETH9()', 'ownerOf(uint256)'].map((view) => `function ${view}`))
const at = { signal: new AbortController().signal }
const words = (...values: readonly bigint[]) =>
  AbiCoder.defaultAbiCoder().encode(
    values.map(() => 'uint256'),
    [...values],
  )

const addresses: Readonly<Record<string, string>> = {
  poolManager: exchange.poolManager,
  permit2: exchange.permit2,
  WETH9: exchange.wrapped,
  ownerOf: owner,
}

/** The manager answers its views of pools and positions with these words. */
function rangeOf(answer: string) {
  const resultOf = ({ data }: Call) => {
    const address = addresses[views.parseTransaction({ data })?.name ?? '']
    return { ok: true, data: address ? words(BigInt(address)) : answer }
  }
  const read = async (calls: readonly Call[]) => ({ head: { number: 1n, timestamp: 1 }, results: calls.map(resultOf) })
  return v4Range(exchange, {}, { read } as unknown as EvmReader)
}

const [currency0, currency1] = [BigInt(addressOf('6')), BigInt(addressOf('7'))]
const ticks = (lower: bigint, upper: bigint) => (BigInt.asUintN(24, upper) << 32n) | (BigInt.asUintN(24, lower) << 8n) | (1n << 56n)

describe('positions of v4 where the manager answers what no position can have', () => {
  const untrue = {
    'a fee': [1n << 24n, 60n, ticks(-60n, 60n)],
    'a tick spacing of too many bits': [3000n, 1n << 23n, ticks(-60n, 60n)],
    'a tick spacing below 0': [3000n, (1n << 256n) - 60n, ticks(-60n, 60n)],
    'ticks beyond every price': [3000n, 60n, ticks(-887_280n, 60n)],
    'ticks in another order': [3000n, 60n, ticks(60n, -60n)],
  } as const
  for (const [what, [fee, tickSpacing, info]] of Object.entries(untrue))
    it(`stay unknown: ${what}`, async () => {
      const range = rangeOf(words(currency0, currency1, fee, tickSpacing, 0n, info))
      expect((await range.position('7', at))?.position).to.equal(undefined)
      expect(await range.positionsById?.({ tokenIds: ['7'] }, at)).to.deep.include({ positions: [], unread: [] })
    })

  it('tell no error for the tokens of a pool', async () => {
    const beyond = (1n << 255n) | currency0
    const tokens = await rangeOf(words(beyond, currency1, 3000n, 60n, 0n)).poolTokens?.(`0x${'a'.repeat(64)}`, at)
    expect(tokens).to.have.length(2)
  })
})

describe('the positions of a wallet of v4', () => {
  it('leave the memory once they were sent away or burnt', async () => {
    const view = (name: string, inputs: string) => new Interface([`function ${name}(${inputs})`]).getFunction(name)?.selector
    const [ownerOf, balanceOf] = [view('ownerOf', 'uint256'), view('balanceOf', 'address')]
    const owners = new Map([7n, 8n].map((id) => [id, owner]))
    let [newest, asked] = [1000n, 0]
    const resultOf = ({ data }: Call) => {
      const address = addresses[views.parseTransaction({ data })?.name ?? '']
      const [selector, id] = [data.slice(0, 10), BigInt(`0x${data.slice(10) || '0'}`)]
      if (selector === ownerOf) return { ok: true, data: words(BigInt(owners.get(id) ?? 0n)) }
      if (selector === balanceOf) return { ok: true, data: words(BigInt([...owners.values()].filter((each) => each === owner).length)) }
      return { ok: true, data: address ? words(BigInt(address)) : words(currency0, currency1, 3000n, 60n, 0n, ticks(-60n, 60n)) }
    }
    const reader = {
      async read(calls: readonly Call[]) {
        asked = calls.filter(({ data }) => data.startsWith(String(ownerOf))).length
        return { head: { number: newest, timestamp: 1 }, results: calls.map(resultOf) }
      },
      logs: async () => [...owners.keys()].map((id) => ({ topics: ['', '', '', words(id)] })),
    }
    const range = v4Range(exchange, {}, reader as unknown as EvmReader)
    const shown = async () => (await range.positionsOf?.({ owner }, at))?.unread?.map(({ tokenId }) => tokenId)
    expect(await shown()).to.deep.equal(['7', '8'])
    owners.set(7n, addressOf('9'))
    expect(await shown()).to.deep.equal(['8'])
    // Their blocks may still change.
    newest += 63n
    expect(await shown()).to.deep.equal(['8'])
    expect(asked).to.equal(2)
    newest += 1n
    await shown()
    expect(await shown()).to.deep.equal(['8'])
    expect(asked).to.equal(1)
    owners.set(7n, owner)
    expect(await shown()).to.have.members(['7', '8'])
  })
})
