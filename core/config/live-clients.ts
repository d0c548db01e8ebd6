// What conf/clients.yml says while the server runs: a change holds a few seconds after the file was saved, and each is logged with the old value and the
// new one. A file that is wrong changes nothing.
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { isObject } from '../base/json.ts'
import { readClients, type Client, type UnlistedClients } from './clients.ts'
import { describeProblem, type ConfigProblem } from './problems.ts'
import type { Environment, Section } from './tree.ts'
import { readYaml } from './yaml.ts'

export interface ClientsFile {
  readonly clients: readonly Client[]
  readonly unlisted: UnlistedClients
  /** With secrets masked. */
  readonly shown: Section
}

export interface LiveClients extends Pick<ClientsFile, 'unlisted'> {
  readonly list: readonly Client[]
  /** Whether the file is wrong now: what it said before holds, and of a wrong one at the start what is right of it. */
  isWrong(): boolean
  /** Called after each change of the file. */
  onChange(listener: (changes: readonly ClientChange[]) => void): void
  /** Looks whether the file has changed. Runs by itself every second. Never rejects. */
  look(): Promise<void>
  stop(): void
}

interface LiveClientsOptions {
  confDir: string
  /** As the server was started with. */
  first: ClientsFile
  /** The start has said so, and what it closed stays closed. */
  wasWrong?: boolean
  /** Reads the file anew. */
  read(): ClientsFile | { readonly problems: readonly ConfigProblem[] }
  /** What the server makes of the entries. */
  prepare?(clients: readonly Client[]): readonly Client[]
  log: { warn(fields: object, message: string): void; error(fields: object, message: string): void }
  steadyMs?: () => number
}

const lookMs = 1_000
/** How often a file that is wrong is said to be so. */
const repeatMs = 60_000
export const clientsFileName = 'clients.yml'

export function createLiveClients({
  confDir,
  first,
  wasWrong = false,
  read,
  prepare = (clients) => clients,
  log,
  steadyMs = () => performance.now(),
}: LiveClientsOptions): LiveClients {
  const listeners: ((changes: readonly ClientChange[]) => void)[] = []
  const file = path.join(path.basename(confDir), clientsFileName)
  let current = first
  let list = prepare(first.clients)
  /** Of the file as it was read last, and as it was seen last: a file that is just being written is not read. */
  let known = { read: '', seen: '' }
  let wrong: { readonly problems: readonly string[]; saidAtMs: number } | undefined = wasWrong
    ? { problems: [], saidAtMs: Infinity }
    : undefined
  let isFirst = true
  const timer = setInterval(() => void look(), lookMs).unref()

  async function look(): Promise<void> {
    const { mark, owner } = await markOf(path.join(confDir, clientsFileName))
    const isStill = mark === known.seen
    known = { ...known, seen: mark }
    if (isStill && mark !== known.read) {
      known = { ...known, read: mark }
      takeUp(owner)
    } else if (wrong && steadyMs() - wrong.saidAtMs > repeatMs) sayWrong(wrong.problems)
  }

  function takeUp(owner: number | undefined): void {
    const found = readNow()
    const wasFirst = isFirst
    isFirst = false
    if ('problems' in found) {
      if (!(wasFirst && wasWrong)) sayWrong(found.problems.map(describeProblem))
      return
    }
    if (wrong) log.warn({ file }, `${file} is in order again`)
    wrong = undefined
    const changes = changesOf(current, found)
    current = found
    if (changes.length === 0) return
    list = prepare(found.clients)
    for (const { client, key, before, now } of changes)
      log.warn({ file, owner, client, key, before, now }, `${key} of ${client} changed by ${file}`)
    for (const listener of listeners) listener(changes)
  }

  function readNow(): ReturnType<typeof read> {
    try {
      if (current.clients.length > 0 && known.read === absent)
        return { problems: [{ file, path: '', problem: 'is not there any more', remedy: 'Put it back.' }] }
      return read()
    } catch (error) {
      return { problems: [{ file, path: '', problem: error instanceof Error ? error.message : 'cannot be read', remedy: 'Correct it.' }] }
    }
  }

  function sayWrong(problems: readonly string[]): void {
    wrong = { problems, saidAtMs: steadyMs() }
    log.error({ file, problems }, `${file} is wrong: nothing of it holds, and all clients stay as they were before it was changed`)
  }

  return {
    get list() {
      return list
    },
    get unlisted() {
      return current.unlisted
    },
    isWrong: () => wrong !== undefined,
    onChange: (listener) => void listeners.push(listener),
    look: () => look(),
    stop: () => clearInterval(timer),
  }
}

/** The file as it is now: every entry has to be right. */
export function readClientsFile(confDir: string, env: Environment = process.env): ReturnType<LiveClientsOptions['read']> {
  const problems: ConfigProblem[] = []
  const file = path.join(path.basename(confDir), clientsFileName)
  const yaml = readYaml(path.join(confDir, clientsFileName), file, problems, true)
  const found = readClients(yaml, file, env, problems)
  const all = [...problems, ...(found?.closed ?? [])]
  return found && all.length === 0 ? found : { problems: all }
}

const absent = 'absent'

/** What differs once the file was written, and who owns it. */
async function markOf(file: string): Promise<{ mark: string; owner?: number }> {
  try {
    const { ino, size, mtimeMs, ctimeMs, uid } = await stat(file)
    return { mark: `${ino} ${size} ${mtimeMs} ${ctimeMs}`, owner: uid }
  } catch (error) {
    return { mark: isObject(error) && error['code'] === 'ENOENT' ? absent : 'unreadable' }
  }
}

export interface ClientChange {
  /** Its id; `unlisted` for certificates that are not listed. */
  readonly client: string
  /** Such as `limits.maxFee`. */
  readonly key: string
  /** As they are shown. Undefined: it was not there, or is not any more. */
  readonly before: unknown
  readonly now: unknown
}

/** One for each key of each client. */
export function changesOf(before: ClientsFile, now: ClientsFile): readonly ClientChange[] {
  const [old, next] = [entriesOf(before), entriesOf(now)]
  return [...new Set([...old.keys(), ...next.keys()])].flatMap((client) => {
    const [from, to] = [old.get(client), next.get(client)]
    const keys = [...new Set([...(from?.values.keys() ?? []), ...(to?.values.keys() ?? [])])]
    return keys
      .filter((key) => JSON.stringify(from?.values.get(key)) !== JSON.stringify(to?.values.get(key)))
      .map((key) => ({ client, key, before: from?.shown.get(key), now: to?.shown.get(key) }))
  })
}

/** The values of an entry by their keys, as they are and as they are shown. */
interface FlatEntry {
  readonly values: ReadonlyMap<string, unknown>
  readonly shown: ReadonlyMap<string, unknown>
}

function entriesOf({ clients, unlisted, shown }: ClientsFile): ReadonlyMap<string, FlatEntry> {
  const shownClients = isObject(shown['clients']) ? shown['clients'] : {}
  const shownOf = (name: string) => flat(Object.hasOwn(shownClients, name) ? shownClients[name] : undefined)
  const entries = clients.map(({ name, fingerprint: _fingerprint, sendTo, ...rest }): [string, FlatEntry] => [
    name,
    { values: flat({ ...rest, ...(sendTo && { sendTo: Object.fromEntries(sendTo) }) }), shown: shownOf(name) },
  ])
  return new Map([...entries, ['unlisted', { values: flat(unlisted), shown: flat(shown['unlisted']) }]])
}

function flat(value: unknown, at = ''): Map<string, unknown> {
  if (!isObject(value)) return value === undefined || at === '' ? new Map() : new Map([[at, value]])
  return new Map(Object.entries(value).flatMap(([key, each]) => [...flat(each, at === '' ? key : `${at}.${key}`)]))
}
