import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Store } from '../../../core/store/store.ts'
import type { Entry } from '../../../core/transactions/entry.ts'
import { entryRow, hashRows } from '../../../core/transactions/journal/entry-rows.ts'
import { programArgs } from '../../program.ts'
import { onBothStores, type StorePlace } from '../../store/stores.ts'
import { newEntry, next, queueOf, signed } from '../journal/entries.ts'
import { archiveFolder, archiveOn } from './archive-site.ts'

const count = 400

/** Runs a server that archives, and kills it some time after it said a word. */
async function killedAfter({ options }: StorePlace, folder: string, name: string, word: string, ms: number, stops: boolean) {
  const program = await programArgs(new URL('archiving-child.ts', import.meta.url))
  const args = [...program, name, folder, stops ? 'stop' : '', options.dataDir, options.url ?? '']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'exit')
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  createInterface({ input: child.stdout }).on('line', (said) => {
    if (said === word || said === 'done') void sleep(ms).then(() => child.kill('SIGKILL'))
  })
  await exited
  expect(errors).to.equal('')
}

/** The rows of transactions that ended, written at once. */
async function journalEnded(store: Store): Promise<readonly Entry[]> {
  const entries = Array.from({ length: count }, (_, nonce) => {
    const sent = signed(newEntry({ nonce, sequence: nonce }))
    return next(sent, {
      state: 'CONFIRMED',
      landed: { id: sent.attempts[0]?.id ?? '', ok: true, blockNumber: 7, receipt: { logs: ['all of it'] } },
    })
  })
  await store.write(async (tx) => {
    const rows = entries.map((each) => ({ ...entryRow(each, queueOf(each.address)), ended_at: 0 }))
    await tx.insertInto('entries').values(rows).execute()
    await tx.insertInto('hashes').values(hashRows(entries)).execute()
  })
  return entries
}

describe('a server that is killed while it archives', function () {
  this.timeout(300_000)

  onBothStores((place) => {
    it('loses nothing: each transaction is in the journal or in a line, and has its outcome', async () => {
      const { folder, remove } = await archiveFolder()
      try {
        const before = await place().open()
        const entries = await journalEnded(before)
        const made = archiveOn(before, folder)
        await made.passDays(91)
        await made.stop()
        await before.close()

        await killedAfter(place(), folder, 'a', 'written', 0, true)
        await killedAfter(place(), folder, 'b', 'ready', Math.random() * 150, false)
        await killedAfter(place(), folder, 'c', 'written', Math.random() * 60, false)

        const site = archiveOn(await place().open(), folder, { serverId: 'd' })
        const check = async () => {
          const journaled = new Set(await site.keys())
          const lines = new Set((await site.archived()).map(({ id }) => id))
          for (const { key, attempts } of entries) {
            expect(journaled.has(key) || lines.has(key), key).to.equal(true)
            const found = await site.journal.find('ethereum', 'local', attempts[0]?.id ?? '')
            expect(found, key).to.include({ key, state: 'CONFIRMED' })
          }
          return { journaled, lines }
        }
        await check()
        await site.archiver.run()
        const { journaled, lines } = await check()
        expect([journaled.size, lines.size]).to.deep.equal([1, count - 1])
        await site.stop()
      } finally {
        await remove()
      }
    })
  })
})
