import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { check } from './checks.mjs'

const mostMegabytes = 60

/** What the images hold, read from their files and configurations. */
export async function checkContents({ images: { production, devnet } }) {
  console.log('\nThe images')
  await check(`the server with its node_modules is below ${mostMegabytes} MB`, () => {
    const files = filesIn(production)
    const size = sizeOf(files)
    const modules = sizeOf(files.filter(({ name }) => name.startsWith('node_modules/')))
    console.log(
      `    ${megabytes(size)} MB without base and Node: node_modules ${megabytes(modules)}, Sluice itself ${megabytes(size - modules)}; with the devnet ${megabytes(sizeOf(filesIn(devnet)))}`,
    )
    expect(size / 1e6).to.be.below(mostMegabytes)
  })

  await check('the production image holds nothing of the devnet, no source, no key and no tool of development', () => {
    const names = filesIn(production).map(({ name }) => name)
    const unwanted =
      /(^|\/)devnet\.[jt]s$|^plugins\/.*\/artifacts\/|(^|\/)anvil$|\.ts$|\.map$|_key\.pem$|^node_modules\/(mocha|chai|tsx|typescript|oxlint)\/|^(test|data|certs)\/./
    // Of core and kits, the code that would run it stays, and is not loaded.
    expect(names.filter((name) => unwanted.test(name) && !/^(core|kits)\//.test(name))).to.deep.equal([])
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
  })
}

function filesIn({ rootfs }) {
  const app = path.join(rootfs, 'app')
  return readdirSync(app, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .map((file) => ({ name: path.relative(app, file), stats: statSync(file) }))
}

function sizeOf(files) {
  return files.reduce((sum, { stats }) => sum + stats.size, 0)
}

function megabytes(bytes) {
  return (bytes / 1e6).toFixed(1)
}
