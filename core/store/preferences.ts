// What clients have set for themselves by an interface of a plugin: texts by name, over restarts and for all servers on the store.
import { badFields } from '../base/errors.ts'
import { dropOldest } from '../base/oldest.ts'
import { StoreUnavailable, type Store } from './store.ts'

export interface Preferences {
  /** @param maxAgeMs what another server has changed may be missing for so long @throws StoreUnavailable where it is not known yet */
  read(owner: PreferenceOwner, maxAgeMs: number): Promise<PreferenceTexts>
  /** The same, at once where they are known. */
  known(owner: PreferenceOwner, maxAgeMs: number): PreferenceTexts | Promise<PreferenceTexts>
  /** @throws SluiceError INCOMPLETE_PARAMS for what is too long or too many; StoreUnavailable */
  set(owner: PreferenceOwner, name: string, value: string): Promise<void>
}

/** A client, in one interface. */
export interface PreferenceOwner {
  /** The name of its plugin. */
  readonly interface: string
  /** The id of the client. */
  readonly client: string
  /** Its id before it had an entry in `conf/clients.yml`. What it has set since then counts before what it had set under that. */
  readonly formerClient?: string
}

export type PreferenceTexts = Readonly<Record<string, string>>

const [maxNameLength, maxValueLength, maxNames] = [128, 1_000, 100]
/** Owners of whom they are kept in memory. */
const maxOwners = 1_000

interface KnownTexts {
  readonly texts: PreferenceTexts
  /** By `performance.now()`. */
  readonly readAt: number
}

export function createPreferences(store: Store): Preferences {
  /** The newest at the end. */
  const known = new Map<string, KnownTexts>()
  /** Rises with each change by this server: what was read before is not kept. */
  let changes = 0

  async function readNow({ interface: name, client, formerClient = client }: PreferenceOwner): Promise<PreferenceTexts> {
    const rows = await store.read((db) =>
      db
        .selectFrom('preferences')
        .select(['client', 'name', 'value'])
        .where((eb) => eb.and({ interface: name }))
        .where('client', 'in', [client, formerClient])
        .execute(),
    )
    const [own, former] = [rows.filter((row) => row.client === client), rows.filter((row) => row.client !== client)]
    return Object.freeze(Object.fromEntries([...former, ...own].map((row) => [row.name, row.value])))
  }

  function keep(key: string, texts: PreferenceTexts, readAt: number): void {
    known.delete(key)
    known.set(key, { texts, readAt })
    dropOldest(known, maxOwners)
  }

  function knownOf(owner: PreferenceOwner, maxAgeMs: number): PreferenceTexts | Promise<PreferenceTexts> {
    const key = keyOf(owner)
    const before = known.get(key)
    // An embedded store has no other server.
    const isNew = before !== undefined && (store.kind === 'embedded' || performance.now() - before.readAt < maxAgeMs)
    return isNew ? before.texts : readAgain(owner, key, maxAgeMs > 0 ? before : undefined)
  }

  /** @param before what is given where the store is not there: what only reads needs none */
  async function readAgain(owner: PreferenceOwner, key: string, before: KnownTexts | undefined): Promise<PreferenceTexts> {
    const [readAt, changesBefore] = [performance.now(), changes]
    try {
      const texts = await readNow(owner)
      if (changes === changesBefore) keep(key, texts, readAt)
      return texts
    } catch (error) {
      if (before && error instanceof StoreUnavailable) return before.texts
      throw error
    }
  }

  return {
    known: knownOf,
    read: async (owner, maxAgeMs) => knownOf(owner, maxAgeMs),
    async set(owner, name, value) {
      requireSize(name, value)
      try {
        await store.write(async (tx) => {
          const others = await tx
            .selectFrom('preferences')
            .select((eb) => eb.fn.countAll().as('count'))
            .where((eb) => eb.and({ interface: owner.interface, client: owner.client }))
            .where('name', '!=', name)
            .executeTakeFirstOrThrow()
          if (Number(others.count) >= maxNames) throw tooMany(name)
          await tx
            .insertInto('preferences')
            .values({ interface: owner.interface, client: owner.client, name, value })
            .onConflict((conflict) => conflict.columns(['interface', 'client', 'name']).doUpdateSet({ value }))
            .execute()
        })
      } finally {
        // Also where it is not known whether it was written.
        changes += 1
        // Its texts may also be known under another name that it has.
        known.clear()
      }
    },
  }
}

/** Of owners that ask again and again. */
const keys = new WeakMap<PreferenceOwner, string>()

function keyOf(owner: PreferenceOwner): string {
  const known = keys.get(owner)
  if (known !== undefined) return known
  const key = JSON.stringify([owner.interface, owner.client, owner.formerClient])
  keys.set(owner, key)
  return key
}

function requireSize(name: string, value: string): void {
  // PostgreSQL has no text with a zero in it.
  if (name === '' || name.length > maxNameLength || name.includes('\0'))
    throw badFields([{ field: 'name', problem: `has 1 to ${maxNameLength} characters` }])
  if (value.length > maxValueLength || value.includes('\0'))
    throw badFields([{ field: name, problem: `has at most ${maxValueLength} characters` }])
}

const tooMany = (name: string) =>
  badFields([{ field: name, problem: `is one too many: a client sets at most ${maxNames} in an interface` }])
