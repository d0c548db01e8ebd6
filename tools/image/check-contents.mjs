import { existsSync, lstatSync, readFileSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { check } from './run.mjs'

const mostMegabytes = 60

/** What the images hold, read from their files and configurations. */
export async function checkContents({ images: { production, devnet, another } }) {
  console.log('\nThe images')
  await check(`the server with its node_modules is below ${mostMegabytes} MB besides Node`, () => {
    const files = filesIn(production)
    const sluice = sizeOf(files.filter(({ name }) => name.startsWith('node_modules/sluice/')))
    const size = sizeOf(files)
    console.log(
      `    ${megabytes(size)} MB without base and Node: Sluice itself ${megabytes(sluice)}, what npm installs with it ${megabytes(size - sluice)}; with the devnet ${megabytes(sizeOf(filesIn(devnet)))}`,
    )
    expect(size / 1e6).to.be.below(mostMegabytes)
  })

  await check('the production image holds the package and what that depends on, and no other package', () => {
    const names = filesIn(production).map(({ name }) => name)
    const packages = new Set(names.flatMap((name) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(name)?.[1] ?? []))
    expect([...packages]).to.have.members([
      'sluice',
      'esbuild',
      `@esbuild/linux-${process.arch}`,
      'libsql',
      `@libsql/linux-${process.arch}-gnu`,
      '@neon-rs/load',
      'detect-libc',
      'typebox',
    ])
    expect(names.filter((name) => !/^(node_modules|conf)\//.test(name))).to.deep.equal([])
  })

  await check('the production image holds no contract of an exchange, no source, no key and nothing of the devnet', () => {
    const files = filesIn(production)
    const unwanted = /(^|\/)(artifacts|sluice-devnet|test)\/|(^|\/)anvil|\.[mc]?ts$|\.map$|_key\.pem$/
    expect(files.filter(({ name }) => unwanted.test(name)).map(({ name }) => name)).to.deep.equal([])
    const contracts = filesIn(devnet)
      .filter(({ name }) => name.includes('/artifacts/'))
      .map(({ place }) => JSON.parse(readFileSync(place, 'utf8')))
      // The others are our own.
      .filter((artifact) => artifact.package !== undefined)
    expect(contracts).to.have.length.above(20)
    const texts = files
      .filter(({ name }) => /\.(js|json)$/.test(name))
      .map(({ name, place }) => ({ name, text: readFileSync(place, 'utf8') }))
    for (const { contractName, bytecode } of contracts) {
      const piece = bytecode.slice(bytecode.length / 2, bytecode.length / 2 + 300)
      expect(
        texts.filter(({ text }) => text.includes(piece)).map(({ name }) => name),
        contractName,
      ).to.deep.equal([])
    }
  })

  await check('the licences of what is bundled are in it, and those of contracts in the image with the devnet', () => {
    const text = readFileSync(path.join(production.rootfs, 'app/node_modules/sluice/THIRD-PARTY-LICENSES.md'), 'utf8')
    expect(text).to.include('| ethers | 6.').and.to.include('| koa | 3.').and.to.include('| swagger-ui-dist | 5.')
    expect(existsSync(path.join(devnet.rootfs, 'app/node_modules/sluice-devnet/LICENSES.md'))).to.equal(true)
  })

  if (another)
    await check('the image for another platform has the same files, with the binaries of that platform', () => {
      const [own, other] = process.arch === 'arm64' ? ['arm64', 'x64'] : ['x64', 'arm64']
      const names = (image) => filesIn(image).map(({ name }) => name.replaceAll(/(linux)-(x64|arm64)/g, '$1'))
      expect(names(another)).to.have.members(names(production))
      for (const [image, processor] of [
        [production, own],
        [another, other],
      ]) {
        const binaries = filesIn(image).filter(({ place }) => machineOf(place) !== undefined)
        expect(binaries.map(({ place }) => machineOf(place))).to.deep.equal([processor, processor])
      }
    })

  await check('it runs as a numbered user, ends by SIGTERM, and asks for its health over mutual TLS', () => {
    for (const { config } of [production, devnet]) {
      expect(config.User).to.match(/^[1-9]\d*:[1-9]\d*$/)
      expect(config.StopSignal).to.equal('SIGTERM')
      expect(config.Entrypoint).to.deep.equal(['init', 'sluice'])
      expect(config.Healthcheck.Test).to.deep.equal(['CMD', 'sluice', 'health'])
      expect(Object.keys(config.Volumes)).to.have.members(['/app/certs', '/app/data'])
    }
    expect(production.config.Env).to.include('SLUICE_DEVNET_ENABLED=false')
    expect(devnet.config.Env).to.include('SLUICE_DEVNET_ENABLED=true')
  })

  await check("the server's own files belong to root: the server cannot change itself", () => {
    const writable = filesIn(production).filter(({ stats }) => stats.uid !== 0 || (stats.mode & 0o022) !== 0)
    expect(writable.map(({ name }) => name)).to.deep.equal([])
    for (const [folder, owner, mode] of [
      ['.', 0, 0o755],
      ['certs', 10001, 0o700],
      ['data', 10001, 0o700],
      ['data/plugins', 10001, 0o711],
    ]) {
      const stats = lstatSync(path.join(production.rootfs, 'app', folder))
      expect([stats.uid, stats.mode & 0o777], folder).to.deep.equal([owner, mode])
    }
  })
}

function filesIn({ rootfs }) {
  const app = path.join(rootfs, 'app')
  return readdirSync(app, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .map((place) => ({ name: path.relative(app, place), place, stats: statSync(place) }))
}

/** The processor that a binary is for. */
function machineOf(file) {
  const head = readFileSync(file).subarray(0, 20)
  if (head.toString('latin1', 0, 4) !== '\x7fELF') return undefined
  return { 0x3e: 'x64', 0xb7: 'arm64' }[head.readUInt16LE(18)]
}

function sizeOf(files) {
  return files.reduce((sum, { stats }) => sum + stats.size, 0)
}

function megabytes(bytes) {
  return (bytes / 1e6).toFixed(1)
}
