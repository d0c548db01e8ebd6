import { expect } from 'chai'
import { readCoinChanges, readCoinGain } from '../../../kits/evm/coin-gain.ts'
import type { Rpc } from '../../../kits/nodes/rpc.ts'
import type { EvmReceipt } from '../../../kits/evm/types.ts'

const [wallet, other] = ['0x00000000000000000000000000000000000000A1', '0x00000000000000000000000000000000000000b2']
const receipt = { transactionHash: '0xA', blockHash: '0xB', blockNumber: 7, gasUsed: '10', effectiveGasPrice: '1' } as unknown as EvmReceipt
const own = { hash: '0xa', from: wallet.toLowerCase(), to: other, value: '0x5' }

/** By a block that has this beside the own transaction, in which the wallet got 100 less gas. */
function gainBeside(
  transactions: readonly object[],
  more: object = {},
  receipts: Readonly<Record<string, object>> = {},
  { sent = own, had = '0x0', has = '0x5a' } = {},
) {
  const results: Record<string, unknown> = {
    'eth_getBalance 0x7': has,
    'eth_getBalance 0x6': had,
    // A node has whole transactions where it is asked for them.
    'eth_getBlockByNumber true': { hash: '0xB', transactions: [sent, ...transactions], ...more },
    'eth_getBlockByNumber false': { hash: '0xB', transactions: ['0xa'] },
  }
  const batch: Rpc['batch'] = async (calls) =>
    calls.map(({ method, params: [first, second] }) => ({
      result: method === 'eth_getTransactionReceipt' ? (receipts[String(first)] ?? null) : results[`${method} ${String(second)}`],
    }))
  const signal = new AbortController().signal
  return readCoinGain({ batch } as unknown as Rpc, receipt, wallet, false, { signal })
}

describe('what a transaction brought of the coin, by the balances of its block', () => {
  it('is what its wallet has more, without gas', async () => {
    expect(
      await gainBeside([
        { hash: '0xc', from: other, to: other, value: '0x9' },
        { hash: '0xd', from: other, to: wallet, value: '0x0' },
      ]),
    ).to.equal(100n)
    expect(
      await gainBeside([{ hash: '0xc', from: other, to: null, value: '0x9' }], { withdrawals: [{ address: other, amount: '0x1' }] }),
    ).to.equal(100n)
  })

  const mined = (hash: string, more: object = {}) => {
    const ofBlock = { transactionHash: hash, blockHash: '0xB', blockNumber: '0x7', logs: [] }
    return { [hash]: { ...ofBlock, from: wallet, to: other, status: '0x1', gasUsed: '0xa', effectiveGasPrice: '0x1', ...more } }
  }
  const ofWallet = { hash: '0xc', from: wallet.toLowerCase(), to: other }

  it('counts nothing of an approval of the same wallet in that block, nor of a plain transfer to or from it', async () => {
    for (const input of ['0x095ea7b3ff', '0xa22cb465ff', '0x87517c45ff'])
      expect(await gainBeside([{ ...ofWallet, value: '0x0', input }], {}, mined('0xc'))).to.equal(110n)
    const plain = mined('0xc', { gasUsed: '0x5208' })
    expect(await gainBeside([{ ...ofWallet, value: '0x9' }], {}, plain)).to.equal(100n + 21_000n + 9n)
    expect(await gainBeside([{ hash: '0xc', from: other, to: wallet, value: '0x9' }], {}, plain)).to.equal(91n)
    const reverted = mined('0xc', { status: '0x0' })
    expect(await gainBeside([{ ...ofWallet, value: '0x9', input: '0x12345678' }], {}, reverted)).to.equal(110n)
  })

  it('has nothing of what the wallet sent itself in that block', async () => {
    const toItself = { ...ofWallet, to: wallet, value: '0x9' }
    expect(await gainBeside([toItself], {}, mined('0xc', { gasUsed: '0x5208' }))).to.equal(100n + 21_000n)
    // Its own transaction cost 10 in gas, and the other one 10: neither brought anything.
    const sent = { ...own, to: wallet }
    const called = { ...ofWallet, value: '0x0', input: '0x12345678' }
    expect(await gainBeside([called], {}, mined('0xc'), { sent, had: '0x14', has: '0x0' })).to.equal(0n)
  })

  it('is what each sent where no coin came in, whatever the others of the wallet in that block were', async () => {
    // Together they cost 10 and 95 in gas, and sent 5 and 0: that is what the wallet has less.
    const balances = { hash: '0xB', transactions: [own, { ...ofWallet, value: '0x0', input: '0x12345678' }] }
    const receipts: Record<string, object> = mined('0xc', { gasUsed: '0x5f' })
    const results: Record<string, unknown> = { 'eth_getBalance 0x7': '0x0', 'eth_getBalance 0x6': '0x6e' }
    const batch: Rpc['batch'] = async (calls) =>
      calls.map(({ method, params: [first, second] }) => ({
        result: receipts[String(first)] ?? results[`${method} ${String(second)}`] ?? balances,
      }))
    const at = { signal: new AbortController().signal }
    expect(await readCoinGain({ batch } as unknown as Rpc, receipt, wallet, false, at)).to.equal(-5n)
    // One unit came in, and nobody knows by which.
    results['eth_getBalance 0x6'] = '0x6d'
    expect(await readCoinGain({ batch } as unknown as Rpc, receipt, wallet, false, at)).to.equal(undefined)
  })

  it('stays unknown where others sent coin by a call in that block, another one of the wallet may have got some, or it was paid out of staking', async () => {
    const called = { ...ofWallet, value: '0x0', input: '0x12345678' }
    expect(await gainBeside([called], {}, mined('0xc'))).to.equal(undefined)
    const approval = { ...called, input: '0x095ea7b3ff' }
    expect(await gainBeside([approval], {}, mined('0xc', { blockHash: '0xelse' }))).to.equal(undefined)
    expect(await gainBeside([approval], {}, mined('0xc', { effectiveGasPrice: '0x0' }))).to.equal(undefined)
    expect(await gainBeside([{ hash: '0xc', from: other, to: wallet, value: '0x9' }], {}, mined('0xc'))).to.equal(undefined)
    expect(await gainBeside([{ hash: '0xc', from: other, to: wallet.toLowerCase(), value: '0x9' }])).to.equal(undefined)
    expect(await gainBeside([{ hash: '0xc', from: wallet, to: other, value: '0x0', mint: '0x9' }])).to.equal(undefined)
    expect(await gainBeside([{ hash: '0xc', from: wallet.toLowerCase(), to: other, value: '0x0' }])).to.equal(undefined)
    expect(await gainBeside([{ hash: '0xc', to: other, value: '0x0' }])).to.equal(undefined)
    expect(await gainBeside([], { withdrawals: [{ address: wallet.toLowerCase(), amount: '0x1' }] })).to.equal(undefined)
  })
})

describe('what many transactions did to the coin of their wallets', () => {
  const at = { signal: new AbortController().signal }
  const inBlock = (blockNumber: number, blockHash = `0x${blockNumber}`) => ({ ...receipt, blockNumber, blockHash })
  /** `other` sent two transactions in block 7. */
  const results: Record<string, unknown> = {
    [`eth_getBalance ${wallet} 0x7`]: '0x5a',
    [`eth_getBalance ${wallet} 0x6`]: '0x0',
    [`eth_getTransactionCount ${wallet} 0x7`]: '0x4',
    [`eth_getTransactionCount ${wallet} 0x6`]: '0x3',
    [`eth_getBalance ${other} 0x7`]: '0x64',
    [`eth_getBalance ${other} 0x6`]: '0x0',
    [`eth_getTransactionCount ${other} 0x7`]: '0x4',
    [`eth_getTransactionCount ${other} 0x6`]: '0x2',
    [`eth_getBalance ${wallet} 0x9`]: '0x0',
    [`eth_getBalance ${wallet} 0x8`]: '0x5a',
    [`eth_getTransactionCount ${wallet} 0x9`]: '0x5',
    [`eth_getTransactionCount ${wallet} 0x8`]: '0x4',
  }
  const asked: string[][] = []
  const batch: Rpc['batch'] = async (calls) => {
    asked.push(calls.map(({ method, params }) => `${method} ${params.join(' ')}`))
    return calls.map(({ method, params: [first, second] }) => ({
      result:
        method === 'eth_getBlockByNumber' ? { hash: `0x${Number(first)}`, transactions: [] } : results[[method, first, second].join(' ')],
    }))
  }
  const unhealthy: string[] = []
  const rpc = { batch, url: () => 'a node', markUnhealthy: (why: string) => unhealthy.push(why) } as unknown as Rpc

  it('takes one batch, with one header for each block and without its transactions, and not where the wallet sent another one there', async () => {
    const all = [
      [inBlock(7), wallet],
      [inBlock(7), other],
      [inBlock(9), wallet],
    ] as const
    expect(await readCoinChanges(rpc, all, false, at)).to.deep.equal([100n, undefined, -80n])
    expect(asked).to.have.length(1)
    expect(asked[0]?.filter((each) => each.startsWith('eth_getBlockByNumber'))).to.deep.equal([
      'eth_getBlockByNumber 0x7 false',
      'eth_getBlockByNumber 0x9 false',
    ])
  })

  it('fails where the node has another block of that number', async () => {
    const error = await readCoinChanges(rpc, [[inBlock(7, '0xelse'), wallet]], false, at).catch((thrown: unknown) => thrown)
    expect(error).to.include({ name: 'NETWORK' })
  })

  it('stays unknown of one whose block is another or whose state is gone, and not of the others', async () => {
    const before = [...unhealthy]
    const all = [
      [inBlock(7, '0xelse'), wallet],
      [inBlock(7), wallet],
      [inBlock(5), other],
      [inBlock(9), wallet],
    ] as const
    const pruned: Rpc['batch'] = async (calls, signal) => {
      const answers = await batch(calls, signal)
      return answers.map((answer, index) =>
        calls[index]?.params.includes('0x4') ? { error: { code: -32000, message: 'missing trie node' } } : answer,
      )
    }
    expect(await readCoinChanges({ ...rpc, batch: pruned }, all, false, at)).to.deep.equal([undefined, 100n, undefined, -80n])
    expect(unhealthy).to.deep.equal(before)
  })
})
