import { spawnSync } from 'node:child_process'
import { run } from './run.mjs'

/** Installs these Debian packages unless their programs of the same name are there. */
export async function installPackages(names) {
  const missing = names.filter((name) => spawnSync('which', [name], { stdio: 'ignore' }).status !== 0)
  if (missing.length === 0) return
  console.log(`Installing ${missing.join(', ')}`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await run('apt-get', ['update', '-qq'], { env })
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing], { env })
}
