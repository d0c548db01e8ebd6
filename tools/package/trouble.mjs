// What can be wrong where the package is used: one clear line each, and nothing half made.
import { expect } from 'chai'
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { copyInstalled, environment, filesIn, folder, nodeFrom, removePlace, root, run, start, tarball, version } from './outside.mjs'

after(removePlace)

describe('publishing', () => {
  /** Nothing listens there, so what is not refused before cannot get out either. npm asks for a token first. */
  const registry = ['--registry', 'http://127.0.0.1:9/', '--//127.0.0.1:9/:_authToken=none', '--fetch-retries', '0']
  const publish = (...what) => run('npm', ['publish', ...what, ...registry], { cwd: root })

  for (const name of ['sluice', 'sluice-devnet'])
    it(`refuses ${name} as it is packed without a maintainer's word`, () => {
      const { code, printed } = publish(tarball(name))
      expect(code).to.equal(1)
      expect(printed).to.include('EPRIVATE')
    })

  it('refuses the checkout', () => {
    const { code, printed } = publish()
    expect(code).to.equal(1)
    expect(printed).to.include('EPRIVATE')
  })
})

describe('in trouble, the command', () => {
  let command
  before(() => {
    const cwd = folder('installed')
    copyInstalled(cwd)
    command = path.join(cwd, 'node_modules', 'sluice', 'bin', 'sluice')
  })
  const node = (args, options) => run(process.execPath, [command, ...args], options)
  const refusal = ({ code, printed }) => {
    expect(code, printed).to.equal(1)
    expect(printed.trim().split('\n'), printed).to.have.length(1)
    return printed
  }

  it('says that a port is taken, and makes nothing', async () => {
    const holder = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => holder.once('listening', resolve))
    const cwd = folder('taken port')
    const { port } = holder.address()
    expect(refusal(node(['start', '--port', String(port)], { cwd }))).to.match(/Port \d+ on 127\.0\.0\.1 is taken.*--port/)
    expect(filesIn(cwd)).to.deep.equal([])
    holder.close()
  })

  it('says that a folder may not be written to, and makes nothing', () => {
    const cwd = folder('read-only')
    chmodSync(cwd, 0o555)
    // The superuser may write anywhere.
    const nobody = process.getuid() === 0 ? { uid: 65534, gid: 65534 } : {}
    const env = { ...environment(), HOME: cwd }
    expect(refusal(node(['start', '--port', '0'], { cwd, env, ...nobody }))).to.match(/may not write to .*read-only.*--home/)
    expect(filesIn(cwd)).to.deep.equal([])
  })

  it('says that the devnet is of another version, or lacks its anvil, and makes nothing', () => {
    const devnet = path.join(path.dirname(command), '..', '..', 'sluice-devnet')
    const cwd = folder('devnets')
    mkdirSync(devnet)
    for (const [installed, said] of [
      ['9.9.9', `The devnet's package is version 9.9.9 and Sluice is ${version}, which do not go together: run \`npm install`],
      [version, 'The devnet needs anvil, which is not installed'],
    ]) {
      writeFileSync(path.join(devnet, 'package.json'), JSON.stringify({ name: 'sluice-devnet', version: installed }))
      expect(refusal(node(['start', '--devnet', '--port', '0'], { cwd }))).to.include(said)
    }
    expect(filesIn(cwd)).to.deep.equal([])
    rmSync(devnet, { recursive: true })
  })

  it('starts without a network, and says of a required one in a line that no node answers', async () => {
    const home = folder('without a network')
    mkdirSync(path.join(home, 'conf', 'chains'), { recursive: true })
    const network = 'mainnet: { required: true, rpcUrls: [https://node.invalid, http://127.0.0.1:1] }\n'
    writeFileSync(path.join(home, 'conf', 'chains', 'ethereum.yml'), network)
    const server = await start(home, [], { program: process.execPath, before: [command], isReady: false })
    try {
      expect(server.printed()).to.match(
        /Sluice is up at \S+ \(\S+ s\), but not ready: .*\n  ✗ ethereum\/mainnet: No RPC node of ethereum\/mainnet can be used: .*\n    → .*conf\/chains\/ethereum\.yml/,
      )
      expect((await server.stop()).code).to.equal(0)
    } finally {
      server.kill()
    }
  })

  it('says which Node it needs to an older one', () => {
    const pretend = path.join(folder('old node'), 'pretend.cjs')
    writeFileSync(pretend, `Object.defineProperty(process.versions, 'node', { value: '18.20.8' })\n`)
    const { code, printed } = run(process.execPath, ['--require', pretend, command, 'start'], { cwd: folder('old node') })
    expect(refusal({ code, printed })).to.include('Sluice needs Node 20.19 or newer')
  })

  if (process.env.PACKAGE_TEST_ALL) {
    for (const version of ['14', '18', '20.18']) {
      it(`says which Node it needs to Node ${version}`, () => {
        const env = environment(nodeFrom(version))
        expect(refusal(run(command, ['start'], { cwd: folder('old node'), env }))).to.include('Sluice needs Node 20.19 or newer; this is v')
      })
    }
  }
})
