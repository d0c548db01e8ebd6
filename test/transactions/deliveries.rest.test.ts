import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { sql } from 'kysely'
import { SluiceError, type ErrorName } from '../../core/base/errors.ts'
import type { Store } from '../../core/store/store.ts'
import { StoreUnavailable } from '../../core/store/store.ts'
import { createDeliveries, type Deliveries } from '../../core/transactions/deliveries.ts'
import { withGuards } from '../../core/transactions/guards.ts'
import { sqlJournal } from '../../core/transactions/journal/sql-journal.ts'
import { createUnkeyedRequests, type UnkeyedRequests } from '../../core/transactions/unkeyed-requests.ts'
import { explainer, recorded } from '../store/explained.ts'
import { onBothStores } from '../store/stores.ts'
import { attempt, giveLease, newEntry, next } from './journal/entries.ts'
import { silent, until } from './site.ts'

const lease = { queue: 'ethereum/local/0xAbCdEf0000000000000000000000000000000001', fencingToken: 1 }

describe('requests without a key, of clients that repeat them', () => {
  onBothStores((place) => {
    let store: Store
    const opened: Deliveries[] = []
    const changes: string[] = []
    beforeEach(async () => {
      store = await place().open()
      await giveLease(store)
      changes.length = 0
    })
    afterEach(() => {
      for (const each of opened.splice(0)) each.stop()
    })

    function server(on: Store = store, serverId: string = randomUUID()) {
      const clock: { offsetMs: number; setMs?: number | undefined; passedMs: number } = { offsetMs: 0, passedMs: 0 }
      const requests = createUnkeyedRequests()
      const deliveries = createDeliveries({
        store: on,
        serverId,
        journal: sqlJournal(on),
        log: silent,
        requests,
        onChange: (change) => changes.push(change),
        nowMs: () => clock.setMs ?? Date.now() + clock.offsetMs,
        steadyMs: () => performance.now() + clock.passedMs,
      })
      opened.push(deliveries)
      return { clock, deliveries, requests }
    }

    type RequestOptions = Partial<{
      amount: string
      act: (key: string, requestId: string) => Promise<string>
      client: string
      formerClient: string
      prepare: () => Promise<void>
      isOneForEver: boolean
      isNewAfterFailure: boolean
      isNewAfterAnswer: boolean
      answerId: string
    }>

    /** A request over a connection of its own; `end` is how that ends. */
    function request(
      { deliveries }: { deliveries: Deliveries },
      {
        amount = '1',
        act = async (key) => key,
        client = 'bot',
        formerClient = client,
        prepare = async () => {},
        isOneForEver = false,
        isNewAfterFailure = false,
        isNewAfterAnswer = false,
        answerId,
      }: RequestOptions = {},
    ) {
      let end: (isDelivered: boolean) => void = () => {}
      let breakLater = () => {}
      const delivered = new Promise<boolean>((resolve) => (end = resolve))
      const broken = new Promise<void>((resolve) => (breakLater = resolve))
      const windows = { staleSeconds: 290, collectSeconds: 120 }
      const requestId = randomUUID()
      const of = {
        interface: 'bots',
        requestId,
        client,
        formerClient,
        fields: { amount },
        delivered,
        broken,
        ...windows,
        isOneForEver,
        isNewAfterFailure,
        isNewAfterAnswer,
        ...(answerId !== undefined && { answerId }),
      }
      const answer = deliveries.once(
        of,
        async () => (await prepare(), { limit: `of ${amount} ${Math.random()}` }),
        async (key, { limit }) => `${await act(key, requestId)} ${limit}`,
      )
      return { answer, end, breakLater }
    }

    async function answered(at: { deliveries: Deliveries }, isDelivered: boolean, options?: RequestOptions): Promise<string> {
      const { answer, end } = request(at, options)
      const given = await answer
      end(isDelivered)
      await stored(isDelivered ? [] : ['lost'])
      return given
    }

    /** What an ended connection leaves is written a moment later. */
    const stored = async (states: readonly string[]) =>
      until('it is stored', async () => {
        const rows = await store.read((db) => db.selectFrom('deliveries').select('state').where('state', 'in', ['open', 'lost']).execute())
        return JSON.stringify(rows.map(({ state }) => state)) === JSON.stringify(states)
      })

    const keyOf = (answer: string): string => answer.split(' ')[0] ?? ''

    it('are another after a delivered answer, and leave nothing', async () => {
      const at = server()
      const first = await answered(at, true)
      expect(await answered(at, true)).not.to.equal(first)
      expect(await store.read((db) => db.selectFrom('deliveries').selectAll().execute())).to.deep.equal([])
    })

    it('are one where the first connection ends while the second one’s price is asked for, and nothing is signed for it yet', async () => {
      const at = server()
      const first = request(at)
      const given = await first.answer
      let priced: (() => void) | undefined
      const second = request(at, { prepare: () => new Promise<void>((resolve) => (priced = resolve)) })
      await until('its price is asked for', async () => priced !== undefined)
      first.end(false)
      await new Promise((resolve) => setTimeout(resolve, 300))
      priced?.()
      expect(await second.answer).to.equal(given)
      second.end(true)
      await stored([])
    })

    it('are the same for each lost answer', async () => {
      const at = server()
      const first = await answered(at, false)
      expect(await answered(at, false)).to.equal(first)
      expect(await answered(at, true)).to.equal(first)
      expect(await answered(at, true)).not.to.equal(first)
      expect(changes).to.deep.equal(['lost', 'joined', 'lost', 'joined'])
    })

    it('are another while the connection of an equal one stands, and of another client', async () => {
      const at = server()
      const [one, two] = [request(at), request(at)]
      expect(await one.answer).not.to.equal(await two.answer)
      one.end(false)
      await until('it is lost', async () => changes.includes('lost'))
      expect(await request(at, { client: 'other' }).answer).not.to.equal(await one.answer)
      expect(await request(at).answer).to.equal(await one.answer)
    })

    it('are one where the first was gone while it was prepared', async () => {
      const at = server()
      let goOn = () => {}
      let signed = 0
      const act = async (key: string) => ((signed += 1), key)
      const first = request(at, { prepare: () => new Promise<void>((resolve) => (goOn = resolve)), act })
      await stored(['open'])
      const second = request(at, { act })
      first.end(false)
      await second.answer
      goOn()
      expect(await first.answer.catch(({ name }: Error) => name)).to.equal('TIMEOUT')
      second.end(true)
      await stored([])
      expect(signed).to.equal(1)
    })

    it('are one where the first, which had the place of a lost one, is gone while it is prepared', async () => {
      request(server(), { prepare: () => new Promise<void>(() => {}) }).answer.catch(() => {})
      await stored(['open'])
      // That server ends without a word.
      const at = server()
      let goOn: (() => void) | undefined
      const first = request(at, {
        prepare: () => new Promise<void>((resolve) => (goOn = resolve)),
        act: () => expect.fail('it was signed'),
      })
      await until('it is prepared', async () => goOn !== undefined)
      first.end(false)
      const second = request(at)
      const given = await second.answer
      goOn?.()
      expect(await first.answer.catch(({ name }: Error) => name)).to.equal('TIMEOUT')
      second.end(false)
      await stored(['lost'])
      expect(await request(at).answer).to.equal(given)
    })

    it('have of several lost answers that of what was signed, or is being signed, before those for which nothing was', async () => {
      for (const isSigned of [true, false]) {
        const amount = isSigned ? '7' : '8'
        const at = server()
        const nothing = request(at, { amount, act: failing('TIMEOUT') })
        let goOn: ((key: string) => void) | undefined
        const act = (key: string) => (isSigned ? Promise.resolve(key) : new Promise<string>((resolve) => (goOn = () => resolve(key))))
        // The connection of the first stands, as far as is known.
        const second = request(at, { amount, act })
        await nothing.answer.catch(() => {})
        if (isSigned) await ended(keyOf(await second.answer), 'CONFIRMED')
        else await until('it is being signed', async () => goOn !== undefined)
        nothing.end(false)
        second.end(false)
        await stored(['lost', 'lost'])
        const third = await request(at, { amount }).answer
        goOn?.('')
        expect(third).to.equal(await second.answer)
        await store.write((tx) => tx.deleteFrom('deliveries').execute())
      }
    })

    it('are the same however they come, where they are one for ever', async () => {
      const at = server()
      const both = await Promise.all([request(at, { isOneForEver: true }).answer, request(at, { isOneForEver: true }).answer])
      expect(keyOf(both[0])).to.equal(keyOf(both[1]))
      const { answer, end } = request(at, { isOneForEver: true })
      expect(keyOf(await answer)).to.equal(keyOf(both[0]))
      end(true)
      await stored([])
      at.clock.offsetMs = 400_000
      const old = request(at, { isOneForEver: true, prepare: () => expect.fail('it was prepared again') })
      expect(keyOf(await old.answer)).to.equal(keyOf(both[0]))
      expect(keyOf(await request(at, { isOneForEver: true, client: 'other' }).answer)).not.to.equal(keyOf(both[0]))
      expect(changes).to.deep.equal([])
    })

    it('do what was decided first where two decide at once, being one for ever, whichever of them came first', async () => {
      const options = { isOneForEver: true }
      let goOn = () => {}
      const early = request(server(), { ...options, prepare: () => new Promise<void>((resolve) => (goOn = resolve)) })
      await until('it decides', async () => goOn.length === 1)
      const refusal = await request(server(), { ...options, prepare: failing('NETWORK') }).answer.catch(({ name }: Error) => name)
      expect(refusal).to.equal('NETWORK')
      const late = await request(server(), options).answer
      goOn()
      expect(await early.answer).to.equal(late)
      expect(await request(server(), { ...options, prepare: () => expect.fail('it was decided again') }).answer).to.equal(late)
    })

    it('are counted as lost, too, where the server ended without a word and nobody asked again', async () => {
      const first = await request(server()).answer
      const at = server()
      await ended(keyOf(first))
      at.clock.offsetMs = 900_000
      await at.deliveries.sweep()
      const told = await at.deliveries.recent()
      expect(told).to.have.length(1)
      expect(told[0]).to.include({ idempotencyKey: keyOf(first), state: 'uncollected', lost: 1, joined: 0 })
    })

    it('are another where nothing came of the first for so long', async () => {
      const at = server()
      const used = await refused(at, failing('TIMEOUT'))
      await stored(['lost'])
      at.clock.offsetMs = 400_000
      const again = await refused(at, failing('TIMEOUT'))
      await stored(['lost'])
      expect(again).to.equal(used)
      at.clock.offsetMs = 900_000
      expect(keyOf(await request(at).answer)).not.to.equal(again)
      expect(changes).to.deep.equal(['lost', 'joined', 'lost'])
    })

    it('are the same while the first waits for a second person, and others once that has expired', async () => {
      const at = server()
      const used = await refused(at, failing('PENDING_APPROVAL'))
      await stored(['lost'])
      await store.write((tx) =>
        sql`insert into approvals (made_at, expires_at, expires_elapsed, client, path, "key", certificate, endpoint, address, fingerprint, request_id, state, body)
          values (0, ${Date.now() + 800_000}, 1, 'bot', '/amm/trade', ${used}, '', '', '', '', '', 'waiting', '')`.execute(tx),
      )
      at.clock.offsetMs = 700_000
      expect(await refused(at, failing('PENDING_APPROVAL'))).to.equal(used)
      await stored(['lost'])
      at.clock.offsetMs = 1_400_000
      expect(await refused(at, failing('PENDING_APPROVAL'))).not.to.equal(used)
    })

    it('are the same where it is not known whether the first repetition has it', async () => {
      let isFailing = false
      const writeOnce: Store['writeOnce'] = async (statement) => {
        const done = await store.writeOnce(statement)
        if (isFailing) throw new StoreUnavailable('the connection broke', { uncertain: true })
        return done
      }
      const at = server(Object.assign(Object.create(store), { writeOnce }))
      const first = await answered(at, false)
      isFailing = true
      const refusal = await request(at).answer.catch(({ name }: Error) => name)
      expect(refusal).to.equal('OVERLOADED')
      isFailing = false
      expect(await request(at).answer).to.equal(first)
    })

    it('are others once it is known that the first repetition did not come to have it', async () => {
      let isFailing = false
      const writeOnce: Store['writeOnce'] = async (statement) => {
        if (isFailing) throw new StoreUnavailable('the disk is full')
        return store.writeOnce(statement)
      }
      const at = server(Object.assign(Object.create(store), { writeOnce }))
      const first = await answered(at, false)
      isFailing = true
      // Both would take its place in one millisecond.
      at.clock.setMs = Date.now()
      await request(at).answer.catch(() => {})
      isFailing = false
      const second = request(at)
      expect(await second.answer).to.equal(first)
      at.clock.setMs = undefined
      expect(await request(at).answer).not.to.equal(first)
      await new Promise((resolve) => setTimeout(resolve, 1_200))
      expect(await request(at).answer).not.to.equal(first)
    })

    it('leave nothing where it is not known whether what will be done was stored', async () => {
      for (const failsAt of [1, 2]) {
        let left = failsAt
        const writeOnce: Store['writeOnce'] = async (statement) => {
          const done = await store.writeOnce(statement)
          left -= 1
          if (left === 0) throw new StoreUnavailable('the connection broke', { uncertain: true })
          return done
        }
        const at = server(Object.assign(Object.create(store), { writeOnce }))
        const refusal = await request(at, { act: () => expect.fail('it was signed') }).answer.catch(({ name }: Error) => name)
        expect(refusal).to.equal('OVERLOADED')
        await stored([])
      }
    })

    /** After its next reading of the table, or a later one, this happens first. */
    function afterNextReading(happens: () => Promise<unknown>, ofReadings = 1): Store {
      let left = ofReadings
      const read: Store['read'] = async (work) => {
        const found = await store.read(work)
        left -= 1
        if (left === 0) await happens()
        return found
      }
      return Object.assign(Object.create(store), { read })
    }

    it('do the same where another server, which counted as dead, has just decided what that is', async () => {
      const did: string[] = []
      let goOn = () => {}
      let signed = () => {}
      const first = request(server(), {
        prepare: () => new Promise<void>((resolve) => (goOn = resolve)),
        act: (key) => new Promise((resolve) => (signed = () => resolve(key))),
      })
      await stored(['open'])
      const isPrepared = async () => {
        goOn()
        await until('it is prepared', async () => signed.length === 0 && (await preparedOf()) !== '')
      }
      const second = await request(server(afterNextReading(isPrepared)), { prepare: () => expect.fail('it was decided twice') }).answer
      did.push(second)
      signed()
      did.push(await first.answer)
      expect(new Set(did).size).to.equal(1)
    })

    const preparedOf = async () =>
      store.read((db) => db.selectFrom('deliveries').select('prepared').executeTakeFirst()).then((row) => row?.prepared ?? '')

    it('are the same where another server tells only now that the answer was lost', async () => {
      const { answer, end } = request(server())
      const first = await answer
      const isTold = async () => {
        end(false)
        await stored(['lost'])
      }
      expect(await request(server(afterNextReading(isTold))).answer).to.equal(first)
    })

    it('are the same where the answer is lost while the table is read for the last time', async () => {
      // Two readings before the price is asked for, and one after it.
      let isLost = async () => {}
      const at = server(afterNextReading(() => isLost(), 5))
      const { answer, end } = request(at)
      const first = await answer
      isLost = async () => {
        end(false)
        await until('it is stored', async () => (await at.deliveries.recent()).length === 1)
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      expect(await request(at).answer).to.equal(first)
    })

    it('are what was signed, though only the loss of another, for which nothing was, is known until that has its request', async () => {
      for (const isDecided of [true, false]) {
        const amount = isDecided ? '9' : '10'
        let isJoined = async () => {}
        const writeOnce: Store['writeOnce'] = async (statement) => (await isJoined(), store.writeOnce(statement))
        const at = server(Object.assign(Object.create(store), { writeOnce }))
        const hangs = { amount, prepare: () => new Promise<void>(() => {}) }
        if (!isDecided) {
          // That server ends without a word: what the next one has is known as lost before it is decided what is done.
          request(server(), hangs).answer.catch(() => {})
          await stored(['open'])
        }
        const nothing = request(at, isDecided ? { amount, act: failing('TIMEOUT') } : hangs)
        if (isDecided) await nothing.answer.catch(() => {})
        else await until('it has the place', async () => changes.includes('joined'))
        const signed = request(at, { amount })
        const given = await signed.answer
        await ended(keyOf(given), 'CONFIRMED')
        nothing.end(false)
        await new Promise((resolve) => setTimeout(resolve, 100))
        const isLost = async () => {
          isJoined = async () => {}
          signed.end(false)
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
        if (isDecided) isJoined = isLost
        const third = request(at, { amount, ...(!isDecided && { prepare: isLost }) })
        expect(await third.answer).to.equal(given)
        third.end(true)
        await stored(['lost'])
        expect(keyOf(await request(at, { amount }).answer)).not.to.equal(keyOf(given))
        await store.write((tx) => tx.deleteFrom('deliveries').execute())
      }
    })

    const signedUnder = async (key: string) => (await sqlJournal(store).list({ idempotencyKey: key, limit: 10 })).entries.length

    /** Waits for its turn, then signs, unless it is an equal one's whose outcome is known. */
    function inTurn({ requests }: { requests: UnkeyedRequests }) {
      const turn = { isWaiting: false, comes: () => {} }
      const act = async (key: string, requestId: string) => {
        if ((await signedUnder(key)) > 0) return key
        turn.isWaiting = true
        await new Promise<void>((resolve) => (turn.comes = resolve))
        await withGuards(sqlJournal(store), [], requests).open([newEntry({ idempotencyKey: key, requestId })], lease)
        return key
      }
      const waits = async () => until('it waits for its turn', async () => turn.isWaiting)
      return { turn, act, waits }
    }

    it('are one where the first connection ends once the second one’s price is there, and its turn to be signed has not come', async () => {
      for (const isSigned of [true, false]) {
        const at = server()
        const amount = isSigned ? '11' : '12'
        const [one, two] = [inTurn(at), inTurn(at)]
        const first = request(at, { amount, act: one.act })
        const refusal = first.answer.catch(({ name }: Error) => name)
        await one.waits()
        if (isSigned) {
          one.turn.comes()
          await first.answer
        }
        let own = ''
        const second = request(at, { amount, act: (key, requestId) => ((own ||= key), two.act(key, requestId)) })
        await two.waits()
        first.end(false)
        await until('it is lost', async () => changes.includes('lost'))
        if (!isSigned) one.turn.comes()
        await new Promise((resolve) => setTimeout(resolve, 50))
        two.turn.isWaiting = false
        two.turn.comes()
        if (!isSigned) {
          expect(await refusal).to.equal('TIMEOUT')
          await two.waits()
          two.turn.comes()
        }
        const given = keyOf(await second.answer)
        if (isSigned) expect(given).to.equal(keyOf(await first.answer))
        expect(given).not.to.equal(own)
        expect([await signedUnder(given), await signedUnder(own)]).to.deep.equal([1, 0])
        second.end(true)
        await stored([])
        changes.length = 0
      }
    })

    it('are signed once where the repeat is signed before the first, whose client has gone', async () => {
      const at = server()
      const [one, two] = [inTurn(at), inTurn(at)]
      const first = request(at, { act: one.act })
      await one.waits()
      const second = request(at, { act: two.act })
      await two.waits()
      two.turn.comes()
      const given = await second.answer
      first.end(false)
      await until('it is lost', async () => changes.includes('lost'))
      one.turn.comes()
      expect(await first.answer.catch(({ name }: Error) => name)).to.equal('TIMEOUT')
      expect(await signedUnder(keyOf(given))).to.equal(1)
      expect((await sqlJournal(store).list({ limit: 10 })).entries).to.have.length(1)
    })

    it('are two where both connections stand until each is signed', async () => {
      const at = server()
      const both = [inTurn(at), inTurn(at)].map(({ act, waits, turn }) => ({ ...request(at, { act }), waits, turn }))
      for (const each of both) {
        await each.waits()
        each.turn.comes()
      }
      const given = await Promise.all(both.map(async ({ answer }) => answer))
      expect(new Set(given).size).to.equal(2)
    })

    it('are the same under the former name of their client', async () => {
      for (const isOneForEver of [false, true]) {
        const at = server()
        const first = await answered(at, false, { client: 'certificate', isOneForEver })
        const options = { client: 'entry', formerClient: 'certificate', isOneForEver }
        expect(await answered(at, false, options)).to.equal(first)
        expect(await answered(at, true, options)).to.equal(first)
      }
    })

    it('are the same where the connection broke after the answer was written, until its client can know it', async () => {
      const at = server()
      const { answer, end, breakLater } = request(at)
      const first = await answer
      await ended(keyOf(first))
      end(true)
      await stored([])
      breakLater()
      await stored(['lost'])
      at.clock.offsetMs = 400_000
      await at.deliveries.sweep()
      expect(changes).to.deep.equal(['lost'])
      expect(await answered(at, true)).to.equal(first)
      expect(await answered(at, true)).not.to.equal(first)
    })

    describe('through a proxy that reports what its clients have read', () => {
      /** `end(true)` is an answer that was written to the proxy, and `breakLater` the end of the proxy's connection. */
      async function written(at: { deliveries: Deliveries }, answerId: string, options: RequestOptions = {}) {
        const { answer, end, breakLater } = request(at, { answerId, ...options })
        const given = await answer
        end(true)
        return { given, breakLater }
      }
      const states = async () =>
        (await store.read((db) => db.selectFrom('deliveries').select(['state', 'losses']).orderBy('asked_at').execute())).map(
          ({ state, losses }) => `${state} ${losses}`,
        )

      it('are others once it was read, and leave nothing after a while', async () => {
        const at = server()
        const { given, breakLater } = await written(at, 'a')
        expect(await states()).to.deep.equal(['open 0'])
        await at.deliveries.report([{ answerId: 'a', read: true }])
        breakLater()
        expect(await answered(at, true)).not.to.equal(given)
        expect(await states()).to.deep.equal(['delivered 0'])
        at.clock.offsetMs = 3_600_000
        await at.deliveries.sweep()
        expect(await states()).to.deep.equal([])
      })

      it('are the same once it was not read, also where it counted as read before, and no later report counts', async () => {
        for (const before of [[], [{ answerId: 'a', read: true }]]) {
          const at = server()
          const { given } = await written(at, 'a')
          if (before.length > 0) await at.deliveries.report(before)
          await at.deliveries.report([{ answerId: 'a', read: false }])
          await at.deliveries.report([{ answerId: 'a', read: true }])
          expect(await states()).to.deep.equal(['lost 1'])
          expect(await answered(at, true)).to.equal(given)
          expect(await answered(at, true)).not.to.equal(given)
          expect(changes.splice(0)).to.deep.equal(['lost', 'joined'])
          await store.writeOnce((db) => db.deleteFrom('deliveries').execute())
        }
      })

      it('are the same where the proxy is gone before it reported, and others where it reports after all', async () => {
        const at = server()
        const first = await written(at, 'a')
        first.breakLater()
        await stored(['lost'])
        const again = await written(at, 'b')
        expect(again.given).to.equal(first.given)
        // That is another request's by now.
        await at.deliveries.report([{ answerId: 'a', read: true }])
        again.breakLater()
        await stored(['lost'])
        await at.deliveries.report([{ answerId: 'b', read: true }])
        expect(await states()).to.deep.equal(['delivered 1'])
        expect(await answered(at, true)).not.to.equal(first.given)
      })

      it('are others where its connection broke as the answer was written, and it reports before or after that its client has read it', async () => {
        for (const isReportedFirst of [true, false]) {
          const at = server()
          const { answer, end } = request(at, { answerId: 'a' })
          const given = await answer
          const report = () => at.deliveries.report([{ answerId: 'a', read: true }])
          if (isReportedFirst) await report()
          end(false)
          // What an ended connection leaves is written by then.
          if (isReportedFirst) await answered(at, true, { amount: '2' })
          else await stored(['lost'])
          if (!isReportedFirst) await report()
          expect(await states()).to.deep.equal(['delivered 0'])
          expect(await answered(at, true)).not.to.equal(given)
          await store.writeOnce((db) => db.deleteFrom('deliveries').execute())
        }
      })

      it('are the same where it reports as read what could not say what became of it', async () => {
        const at = server()
        let key = ''
        const act = async (given: string) => {
          key = given
          throw new SluiceError('TIMEOUT', 'nobody knows')
        }
        const { answer, end } = request(at, { answerId: 'a', act })
        await answer.catch(() => {})
        end(false)
        await stored(['lost'])
        await at.deliveries.report([{ answerId: 'a', read: true }])
        expect(keyOf(await answered(at, true))).to.equal(key)
      })

      it('are what the proxy reports to the next server, where the first has ended without a word', async () => {
        for (const read of [true, false]) {
          const ended = server(store, 'ended')
          const { given } = await written(ended, 'a')
          const at = server()
          await at.deliveries.report([{ answerId: 'a', read }])
          expect(keyOf(await answered(at, true)) === keyOf(given)).to.equal(!read)
          await store.writeOnce((db) => db.deleteFrom('deliveries').execute())
        }
      })

      it('are not changed by reports of unknown answers, of refused requests, and of what has failed', async () => {
        const at = server()
        await written(at, 'a')
        await at.deliveries.report([
          { answerId: 'unknown', read: false },
          { answerId: '', read: false },
        ])
        expect(await states()).to.deep.equal(['open 0'])
        await at.deliveries.report([{ answerId: 'a', read: false }])
        const refusing = request(at, {
          answerId: 'b',
          act: async () => {
            throw new SluiceError('TRADE_FAILED', 'no')
          },
        })
        await refusing.answer.catch(() => {})
        await at.deliveries.report([{ answerId: 'b', read: false }])
        expect(await states()).to.deep.equal(['delivered 1'])
      })

      it('keep the outcome of those that are one for ever', async () => {
        const at = server()
        const { given } = await written(at, 'a', { isOneForEver: true })
        await at.deliveries.report([{ answerId: 'a', read: true }])
        at.clock.offsetMs = 3_600_000
        await at.deliveries.sweep()
        expect((await written(at, 'b', { isOneForEver: true })).given).to.equal(given)
      })
    })

    it('are found by indexes', async function () {
      if (store.kind !== 'embedded') return this.skip()
      const { recording, queries } = recorded(store)
      const at = server(recording)
      for (const isOneForEver of [false, true]) {
        await answered(at, false, { isOneForEver })
        await answered(at, true, { isOneForEver })
      }
      await refused(at, failing('TIMEOUT'))
      await stored(['lost'])
      await refused(at, failing('TRADE_FAILED', { txHash: '0x1' }), { amount: '2', isOneForEver: true, isNewAfterFailure: true })
      await request(at, { amount: '2', isOneForEver: true, isNewAfterFailure: true }).answer
      await at.deliveries.sweep()
      await at.deliveries.recent()
      await at.deliveries.lostOf(['once-1'])
      await request(at, { answerId: 'a' }).answer
      await at.deliveries.report([{ answerId: 'a', read: true }])
      at.deliveries.stop()
      const explain = await explainer(place(), store)
      const about = queries.filter(({ sql: text }) => text.includes('deliveries'))
      expect(about.length).to.be.above(10)
      for (const query of about)
        for (const step of await explain(query))
          expect(/SCAN deliveries(?! USING INDEX)/.test(step), `${step}: ${query.sql}`).to.equal(false)
      await explain.end()
    })

    it('are the same where another server has ended without a word, and others while it lives', async function () {
      if (store.kind === 'embedded') return this.skip()
      const events = { requested() {}, granted() {}, freed() {}, owned() {} }
      const serverId = randomUUID()
      const leases = (await place().open()).openLeases({ serverId, serverName: 'other', log: silent }, events)
      await leases.revive()
      const first = await request(server(store, serverId)).answer
      const here = server()
      expect(await request(here).answer).not.to.equal(first)
      // Its heartbeat stops; what it said last counts for seconds.
      await leases.stop()
      const startedAt = Date.now()
      const aliveUntil = sql`extract(epoch from clock_timestamp()) * 1000 + 4000`
      await store.write((tx) =>
        sql`insert into servers (id, name, alive_until, migration) values (${serverId}, 'other', ${aliveUntil}, '')
          on conflict (id) do update set alive_until = excluded.alive_until`.execute(tx),
      )
      expect(await request(here).answer).to.equal(first)
      expect(Date.now() - startedAt).to.be.above(2_000)
    })

    it('are nothing where the caller was gone before anything was signed', async () => {
      const at = server()
      let goOn = () => {}
      const first = request(at, {
        prepare: () => new Promise<void>((resolve) => (goOn = resolve)),
        act: () => expect.fail('it was signed'),
      })
      await until('it is prepared', async () => goOn.length === 1)
      first.end(false)
      const second = request(at)
      await second.answer
      goOn()
      expect(await first.answer.catch(({ name }: Error) => name)).to.equal('TIMEOUT')
      second.end(true)
      await stored([])
    })

    it('are one of two that come at once for one lost answer', async () => {
      const at = server()
      const first = await answered(at, false)
      const both = await Promise.all([request(at).answer, request(at).answer, request(at).answer])
      expect(both.filter((each) => each === first)).to.have.length(1)
      expect(new Set(both).size).to.equal(3)
    })

    it('are the same after the server has ended without a word', async () => {
      const first = await request(server()).answer
      const next = server()
      expect(await request(next).answer).to.equal(first)
      expect(await request(next).answer).not.to.equal(first)
    })

    it('are the same when the earlier one has waited too long', async () => {
      const at = server()
      const first = await request(at).answer
      at.clock.offsetMs = 289_000
      const second = await request(at).answer
      expect(second).not.to.equal(first)
      at.clock.offsetMs = 291_000
      expect(await request(at).answer).to.equal(first)
    })

    /** What was done under a key is final. */
    async function ended(idempotencyKey: string, state: 'DROPPED' | 'CONFIRMED' = 'DROPPED'): Promise<void> {
      const journal = sqlJournal(store)
      const entry = newEntry({ idempotencyKey })
      await journal.open([entry], lease)
      const signed = next(entry, { state: 'SIGNED', attempts: [attempt(`0x${randomUUID()}`)] })
      await journal.write([signed], lease)
      await journal.write([next(signed, { state, updatedAt: Date.now() })], lease)
    }

    const failing = (name: ErrorName, details?: object) => async (): Promise<never> => {
      throw new SluiceError(name, 'It did not come to be.', { details })
    }
    const refused = async (at: { deliveries: Deliveries }, act: (key: string) => Promise<string>, options?: RequestOptions) => {
      let used = ''
      const { answer, end } = request(at, { ...options, act: (key) => ((used = key), act(key)) })
      await answer.then(
        () => expect.fail(),
        () => {},
      )
      end(true)
      return used
    }

    it('are another after a refusal that knows that nothing happened', async () => {
      const at = server()
      const used = await refused(at, failing('TRADE_FAILED'))
      expect(keyOf(await request(at).answer)).not.to.equal(used)
    })

    it('are another after a transaction that failed for good, where they are one for ever until then', async () => {
      const at = server()
      const [once, untilFailure] = [{ isOneForEver: true }, { isOneForEver: true, isNewAfterFailure: true, amount: '2' }]
      const failed = failing('TRADE_FAILED', { txHash: '0x1' })
      const used = new Set([await refused(at, failed, once), await refused(at, failed, once)])
      expect(used.size).to.equal(1)
      for (let times = 0; times < 3; times += 1) used.add(await refused(times === 1 ? server() : at, failed, untilFailure))
      expect(used.size).to.equal(4)
      const done = keyOf(await request(at, untilFailure).answer)
      expect(used).not.to.include(done)
      expect(keyOf(await request(at, untilFailure).answer)).to.equal(done)
    })

    it('are others once the answer was delivered, where they are asked for so, and the same until then', async () => {
      const at = server()
      const options = { isOneForEver: true, isNewAfterFailure: true, isNewAfterAnswer: true }
      const [first, beside] = [request(at, options), request(at, options)]
      const given = await first.answer
      expect(await beside.answer).to.equal(given)
      for (const each of [first, beside]) each.end(false)
      await stored(['lost'])
      let isSlow = false
      const writeOnce: Store['writeOnce'] = async (statement) => {
        const pauseMs = isSlow ? 400 : 0
        isSlow = false
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
        return store.writeOnce(statement)
      }
      const slow = server(Object.assign(Object.create(store), { writeOnce }))
      const told = request(slow, options)
      expect(await told.answer).to.equal(given)
      // That it was delivered is stored after the next request has come.
      isSlow = true
      told.end(true)
      const next = await request(slow, options).answer
      expect(keyOf(next)).not.to.equal(keyOf(given))
      await stored(['open'])
      expect(await request(at, options).answer).to.equal(next)
    })

    it('are the same where what was signed was refused to the request that asked again', async () => {
      const at = server()
      const options = { isOneForEver: true, isNewAfterFailure: true, isNewAfterAnswer: true }
      const given = await answered(at, false, options)
      await ended(keyOf(given), 'CONFIRMED')
      await refused(at, failing('FORBIDDEN'), options)
      await stored(['lost'])
      expect(keyOf(await request(at, options).answer)).to.equal(keyOf(given))
    })

    it('find the one after many that failed by few questions to the store', async () => {
      const { recording, queries } = recorded(store)
      const at = server(recording)
      const options = { isOneForEver: true, isNewAfterFailure: true }
      const used = new Set<string>()
      const asked: number[] = []
      for (let times = 0; times < 40; times += 1) {
        const before = queries.length
        used.add(await refused(at, failing('TRADE_FAILED', { txHash: `0x${times}` }), options))
        asked.push(queries.length - before)
      }
      expect(used.size).to.equal(40)
      // One by one the last would be asked for by 40.
      expect(Math.max(...asked)).to.be.below(20)
      const done = await request(server(), { ...options, formerClient: 'earlier' }).answer
      expect(used).not.to.include(keyOf(done))
      expect(await request(at, options).answer).to.equal(done)
    })

    it('are others than one that failed, also where another request has its place meanwhile', async () => {
      const at = server()
      const options = { isOneForEver: true, isNewAfterFailure: true }
      let fail = () => {}
      const failed = failing('TRADE_FAILED', { txHash: '0x1' })
      const first = request(at, { ...options, act: () => new Promise((_, reject) => (fail = () => void failed().catch(reject))) })
      await stored(['open'])
      const lost = request(at, { ...options, act: failing('TIMEOUT') })
      await lost.answer.catch(() => {})
      fail()
      expect(await first.answer.catch(({ name }: Error) => name)).to.equal('TRADE_FAILED')
      lost.end(false)
      const next = await request(at, options).answer
      expect(next).to.match(/^once-/)
      expect(await request(at, options).answer).to.equal(next)
      await stored(['open'])
    })

    it('are the same after a refusal before anything was signed, and after the day that others are known for it is known what failed', async () => {
      const at = server()
      const options = { isOneForEver: true, isNewAfterFailure: true }
      const used = await refused(at, failing('TRADE_FAILED', { reason: 'it would revert' }), options)
      expect(await refused(at, failing('TRADE_FAILED', { txHash: '0x1' }), options)).to.equal(used)
      at.clock.offsetMs = 30 * 3_600_000
      await at.deliveries.sweep()
      expect(keyOf(await request(at, options).answer)).not.to.equal(used)
    })

    it('are others once what was signed has failed for good, though nobody was told and also where nothing else is known of it any more', async () => {
      const options = { isOneForEver: true, isNewAfterFailure: true, amount: '4' }
      const at = server()
      const { answer, end } = request(at, options)
      const first = await answer
      end(true)
      await stored([])
      expect(await request(at, options).answer).to.equal(first)
      await ended(keyOf(first))
      const second = await request(at, options).answer
      expect(keyOf(second)).not.to.equal(keyOf(first))
      expect(await request(at, options).answer).to.equal(second)
      await store.write((tx) => tx.deleteFrom('deliveries').execute())
      expect(keyOf(await request(at, options).answer)).to.equal(keyOf(second))
    })

    for (const isNewAfterFailure of [false, true])
      it(`are what was signed for them, being one for ever${isNewAfterFailure ? ' until it fails' : ''}, after whatever refusal and however long after`, async () => {
        for (const isDelivered of [true, false]) {
          const options = { isOneForEver: true, isNewAfterFailure, amount: isDelivered ? '5' : '6' }
          const at = server()
          const first = await answered(at, isDelivered, options)
          await ended(keyOf(first), 'CONFIRMED')
          await refused(at, failing('NETWORK'), options)
          const again = () => answered(at, true, { ...options, prepare: () => expect.fail('it was prepared again') })
          expect(await again()).to.equal(first)
          await refused(at, failing('FORBIDDEN'), options)
          at.clock.offsetMs = 60 * 3_600_000
          for (let times = 0; times < 2; times += 1) await at.deliveries.sweep()
          expect(await again()).to.equal(first)
        }
      })

    it('are what was signed, also after an equal one was refused in its place', async () => {
      const at = server()
      const first = await answered(at, false)
      await ended(keyOf(first), 'CONFIRMED')
      for (const name of ['FORBIDDEN', 'INCOMPLETE_PARAMS'] as const) {
        await refused(at, failing(name))
        await stored(['lost'])
      }
      expect(await answered(at, true)).to.equal(first)
      expect(await request(at).answer).not.to.equal(first)
    })

    it('are what is being signed, also after an equal one was refused in its place', async () => {
      const at = server()
      let sign: (() => void) | undefined
      const first = request(at, { act: (key) => new Promise<string>((resolve) => (sign = () => resolve(key))) })
      await until('it is being signed', async () => sign !== undefined)
      first.end(false)
      await stored(['lost'])
      await refused(at, failing('FORBIDDEN'))
      await stored(['lost'])
      sign?.()
      expect(await request(at).answer).to.equal(await first.answer)
    })

    it('decide anew what is done after a refusal, also where an answer was lost before', async () => {
      const at = server()
      const options = { isOneForEver: true, amount: '3' }
      let times = 0
      const prepare = async () => void (times += 1)
      await refused(at, failing('TIMEOUT'), { ...options, prepare })
      await stored(['lost'])
      await refused(at, failing('TRADE_FAILED', { reason: 'too little received' }), { ...options, prepare })
      expect(times).to.equal(1)
      await request(at, { ...options, prepare }).answer
      expect(times).to.equal(2)
    })

    for (const name of ['TIMEOUT', 'OVERLOADED', 'PENDING_APPROVAL', 'IN_FLIGHT', 'IDEMPOTENCY_CONFLICT', 'UNKNOWN_ERROR'] as const)
      it(`are the same after ${name}, which does not know what happened`, async () => {
        const at = server()
        const used = await refused(at, failing(name))
        await stored(['lost'])
        expect(keyOf(await request(at).answer)).to.equal(used)
      })

    it('are the same where an answer was given before it was known', async () => {
      const at = server()
      let known = () => {}
      const first = request(at, { act: (key) => new Promise((resolve) => (known = () => resolve(key))) })
      await stored(['open'])
      first.end(true)
      await stored(['lost'])
      const again = request(at)
      known()
      expect(await again.answer).to.equal(await first.answer)
    })

    it('are another once the lost answer is older than it is kept, which is told', async () => {
      const at = server()
      const first = await answered(at, false)
      const journal = sqlJournal(store)
      const entry = newEntry({ idempotencyKey: keyOf(first) })
      await journal.open([entry], lease)
      const signed = next(entry, { state: 'SIGNED', attempts: [attempt(`0x${randomUUID()}`)] })
      await journal.write([signed], lease)
      at.clock.offsetMs = 100_000_000
      await at.deliveries.sweep()
      expect(changes).to.deep.equal(['lost'])
      await journal.write([next(signed, { state: 'DROPPED', updatedAt: Date.now() })], lease)
      at.clock.offsetMs = 119_000
      await at.deliveries.sweep()
      expect(changes).to.deep.equal(['lost'])
      at.clock.offsetMs = 125_000
      await at.deliveries.sweep()
      expect(changes).to.deep.equal(['lost', 'uncollected'])
      expect(await request(at).answer).not.to.equal(first)
    })

    it('are another after that time also where the machine’s clock was set back meanwhile', async () => {
      const at = server()
      const first = await answered(at, false)
      const journal = sqlJournal(store)
      const entry = newEntry({ idempotencyKey: keyOf(first) })
      await journal.open([entry], lease)
      const signed = next(entry, { state: 'SIGNED', attempts: [attempt(`0x${randomUUID()}`)] })
      await journal.write([signed], lease)
      await journal.write([next(signed, { state: 'DROPPED', updatedAt: Date.now() })], lease)
      at.clock.offsetMs = -3_600_000
      await at.deliveries.sweep()
      // It counts as lost at a time that is ahead of the clock now: by no more than its connection may be silent.
      at.clock.passedMs = 400_000
      await at.deliveries.sweep()
      expect(changes).to.deep.equal(['lost'])
      at.clock.passedMs = 420_000
      await at.deliveries.sweep()
      expect(changes).to.deep.equal(['lost', 'uncollected'])
      expect(await request(at).answer).not.to.equal(first)
    })

    it('are the same though the store could not be told that the answer was lost', async () => {
      let isFailing = false
      const writeOnce: Store['writeOnce'] = async (statement) => {
        if (isFailing) throw new StoreUnavailable('the disk is full')
        return store.writeOnce(statement)
      }
      const at = server(Object.assign(Object.create(store), { writeOnce }))
      const { answer, end } = request(at)
      const first = await answer
      isFailing = true
      end(false)
      await until('it is lost', async () => changes.includes('lost'))
      isFailing = false
      expect(await request(at).answer).to.equal(first)
    })
  })
})
