// Real users of the system: the signer service as one, a server as another. It needs root, which alone can start processes as others.
import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { countFolder } from '../../../core/wallet/limits/count-file.ts'
import { programArgs } from '../../program.ts'
import { free, limited, outcomeOf, runAs, signerHome, spawnAs, type SignerHome, type SignerProgram, type User } from './signer-home.ts'

const servers = 61_002
const ofSigner: User = { uid: 61_001, gid: servers }
const ofServer: User = { uid: servers, gid: servers }
const stranger: User = { uid: 61_003, gid: 61_003 }

describe('the signer service as a user of its own', function () {
  this.timeout(300_000)
  let home: SignerHome
  let program: SignerProgram
  before(async function () {
    // Only root starts processes as other users.
    if (process.getuid?.() !== 0) return this.skip()
    home = await signerHome(ofSigner)
    program = await home.start()
  })
  after(async () => {
    await program?.stop()
    home?.remove()
  })

  const shell = (user: User, script: string) => outcomeOf(spawnAs(['sh', '-c', script], { user, cwd: '/' }))
  const server = (user: User, ...args: string[]) =>
    runAs(['--home', '/nowhere-at-all', '--set', `signer.socket=${home.socket}`, ...args], { user, cwd: '/' }).then(outcomeOf)

  it('lets the servers alone connect', async () => {
    const { mode, uid, gid } = statSync(home.socket)
    expect([(mode & 0o777).toString(8), uid, gid]).to.deep.equal(['660', ofSigner.uid, servers])
    expect((await server(ofServer, 'wallet', 'list')).said).to.contain(free.address)
    const { code, said } = await server(stranger, 'wallet', 'list')
    expect(code).to.equal(1)
    expect(said).to.match(/cannot be reached at .*EACCES/)
  })

  it('has files that the user of the servers neither reads nor writes', async () => {
    const secret = path.join(home.dataDir, 'keystore', 'ethereum', `${free.address.toLowerCase()}.json`)
    const log = path.join(countFolder(home.dataDir), 'log')
    const limits = path.join(home.folder, 'conf', 'limits.yml')
    const before = [log, limits].map((file) => readFileSync(file, 'utf8'))
    const tried = [
      `ls ${home.dataDir}`,
      `cat ${secret}`,
      `cat ${home.folder}/passphrase`,
      `cat ${log}`,
      `echo >> ${log}`,
      `rm -r ${countFolder(home.dataDir)}`,
      `echo >> ${limits}`,
      `mv ${limits} ${home.folder}/run/`,
      `mv ${home.folder}/conf ${home.folder}/conf.old`,
      `touch ${home.dataDir}/STOP`,
      `rm -f ${home.socket}`,
      `touch ${home.folder}/run/other`,
      `kill -9 ${program.processId}`,
      `cat /proc/${program.processId}/environ`,
    ]
    for (const each of tried) expect((await shell(ofServer, each)).code, each).not.to.equal(0)
    expect([log, limits].map((file) => readFileSync(file, 'utf8'))).to.deep.equal(before)
  })

  it('says to a server of another user that its limits hold, and to one of its own that they do not', async () => {
    const args = await programArgs(new URL('bound-process.ts', import.meta.url))
    const ask = (user: User | undefined) =>
      outcomeOf(spawnAs([process.execPath, ...args, home.socket, limited.address], { user, cwd: '/' }))
    const [apart, same, root] = await Promise.all([ask(ofServer), ask(ofSigner), ask(undefined)])
    expect(apart.said).to.match(/The limits of wallets hold against a server that was taken over/)
    expect(apart.said).to.match(/signed 65 bytes/)
    for (const [{ said }, why] of [
      [same, /processes of one user/],
      [root, /process is root/],
    ] as const)
      expect(said)
        .to.match(/limits of wallets do not hold/)
        .and.match(why)
  })
})
