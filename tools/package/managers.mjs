// What package managers that are not npm make of the packages: with --all.
import { expect } from 'chai'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { asProject, bot, environment, folder, install, removePlace, root, run, start, swap, tarball } from './outside.mjs'

after(removePlace)

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
