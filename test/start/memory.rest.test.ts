import { execFileSync, spawn, spawnSync, type ChildProcess, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { forkModule } from '../../core/wallet/supervisor.ts'
import { makeHome, root } from './command.ts'

describe('the memory of the processes', function () {
  this.timeout(300_000)
  let home: Awaited<ReturnType<typeof makeHome>>
  let server: ChildProcessByStdio<null, Readable, null> | undefined
  before(async () => {
    home = await makeHome({ devnet: { enabled: false } })
  })
  after(async () => {
    if (server) await end(server)
    await home.remove()
  })

  it('stays small by the flags that bin/sluice gives to Node', () => {
    const [probe, told] = [path.join(home.home, 'probe.cjs'), path.join(home.home, 'told.json')]
    writeFileSync(probe, `require('node:fs').writeFileSync(${JSON.stringify(told)}, JSON.stringify(process.execArgv))`)
    const { PATH, HOME } = process.env
    const command = path.join(root, 'bin/sluice')
    // Linux before 5.1 reads no more of it: https://lwn.net/Articles/779997/
    expect(readFileSync(command, 'utf8').split('\n', 1)[0]).to.have.lengthOf.at.most(127)
    execFileSync(command, ['--version'], { env: { PATH, HOME, NODE_OPTIONS: `--require ${JSON.stringify(probe)}` } })
    expect(JSON.parse(readFileSync(told, 'utf8'))).to.deep.equal([
      '--max-semi-space-size=4',
      '--initial-heap-size=64',
      '--v8-pool-size=1',
      '--no-short-builtin-calls',
    ])
  })

  it('stays small where the keeper and the signer are forked', async () => {
    for (const module of ['signer-keeper', 'signer-process']) {
      const child = forkModule(module)
      expect(child.spawnargs).to.include.members(['--max-semi-space-size=1', '--v8-pool-size=1', '--no-short-builtin-calls'])
      if (/^v2[02]\./.test(process.version)) expect(child.spawnargs).to.include('--no-opt')
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  })

  it('holds the parser of YAML and the compiler of schemas only where conf is not plain, or wrong', () => {
    const [probe, told] = [path.join(home.home, 'loaded.cjs'), path.join(home.home, 'loaded.json')]
    const loaded =
      "Object.keys(require.cache).filter((file) => file.includes('on-demand')).map((file) => require('node:path').basename(file))"
    writeFileSync(probe, `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(told)}, JSON.stringify(${loaded})))`)
    const { PATH, HOME } = process.env
    const loadedFor = (permissions: string): unknown => {
      writeFileSync(path.join(home.home, 'conf/clients.yml'), `clients:\n  client:\n    permissions:${permissions}\n    wallets: all\n`)
      spawnSync(path.join(root, 'bin/sluice'), ['--home', home.home, 'certs', 'list'], {
        env: { PATH, HOME, NODE_OPTIONS: `--require ${JSON.stringify(probe)}` },
      })
      return JSON.parse(readFileSync(told, 'utf8'))
    }
    expect(loadedFor(' ["read"]')).to.deep.equal(['yaml.cjs'])
    expect(loadedFor('\n      - reed')).to.deep.equal(['json-schema.cjs'])
    expect(loadedFor('\n      - read\n      - trade')).to.deep.equal([])
  })

  it('goes through a collection once the server is up', async () => {
    // With core files as large as they become, where the system writes them.
    const node = [process.execPath, '--trace-gc', path.join(root, 'bin/launch.mjs'), 'start']
    const started = spawn('/bin/sh', ['-c', 'ulimit -c "$(ulimit -H -c)"; exec "$@"', 'sh', ...node], {
      cwd: home.home,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    server = started
    let printed = ''
    await new Promise<void>((resolve, reject) => {
      started.stdout.setEncoding('utf8').on('data', (text: string) => {
        printed += text
        // Of V8's own collections none is called testing: that is one that the program asked for.
        if (/is ready at .*Mark-[^\n]*testing/s.test(printed)) resolve()
      })
      started.once('exit', () => reject(new Error(`The server ended:\n${printed}`)))
    })
  })

  it('goes to no core file, though the system would write one', function () {
    if (process.platform !== 'linux') this.skip()
    const about = (name: string) => readFileSync(`/proc/${server?.pid}/${name}`, 'latin1')
    expect(about('limits')).to.match(/^Max core file size +0 +0 /m)
    expect(about('coredump_filter').trim()).to.match(/^0+$/)
  })

  it('does not grow to several times of what is in use', () => {
    const churn = (how: string): { inUse: number; largest: number } => {
      const program = fileURLToPath(new URL('churn.ts', import.meta.url))
      const { stdout } = spawnSync(process.execPath, ['--max-semi-space-size=4', '--import', 'tsx/esm', program, how], { encoding: 'utf8' })
      return JSON.parse(stdout)
    }
    const { inUse, largest } = churn('limited')
    expect(largest).to.be.lessThan(3 * inUse)
    expect(churn('unlimited').largest).to.be.greaterThan(3 * inUse)
  })
})

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'exit')
  server.kill('SIGTERM')
  await ended
}
