import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { request, type Dispatcher } from 'undici'
import type { ConfigProblem } from '../problems.ts'
import { maskUrl, maskUrls } from '../mask.ts'

const maxBytes = 10_000_000
const timeoutMs = 15_000

export interface RemoteTokenList {
  url: string
  /** Lower-case hex. */
  sha256: string
}

export interface FetchOptions {
  /** Where what was fetched is kept. */
  dataDir: string
  signal?: AbortSignal
  /** How to reach the host, e.g. through a proxy. */
  dispatcher?: Dispatcher
}

/**
 * The text of a list, from the cache or by HTTPS. It is taken only when its SHA-256 is the given one; redirects are
 * not followed. Undefined when there is a problem, which is added to `problems`.
 */
export async function fetchTokenList(
  { url, sha256 }: RemoteTokenList,
  options: FetchOptions,
  problems: ConfigProblem[],
): Promise<string | undefined> {
  const cached = join(options.dataDir, 'token-lists', `${sha256}.json`)
  const report = (problem: string, cure: string, temporary?: true) =>
    void problems.push({ file: maskUrl(url), path: '', problem, cure, ...(temporary ? { temporary } : {}) })

  const kept = await readFile(cached).catch(() => undefined)
  if (kept && sha256Of(kept) === sha256) return kept.toString('utf8')
  if (!url.startsWith('https://')) {
    report('is not fetched without TLS', 'Give an https:// URL.')
    return undefined
  }
  let bytes
  try {
    bytes = await download(url, options)
  } catch (error) {
    report(
      `cannot be fetched: ${reason(error)}`,
      'Try again when the host can be reached, or save the list to a file and name that in tokenLists.',
      true,
    )
    return undefined
  }
  if ('problem' in bytes) {
    report(bytes.problem, bytes.cure)
    return undefined
  }
  if (sha256Of(bytes.body) !== sha256) {
    report(
      `has the SHA-256 ${sha256Of(bytes.body)}, not the expected one`,
      'The list was changed: read what changed, then write the new hash.',
    )
    return undefined
  }
  await keep(cached, bytes.body)
  return bytes.body.toString('utf8')
}

async function download(url: string, { dispatcher, signal }: FetchOptions): Promise<{ body: Buffer } | { problem: string; cure: string }> {
  const deadline = AbortSignal.timeout(timeoutMs)
  const response = await request(url, {
    signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    ...(dispatcher ? { dispatcher } : {}),
  })
  if (response.statusCode !== 200) {
    // Ending it is an error to the stream, which would end the process.
    response.body.on('error', () => {}).destroy()
    const redirect = response.statusCode >= 300 && response.statusCode < 400
    if (!redirect) throw new Error(`the host answers ${response.statusCode}`)
    return { problem: `answers with a redirect (${response.statusCode}), which is not followed`, cure: 'Give the URL of the list itself.' }
  }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response.body) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    // Leaving the loop ends the connection.
    if (size > maxBytes) return { problem: `is larger than ${maxBytes} bytes`, cure: 'Give the URL of a token list.' }
    chunks.push(bytes)
  }
  return { body: Buffer.concat(chunks) }
}

/** The cache only saves the next fetch: a disk that cannot be written is another's to report. */
async function keep(file: string, body: Buffer): Promise<void> {
  const temporary = `${file}.${randomUUID()}`
  await mkdir(dirname(file), { recursive: true })
    .then(() => writeFile(temporary, body))
    .then(() => rename(temporary, file))
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
