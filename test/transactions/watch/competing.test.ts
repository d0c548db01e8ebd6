import { expect } from 'chai'
import type { AttemptStatus } from '../../../core/contracts/index.ts'
import type { Store } from '../../../core/store/store.ts'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import type { Entry } from '../../../core/transactions/entry.ts'
import { type Lease, createRecorder, type Recorder } from '../../../core/transactions/journal/journal.ts'
import { findCompeting } from '../../../core/transactions/competing.ts'
import { giveLease, newEntry, next, signed } from '../journal/entries.ts'
import { freshStore } from '../site.ts'

describe('the competing transaction', () => {
  let store: Store
  let recorder: Recorder
  let lease: Lease
  beforeEach(async () => {
    store = await freshStore()
    recorder = createRecorder(sqlJournal(store), () => {}, Date.now)
    lease = await giveLease(store)
  })
  afterEach(() => store.close())

  async function kept(over: Partial<Entry>, end: Partial<Entry> = {}): Promise<Entry> {
    const queued = newEntry({ sequence: 7, nonce: 7, ...over })
    await recorder.open([queued], lease)
    const [written] = (await recorder.write([{ before: queued, after: { ...signed(queued), ...end } }], lease)) ?? []
    if (!written) throw new Error('It was not kept.')
    return written
  }
  const idOf = ({ attempts }: Entry) => attempts[0]?.id ?? ''
  const deadBy = (entry: Entry, by: string) => new Map<string, AttemptStatus>([[idOf(entry), { id: idOf(entry), is: 'dead', by }]])
  const final = (entry: Entry, ok = true) => {
    const landed = { id: idOf(entry), ok, blockNumber: 1, receipt: null }
    return recorder.write([{ before: entry, after: next(entry, { state: ok ? 'CONFIRMED' : 'REVERTED', landed }) }], lease)
  }
  const rivalOf = async (entry: Entry, by: string) =>
    (await findCompeting([entry], deadBy(entry, by), { recorder, confirmations: 3 }))(entry)

  it('may be another replacement than the intended one: the one in the block counts', async () => {
    const heir = await kept({ rank: 2, kind: 'cancel' })
    await final(heir)
    const middle = await kept({ rank: 1 }, { state: 'REPLACED', replacedBy: idOf(heir) })
    const first = await kept({}, { replacedBy: idOf(middle) })
    expect(await rivalOf(first, idOf(heir))).to.deep.equal({ txHash: idOf(heir), kind: 'cancel', rank: 2, final: true })
  })

  it('stays unknown if other software took the nonce, or ours is not final or on another nonce', async () => {
    const [open, elsewhere, first] = [await kept({ rank: 1 }), await kept({ sequence: 8, nonce: 8 }), await kept({})]
    await final(elsewhere)
    for (const by of ['0xforeign', idOf(open), idOf(elsewhere)]) expect(await rivalOf(first, by)).to.equal(undefined)
  })

  it('matches by its nonce where no node names what took the place', async () => {
    const first = await kept({})
    const cancel = await kept({ rank: 1, kind: 'cancel' })
    const dead = new Map<string, AttemptStatus>([[idOf(cancel), { id: idOf(cancel), is: 'dead' }]])
    const competing = async () => (await findCompeting([cancel], dead, { recorder, confirmations: 3 }))(cancel)
    expect(await competing()).to.equal(undefined)
    await final(first)
    expect(await competing()).to.deep.equal({ txHash: idOf(first), kind: 'trade', rank: 0, final: true })
  })

  it('may have reverted in a block, but not been refused by an exchange', async () => {
    for (const signer of [undefined, '0xagent']) {
      const over = { sequence: signer ?? 9, ...(signer && { signer }) }
      const heir = await kept({ rank: 1, kind: 'cancel', ...over })
      const first = await kept(over, { replacedBy: idOf(heir) })
      const refusal: AttemptStatus = { id: idOf(heir), is: 'landed', ok: false, blockNumber: 1, depth: 3, receipt: null }
      const among = await findCompeting([first, heir], new Map([[idOf(heir), refusal]]), { recorder, confirmations: 3 })
      const asRival = { txHash: idOf(heir), kind: 'cancel', rank: 1, final: true }
      if (signer) expect(among(first)).to.equal(undefined)
      else expect(among(first)).to.include(asRival)
      await final(heir, false)
      expect(await rivalOf(first, idOf(heir))).to.deep.equal(signer ? 'gone' : asRival)
    }
  })
})
