import { chmodSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { run } from './run.mjs'

/**
 * Builds one target of the Dockerfile, for this machine or another processor; with these packages, where a folder of them is given, in place of
 * those that its first stage makes. Gives its configuration and the folder that holds its root.
 */
export async function buildImage({ buildah, layers, root, base, folder, packages, target, processor }) {
  const name = `sluice-test-${target}${processor ? `-${processor}` : ''}`
  const rootfs = path.join(folder, name)
  const npmrc = path.join(folder, 'npmrc')
  writeFileSync(npmrc, await registryOfThisMachine())
  await buildah(
    'build',
    '--format',
    'docker',
    // What the targets have in common is built once. A driver that copies whole layers would take longer for it.
    `--layers=${layers}`,
    // As --platform would set it, which asks a registry for a base of that platform.
    ...(processor ? ['--build-arg', `TARGETARCH=${processor}`] : []),
    // As COPY names the stage.
    ...(packages ? ['--build-context', `package=${packages}`] : []),
    '--target',
    target,
    '--build-arg',
    `NODE_IMAGE=${base}`,
    '--secret',
    `id=npmrc,src=${npmrc}`,
    '--tag',
    name,
    '--output',
    `type=local,dest=${rootfs}`,
    root,
  )
  // buildah gives the folder to its user alone, which the root of the image is not.
  chmodSync(rootfs, 0o755)
  const inspected = JSON.parse(await buildah('inspect', '--type', 'image', name))
  return { target, rootfs, config: inspected.Docker.config }
}

/** Where packages come from here, and whom to trust for it; nothing that is secret. */
async function registryOfThisMachine() {
  const registry = (await run('npm', ['config', 'get', 'registry'])).trim()
  return `registry=${registry}\ncafile=/etc/ssl/certs/ca-certificates.crt\n`
}
