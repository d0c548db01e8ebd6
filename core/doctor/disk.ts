import { constants } from 'node:fs'
import { access, mkdir, statfs } from 'node:fs/promises'
import type { Settings } from '../config/settings.ts'
import type { Finding } from './finding.ts'

const enoughBytes = 500_000_000
const part = 'disk'

export async function examineDisk({ data: { dir } }: Settings): Promise<Finding[]> {
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 })
    await access(dir, constants.R_OK | constants.W_OK)
    const { bavail, bsize } = await statfs(dir)
    const free = bavail * bsize
    const shown = `${(free / 1e9).toFixed(1)} GB free in ${dir}`
    if (free < enoughBytes)
      return [{ part, state: 'warn', what: `Only ${shown}.`, cure: 'Make room, or move data.dir (conf/server.yml) to a larger disk.' }]
    return [{ part, state: 'good', what: `${shown}.` }]
  } catch (error) {
    return [
      {
        part,
        state: 'bad',
        what: `${dir} cannot be written: ${error instanceof Error ? error.message : String(error)}.`,
        cure: 'Make it belong to the user that Sluice runs as, or correct data.dir in conf/server.yml.',
      },
    ]
  }
}
