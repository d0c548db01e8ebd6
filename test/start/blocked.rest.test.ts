import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { descendants, stillRunning } from '../devnet/run-server.ts'
import { makeHome, sluiceWith, type RunningCommand } from './command.ts'

const preload = fileURLToPath(new URL('blocks-on-signal.cjs', import.meta.url))
const stallSeconds = 5

describe('a server whose event loop is blocked, with code of this release alone', function () {
  this.timeout(300_000)
  let home: Awaited<ReturnType<typeof makeHome>>
  let server: RunningCommand | undefined
  before(async function () {
    if (process.platform !== 'linux') this.skip()
    home = await makeHome({ devnet: { enabled: false }, limits: { pluginStallSeconds: stallSeconds } })
  })
  afterEach(() => void server?.child.kill('SIGKILL'))
  after(() => home.remove())

  async function start(...args: string[]): Promise<{ server: RunningCommand; processId: number }> {
    const started = sluiceWith({ NODE_OPTIONS: `--require ${JSON.stringify(preload)}` }, home.home, 'start', ...args)
    server = started
    await started.until(/is ready at/)
    return { server: started, processId: started.child.pid ?? 0 }
  }

  it("is ended by the signer's keeper, which ends with the signer", async () => {
    const { server: blocked, processId } = await start()
    const others = descendants(processId).map(({ pid }) => pid)
    expect(others).to.have.lengthOf.at.least(2)
    blocked.child.kill('SIGUSR2')
    expect(await blocked.ended).to.deep.equal({ code: null, signal: 'SIGKILL' })
    expect(blocked.printed()).to.match(
      new RegExp(`"pid":${processId}.*"msg":"event loop blocked for 5 s: only code of this release runs in the process\\.`),
    )
    expect(await stillRunning(others)).to.deep.equal([])
  })

  it('is ended by a keeper that was started again, too', async () => {
    const { server: blocked, processId } = await start()
    const [keeper] = descendants(processId)
    process.kill(keeper?.pid ?? 0, 'SIGKILL')
    await blocked.until(/The signer was restarted/)
    blocked.child.kill('SIGUSR2')
    expect((await blocked.ended).signal).to.equal('SIGKILL')
    expect(blocked.printed()).to.include('event loop blocked for 5 s')
  })

  it('is left alone while it is stopped, and while a debugger is attached', async () => {
    const { server: stopped } = await start()
    stopped.child.kill('SIGSTOP')
    await sleep((stallSeconds + 3) * 1000)
    stopped.child.kill('SIGCONT')
    stopped.child.kill('SIGWINCH')
    await stopped.until(/goes on/)
    stopped.child.kill('SIGTERM')
    expect((await stopped.ended).signal).to.equal(null)
  })
})
