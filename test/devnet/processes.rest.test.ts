import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { startAnvil } from '../../core/devnet/anvil.ts'
import { startDevnet } from '../../core/devnet/start-devnet.ts'
import { descendants, runServer, stillRunning } from './run-server.ts'
import { devnetFiles, temporaryFolder } from './test-devnet.ts'

const anvilOf = (pid: number): string[] =>
  descendants(pid)
    .map(({ command }) => command)
    .filter((command) => command.includes('anvil'))

describe('the processes of the devnet', function () {
  this.timeout(400_000)
  let place: Awaited<ReturnType<typeof temporaryFolder>>
  before(async () => {
    place = await temporaryFolder()
  })
  after(() => place.remove())

  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    it(`end when the server ends by ${signal}`, async () => {
      const server = await runServer(place.folder, 2)
      const below = descendants(server.pid)
      expect(anvilOf(server.pid)).to.have.length(1)
      process.kill(server.pid, signal)
      await server.ended
      expect(await stillRunning(below.map(({ pid }) => pid))).to.deep.equal([])
    })
  }

  it('outlast a Ctrl-C until the server is done with the chain', async () => {
    const server = await runServer(place.folder, 2)
    const below = descendants(server.pid)
    process.kill(-server.pid, 'SIGINT') // to the whole group, as a terminal does
    await server.ended
    expect(server.lines.at(-1)).to.equal('still has chain 0x7a69')
    expect(await stillRunning(below.map(({ pid }) => pid))).to.deep.equal([])
  })

  it('end when their watchdog is killed as well', async () => {
    const server = await runServer(place.folder, 2)
    const below = descendants(server.pid)
    const shell = below.find(({ command }) => command.includes('sh'))
    if (shell) process.kill(shell.pid, 'SIGKILL')
    process.kill(server.pid, 'SIGKILL')
    await server.ended
    expect(await stillRunning(below.map(({ pid }) => pid))).to.deep.equal([])
  })

  it('write no old states into the home directory', async () => {
    const { folder, remove } = await temporaryFolder()
    const home = process.env['HOME']
    process.env['HOME'] = folder
    try {
      const anvil = await startAnvil(0, ['--block-time', '1', '--mixed-mining'])
      // Those of so many blocks are not kept in memory.
      for (let parts = 0; parts < 20; parts += 1) await anvil.rpc('anvil_mine', 100)
      const written = await readdir(folder, { recursive: true })
      await anvil.stop()
      expect(written.filter((name) => name.endsWith('.json'))).to.deep.equal([])
    } finally {
      process.env['HOME'] = home
      await remove()
    }
  })

  it('leave nothing broken when the server is killed while it deploys', async () => {
    const { folder, remove } = await temporaryFolder()
    try {
      for (const waitMs of [300, 700, 1100]) {
        const server = await runServer(folder, 1)
        await sleep(waitMs)
        const below = descendants(server.pid)
        process.kill(server.pid, 'SIGKILL')
        await server.ended
        expect(await stillRunning(below.map(({ pid }) => pid))).to.deep.equal([])
      }
      const devnet = await startDevnet({ port: 0, dataDir: folder, devnetFiles })
      await devnet.stop()
      expect((await readdir(path.join(folder, 'devnet'))).filter((name) => name.endsWith('.json.gz'))).to.have.length(1)
    } finally {
      await remove()
    }
  })
})
