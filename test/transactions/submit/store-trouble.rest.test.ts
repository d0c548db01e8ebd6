import { expect } from 'chai'
import type { Entry } from '../../../core/transactions/entry.ts'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import { OwnershipLostError } from '../../../core/transactions/journal/journal.ts'
import { away, bringsBytes, faultyJournal, type Faults } from './faulty-journal.ts'
import { addressOf, order, planOf, nowhere, reaches, rejection, soon, startSite, transactionsOn, until, type TestSite } from '../site.ts'

describe('a store that fails during a submission', function () {
  let site: TestSite
  let transactions: Transactions
  let faults: Faults
  const sends = () => site.relay.requests.flat().filter((method) => method === 'eth_sendRawTransaction').length
  const submit = (more: object = {}, signal = soon()) => transactions.submit(order(site, more), signal)
  const next = () => transactions.nextNonce({ network: site.network, address: addressOf(0) }, soon())
  const entries = async (): Promise<readonly Entry[]> => (await transactions.list({})).entries
  const states = async () => (await entries()).map(({ state }) => state)
  const isGivenUp = () => until('it is given up', async () => (await states()).every((state) => state === 'EXPIRED'))

  before(async () => {
    site = await startSite()
  })
  after(() => site.stop())
  beforeEach(async () => {
    faults = {}
    transactions = await transactionsOn({ journalOf: (journal) => faultyJournal(journal, faults) })
  })
  afterEach(() => transactions.stop(1000))

  /** Nothing of it went out, nothing will, and its nonce is the next one's. */
  async function leavesNothing(nonce: number, sent: number): Promise<void> {
    faults.open = undefined
    faults.write = undefined
    await isGivenUp()
    expect(sends()).to.equal(sent)
    const after = await submit()
    expect(after.nonce).to.equal(nonce)
    await reaches(transactions, after.txHash, 'CONFIRMED')
    expect(sends()).to.equal(sent + 1)
  }

  it('before anything is written: a definite error, and the nonce is free', async () => {
    const [nonce, sent] = [await next(), sends()]
    faults.open = () => Promise.reject(away())
    expect(await rejection(submit())).to.include({ name: 'OVERLOADED' })
    await leavesNothing(nonce, sent)
  })

  it('with an unknown commit of the request: a definite error, and the entry expires', async () => {
    const [nonce, sent] = [await next(), sends()]
    faults.open = async (keep) => {
      await keep()
      throw away(true)
    }
    expect(await rejection(submit())).to.include({ name: 'OVERLOADED' })
    expect(await states()).to.deep.equal(['QUEUED'])
    await leavesNothing(nonce, sent)
  })

  for (const [what, fault] of [
    ['without the signed bytes', () => Promise.reject(away())],
    [
      'since another server owns the lane by now',
      () => Promise.reject(new OwnershipLostError('Another server has taken the wallet over.')),
    ],
  ] as const) {
    it(`${what}: a definite error, and nothing was sent`, async () => {
      const [nonce, sent] = [await next(), sends()]
      faults.write = (keep, written) => (bringsBytes(written) ? fault() : keep())
      expect(await rejection(submit())).to.include({ name: 'OVERLOADED' })
      await leavesNothing(nonce, sent)
    })
  }

  it('after it committed the signed bytes and before it confirmed: the answer is the hash', async () => {
    faults.write = async (keep, written) => {
      if (!bringsBytes(written)) return keep()
      await keep()
      faults.write = undefined
      throw away(true)
    }
    const { txHash } = await submit()
    await reaches(transactions, txHash, 'CONFIRMED')
    expect(await states()).to.deep.equal(['CONFIRMED'])
  })

  it('after it lost the signed bytes without an answer: a definite error, once that is certain', async () => {
    const [nonce, sent] = [await next(), sends()]
    faults.write = (keep, written) => (bringsBytes(written) ? Promise.reject(away(true)) : keep())
    expect(await rejection(submit())).to.include({ name: 'OVERLOADED' })
    expect(await states()).to.deep.equal(['EXPIRED'])
    await leavesNothing(nonce, sent)
  })

  it('never stores bytes that were given up in the meantime', async () => {
    const [nonce, sent] = [await next(), sends()]
    let late: () => Promise<boolean> = async () => false
    faults.write = (keep, written) => {
      if (!bringsBytes(written)) return keep()
      late = keep
      return Promise.reject(away(true))
    }
    expect(await rejection(submit())).to.include({ name: 'OVERLOADED' })
    expect(await late()).to.equal(false)
    await leavesNothing(nonce, sent)
  })

  for (const isKept of [true, false]) {
    it(`for longer than the request's timeout: TIMEOUT says where to look, and the nonce stays claimed (${isKept ? 'kept' : 'not kept'})`, async () => {
      const [nonce, sent] = [await next(), sends()]
      const ending = new AbortController()
      faults.write = async (keep, written) => {
        if (!bringsBytes(written)) return keep()
        if (isKept) await keep()
        faults.write = undefined
        faults.away = true
        setTimeout(() => ending.abort(), 100)
        throw away(true)
      }
      const error = await rejection(submit({ requestId: 'the-one' }, ending.signal))
      expect(error).to.include({ name: 'TIMEOUT' })
      expect(error.message).to.contain('GET /transactions?requestId=the-one')
      expect(sends()).to.equal(sent)
      faults.away = false
      // Whatever comes of the first one: nobody else gets its nonce while that is not known.
      const second = await submit()
      expect(second.nonce).to.be.oneOf(isKept ? [nonce + 1] : [nonce, nonce + 1])
      await reaches(transactions, second.txHash, 'CONFIRMED')
      const [first] = (await transactions.list({ requestId: 'the-one' })).entries
      if (isKept) await reaches(transactions, first?.attempts[0]?.id ?? '', 'CONFIRMED')
      else expect(first).to.include({ state: 'EXPIRED' })
    })
  }

  it('keeps the nonce of an unknown commit claimed while it is down', async () => {
    const nonce = await next()
    const ending = new AbortController()
    faults.write = (keep, written) => {
      if (!bringsBytes(written)) return keep()
      // Only the first is lost, and nothing that would find out about it goes through.
      faults.write = (again, later) => (bringsBytes(later) ? again() : Promise.reject(away()))
      setTimeout(() => ending.abort(), 50)
      return Promise.reject(away(true))
    }
    expect(await rejection(submit({}, ending.signal))).to.include({ name: 'TIMEOUT' })
    const second = await submit()
    expect(second.nonce).to.equal(nonce + 1)
    faults.write = undefined
    // The first is given up, and its nonce, which the second waits behind, is filled.
    await reaches(transactions, second.txHash, 'CONFIRMED')
    const all = await entries()
    expect(all.find((entry) => entry.nonce === nonce && entry.kind === 'fill')).to.include({ state: 'CONFIRMED' })
  })

  for (const isKept of [true, false]) {
    it(`with unexpected errors: the outcome is found out all the same (${isKept ? 'kept' : 'not kept'})`, async () => {
      const [nonce, sent] = [await next(), sends()]
      let trouble = 0
      const unknown = () => Promise.reject(new Error('cached plan must not change result type'))
      faults.write = async (keep, written) => {
        if (bringsBytes(written)) {
          if (isKept) await keep()
          trouble = 2
          return unknown()
        }
        return trouble > 0 ? ((trouble -= 1), unknown()) : keep()
      }
      faults.read = (keep) => (trouble > 0 ? ((trouble -= 1), unknown()) : keep())
      const outcome = await submit().catch((error: Error) => error)
      if (isKept) {
        expect(outcome).to.include({ nonce })
        await reaches(transactions, Reflect.get(outcome, 'txHash'), 'CONFIRMED')
      } else {
        expect(outcome).to.be.instanceOf(Error)
        await leavesNothing(nonce, sent)
      }
    })
  }

  it('refuses at once if no answer can be made: nothing is sent that nobody could be told about', async () => {
    const [nonce, sent] = [await next(), sends()]
    const answer = () => {
      throw new Error('a defect')
    }
    expect((await rejection(submit({ answer }))).message).to.equal('a defect')
    await leavesNothing(nonce, sent)
  })

  it('writes all steps of a plan or none', async () => {
    const [nonce, sent] = [await next(), sends()]
    const step = { to: nowhere, data: '0x', value: '1' }
    faults.write = (keep, written) => (bringsBytes(written) ? Promise.reject(away(true)) : keep())
    expect(await rejection(submit({ plan: planOf(step, step) }))).to.include({ name: 'OVERLOADED' })
    expect(await states()).to.deep.equal(['EXPIRED', 'EXPIRED'])
    await leavesNothing(nonce, sent)
  })

  for (const isKept of [true, false]) {
    it(`during a speed-up: the new attempt is stored, or never will be (${isKept ? 'kept' : 'not kept'})`, async () => {
      await site.rpc('evm_setAutomine', false)
      const { txHash } = await submit()
      const sent = sends()
      let late: (() => Promise<boolean>) | undefined
      faults.write = async (keep, written) => {
        if (late || !written.some(({ attempts }) => attempts.length > 1)) return keep()
        late = keep
        if (isKept) await keep()
        throw away(true)
      }
      const fast = await transactions.speedUp(order(site), soon()).catch((error: Error) => error)
      expect(await late?.()).to.equal(false)
      expect(await entries()).to.have.length(1)
      const attempts = (await entries())[0]?.attempts ?? []
      if (isKept) {
        expect(fast).to.include({ txHash: attempts[1]?.id })
      } else {
        expect(fast).to.include({ name: 'OVERLOADED' })
        expect(attempts.map(({ id }) => id)).to.deep.equal([txHash])
        expect(sends()).to.equal(sent)
      }
      await site.rpc('evm_setAutomine', true)
      await site.mine()
      await reaches(transactions, txHash, 'CONFIRMED')
    })
  }

  it("expires one wallet's requests even if this server lost another wallet's queue", async () => {
    faults.open = async (keep) => {
      await keep()
      throw away(true)
    }
    const [kept, lost] = [order(site, { address: addressOf(1) }), order(site)]
    for (const each of [kept, lost]) expect(await rejection(transactions.submit(each, soon()))).to.include({ name: 'OVERLOADED' })
    faults.write = (keep, written) =>
      written.some(({ requestId }) => requestId === lost.requestId)
        ? Promise.reject(new OwnershipLostError('Another server has taken the wallet over.'))
        : keep()
    await until('the other is given up', async () => {
      const [entry] = (await transactions.list({ requestId: kept.requestId })).entries
      return entry?.state === 'EXPIRED'
    })
    faults.write = undefined
    await isGivenUp()
  })

  it("does not delay other wallets if one wallet's entry cannot be written", async () => {
    await site.rpc('evm_setAutomine', false)
    const [stuck, other] = [await submit(), await submit({ address: addressOf(1) })]
    faults.write = (keep, written) =>
      written.some(({ address, landed }) => landed && address === addressOf(0)) ? Promise.reject(new Error('a defect')) : keep()
    await site.rpc('evm_setAutomine', true)
    await site.mine()
    await reaches(transactions, other.txHash, 'CONFIRMED')
    expect(await transactions.find('ethereum', 'local', stuck.txHash)).to.include({ state: 'BROADCAST' })
    faults.write = undefined
    await site.mine()
    await reaches(transactions, stuck.txHash, 'CONFIRMED')
  })

  it('sends nothing that is not in the journal', async () => {
    const { rail } = site.chain
    const had: boolean[] = []
    const send: typeof rail.send = async (sealed, at) => {
      had.push((await transactions.find('ethereum', 'local', sealed.id)) !== undefined)
      return rail.send(sealed, at)
    }
    const impl = { ...site.chain, rail: { ...rail, send } }
    const sent = await Promise.all(Array.from({ length: 8 }, () => submit({ network: { chain: 'ethereum', network: 'local', impl } })))
    for (const { txHash } of sent) await reaches(transactions, txHash, 'CONFIRMED')
    expect(had.length).to.be.at.least(8)
    expect(had).not.to.include(false)
  })
})
