import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { freePort } from '../free-port.ts'
import { programArgs } from '../program.ts'
import { commandsInOneProcess } from '../start/command.ts'

/** What somebody sees who types a command wrongly, or too early. */
describe('commands that name what is not there', function () {
  this.timeout(400_000)
  let home: string
  before(() => {
    home = mkdtempSync(path.join(os.tmpdir(), 'sluice-mistyped-'))
    for (const folder of ['conf', 'empty']) mkdirSync(path.join(home, folder))
  })
  after(() => rmSync(home, { recursive: true, force: true }))

  const type = commandsInOneProcess()
  const say = (...args: string[]) => type({ SLUICE_HOME: home }, home, ...args)

  for (const [args, words] of [
    [['plugin', 'test', 'empty'], /^error: .*empty: The folder has neither index\.ts nor index\.js nor plugin\.yml\. .+\n$/],
    [['plugin', 'test', 'nowhere'], /^error: There is no folder .*nowhere\. .*plugin new my-exchange --kind amm\n$/],
    [['plugin', 'show', 'uniswp'], /^error: There is no plugin 'uniswp' \(did you mean "uniswap"\?\) in .+\n/],
    [['plugin', 'allow', 'elsewhere'], /^error: There is no plugin 'elsewhere' in .+\n.*plugin add <source> fetches one.*\n$/],
    [['plugin', 'remove', 'uniswap'], /^error: uniswap is a plugin of this release: .*plugins\.disabled.*; nothing was changed\.\n$/],
    [['plugin', 'remove', 'elsewhere'], /^error: elsewhere is not in .*sluice\.lock; nothing was changed\.\n$/],
    [['plugin', 'verify', 'elsewhere'], /^error: elsewhere is not in .*sluice\.lock\.\n$/],
    [['plugin', 'new', 'mine'], /^error: Say what it is, with --kind <kind>:\n(.*\n)+ {2}clob .+\n(.*\n)+For example: .*--kind amm\n$/],
    [['certs', 'new', 'bot'], /^error: .*make the certificates with "\S*sluice certs init" or "\S*sluice start"/],
  ] as const)
    it(`\`${args.join(' ')}\` says what to do`, async () => {
      const { code, said } = await say(...args)
      expect(said).to.match(words)
      expect(code).to.equal(1)
    })

  it('`plugin list` has the networks that come with the devnet where it is on, and says why they are away where it is not', async () => {
    const { said, code } = await say('--set', 'devnet.enabled=true', 'plugin', 'list')
    expect(said).to.not.match(/does not serve/)
    expect(said).to.match(/^solana +chain +built in +- +- +4 networks$/m)
    expect(code).to.equal(0)
    expect((await say('--set', 'devnet.enabled=true', '--set', 'devnet.only=ethereum', 'plugin', 'list')).said)
      .to.contain('does not serve hyperliquid/local')
      .and.match(/devnet\.only/)
  })

  it('`health` says what to do where nothing listens, and where the server of another folder does', async () => {
    expect((await say('certs', 'init')).code).to.equal(0)
    const { code, said } = await say('--set', 'server.port=1', 'health')
    expect(said).to.match(/ECONNREFUSED.* Nothing listens there: start it \(.*sluice start\)/)
    expect(code).to.equal(1)

    const other = path.join(home, 'other')
    mkdirSync(other)
    const port = await freePort()
    const program = await programArgs(new URL('../../core/main.ts', import.meta.url))
    const server = execFile(process.execPath, [...program, '--home', other, 'start', '--no-devnet', '--port', String(port)], { cwd: other })
    try {
      await new Promise((resolve) => server.stdout?.on('data', (text: string) => void (text.includes('is ready') && resolve(undefined))))
      expect((await say('--set', `server.port=${port}`, 'health')).said).to.match(
        /is the server of another folder.*: name that folder with --home/,
      )
    } finally {
      // It writes until its end, also in the folder that is removed then.
      const ended = once(server, 'exit')
      server.kill()
      await ended
    }
  })
})
