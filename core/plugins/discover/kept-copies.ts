// Copies of plugins that nobody runs any more are deleted.
import { readdirSync, statSync } from 'node:fs'
import { rm, rmdir } from 'node:fs/promises'
import path from 'node:path'
import type { Logger } from 'pino'
import { keptFolder, sumOfKept } from './plugin-files.ts'

interface KeptCopy {
  readonly name: string
  readonly sha256: string
  readonly folder: string
}

interface KeptCopiesOptions {
  readonly dataDir: string
  /** Whether somebody runs it, or it is allowed. */
  isNeeded(copy: KeptCopy): boolean
  readonly log: Pick<Logger, 'warn'>
}

/** `sluice plugin allow` asks a person between the copy and the record. */
const askingMs = 3_600_000

export interface KeptCopies {
  /** The copy that a plugin ran from, unless it is needed. */
  drop(plugin: { readonly name: string; readonly folder: string; readonly sha256?: string }): Promise<void>
  /** Those that nobody needs. */
  dropUnused(): Promise<void>
}

export function createKeptCopies({ dataDir, isNeeded, log }: KeptCopiesOptions): KeptCopies {
  async function dropCopy(copy: KeptCopy): Promise<void> {
    const { name, sha256, folder } = copy
    if (folder !== keptFolder(dataDir, sha256, path.basename(folder)) || isNeeded(copy)) return
    try {
      await rm(folder, { recursive: true, force: true })
      await rmdir(path.dirname(folder))
    } catch (error) {
      log.warn({ plugin: name, folder, err: error }, 'copy of a plugin that nobody runs could not be removed')
    }
  }

  return {
    async drop({ name, folder, sha256 }) {
      // One that was only tried ran from a copy, too.
      const copied = sha256 ?? sumOfKept(dataDir, folder)
      if (copied !== undefined) await dropCopy({ name, sha256: copied, folder })
    },
    async dropUnused() {
      const all = path.join(dataDir, 'plugins')
      for (const sha256 of foldersIn(all).filter((each) => /^[0-9a-f]{64}$/.test(each)))
        for (const name of foldersIn(path.join(all, sha256))) {
          const folder = keptFolder(dataDir, sha256, name)
          // One that `sluice plugin allow` makes now has no record yet.
          if (statSync(path.dirname(folder)).mtimeMs < Date.now() - askingMs) await dropCopy({ name, sha256, folder })
        }
    },
  }
}

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
