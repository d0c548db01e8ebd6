import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { hookUpdate } from '../../core/plugins/code/compile.ts'

describe('compiling the files of a plugin', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-compile-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const compiledAs = async (text: string) => {
    writeFileSync(path.join(folder, 'index.ts'), text)
    return Object.values((await hookUpdate([folder])).compiled)
  }

  it('compiles a file again that was corrected while the server runs', async () => {
    expect(await compiledAs('export const one: number = ;')).to.deep.equal([{ error: 'index.ts:1:28: Unexpected ";"' }])
    const [now] = await compiledAs('export const two: number = 2')
    expect(now && 'code' in now ? now.code : '').to.match(/^const two = 2/)
  })
})
