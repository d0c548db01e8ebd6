import { expect } from 'chai'
import type { InterfaceCall } from '../../../core/contracts/interface.ts'
import { closed } from '../../../plugins/hummingbot/closes.ts'
import { createNetworks } from '../../../plugins/hummingbot/networks.ts'

const on = createNetworks({ networks: { 'ethereum-local': 'ethereum/local' }, defaultNetworks: { ethereum: 'local' } }).of({
  chain: 'ethereum',
})
const fill = { tokenId: '38', amount0: '1.5', amount1: '30', fees0: '0.5', fees1: '10' }
const mined = { currentBlock: 100, txBlock: 99, txStatus: 1, confirmations: 2, txState: 'MINED', final: false, fill }
const final = { ...mined, txState: 'CONFIRMED', final: true }
/** Of a node that does not say the price of gas. */
const withoutPrice = { status: 1, gasUsed: '21000', effectiveGasPrice: 0 }

/** What a bot is told of a close of which the server says this, each time one more of them. */
const answerTo = (...found: readonly object[]) => answerWithin(60_000, found)

/** The same where nothing comes of it. */
const answerInVain = (found: object) => answerWithin(700, [found])

async function answerWithin(ms: number, found: readonly object[]): Promise<unknown> {
  let polls = 0
  const call = {
    signal: new AbortController().signal,
    delivered: new Promise<boolean>(() => {}),
    call: async () => found[Math.min(polls++, found.length - 1)],
  } as unknown as InterfaceCall
  const venue = { on, own: { ...on.own, connector: 'uniswap' } }
  const change = { position: { version: 'v3', tokenId: '38' }, venue, call, untilMs: performance.now() + ms }
  return closed(async () => ({ txHash: '0x1' }), change).catch((error: unknown) => error)
}

const amounts = {
  baseTokenAmountRemoved: '1',
  quoteTokenAmountRemoved: '20',
  baseFeeAmountCollected: '0.5',
  quoteFeeAmountCollected: '10',
  positionRentRefunded: '0',
}

describe('the close of a position of a bot', () => {
  it('tells its fee, and waits for a receipt that tells it', async () => {
    const txReceipt = { ...withoutPrice, effectiveGasPrice: '1000000000' }
    const whole = { signature: '0x1', status: 1, data: { ...amounts, fee: '0.000021000000000000' } }
    expect(await answerTo({ ...mined, txReceipt })).to.deep.equal(whole)
    expect(await answerTo({ ...mined, txReceipt: withoutPrice }, { ...final, txReceipt })).to.deep.equal(whole)
  })

  it('goes without its fee once it is final that the receipt does not tell it, and not before', async () => {
    expect(await answerInVain({ ...mined, txReceipt: withoutPrice })).to.include({ name: 'TIMEOUT' })
    expect(await answerTo({ ...final, txReceipt: withoutPrice })).to.deep.equal({ signature: '0x1', status: 1, data: amounts })
    expect(await answerInVain({ ...final, txReceipt: withoutPrice, fill: undefined })).to.include({ name: 'TIMEOUT' })
  })
})
