import { expect } from 'chai'
import { SluiceError, type InterfaceCall } from '../../../core/contracts/interface.ts'
import { createLastReadings } from '../../../plugins/hummingbot/last-readings.ts'
import { createNetworks } from '../../../plugins/hummingbot/networks.ts'

const on = createNetworks({ networks: { 'ethereum-local': 'ethereum/local' }, defaultNetworks: { ethereum: 'local' } }).of({
  chain: 'ethereum',
})
const venue = { on, own: { ...on.own, connector: 'uniswap' } }
const owner = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const hash = `0x${'1'.repeat(64)}`
const trouble = new SluiceError('NETWORK', 'no node answers')
const removal = { request: { path: '/amm/liquidity/remove', fields: { tokenId: '38', burn: true } }, kind: 'liquidity' }

interface Stage {
  /** What reading the position gives now: an error, or the amount that it holds. */
  position: string | Error | Promise<string>
  /** The next nonce of the wallet; an error where no node says it. */
  nonce: number | Error
  /** Newest first. */
  journal: readonly Record<string, unknown>[]
  open: object | Error
  mayUse: boolean
}

/** A bot that looks at a position, and the server that answers it. The clock of both is `nowMs`. */
function stage(given: Partial<Stage> = {}) {
  const now: Stage = { position: '1', nonce: new Error(), journal: [], open: trouble, mayUse: true, ...given }
  const clock = { nowMs: 1_000_000_000_000 }
  const readings = createLastReadings({ steadyMs: () => clock.nowMs, nowMs: () => clock.nowMs, readingMs: 20 })
  const answerOf = async (endpoint: string, fields: Record<string, unknown>) => {
    if (endpoint === 'AMMLiquidityPosition') {
      const position = await now.position
      if (typeof position !== 'string') throw position
      return { tokenId: fields['tokenId'], version: fields['version'], owner, amount0: position }
    }
    if (endpoint === 'NetworkPoll') {
      if (now.open instanceof Error) throw now.open
      return now.open
    }
    if (endpoint === 'EVMNonce') {
      if (now.nonce instanceof Error) throw new SluiceError('NETWORK', 'no node answers')
      return { nonce: now.nonce }
    }
    const { nonce } = fields
    return { transactions: now.journal.filter((each) => nonce === undefined || each['nonce'] === nonce) }
  }
  const call = { call: answerOf, caller: { mayUse: () => now.mayUse } } as unknown as InterfaceCall
  const look = async (address = '38') => {
    const found = await readings.read(address, venue, call).catch((error: unknown) => error)
    return found instanceof SluiceError ? found.name : Object(found).amount0
  }
  return { now, clock, look }
}

const entry = (fields: object, createdAt: number) => ({
  ...fields,
  txHash: '0x2',
  createdAt,
  updatedAt: createdAt,
  final: false,
  txState: 'BROADCAST',
})

describe('the last reading of a position', () => {
  it('is answered for a minute where no node answers, and not a moment longer', async () => {
    const { now, clock, look } = stage()
    expect(await look()).to.equal('1')
    now.position = trouble
    clock.nowMs += 60_000
    expect(await look()).to.equal('1')
    expect(await look('0038')).to.equal('1')
    clock.nowMs += 1
    expect(await look()).to.equal('NETWORK')
    // That it was given again makes it no younger.
    now.position = '2'
    expect(await look()).to.equal('2')
    now.position = trouble
    for (let times = 0; times < 6; times += 1) {
      clock.nowMs += 10_000
      expect(await look()).to.equal('2')
    }
    clock.nowMs += 1
    expect(await look()).to.equal('NETWORK')
  })

  it('is answered where a node is silent, long before the client gives up', async () => {
    const { now, clock, look } = stage()
    expect(await look()).to.equal('1')
    now.position = new Promise(() => {})
    expect(await look()).to.equal('1')
    // Nothing else is told: it waits as long as it may.
    now.journal = [entry(removal, clock.nowMs)]
    let answer: (position: string) => void = () => {}
    now.position = new Promise<string>((resolve) => (answer = resolve))
    const looked = look()
    setTimeout(() => answer('2'), 60)
    expect(await looked).to.equal('2')
  })

  it('is that of the position and its version alone', async () => {
    const { now, look } = stage()
    expect(await look()).to.equal('1')
    now.position = trouble
    for (const other of ['39', 'v4:38']) expect(await look(other), other).to.equal('NETWORK')
  })

  it('is shown to nobody who may not use the wallet by now', async () => {
    const { now, look } = stage()
    expect(await look()).to.equal('1')
    Object.assign(now, { position: trouble, mayUse: false })
    expect(await look()).to.equal('NETWORK')
  })

  for (const seen of [
    new SluiceError('UNKNOWN_POSITION', 'gone'),
    new SluiceError('UNKNOWN_POSITION', 'gone', { details: { final: true } }),
    new SluiceError('FORBIDDEN', 'it is of another wallet'),
  ])
    it(`is no answer after a look that found otherwise: ${seen.name} ${JSON.stringify(seen.details ?? {})}`, async () => {
      const { now, look } = stage()
      expect(await look()).to.equal('1')
      now.position = seen
      expect(await look()).not.to.equal('1')
      now.position = trouble
      expect(await look()).to.equal('NETWORK')
    })

  it('is no answer once a change of the position was signed, until that is final without effect', async () => {
    const { now, clock, look } = stage()
    const before = clock.nowMs - 3_600_000
    expect(await look()).to.equal('1')
    now.position = trouble
    const final = { final: true, txState: 'CONFIRMED' }
    for (const [what, journal, answer] of [
      ['a close of this minute', [entry(removal, clock.nowMs)], 'NETWORK'],
      ['a close that has waited since', [entry(removal, before)], 'NETWORK'],
      ['a close that is not signed yet', [{ ...entry(removal, clock.nowMs), txHash: null, txState: 'QUEUED' }], 'NETWORK'],
      ['a close that became final since', [{ ...entry(removal, before), ...final, updatedAt: clock.nowMs }], 'NETWORK'],
      ['a change that was final long before', [{ ...entry(removal, before), ...final }], '1'],
      ['a close that reverted', [{ ...entry(removal, clock.nowMs), ...final, txState: 'REVERTED' }], '1'],
      ['a close of another', [entry({ ...removal, request: { fields: { tokenId: '39' } } }, clock.nowMs)], '1'],
      ['a trade', [entry({ kind: 'trade', request: { fields: { amount: '1' } } }, clock.nowMs)], '1'],
    ] as const) {
      now.journal = journal
      expect(await look(), what).to.equal(answer)
    }
  })

  it('is no answer once the wallet has sent what the journal does not know', async () => {
    const { now, clock, look } = stage()
    const own = (nonce: number, createdAt: number, more = {}) => ({ ...entry({ kind: 'trade' }, createdAt), nonce, ...more })
    const before = clock.nowMs - 60_000
    expect(await look()).to.equal('1')
    now.position = trouble
    for (const [what, nonce, journal, answer] of [
      ['nothing of the wallet is known', 5, [], 'NETWORK'],
      ['the wallet has sent nothing', 0, [], '1'],
      ['the newest is an older one of the journal', 5, [own(4, before)], '1'],
      ['newer ones are of the journal', 6, [own(5, clock.nowMs), own(4, before)], '1'],
      ['one after them is not', 6, [own(4, before)], 'NETWORK'],
      ['one before them is not', 6, [own(5, clock.nowMs), own(3, before)], 'NETWORK'],
      ['what the journal has on its nonce was dropped', 5, [own(4, before, { final: true, txState: 'DROPPED' })], 'NETWORK'],
    ] as const) {
      Object.assign(now, { nonce, journal })
      expect(await look(), what).to.equal(answer)
    }
  })

  it('is found by the handle of its open, too, and not while that open is in no block again', async () => {
    const open = { txState: 'MINED', txStatus: 1, txBlock: 9, txReceipt: { status: 1 }, confirmations: 1, fill: { tokenId: '38' } }
    const { now, look } = stage({ open })
    expect(await look(hash)).to.equal('1')
    Object.assign(now, { position: trouble, open: trouble })
    expect(await look(hash)).to.equal('1')
    expect(await look()).to.equal('1')
    now.open = { ...open, txState: 'BROADCAST', txBlock: -1 }
    expect(await look(hash)).to.equal('NETWORK')
    now.open = trouble
    expect(await look(hash)).to.equal('NETWORK')
  })

  it('is not that of another position, whose id the open has since a reorganisation', async () => {
    const open = (tokenId: string) => ({
      txState: 'MINED',
      txStatus: 1,
      txBlock: 9,
      txReceipt: { status: 1 },
      confirmations: 1,
      fill: { tokenId },
    })
    const { now, look } = stage({ open: open('38') })
    expect(await look(hash)).to.equal('1')
    Object.assign(now, { position: trouble, open: open('39') })
    expect(await look(hash)).to.equal('NETWORK')
  })

  it('is kept of the thousand positions that were looked at last', async () => {
    const { now, look } = stage()
    for (let id = 0; id <= 1_000; id += 1) await look(String(id))
    now.position = trouble
    expect(await look('0')).to.equal('NETWORK')
    expect(await look('1')).to.equal('1')
    expect(await look('1000')).to.equal('1')
  })
})
