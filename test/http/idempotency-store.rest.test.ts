import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { SluiceError } from '../../core/api/index.ts'
import { createIdempotency, type Idempotency } from '../../core/transactions/idempotency.ts'
import { pack } from '../../core/store/compact.ts'
import { openStore } from '../../core/store/open-store.ts'
import { StoreUnavailable, type Store } from '../../core/store/store.ts'
import type { KeyClaim } from '../../core/transactions/journal/journal.ts'
import { sqlJournal } from '../../core/transactions/journal/sql-journal.ts'
import { giveLease, newEntry } from '../transactions/journal/entries.ts'
import { isPostgresInstalled, startPostgres, type TestPostgres } from '../store/postgres.ts'
import { gate, silent, until } from '../transactions/site.ts'

let count = 0
const newKey = () => ({ client: 'client', path: '/amm/trade', key: `key-${(count += 1)}` })
const refused = new SluiceError('TRADE_FAILED', 'It was refused.')

for (const kind of ['embedded', 'postgres'] as const) {
  describe(`Idempotency-Keys in the store (${kind})`, () => {
    let postgres: TestPostgres | undefined
    let home: string
    let store: Store
    const opened: Idempotency[] = []
    const lives: NodeJS.Timeout[] = []

    before(async function () {
      if (kind === 'postgres' && !isPostgresInstalled) this.skip()
      postgres = kind === 'postgres' ? await startPostgres() : undefined
      home = await mkdtemp(path.join(tmpdir(), 'sluice-keys-'))
      store = await openStore({ dataDir: home, ...(postgres && { url: await postgres.database() }), serverName: 'test', log: silent })
    })
    after(async () => {
      for (const each of opened) each.stop()
      for (const each of lives) clearInterval(each)
      await store?.close()
      await postgres?.stop()
      if (home) await rm(home, { recursive: true, force: true })
    })

    /** A server that lives by its session, where servers have one. */
    async function server(on: Store = store): Promise<{ idempotency: Idempotency; die(): Promise<void> }> {
      const serverId = randomUUID()
      const idempotency = createIdempotency({ store: on, serverId, log: silent })
      opened.push(idempotency)
      const live = async () => {
        const row = { id: serverId, name: 'test', alive_until: Date.now() + 9_000, migration: '' }
        await store.write((tx) =>
          tx
            .insertInto('servers')
            .values(row)
            .onConflict((on) => on.column('id').doUpdateSet(row))
            .execute(),
        )
      }
      await live()
      const living = setInterval(() => void live(), 3_000)
      lives.push(living)
      return {
        idempotency,
        async die() {
          clearInterval(living)
          await store.write((tx) => tx.deleteFrom('servers').where('id', '=', serverId).execute())
        },
      }
    }
    /** Time passes that some server was seen to run. */
    async function pass(hours: number): Promise<void> {
      await store.write((tx) =>
        tx
          .updateTable('store_time')
          .set(({ eb }) => ({ elapsed: eb('elapsed', '+', hours * 3_600_000) }))
          .execute(),
      )
    }
    const isStored = async ({ key }: { key: string }) =>
      (await store.read((db) => db.selectFrom('requests').select('key').where('key', '=', key).execute())).length > 0
    const bodyOf = (body: string) => ({ answer: { status: 200, body }, isRecorded: false })
    const never = async () => {
      throw new Error('It was done twice.')
    }
    const once = (
      at: Idempotency,
      key: Omit<KeyClaim, 'claim'>,
      act: (claim: KeyClaim, tag: string) => Promise<{ answer: { status: number; body: string }; isRecorded: boolean }>,
      request: object = {},
    ) => at.once({ key, request, requestId: 'request', act })
    const nameOf = (work: Promise<unknown>) =>
      work.then(
        () => 'answered',
        (error: unknown) => (error instanceof SluiceError ? error.name : String(error)),
      )
    /** What the journal does with the signed bytes; whether it would have. */
    const journaled = (claim: KeyClaim, body: string) =>
      store.write(async (tx) => {
        const { numUpdatedRows } = await tx
          .updateTable('requests')
          .set({ status: 200, body: pack(body), ages_from: null })
          .where((is) => is.and({ client: claim.client, path: claim.path, key: claim.key, claim: claim.claim }))
          .executeTakeFirst()
        return numUpdatedRows > 0n
      })

    it('finds what is stored under the former name of a client, and stores what is new under its id', async () => {
      const [{ idempotency }, { idempotency: other }] = [await server(), await server()]
      const [stored, fresh] = [newKey(), newKey()]
      await once(idempotency, stored, async () => bodyOf('"first"'))
      const renamed = { ...stored, client: 'AA:BB' }
      const asRenamed = (at: Idempotency, key: Omit<KeyClaim, 'claim'>, act: Parameters<typeof once>[2], request: object = {}) =>
        at.once({ key, formerClient: 'client', request, requestId: 'request', act })
      for (const each of [idempotency, other]) expect((await asRenamed(each, renamed, never)).body).to.equal('"first"')
      expect(await asRenamed(idempotency, renamed, never, { amount: '2' }).catch((error: unknown) => error)).to.include({
        name: 'IDEMPOTENCY_CONFLICT',
      })

      await asRenamed(idempotency, { ...fresh, client: 'AA:BB' }, async () => bodyOf('"new"'))
      expect((await once(other, { ...fresh, client: 'AA:BB' }, never)).body).to.equal('"new"')
      expect((await once(other, fresh, async () => bodyOf('"of another client"'))).body).to.equal('"of another client"')
    })

    it('holds a repeat under the id while the first call under the former name is under way', async () => {
      const { idempotency } = await server()
      const key = newKey()
      const { pass, open } = gate()
      const first = once(idempotency, key, async () => (await pass, bodyOf('"first"')))
      const again = idempotency.once({ key: { ...key, client: 'AA:BB' }, formerClient: 'client', request: {}, requestId: 'r', act: never })
      expect(await again.catch((error: unknown) => error)).to.include({ name: 'IN_FLIGHT' })
      open()
      expect((await first).body).to.equal('"first"')
    })

    it('return the first answer again, to the byte, in a later process and on every server', async () => {
      const [first, second, key] = [await server(), await server(), newKey()]
      await once(first.idempotency, key, async () => bodyOf('{"a":1}'))
      await first.die()
      for (const { idempotency } of [first, second, await server()])
        expect(await once(idempotency, key, never)).to.deep.equal({ status: 200, body: '{"a":1}' })
    })

    it('refuse other fields, whether answered or in flight', async () => {
      const [{ idempotency }, key] = [await server(), newKey()]
      const pause = gate()
      const first = once(idempotency, key, async () => pause.pass.then(() => bodyOf('1')), { amount: '1' })
      await until('it is under way', async () => (await nameOf(once(idempotency, key, never, { amount: '2' }))) === 'IDEMPOTENCY_CONFLICT')
      pause.open()
      await first
      expect(await nameOf(once(idempotency, key, never, { amount: '2' }))).to.equal('IDEMPOTENCY_CONFLICT')
    })

    it('stay in flight while a living server works on them', async () => {
      const [first, key] = [await server(), newKey()]
      const pause = gate()
      const work = once(first.idempotency, key, async () => pause.pass.then(() => bodyOf('1')))
      await until('it is claimed', async () => (await nameOf(once(first.idempotency, key, never))) === 'IN_FLIGHT')
      if (kind === 'postgres') {
        const other = await server()
        const error = await once(other.idempotency, key, never).catch((failure: unknown) => failure)
        expect(error).to.include({ name: 'IN_FLIGHT', retryAfterSeconds: 1 })
      }
      pause.open()
      await work
    })

    it('go to another call if their server died before signing, and the dead call cannot write under them any more', async () => {
      const [first, second, key] = [await server(), await server(), newKey()]
      const pause = gate()
      let woken: boolean | undefined
      const slept = once(first.idempotency, key, async (claim) => {
        await pause.pass
        woken = await journaled(claim, 'of the dead')
        if (!woken) throw refused
        return { answer: { status: 200, body: 'of the dead' }, isRecorded: true }
      })
      await until('it is claimed', async () => (await nameOf(once(first.idempotency, key, never))) === 'IN_FLIGHT')
      await first.die()
      expect(await once(second.idempotency, key, async () => bodyOf('of the living'))).to.deep.equal({ status: 200, body: 'of the living' })
      pause.open()
      // It is the same request: its caller gets the one answer that there is.
      expect(await slept).to.deep.equal({ status: 200, body: 'of the living' })
      expect(woken).to.equal(false)
    })

    it('become free after a definite error, for other fields too, with a new claim number', async () => {
      const [{ idempotency }, key] = [await server(), newKey()]
      const claims: number[] = []
      const fails = async ({ claim }: KeyClaim) => {
        claims.push(claim)
        throw refused
      }
      expect(await nameOf(once(idempotency, key, fails))).to.equal('TRADE_FAILED')
      expect(await nameOf(once(idempotency, key, fails, { amount: '2' }))).to.equal('TRADE_FAILED')
      expect(await nameOf(once((await server()).idempotency, key, fails))).to.equal('TRADE_FAILED')
      expect(claims).to.deep.equal([1, 2, 3])
    })

    it('name a request: the same name when it is repeated, another one for another request', async () => {
      const [{ idempotency }, other, key] = [await server(), await server(), newKey()]
      const names: string[] = []
      const fails = async (_claim: KeyClaim, tag: string) => {
        names.push(tag)
        throw refused
      }
      await nameOf(once(idempotency, key, fails))
      await nameOf(once(other.idempotency, key, fails))
      await nameOf(once(idempotency, key, fails, { amount: '2' }))
      await nameOf(once(idempotency, newKey(), fails))
      await pass(26)
      const later = await server()
      await later.idempotency.age()
      expect(await isStored(key)).to.equal(false)
      await nameOf(once(later.idempotency, key, fails))
      const [first, repeated, ...others] = names
      expect(first).to.match(/^[0-9a-f]{32}$/)
      expect(repeated).to.equal(first)
      expect(new Set([first, ...others]).size).to.equal(4)
    })

    it('get their answer from the journal, however the call ended', async () => {
      const [{ idempotency }, key] = [await server(), newKey()]
      const answer = await once(idempotency, key, async (claim) => {
        await journaled(claim, 'signed')
        throw new SluiceError('TIMEOUT', 'Sending takes too long.')
      })
      expect(answer).to.deep.equal({ status: 200, body: 'signed' })
      expect(await once(idempotency, key, never)).to.deep.equal(answer)
    })

    it('have one effect and one answer for a thousand repeats on three servers', async () => {
      const servers = await Promise.all([server(), server(), server()])
      const key = newKey()
      let effects = 0
      const act = async (claim: KeyClaim) => {
        // What an overloaded store has refused had no effect, and may be done by a repeat.
        await journaled(claim, 'the effect')
        effects += 1
        return { answer: { status: 200, body: 'the effect' }, isRecorded: true }
      }
      // In an embedded store the others are dead processes.
      const alive = kind === 'embedded' ? servers.slice(0, 1) : servers
      const answers = await Promise.all(
        Array.from({ length: 999 }, (_, index) =>
          once((alive[index % alive.length] ?? servers[0]).idempotency, key, act).then(
            ({ body }) => body,
            (error: unknown) => (error instanceof SluiceError ? error.name : String(error)),
          ),
        ),
      )
      // The others say to ask again. A store may be OVERLOADED by so many at once, also for the request that acted.
      expect(['IN_FLIGHT', 'OVERLOADED', 'the effect']).to.include.members(answers)
      if (effects > 0) expect((await once(servers[0].idempotency, key, never)).body).to.equal('the effect')
      else expect((await once(servers[0].idempotency, key, act)).body).to.equal('the effect')
      expect(effects).to.be.at.most(1)
    })

    it('last a day of running servers where nothing was journaled, and are deleted some time later', async () => {
      const [{ idempotency }, answered, failed] = [await server(), newKey(), newKey()]
      await once(idempotency, answered, async () => bodyOf('1'))
      await nameOf(once(idempotency, failed, () => Promise.reject(refused)))
      await pass(24)
      await idempotency.age()
      expect(await once(idempotency, answered, never)).to.deep.equal({ status: 200, body: '1' })
      expect(await isStored(failed)).to.equal(true)
      await pass(2)
      await idempotency.age()
      expect([await isStored(answered), await isStored(failed)]).to.deep.equal([false, false])
    })

    it('last for ever if something was journaled for their request, by whichever call', async () => {
      const [{ idempotency }, second, lease] = [await server(), await server(), await giveLease(store)]
      const [signedWith, sentBefore, died, timedOut] = [newKey(), newKey(), newKey(), newKey()]
      const opens = async ({ key }: KeyClaim) => {
        await sqlJournal(store).open([newEntry({ requestId: `request-${key}` })], lease)
      }
      const onceAs = (at: Idempotency, key: Omit<KeyClaim, 'claim'>, act: Parameters<typeof once>[2]) =>
        at.once({ key, request: {}, requestId: `request-${key.key}`, act })
      await onceAs(idempotency, signedWith, async (claim) => {
        await journaled(claim, 'signed')
        return { answer: { status: 200, body: 'signed' }, isRecorded: true }
      })
      // A batch whose last part was refused: its answer is recorded alone.
      await onceAs(idempotency, sentBefore, async (claim) => opens(claim).then(() => bodyOf('some were sent')))
      await nameOf(onceAs(idempotency, timedOut, async (claim) => opens(claim).then(() => Promise.reject(refused))))
      const pause = gate()
      const slept = nameOf(onceAs(second.idempotency, died, async () => pause.pass.then(() => Promise.reject(refused))))
      await until('it is claimed', () => isStored(died))
      await second.die()
      // The call that takes over cannot know what the dead one has made.
      await nameOf(onceAs((await server()).idempotency, died, () => Promise.reject(refused)))
      pause.open()
      await slept
      await pass(24 * 365)
      await idempotency.age()
      for (const key of [signedWith, sentBefore, timedOut, died]) expect(await isStored(key), key.key).to.equal(true)
      expect(await once(idempotency, signedWith, never)).to.deep.equal({ status: 200, body: 'signed' })
      expect(await once(idempotency, sentBefore, never)).to.deep.equal({ status: 200, body: 'some were sent' })
    })

    it('cannot be claimed while the store is down, and are free when it is back', async () => {
      let isAway = true
      const failing = new StoreUnavailable('the disk is full')
      const shaky: Store = { ...store, writeOnce: (statement) => (isAway ? Promise.reject(failing) : store.writeOnce(statement)) }
      const [{ idempotency }, key] = [await server(shaky), newKey()]
      const error = await once(idempotency, key, never).catch((failure: unknown) => failure)
      expect(error).to.include({ name: 'OVERLOADED', retryAfterSeconds: 2 })
      // An earlier call, of this server or another, may have sent something.
      expect(error)
        .to.have.property('message')
        .that.contains('the disk is full')
        .and.contains('is unknown')
        .and.not.contains('Nothing was sent')
      isAway = false
      expect(await once(idempotency, key, async () => bodyOf('1'))).to.deep.equal({ status: 200, body: '1' })
    })

    it('do not stay in flight for other servers after the store failed to release them', async () => {
      let isAway = false
      const shaky: Store = {
        ...store,
        writeOnce: (statement) => (isAway ? Promise.reject(new StoreUnavailable('the database is away')) : store.writeOnce(statement)),
      }
      const [{ idempotency }, other, key] = [await server(shaky), await server(), newKey()]
      const fails = async () => {
        isAway = true
        throw refused
      }
      expect(await nameOf(once(idempotency, key, fails))).to.equal('TRADE_FAILED')
      isAway = false
      await until('the other server may do it', async () => {
        return (await nameOf(once(other.idempotency, key, async () => bodyOf('1')))) === 'answered'
      })
    })

    it('do not stay in flight for other servers if a repeat comes while the store is still down', async () => {
      const pause = gate()
      let fails = () => Promise.resolve()
      const away = new StoreUnavailable('the database is away')
      const shaky: Store = { ...store, writeOnce: async (statement) => (await fails(), store.writeOnce(statement)) }
      const [{ idempotency }, other, key] = [await server(shaky), await server(), newKey()]
      const first = once(idempotency, key, async () => {
        fails = () => Promise.reject(away)
        throw refused
      })
      expect(await nameOf(first)).to.equal('TRADE_FAILED')
      fails = () => pause.pass.then(() => Promise.reject(away))
      const repeat = nameOf(once(idempotency, key, never))
      await sleep(1_500)
      pause.open()
      expect(await repeat).to.equal('OVERLOADED')
      fails = () => Promise.resolve()
      await until('the other server may do it', async () => {
        return (await nameOf(once(other.idempotency, key, async () => bodyOf('1')))) === 'answered'
      })
    })

    it('stay in flight for a call whose server counted as dead, while the call that took over is running', async () => {
      const [first, second, key] = [await server(), await server(), newKey()]
      const [slept, began, worked] = [gate(), gate(), gate()]
      const late = once(first.idempotency, key, async () => {
        await slept.pass
        throw new SluiceError('OVERLOADED', 'Nothing was sent.')
      })
      await until('it is claimed', async () => (await nameOf(once(first.idempotency, key, never))) === 'IN_FLIGHT')
      await first.die()
      const work = once(second.idempotency, key, async () => {
        began.open()
        return worked.pass.then(() => bodyOf('1'))
      })
      await began.pass
      slept.open()
      // By then something may have been sent for the very same request.
      expect(await nameOf(late)).to.equal('IN_FLIGHT')
      worked.open()
      expect(await work).to.deep.equal({ status: 200, body: '1' })
    })

    it('return no answer that the store did not record, because a repeat must not get another one', async () => {
      let isAway = false
      const away = new StoreUnavailable('the database is away', { uncertain: true })
      const shaky: Store = { ...store, writeOnce: (statement) => (isAway ? Promise.reject(away) : store.writeOnce(statement)) }
      const [{ idempotency }, other, key] = [await server(shaky), await server(), newKey()]
      const unkept = once(idempotency, key, async () => {
        isAway = true
        return bodyOf('part of it was sent')
      })
      expect(await nameOf(unkept)).to.equal('TIMEOUT')
      isAway = false
      let answer: unknown
      await until('the other server may do it', async () => {
        answer = await once(other.idempotency, key, async () => bodyOf('all of it')).catch(() => undefined)
        return answer !== undefined
      })
      expect(await once(idempotency, key, never)).to.deep.equal(answer)
    })

    it('return the answer of the call that owns them, if nothing was journaled with their own', async () => {
      const [first, second, key] = [await server(), await server(), newKey()]
      const pause = gate()
      const slept = once(first.idempotency, key, async () => pause.pass.then(() => bodyOf('of the dead')))
      await until('it is claimed', async () => (await nameOf(once(first.idempotency, key, never))) === 'IN_FLIGHT')
      await first.die()
      const living = await once(second.idempotency, key, async () => bodyOf('of the living'))
      pause.open()
      expect(await slept).to.deep.equal(living)
    })

    it('do not stay in flight after a claim with an unknown commit', async () => {
      let isLost = false
      const shaky: Store = {
        ...store,
        async writeOnce(statement) {
          const result = await store.writeOnce(statement)
          if (!isLost) return result
          isLost = false
          throw new StoreUnavailable('the connection was lost', { uncertain: true })
        },
      }
      const [{ idempotency }, other, key] = [await server(shaky), await server(), newKey()]
      await once(idempotency, newKey(), async () => bodyOf('1'))
      isLost = true
      expect(await nameOf(once(idempotency, key, never))).to.equal('OVERLOADED')
      await until('the other server may do it', async () => {
        return (await nameOf(once(other.idempotency, key, async () => bodyOf('1')))) === 'answered'
      })
    })
  })
}
