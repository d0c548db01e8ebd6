import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Settings } from '../config/settings.ts'
import { embeddedConnection } from '../store/embedded/connection.ts'
import { embeddedFaults } from '../store/embedded/faults.ts'
import { holdStore } from '../store/embedded/hold.ts'
import { StoreError } from '../store/store-error.ts'
import type { Finding } from './finding.ts'
import { examinePostgres } from './postgres.ts'

const part = 'store'

/** Whether transactions can be kept. Nothing is made and no table is changed: that is for a start to do. */
export async function examineStore({ store: { url }, data: { dir } }: Settings): Promise<Finding[]> {
  return url === undefined ? [examineEmbedded(dir)] : examinePostgres(url)
}

function examineEmbedded(dataDir: string): Finding {
  const file = path.join(dataDir, 'sluice.db')
  if (!existsSync(file)) return { part, state: 'good', what: 'None yet: the first start makes it.' }
  try {
    const hold = holdStore(dataDir, 'sluice doctor')
    try {
      return examineFile(file)
    } finally {
      hold.release()
    }
  } catch (error) {
    const reason = embeddedFaults.of(error)?.reason
    if (error instanceof StoreError)
      return { part, state: 'good', what: 'A server runs on it; `sluice health --ready` says whether it can be written.' }
    if (reason === undefined) throw error
    return { part, state: 'bad', what: `${file} cannot be used: ${reason}.`, cure: 'docs/failures.md says what to do without it.' }
  }
}

function examineFile(file: string): Finding {
  const connection = embeddedConnection(file)
  try {
    const [result] = connection.prepare('pragma quick_check(1)').all([])
    if (JSON.stringify(result) !== '{"quick_check":"ok"}')
      return {
        part,
        state: 'bad',
        what: `${file} is damaged: ${JSON.stringify(result)}.`,
        cure: 'docs/failures.md says what to do without it.',
      }
    connection.prepare('begin immediate').run([])
    connection.prepare('rollback').run([])
    return { part, state: 'good', what: `${file} is whole and can be written.` }
  } finally {
    connection.close()
  }
}
