import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'

const outside = new URL('../../tools/package/outside.mjs', import.meta.url).href

describe('what runs beside the tests of the package', () => {
  it('ends with them, and all that it has started', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'sluice-beside-'))
    const file = path.join(folder, 'pid')
    // As npx does: it waits for what it has started, and passes no signal on.
    const script = 'sleep 600 & echo $! > "$0.new"; mv "$0.new" "$0"; wait'
    const code = `
      import { existsSync } from 'node:fs'
      import { removePlace, runBeside } from ${JSON.stringify(outside)}
      const file = ${JSON.stringify(file)}
      void runBeside('sh', ['-c', ${JSON.stringify(script)}, file], { cwd: ${JSON.stringify(folder)} })
      while (!existsSync(file)) await new Promise((done) => setTimeout(done, 10))
      removePlace()
      process.exit(0)`
    let pid = ''
    try {
      await promisify(execFile)(process.execPath, ['--import=tsx', '--input-type=module', '-e', code])
      pid = (await readFile(file, 'utf8')).trim()
      // Z: it has ended, and nobody has asked how.
      const isOver = () => /^(Z.*)?$/.test(spawnSync('ps', ['-o', 'stat=', '-p', pid], { encoding: 'utf8' }).stdout.trim())
      for (let tries = 0; tries < 100 && !isOver(); tries += 1) await new Promise((done) => setTimeout(done, 20))
      expect(isOver()).to.equal(true)
    } finally {
      if (pid !== '') spawnSync('kill', ['-9', pid])
      await rm(folder, { recursive: true, force: true })
    }
  })
})
