import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import path from 'node:path'
import { expect } from 'chai'
import { boundProblem, changeableFiles, isChangeableByOthers } from '../../../core/wallet/service/bound.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const uid = process.getuid?.()

describe('whether the bounds of the signer service hold', () => {
  const folder = temporaryFolder()
  const conf = path.join(folder, 'conf')
  const file = path.join(conf, 'limits.yml')
  before(() => {
    chmodSync(folder, 0o755)
    mkdirSync(conf, { mode: 0o755 })
    mkdirSync(path.join(folder, 'data'), { mode: 0o700 })
    writeFileSync(file, '', { mode: 0o644 })
  })

  it('takes a file as changeable that another user owns, or that others can write or replace', () => {
    expect(isChangeableByOthers(file, uid)).to.equal(false)
    if (uid !== 0) expect(isChangeableByOthers(file, 60_001)).to.equal(true)
    const cases: readonly [string, number][] = [
      [file, 0o664],
      [file, 0o646],
      [conf, 0o775],
      [folder, 0o757],
    ]
    for (const [each, mode] of cases) {
      const usual = each === file ? 0o644 : 0o755
      chmodSync(each, mode)
      expect(isChangeableByOthers(file, uid), `${each} ${mode.toString(8)}`).to.equal(true)
      expect(changeableFiles({ confDir: conf, data: { dir: path.join(folder, 'data') } })).to.include(file)
      chmodSync(each, usual)
    }
    // Nobody replaces what is another's in a folder such as /tmp.
    chmodSync(folder, 0o1777)
    expect(isChangeableByOthers(file, uid)).to.equal(false)
    chmodSync(folder, 0o755)
  })

  it('follows links', () => {
    const open = path.join(folder, 'open.yml')
    writeFileSync(open, '')
    chmodSync(open, 0o666)
    const link = path.join(conf, 'link.yml')
    symlinkSync('../open.yml', link)
    expect(isChangeableByOthers(link, uid)).to.equal(true)
    chmodSync(open, 0o644)
    expect(isChangeableByOthers(link, uid)).to.equal(false)
  })

  it('holds against a server of another user alone', async () => {
    const socket = path.join(folder, 'socket')
    const server = createServer().listen(socket)
    await once(server, 'listening')
    try {
      const own = uid ?? 0
      expect(boundProblem(socket, [], 0)).to.match(/process is root/)
      if (own !== 0) expect(boundProblem(socket, [], own)).to.match(/of one user/)
      expect(boundProblem(socket, [], own + 1)).to.equal(undefined)
      expect(boundProblem(socket, [file, conf], own + 1)).to.match(/can change .*limits\.yml and 1 more/)
      expect(boundProblem(path.join(folder, 'none'), [], own + 1)).to.match(/cannot be looked at/)
    } finally {
      server.close()
    }
  })
})
