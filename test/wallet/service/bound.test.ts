import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import path from 'node:path'
import { expect } from 'chai'
import { boundProblem, changersOf, findChangers } from '../../../core/wallet/service/bound.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const uid = process.getuid?.() ?? 0

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

  it('finds who can write a file of the signer, or put another in its place', () => {
    const { gid } = statSync(file)
    expect(changersOf(file, uid)).to.deep.equal([])
    if (uid !== 0) expect(changersOf(file, 60_001)).to.deep.include({ uid })
    for (const [each, mode, who] of [
      [file, 0o664, { gid }],
      [file, 0o646, {}],
      [conf, 0o775, { gid }],
      [folder, 0o757, {}],
    ] as const) {
      chmodSync(each, mode)
      expect(changersOf(file, uid), `${each} ${mode.toString(8)}`).to.deep.equal([who])
      chmodSync(each, each === file ? 0o644 : 0o755)
    }
    // Nobody replaces what is another's in a folder such as /tmp.
    chmodSync(folder, 0o1777)
    expect(changersOf(file, uid)).to.deep.equal([])
    chmodSync(folder, 0o755)
  })

  it('follows links', () => {
    const open = path.join(folder, 'open.yml')
    writeFileSync(open, '')
    chmodSync(open, 0o666)
    const link = path.join(conf, 'link.yml')
    symlinkSync('../open.yml', link)
    expect(changersOf(link, uid)).to.deep.include({})
    chmodSync(open, 0o644)
    expect(changersOf(link, uid)).to.deep.equal([])
  })

  it('names each once, with how many files there are', () => {
    chmodSync(conf, 0o757)
    const found = findChangers({ confDir: conf, data: { dir: path.join(folder, 'data') } }, uid)
    expect(found).to.deep.include({ file: conf, more: 2 })
    chmodSync(conf, 0o755)
  })

  it('holds against a server of another user that can change none of the files', async () => {
    const socket = path.join(folder, 'socket')
    const server = createServer().listen(socket)
    await once(server, 'listening')
    const user = { uid: uid + 61_000, groups: [61_001] }
    const of = (who: object) => boundProblem(socket, [{ ...who, file, more: 1 }], user)
    try {
      expect(boundProblem(socket, [], { uid: 0, groups: [0] })).to.match(/is root/)
      if (uid !== 0) expect(boundProblem(socket, [], { uid, groups: [] })).to.match(/of one user/)
      expect(boundProblem(socket, [], user)).to.equal(undefined)
      expect([of({ uid: user.uid + 1 }), of({ gid: 7 })]).to.deep.equal([undefined, undefined])
      for (const who of [{ uid: user.uid }, { gid: 61_001 }, {}]) expect(of(who)).to.match(/can change .*limits\.yml and 1 more files/)
      expect(boundProblem(path.join(folder, 'none'), [], user)).to.match(/cannot be looked at/)
    } finally {
      server.close()
    }
  })
})
