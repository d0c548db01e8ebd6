// What package managers make of the packages: npm on Windows, and with --all those that are not npm.
import { expect } from 'chai'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { asProject, bot, environment, folder, install, removePlace, root, run, start, swap, tarball, version } from './outside.mjs'

after(removePlace)

describe('on Windows, the command', () => {
  let cwd
  let flags
  before(() => {
    cwd = folder('for Windows')
    asProject(cwd)
    install(cwd, [tarball('sluice'), 'cmd-shim@8', '@zkochan/cmd-shim@7'])
    const [first] = readFileSync(path.join(cwd, 'node_modules', 'sluice', 'bin', 'sluice'), 'utf8').split('\n')
    ;[, flags] = /^#!\/usr\/bin\/env -S node (--.*)$/.exec(first) ?? []
    expect(flags, first).to.be.a('string')
  })

  for (const { manager, library, make, line } of [
    {
      manager: 'npm',
      library: 'cmd-shim',
      make: (shim, ...args) => shim(...args),
      line: (given) => `"%_prog%" ${given} "%dp0%\\..\\sluice\\bin\\sluice" %*\r\n`,
    },
    {
      manager: 'pnpm',
      library: '@zkochan/cmd-shim',
      make: (shim, ...args) => shim(...args, { createCmdFile: true }),
      line: (given) => `node  ${given} "%~dp0\\..\\sluice\\bin\\sluice" %*\r\n`,
    },
  ]) {
    it(`that ${manager} makes runs Node with the same flags`, async () => {
      const modules = path.join(cwd, 'node_modules')
      const made = path.join(modules, `.bin of ${manager}`, 'sluice')
      await make(createRequire(path.join(modules, 'x.js'))(library), path.join(modules, 'sluice', 'bin', 'sluice'), made)
      const script = readFileSync(`${made}.cmd`, 'utf8')
      expect(script)
        .to.include(line(flags))
        .and.not.match(/\bsh\b|\benv\b/)
      if (script.includes('%_prog%')) expect(script).to.include('SET "_prog=node"')
      // The shells that Windows has from elsewhere take this one.
      const { code, printed } = run('sh', [made, '--version'], { cwd })
      expect([code, printed.trim()]).to.deep.equal([0, version])
    })
  }
})

// Yarn asks the registry for anvil of every platform, and a registry may not have them all: docs/operators/operations.md says what to do then.
const anvil = JSON.parse(readFileSync(path.join(root, 'node_modules', '@foundry-rs', 'anvil', 'package.json'), 'utf8'))
const own = `@foundry-rs/anvil-${process.platform}-${process.arch.replace('x64', 'amd64')}`
const others = Object.keys(anvil.optionalDependencies).filter((name) => name !== own)
const resolutions = Object.fromEntries(others.map((name) => [name, 'file:./none']))

const managers = [
  { name: 'pnpm', from: 'pnpm@10', add: ['add', '--ignore-workspace'] },
  { name: 'yarn 1', from: 'yarn@1', add: ['add', '--non-interactive'], without: resolutions },
  // Without node_modules: the packages stay in archives, but for those that ask to be unpacked.
  { name: 'yarn 4', from: 'yarn@npm:@yarnpkg/cli-dist@4', add: ['add'], without: resolutions, isPnp: true },
]
for (const { name, from, add, without, isPnp } of process.env.PACKAGE_TEST_ALL ? managers : []) {
  it(`${name} installs both packages, and the server starts with a devnet`, async () => {
    const tools = folder(`${name} itself`)
    asProject(tools)
    install(tools, [from])
    const [program] = name.split(' ')
    const cwd = folder(`with ${name}`)
    const project = { name: 'outside', version: '1.0.0', type: 'module', private: true, ...(without && { resolutions: without }) }
    writeFileSync(path.join(cwd, 'package.json'), JSON.stringify(project))
    writeFileSync(path.join(folder(`with ${name}`, 'none'), 'package.json'), JSON.stringify({ name: 'none', version: '1.0.0' }))
    if (isPnp) writeFileSync(path.join(cwd, 'yarn.lock'), '')
    const env = {
      ...environment(path.join(tools, 'node_modules', '.bin')),
      SLUICE_DEVNET_PORT: '0',
      YARN_ENABLE_TELEMETRY: '0',
      YARN_GLOBAL_FOLDER: folder(`${name} itself`, 'cache'),
      YARN_CACHE_FOLDER: folder(`${name} itself`, 'archives'),
    }
    const packages = ['sluice', 'sluice-devnet'].map((each) => (isPnp ? `${each}@file:${tarball(each)}` : tarball(each)))
    const { code, printed } = run(program, [...add, ...packages], { cwd, env })
    expect(code, printed).to.equal(0)
    const server = await start(cwd, ['--devnet'], { env, ...(isPnp && { program, before: ['sluice'] }) })
    try {
      const quote = await bot(server.url, cwd).get('/amm/price', swap)
      expect(Number(quote.expectedAmount), JSON.stringify(quote)).to.be.above(0)
      expect((await server.stop()).code).to.equal(0)
      if (isPnp) expect(run(program, ['sluice', 'doctor'], { cwd, env }).printed).to.include('`yarn sluice wallet add`')
    } finally {
      server.kill()
    }
  })
}
