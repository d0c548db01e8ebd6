// Journals transactions one after another and says so of each, until it is killed.
import { openStore } from '../../core/store/open-store.ts'
import { sqlJournal } from '../../core/transactions/journal/sql-journal.ts'
import { giveKey, giveLease, queueOf, newEntry, signed } from '../transactions/journal/entries.ts'

const [round = '', dataDir = '', url] = process.argv.slice(2)
const say = (word: string, key = '') => process.stdout.write(`${word} ${key}\n`)

say('opening')
const store = await openStore({ dataDir, ...(url && { url }), serverName: 'child', log: { info: () => {}, warn: () => {} } })
const journal = sqlJournal(store)
const guard = await giveLease(store, { queue: queueOf(), fencingToken: 1 })
say('opened')
for (let count = 0; ; count += 1) {
  const key = `${round}-${String(count).padStart(6, '0')}`
  const claim = await giveKey(store, key)
  const entries = [newEntry({ key, idempotencyKey: key }), newEntry({ key: `${key}-second`, idempotencyKey: key })]
  await journal.open(entries, guard, claim)
  say('queued', key)
  await journal.write(
    entries.map((entry) => signed(entry)),
    guard,
    { claim, status: 200, body: key },
  )
  say('signed', key)
}
