import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ConfigError, describeProblem, type ConfigProblem } from '../../core/config/problems.ts'

export interface Home {
  folder: string
  confDir: string
  write(file: string, content: string | Uint8Array): Promise<string>
}

/** A temporary home for each test of a suite, removed after it. */
export function eachWithHome(): Home {
  const home: Home = {
    folder: '',
    confDir: '',
    async write(file, content) {
      const target = path.join(home.folder, file)
      await mkdir(path.dirname(target), { recursive: true })
      await writeFile(target, content)
      return target
    },
  }
  beforeEach(async () => {
    home.folder = await mkdtemp(path.join(tmpdir(), 'sluice-config-'))
    home.confDir = path.join(home.folder, 'conf')
    await mkdir(home.confDir)
  })
  afterEach(() => rm(home.folder, { recursive: true, force: true }))
  return home
}

/** What is wrong, when something is. */
export async function problemsOf(load: () => unknown): Promise<readonly ConfigProblem[]> {
  try {
    await load()
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

export async function described(load: () => unknown): Promise<string> {
  return (await problemsOf(load)).map(describeProblem).join('\n')
}
