// What other projects' own packages answer, as judges of ours. They are installed in a folder of their own, which nothing of the project imports.
import { existsSync } from 'node:fs'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

const folder = new URL('../tools/oracles/', import.meta.url)

/** How to have them. */
export const oraclesInstall = 'npm ci --prefix tools/oracles'

export const hasOracle = (packageName: string): boolean => existsSync(new URL(`node_modules/${packageName}/package.json`, folder))

/**
 * @param file of a worker in the folder, which answers one message
 * @throws AbortError after `ms`: some amounts keep a package busy for ever
 */
export async function askOracle<Answer>(file: string, message: unknown, ms: number): Promise<Answer> {
  const worker = new Worker(new URL(file, folder))
  try {
    worker.postMessage(message)
    const [answer]: unknown[] = await once(worker, 'message', { signal: AbortSignal.timeout(ms) })
    return answer as Answer
  } finally {
    await worker.terminate()
  }
}
