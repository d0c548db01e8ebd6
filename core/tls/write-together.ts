import { mkdir, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { hasCode } from './has-code.ts'

const beingMade = '.staged-incomplete'
const complete = '.staged'

/**
 * Replaces several files of a folder as one: killed at any moment, either none of them is written, or all are as soon as
 * `finishWriting` runs again. Call it under the folder's lock. Files named `*_key.pem` are readable by their owner only.
 */
export async function writeTogether(folder: string, contents: Readonly<Record<string, string>>): Promise<void> {
  await finishWriting(folder)
  const making = path.join(folder, beingMade)
  await mkdir(making, { mode: 0o700 })
  for (const [name, content] of Object.entries(contents)) {
    await writeFile(path.join(making, name), content, { mode: name.endsWith('_key.pem') ? 0o600 : 0o644, flush: true })
  }
  // From this rename on, the new files count.
  await rename(making, path.join(folder, complete))
  await finishWriting(folder)
}

/** Carries on what a killed `writeTogether` left. */
export async function finishWriting(folder: string): Promise<void> {
  await rm(path.join(folder, beingMade), { recursive: true, force: true })
  const staged = path.join(folder, complete)
  for (const name of await namesIn(staged)) await rename(path.join(staged, name), path.join(folder, name))
  await rmdir(staged).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error
  })
}

/** Whether a killed `writeTogether` waits to be carried on. */
export async function isUnfinished(folder: string): Promise<boolean> {
  return (await namesIn(folder)).includes(complete)
}

/** The names in a folder; none when it does not exist. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}
