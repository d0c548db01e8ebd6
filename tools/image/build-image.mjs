import { spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync, cpSync, existsSync, mkdirSync } from 'node:fs'
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

// What the official image has, from where it can be had without an image registry.
const dockerfile = `FROM scratch
ADD base.tar /
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
RUN echo 'root:x:0:0:root:/root:/bin/bash' > /etc/passwd && echo 'root:x:0:' > /etc/group && ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
CMD ["node"]
`

/** Makes an image of Debian's packages with Node 24 (a binary that npm has) and this machine's npm. Gives its name. */
export async function buildBase(buildah, folder) {
  const context = path.join(folder, 'base')
  mkdirSync(context)
  const [node] = await Promise.all([nodeBinary(folder), debian(context)])
  cpSync(node, path.join(context, 'node'))
  cpSync(await npmFolder(), path.join(context, 'npm'), { recursive: true, dereference: true })
  cpSync('/etc/ssl/certs/ca-certificates.crt', path.join(context, 'ca-certificates.crt'))
  writeFileSync(path.join(context, 'Dockerfile'), dockerfile)
  await buildah('build', '--format', 'docker', '--tag', 'sluice-test-base', context)
  return 'localhost/sluice-test-base'
}

// What the commands of the Dockerfile and Node itself need: unpacked only, which takes seconds.
const packages = ['base-files', 'bash', 'coreutils', 'dash', 'grep', 'libc-bin', 'libstdc++6', 'sed', 'util-linux']

async function debian(context) {
  await run('mmdebstrap', ['--quiet', '--variant=extract', `--include=${packages.join(',')}`, 'bookworm', path.join(context, 'base.tar')])
}

async function nodeBinary(folder) {
  const processor = { x64: 'x64', arm64: 'arm64' }[process.arch]
  const to = path.join(folder, 'node')
  mkdirSync(to)
  const [{ filename }] = JSON.parse(
    await run('npm', ['pack', '--json', '--silent', '--pack-destination', to, `node-linux-${processor}@24`]),
  )
  await run('tar', ['xzf', path.join(to, filename), '-C', to, '--strip-components=1'])
  return path.join(to, 'bin', 'node')
}

async function npmFolder() {
  const folder = path.join((await run('npm', ['root', '--global'])).trim(), 'npm')
  if (!existsSync(folder)) throw new Error(`npm itself is not in ${folder}`)
  return folder
}

/** Installs these Debian packages unless their programs of the same name are there. */
export async function installPackages(names) {
  const missing = names.filter((name) => spawnSync('which', [name], { stdio: 'ignore' }).status !== 0)
  if (missing.length === 0) return
  console.log(`Installing ${missing.join(', ')}`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await run('apt-get', ['update', '-qq'], { env })
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing], { env })
}
