import { createReadStream } from 'node:fs'
import { open, mkdir, readdir, type FileHandle } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { pipeline } from 'node:stream'
import { promisify } from 'node:util'
import { createGunzip, gzip } from 'node:zlib'
import { fits } from '../base/schema-check.ts'
import { parseJson } from '../base/json.ts'
import { flushFolder } from '../base/whole-file.ts'
import * as Type from 'typebox'
import { transactionKinds, transactionStates } from '../api/transactions.ts'
import { txHashOf, type Entry } from './entry.ts'

const compress = promisify(gzip)

/** Files of archived entries, by the month in which they were requested. */
export interface ArchiveFiles {
  readonly folder: string
  /** Appends entries; they are on the disk before the promise resolves. @throws the error of the file system: then nothing is in doubt */
  append(entries: readonly Entry[]): Promise<void>
}

/** A file that this process made, as long as it knows what is in it. */
interface Part {
  readonly file: string
  size: number
}

/**
 * Compressed NDJSON, `transactions-2026-08.ndjson.gz`. A process never appends to a file of another one: a process that is killed may leave
 * half a gzip member at the end of its file, and what came after it could not be read. So each makes files of its own
 * (`transactions-2026-08.2.ndjson.gz`), and several servers may share the folder.
 */
export function createArchiveFiles(folder: string): ArchiveFiles {
  const parts = new Map<string, Part>()

  async function appendTo(month: string, lines: string): Promise<void> {
    const bytes = await compress(lines)
    const known = parts.get(month)
    const { part, handle } = (known && (await reopen(known))) ?? (await create(month))
    try {
      for (let at = 0; at < bytes.length;) at += (await handle.write(bytes, at, bytes.length - at, part.size + at)).bytesWritten
      await handle.sync()
      part.size += bytes.length
      parts.set(month, part)
    } catch (error) {
      parts.delete(month)
      // A full disk: what was written of it goes, and the next attempt goes on in this file.
      const isUndone = await handle.truncate(part.size).then(
        () => true,
        () => false,
      )
      if (isUndone) parts.set(month, part)
      throw error
    } finally {
      await handle.close()
    }
  }

  /** Undefined if it was moved, or somebody else wrote to it. */
  async function reopen(part: Part): Promise<{ part: Part; handle: FileHandle } | undefined> {
    const handle = await open(part.file, 'r+').catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    })
    if (!handle) return undefined
    const { size } = await handle.stat()
    if (size === part.size) return { part, handle }
    await handle.close()
    return undefined
  }

  async function create(month: string): Promise<{ part: Part; handle: FileHandle }> {
    const made = await mkdir(folder, { recursive: true, mode: 0o700 })
    if (made !== undefined) await flushFolder(path.dirname(made))
    for (let number = 1; ; number += 1) {
      const file = path.join(folder, `transactions-${month}${number === 1 ? '' : `.${number}`}.ndjson.gz`)
      const handle = await open(file, 'wx', 0o600).catch((error: unknown) => {
        if (codeOf(error) === 'EEXIST') return undefined
        throw error
      })
      if (!handle) continue
      await flushFolder(folder)
      return { part: { file, size: 0 }, handle }
    }
  }

  return {
    folder,
    async append(entries) {
      const months = new Map<string, string>()
      for (const entry of entries) {
        const month = new Date(entry.createdAt).toISOString().slice(0, 7)
        months.set(month, `${months.get(month) ?? ''}${archiveLine(entry)}\n`)
      }
      for (const [month, lines] of months) await appendTo(month, lines)
    },
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error ? Reflect.get(error, 'code') : undefined)

/**
 * All of an entry as JSON. What `/transactions` shows has the same name here. `id` is unique: after a crash an entry may be in two lines.
 */
export function archiveLine(entry: Entry): string {
  const { key: id, state: txState, attempts, landed, sequence, ...rest } = entry
  return JSON.stringify({
    id,
    ...rest,
    txHash: txHashOf(entry) ?? null,
    txState,
    final: true,
    txBlock: landed?.blockNumber ?? -1,
    sequence,
    attempts: attempts.map(({ id: txHash, raw: _raw, ...each }) => ({ txHash, ...each })),
    ...(landed && { landed: { ...landed, id: undefined, txHash: landed.id } }),
  })
}

/** Of a month, or of all, oldest first. @throws the error of the file system */
export async function archiveFilesIn(folder: string, month?: string): Promise<readonly string[]> {
  const names = await readdir(folder)
  const ofMonth = ({ groups }: RegExpExecArray) => month === undefined || groups?.['month'] === month
  const found = names.flatMap((name) => {
    const file = /^transactions-(?<month>\d{4}-\d\d)(\.(?<part>\d+))?\.ndjson\.gz$/.exec(name)
    return file && ofMonth(file) ? [{ name, month: file.groups?.['month'] ?? '', part: Number(file.groups?.['part'] ?? 1) }] : []
  })
  const sorted = found.toSorted((a, b) => (a.month === b.month ? a.part - b.part : a.month < b.month ? -1 : 1))
  return sorted.map(({ name }) => path.join(folder, name))
}

/** A line of a file; undefined where it is none of an entry. */
export type ArchivedEntry = Entry | undefined

/**
 * The entries of a file, of this version or an earlier one. Of one whose writer was killed the end is missing: what is before it comes all the same.
 * @throws the error of the file system, or of zlib at such an end
 */
export async function* readArchiveFile(file: string): AsyncGenerator<ArchivedEntry, void> {
  // An error of either ends the reading with it.
  const text = pipeline(createReadStream(file), createGunzip(), () => {})
  const lines = createInterface({ input: text, crlfDelay: Infinity })
  let failure: unknown
  text.once('error', (error: unknown) => {
    failure = error
    lines.close()
  })
  for await (const line of lines) yield readArchiveLine(line)
  if (failure !== undefined) throw failure
}

/** What every version has written: the rest may be absent. */
const Line = Type.Object({
  id: Type.String({ pattern: '^[0-9a-z]{17}$' }),
  chain: Type.String(),
  network: Type.String(),
  address: Type.String(),
  client: Type.String(),
  kind: Type.Union(transactionKinds.map((each) => Type.Literal(each))),
  requestId: Type.String(),
  txState: Type.Union(transactionStates.map((each) => Type.Literal(each))),
  nonce: Type.Number(),
  createdAt: Type.Number(),
  updatedAt: Type.Number(),
  attempts: Type.Array(Type.Object({ txHash: Type.String(), signedAt: Type.Number(), sends: Type.Number() })),
  landed: Type.Optional(Type.Object({ txHash: Type.String(), ok: Type.Boolean(), blockNumber: Type.Number() })),
})

export function readArchiveLine(text: string): ArchivedEntry {
  const line = parseJson(text)
  if (!fits(Line, line)) return undefined
  const { id: key, txState: state, attempts, landed, ...rest } = line
  const entry = {
    ...rest,
    key,
    state,
    attempts: attempts.map(({ txHash: id, ...each }) => ({ ...each, id, raw: new Uint8Array() })),
    ...(landed && { landed: { ...landed, id: landed.txHash } }),
    archived: true,
  }
  // Sluice wrote it.
  return entry as unknown as Entry
}
