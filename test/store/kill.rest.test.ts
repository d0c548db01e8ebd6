import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { sql } from 'kysely'
import { sqlJournal } from '../../core/transactions/journal/sql-journal.ts'
import { programArgs } from '../program.ts'
import { onBothEmptyStores, type StorePlace } from './stores.ts'

/** What it said last, and how long it lives after that at most. */
const stages = [
  ['opening', 25],
  ['opened', 60],
  ['signed', 60],
] as const
const kills = Number(process.env['SLUICE_KILLS'] ?? 6)

/** Runs a writer, kills it some time after it said a word, and gives the keys that it had acknowledged. */
async function killedAfter(word: string, round: number, ms: number, { options }: StorePlace) {
  const program = await programArgs(new URL('writing-child.ts', import.meta.url))
  const args = [...program, String(round).padStart(4, '0'), options.dataDir, options.url ?? '']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const acknowledged = { queued: new Set<string>(), signed: new Set<string>() }
  const exited = once(child, 'exit')
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const lines = createInterface({ input: child.stdout })
  const ended = once(lines, 'close')
  lines.on('line', (line) => {
    const [said = '', key = ''] = line.split(' ')
    if (said === word) void sleep(ms).then(() => child.kill('SIGKILL'))
    if (said === 'queued' || said === 'signed') acknowledged[said].add(key)
  })
  await Promise.all([exited, ended])
  expect(errors).to.equal('')
  return acknowledged
}

describe('a store whose process is killed', function () {
  this.timeout(Math.max(240_000, kills * 40_000))

  onBothEmptyStores((place) => {
    it(`has everything acknowledged and nothing half-written, after ${kills} kills at random`, async () => {
      const queued = new Set<string>()
      const signed = new Set<string>()
      for (let round = 0; round < kills; round += 1) {
        // While the tables are made, while it begins to write, and in the midst of it, however slow the machine is.
        const [word, ms] = stages[Math.floor((round * stages.length) / kills)] ?? stages[0]
        const acknowledged = await killedAfter(word, round, Math.random() * ms, place())
        for (const key of acknowledged.queued) queued.add(key)
        for (const key of acknowledged.signed) signed.add(key)
      }
      expect(signed.size).to.be.greaterThan(0)

      const store = await place().open()
      const journal = sqlJournal(store)
      const entries = new Map((await journal.unfinished({ chain: 'ethereum', network: 'local' })).map((entry) => [entry.key, entry]))
      const answers = await store.read((db) => db.selectFrom('requests').select(['key', 'body']).execute())
      const hashes = await store.read((db) => db.selectFrom('hashes').select('entry_key').execute())
      const answered = new Set(answers.filter(({ body }) => body !== null).map(({ key }) => key))
      const hashed = new Set(hashes.map(({ entry_key }) => entry_key))

      for (const key of queued) expect(entries.has(key), key).to.equal(true)
      for (const key of signed) expect(entries.get(key)?.state, key).to.equal('SIGNED')
      for (const [key, { state, idempotencyKey = '' }] of entries) {
        expect(entries.get(`${idempotencyKey}-second`)?.state, key).to.equal(state)
        expect(answered.has(idempotencyKey), key).to.equal(state === 'SIGNED')
        expect(hashed.has(key), key).to.equal(state === 'SIGNED')
      }
      const states = [...entries.values()].reduce((sum, { state }) => sum + (state === 'SIGNED' ? 2 : 1), 0)
      expect(await store.read((db) => db.selectFrom('events').select('id').execute())).to.have.length(states)
      if (store.kind === 'embedded')
        expect((await store.read((db) => sql<object>`pragma integrity_check`.execute(db))).rows).to.deep.equal([{ integrity_check: 'ok' }])
    })
  })
})
