import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { run } from './run.mjs'

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
