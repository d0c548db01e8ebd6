import { expect } from 'chai'
import type { Head } from '../../../core/contracts/index.ts'
import { followedAccounts, type Account } from '../../../kits/evm/wallets.ts'
import type { Rpc } from '../../../kits/nodes/rpc.ts'
import { at } from './test-chain.ts'

const wallet = `0x${'a1'.repeat(20)}`
const head: Head = { number: 7n, hash: `0x${'07'.repeat(32)}`, parentHash: `0x${'06'.repeat(32)}`, timestamp: 1 }

/** A node at block 8, which has mined a transfer of the wallet. */
const batch = async (calls: readonly { readonly method: string; readonly params: readonly unknown[] }[]) =>
  calls.map(({ method, params: [, block] }) => {
    const isNewest = typeof block === 'string'
    return { result: method === 'eth_getBalance' ? (isNewest ? '0x9' : '0xa') : isNewest ? '0x3' : '0x2' }
  })
const accounts = followedAccounts({ batch } as unknown as Rpc)

describe('the account of a wallet, held against the chain', () => {
  /** What is kept in memory as that of block 7. */
  const isKept = async (known: Partial<Account>): Promise<boolean> => {
    const { states } = await accounts.load([wallet], head, at)
    const loaded = states.get(wallet) ?? expect.fail('It was not read.')
    return (accounts.same ?? expect.fail('It compares nothing.'))(
      { number: 7n, nativeRaw: 10n, latest: 2, pending: 2, ...known },
      loaded,
      head,
    )
  }

  it('is the same as that of its block, and one that the node answered by the block that it was taking up', async () => {
    expect(await isKept({})).to.equal(true)
    for (const early of [{ nativeRaw: 9n, latest: 3 }, { nativeRaw: 9n }, { latest: 3 }]) expect(await isKept(early)).to.equal(true)
  })

  it('differs where it is of neither block', async () => {
    expect(await isKept({ nativeRaw: 8n })).to.equal(false)
    expect(await isKept({ nativeRaw: 9n, latest: 1 })).to.equal(false)
  })
})
