import { randomBytes } from 'node:crypto'
import { sql, type ExpressionBuilder } from 'kysely'
import type { Store } from '../../store/store.ts'
import type { Tables } from '../../store/tables.ts'
import type { KeyClaim } from '../../transactions/journal/journal.ts'
import { serverLives } from '../../transactions/leases/server-lives.ts'

export type RequestKey = Omit<KeyClaim, 'claim'>

export interface Answer {
  status: number
  body: string
}

/** What stands under a key. */
export interface KeptRequest {
  fingerprint: string
  /** Absent while its call is under way. */
  answer?: Answer
}

/** A hold on a key, and what its request is called: the same when it is repeated, another for another one or once the key was forgotten. */
export interface Claimed {
  claim: number
  tag: string
}

/** Nobody's: its call ended and left nothing behind. */
const nobody = ''
/** Deleted in one go: an embedded database does nothing else meanwhile. */
const batch = 500

/** The keys that requests came with, in the store. @throws StoreUnavailable */
export function keptRequests(store: Store, serverId: string, nowMs: () => number) {
  async function find(key: RequestKey): Promise<KeptRequest | undefined> {
    const row = await store.read((db) =>
      db.selectFrom('requests').select(['fingerprint', 'server', 'status', 'body']).where(isOf(key)).executeTakeFirst(),
    )
    if (!row) return undefined
    const { fingerprint, server, status, body } = row
    if (status !== null && body !== null) return { fingerprint, answer: { status, body } }
    return server === nobody ? undefined : { fingerprint }
  }

  return {
    /**
     * Our claim where the key is new, was given up, or its call died before anything was signed; else what stands there.
     * No call with this key may be running in this process.
     */
    async claim(
      key: RequestKey,
      { fingerprint, requestId }: { fingerprint: string; requestId: string },
    ): Promise<Claimed | KeptRequest | undefined> {
      const tag = randomBytes(16).toString('hex')
      const row = { ...pick(key), fingerprint, claim: 1, server: serverId, request_id: requestId, created_at: nowMs() }
      const claimed = await store.writeOnce((db) =>
        db
          .insertInto('requests')
          .values({ ...row, tag, status: null, body: null })
          .onConflict((conflict) =>
            conflict
              .columns(['client', 'path', 'key'])
              .doUpdateSet({
                ...row,
                // It rises even where the key was given up: whoever had it before must never match again.
                claim: sql<number>`requests.claim + 1`,
                tag: sql<string>`case when requests.fingerprint = ${fingerprint} and requests.tag <> '' then requests.tag else ${tag} end`,
              })
              .where('requests.status', 'is', null)
              .where(
                sql<boolean>`(requests.server = ${nobody} or (requests.fingerprint = ${fingerprint}
                  and (requests.server = ${serverId} or not ${serverLives(store, sql`requests.server`)})))`,
              ),
          )
          .returning(['claim', 'tag'])
          .executeTakeFirst(),
      )
      return claimed ?? find(key)
    },
    find,
    /**
     * The answer of a call that was not journaled with anything signed. Gives what stands under the key then: another's, where that has it
     * by now.
     */
    async keep(claim: KeyClaim, { status, body }: Answer): Promise<KeptRequest | undefined> {
      const [kept] = await store.writeOnce((db) =>
        db
          .updateTable('requests')
          .set({ status, body })
          .where(isOf(claim))
          .where('claim', '=', claim.claim)
          .where('status', 'is', null)
          .returning('fingerprint')
          .execute(),
      )
      return kept ? { ...kept, answer: { status, body } } : find(claim)
    },
    /**
     * For a call that has failed: the key is free again, unless it has an answer all the same. Gives what stands there then.
     * @param claim without its number: whatever this server has claimed of it
     */
    async release(claim: RequestKey & Partial<KeyClaim>): Promise<KeptRequest | undefined> {
      await store.writeOnce((db) => {
        const ours = db.updateTable('requests').set({ server: nobody }).where(isOf(claim)).where('server', '=', serverId)
        const open = ours.where('status', 'is', null)
        return (claim.claim === undefined ? open : open.where('claim', '=', claim.claim)).execute()
      })
      return find(claim)
    },
    /** Forgets keys of long ago; whether there may be more of them. */
    forget: (beforeMs: number) =>
      store.writeOnce(async (db) => {
        const { numAffectedRows = 0n } = await sql`
          delete from requests where (client, path, "key") in
            (select client, path, "key" from requests where created_at < ${beforeMs} limit ${batch})`.execute(db)
        return numAffectedRows === BigInt(batch)
      }),
  }
}

const pick = ({ client, path, key }: RequestKey) => ({ client, path, key })
const isOf = (key: RequestKey) => (where: ExpressionBuilder<Tables, 'requests'>) => where.and(pick(key))
