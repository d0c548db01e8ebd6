// The signer's count on the disk: a log of what was signed, and beside it how long the log is. `count-writer.ts` goes on with it.
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import * as Type from 'typebox'
import type { Static } from 'typebox'
import { fits } from '../../base/schema-check.ts'
import type { FolderLock } from '../../base/folder-lock.ts'
import { writeWholeFile } from '../../base/whole-file.ts'
import { command } from '../../base/layout.ts'
import type { Charge, CountedCharge } from './counts.ts'
import type { NotedTime } from './clock.ts'

/** In the data folder. */
export const countFolder = (dataDir: string): string => path.join(dataDir, 'signer-count')
export const logFile = (folder: string): string => path.join(folder, 'log')
export const headFile = (folder: string): string => path.join(folder, 'head')

/** The count is missing, older than it was or damaged, or cannot be written: nothing is signed by it until an operator has mended that. */
export class CountError extends Error {
  override readonly name: string = 'CountError'
}

/** What was counted is lost. */
export const lost = (problem: string): CountError =>
  new CountError(
    `the signer's count of what it signed ${problem}: an operator looks at it, stops the server (or the signer service), begins a new count by "${command} limits reset-count" and starts it again`,
  )

/** What was counted is there, or somebody else has it. */
export const unusable = (problem: string): CountError =>
  new CountError(
    `the signer's count of what it signed ${problem}: an operator looks at it, and restarts the server (or the signer service)`,
  )

/** @throws CountError where another signer goes by this count */
export async function lockCount(dataDir: string): Promise<FolderLock> {
  const folder = countFolder(dataDir)
  const { HeldFolderError, lockFolder } = await import('../../base/folder-lock.ts')
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return lockFolder(folder, 'the signer')
  } catch (error) {
    throw unusable(error instanceof HeldFolderError ? `is in use by ${error.holder}` : `cannot be locked (${folder})`)
  }
}

const timeFields = { ms: Type.Number(), steadyMs: Type.Number(), boot: Type.Optional(Type.String()) }
const time = Type.Object(timeFields)
const header = Type.Object({
  count: Type.String(),
  version: Type.Literal(1),
  /** So many lines were written before this file was: the next ones of the log count on from there. */
  generation: Type.Integer({ minimum: 0 }),
  /** So many lines of this file were counted before. */
  kept: Type.Integer({ minimum: 0 }),
  /** When they were. */
  last: Type.Optional(time),
})
const line = Type.Object({
  ...timeFields,
  wallet: Type.String(),
  chain: Type.String(),
  nonce: Type.Optional(Type.String()),
  amounts: Type.Record(Type.String(), Type.String({ pattern: '^[0-9]+$' })),
})
type Line = Static<typeof line>
const head = Type.Object({ count: Type.String(), generation: Type.Integer({ minimum: 0 }) })
type Head = Static<typeof head>

const hashLength = 32
const sumOf = (before: string, text: string): string => createHash('sha256').update(before).update(text).digest('hex').slice(0, hashLength)

/** @returns the lines, each with a checksum over itself and all before it */
export function chained(texts: readonly string[], before: string): { readonly text: string; readonly sum: string } {
  let sum = before
  const lines = texts.map((text) => {
    sum = sumOf(sum, text)
    return `${sum} ${text}\n`
  })
  return { text: lines.join(''), sum }
}

export const textOf = ({ wallet, chain, nonce, amounts }: Charge, { ms, steadyMs, boot }: NotedTime): string =>
  JSON.stringify({
    ms,
    steadyMs,
    ...(boot !== undefined && { boot }),
    wallet,
    chain,
    ...(nonce !== undefined && { nonce }),
    amounts: Object.fromEntries([...amounts].map(([what, amountRaw]) => [what, amountRaw.toString()])),
  } satisfies Line)

interface ReadLog {
  readonly count: string
  readonly generation: number
  readonly charges: readonly CountedCharge[]
  readonly last: NotedTime | undefined
  readonly sum: string
  readonly lines: number
  /** Of the whole lines. A line that was cut off as it was written is not counted: its signature never left. */
  readonly bytes: number
}

/** @throws CountError */
export function readLog(folder: string): ReadLog {
  const file = logFile(folder)
  if (!existsSync(file)) throw lost(`is missing (${file})`)
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch {
    throw unusable(`cannot be read (${file})`)
  }
  const whole = bytes.subarray(0, bytes.lastIndexOf(10) + 1)
  const damaged = lost(`is damaged (${file})`)
  let sum = ''
  const parsed = whole
    .toString('utf8')
    .split('\n')
    .slice(0, -1)
    .map((each): unknown => {
      const text = each.slice(hashLength + 1)
      sum = sumOf(sum, text)
      if (each.slice(0, hashLength) !== sum) throw damaged
      return JSON.parse(text)
    })
  const [first, ...rest] = parsed
  if (!fits(header, first)) throw damaged
  const lines = rest.map((each) => {
    if (!fits(line, each)) throw damaged
    return each
  })
  if (lines.length < first.kept) throw damaged
  const charges = lines.map(({ ms, wallet, chain, nonce, amounts }): CountedCharge => ({
    ms,
    wallet,
    chain,
    nonce,
    amounts: new Map(Object.entries(amounts).map(([what, amountRaw]) => [what, BigInt(amountRaw)])),
  }))
  return {
    count: first.count,
    generation: first.generation + lines.length - first.kept,
    charges,
    last: lines.length > first.kept ? lines.at(-1) : first.last,
    sum,
    lines: lines.length,
    bytes: whole.length,
  }
}

/** Two places, written in turns, so that one of them is whole whenever the power fails. */
export const slotBytes = 128
export const slotOf = (text: Head): Buffer => {
  const content = JSON.stringify(text)
  return Buffer.from(`${sumOf('', content)} ${content}`.padEnd(slotBytes - 1).concat('\n'))
}

/** @throws CountError */
export function readHead(folder: string): Head {
  const file = headFile(folder)
  if (!existsSync(file)) throw lost(`is missing in part (${file})`)
  const text = readFileSync(file, 'latin1')
  const heads = [0, 1].flatMap((slot): Head[] => {
    const each = text.slice(slot * slotBytes, (slot + 1) * slotBytes).trimEnd()
    const content = each.slice(hashLength + 1)
    if (content === '' || each.slice(0, hashLength) !== sumOf('', content)) return []
    const read: unknown = JSON.parse(content)
    return fits(head, read) ? [read] : []
  })
  const newest = heads.toSorted((one, other) => other.generation - one.generation)[0]
  if (!newest) throw lost(`is damaged (${file})`)
  return newest
}

/** Begins a new count, in which nothing was signed. What was there is lost. */
export async function beginCount(dataDir: string): Promise<void> {
  const folder = countFolder(dataDir)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const count = randomUUID()
  await writeLog(folder, { count, generation: 0, charges: [], last: undefined })
  const slot = slotOf({ count, generation: 0 })
  await writeWholeFile(headFile(folder), Buffer.concat([slot, slot]))
}

/** For the operator. */
export const withoutCount = (wallets: number): string =>
  `Nothing is signed for the ${wallets === 1 ? 'wallet' : `${wallets} wallets`} of conf/limits.yml: there is no count of what was signed. Begin one with the server stopped: ${command} limits reset-count.`

export const hasCount = (dataDir: string): boolean => existsSync(logFile(countFolder(dataDir)))

export async function writeLog(
  folder: string,
  { count, generation, charges, last }: Pick<ReadLog, 'count' | 'generation' | 'charges' | 'last'>,
): Promise<{ readonly sum: string; readonly bytes: number }> {
  const texts = charges.map((each) => textOf(each, { ms: each.ms, steadyMs: 0 }))
  const first = JSON.stringify({ count, version: 1, generation, kept: texts.length, ...(last && { last }) } satisfies Static<typeof header>)
  const { text, sum } = chained([first, ...texts], '')
  await writeWholeFile(logFile(folder), text)
  return { sum, bytes: Buffer.byteLength(text) }
}
