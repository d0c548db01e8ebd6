import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { run } from './run.mjs'

/** Builds one target of the Dockerfile. Gives its configuration and the folder that holds its root. */
export async function buildImage({ buildah, root, base, folder, target }) {
  const name = `sluice-test-${target}`
  const npmrc = path.join(folder, 'npmrc')
  writeFileSync(npmrc, await registryOfThisMachine())
  await buildah(
    'build',
    '--format',
    'docker',
    '--target',
    target,
    '--build-arg',
    `NODE_IMAGE=${base}`,
    '--secret',
    `id=npmrc,src=${npmrc}`,
    '--tag',
    name,
    root,
  )
  const container = (await buildah('from', '--pull-never', name)).trim()
  const rootfs = (await buildah('mount', container)).trim()
  const inspected = JSON.parse(await buildah('inspect', '--type', 'image', name))
  return { target, rootfs, config: inspected.Docker.config }
}

/** Where packages come from here, and whom to trust for it; nothing that is secret. */
async function registryOfThisMachine() {
  const registry = (await run('npm', ['config', 'get', 'registry'])).trim()
  return `registry=${registry}\ncafile=/etc/ssl/certs/ca-certificates.crt\n`
}
