// Token lists from hosts: fetched by HTTPS, and taken only with the hash that the operator gives.
import { createHash } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Dispatcher } from 'undici'
import { withDeadline } from '../base/async.ts'
import { writeWholeFile } from '../base/whole-file.ts'
import { maskUrl, maskUrls } from './mask.ts'
import type { ConfigProblem } from './problems.ts'

/** Of any list. */
export const maxTokenListBytes = 10_000_000

const timeoutMs = 15_000

interface RemoteTokenList {
  url: string
  /** Lower-case hex. */
  sha256: string
}

export interface FetchOptions {
  /** Holds the cache of fetched lists. */
  dataDir: string
  signal?: AbortSignal
  /** How to reach the host, e.g. through a proxy. */
  dispatcher?: Dispatcher
}

/**
 * The text of a list, from the cache or by HTTPS, if it has the given SHA-256. Redirects are not followed. Returns undefined after a problem,
 * which is added to `problems`.
 */
export async function fetchTokenList(
  { url, sha256 }: RemoteTokenList,
  options: FetchOptions,
  problems: ConfigProblem[],
): Promise<string | undefined> {
  const cached = join(options.dataDir, 'token-lists', `${sha256}.json`)
  const report = (problem: string, remedy: string, temporary?: true) =>
    void problems.push({ file: maskUrl(url), path: '', problem, remedy, ...(temporary ? { temporary } : {}) })

  const saved = await readFile(cached).catch(() => undefined)
  if (saved && sha256Of(saved) === sha256) return saved.toString('utf8')
  if (!url.startsWith('https://')) {
    report('is not fetched without TLS', 'Give an https:// URL.')
    return undefined
  }
  let bytes
  try {
    bytes = await withDeadline(options.signal, timeoutMs, (signal) => download(url, options.dispatcher, signal))
  } catch (error) {
    report(
      `cannot be fetched: ${reason(error)}`,
      'Try again when the host can be reached, or save the list to a file and name that in tokenLists.',
      true,
    )
    return undefined
  }
  if ('problem' in bytes) {
    report(bytes.problem, bytes.remedy)
    return undefined
  }
  if (sha256Of(bytes.body) !== sha256) {
    report(
      `has the SHA-256 ${sha256Of(bytes.body)}, not the expected one`,
      'The list has changed: review the change, then write the new hash.',
    )
    return undefined
  }
  await saveToCache(cached, bytes.body)
  return bytes.body.toString('utf8')
}

type Download = { body: Buffer } | { problem: string; remedy: string }

async function download(url: string, dispatcher: Dispatcher | undefined, signal: AbortSignal): Promise<Download> {
  const { request } = await import('undici')
  const response = await request(url, { signal, ...(dispatcher ? { dispatcher } : {}) })
  if (response.statusCode !== 200) {
    // Destroying the body emits an error, which would end the process without a listener.
    response.body.on('error', () => {}).destroy()
    const redirect = response.statusCode >= 300 && response.statusCode < 400
    if (!redirect) throw new Error(`the host answers ${response.statusCode}`)
    return {
      problem: `answers with a redirect (${response.statusCode}), which is not followed`,
      remedy: 'Give the URL of the list itself.',
    }
  }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response.body) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    // Leaving the loop closes the connection.
    if (size > maxTokenListBytes) return { problem: `is larger than ${maxTokenListBytes} bytes`, remedy: 'Give the URL of a token list.' }
    chunks.push(bytes)
  }
  return { body: Buffer.concat(chunks) }
}

/** Failures are ignored: the cache only saves the next fetch, and other parts report a disk that cannot be written. */
async function saveToCache(file: string, body: Buffer): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    .then(() => writeWholeFile(file, body))
    .catch(() => undefined)
}

function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** A refused connection has no message of its own, only a code. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return maskUrls(error.message || ('code' in error ? String(error.code) : error.name))
}
