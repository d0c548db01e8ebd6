import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** A folder for the tests of the surrounding `describe`, removed after them. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-wallet-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
