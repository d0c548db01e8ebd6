// Fetches plugins with the operator's own npm, git and tar, which have their settings, proxies and credentials. They run no script of a package.
import { spawn } from 'node:child_process'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { isObject } from '../../base/json.ts'
import { PluginFault } from '../refusal.ts'
import { oneLine } from '../../base/printable.ts'

const npmFlags = [
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--no-update-notifier',
  '--loglevel=error',
  '--fetch-retries=2',
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=5000',
]
const maxMs = 300_000
/** Of a list of as many files as a plugin may have. */
const maxOutput = 8 * 1024 ** 2

/** Packs a package of the registry, whose checksum npm compares, or a folder. @param spec a package with its version, or a folder */
export async function packPackage(spec: string, into: string): Promise<{ file: string; name: string }> {
  const said = await run('npm', ['pack', spec, '--json', '--pack-destination', into, ...npmFlags], into)
  const packed = packedIn(said)
  if (packed) return { file: path.join(into, packed.filename), name: packed.name }
  throw new PluginFault('find', `npm did not say what it packed of ${spec}`, 'Pack it yourself with npm pack, and add the file.')
}

function packedIn(said: string): { filename: string; name: string } | undefined {
  try {
    const read: unknown = JSON.parse(said)
    const [first] = Array.isArray(read) ? read : isObject(read) ? Object.values(read) : []
    return isObject(first) && typeof first['filename'] === 'string' && typeof first['name'] === 'string'
      ? { filename: path.basename(first['filename']), name: first['name'] }
      : undefined
  } catch {
    return undefined
  }
}

/** Unpacks a packed package, and none of those that it depends on. @throws PluginFault where it has more than files and folders */
export async function unpackPackage(tarball: string, into: string): Promise<void> {
  await mkdir(into)
  const listed = await run('tar', ['-tvzf', tarball], into)
  const [odd] = listed.split('\n').filter((line) => line !== '' && !/^[-d]/.test(line))
  if (odd !== undefined)
    throw new PluginFault(
      'consent',
      `It has a link or device: ${oneLine(odd.slice(0, 200))}`,
      'Use a version of it that has plain files only.',
    )
  await run('tar', ['-xzf', tarball, '--strip-components=1', '--no-same-owner', '-C', into], into)
}

/**
 * Unpacks a packed package into a folder of its own, with the packages that it depends on inside of it. They come from the registry alone: npm
 * prepares a repository that a package depends on by an installation inside of it, which follows the settings there. @returns its folder
 */
export async function installPackage(tarball: string, into: string): Promise<string> {
  await mkdir(into)
  await writeFile(path.join(into, 'package.json'), '{"private":true}')
  if ((await run('npm', ['config', 'get', 'allow-git'], into)).trim() === 'undefined')
    throw new PluginFault(
      'find',
      'It depends on packages that it does not bring, and this npm cannot be kept from running what some of them name',
      'Update npm (npm install -g npm@latest), or ask its author to bring them (bundleDependencies).',
    )
  const registryOnly = ['--allow-git=none', '--allow-remote=none', '--allow-directory=none', '--allow-file=root']
  // What a plugin imports of Sluice is a peer of it, and the running server's.
  const flags = ['--install-strategy=nested', '--no-bin-links', '--omit=dev', '--legacy-peer-deps', '--no-save', '--no-package-lock']
  await run('npm', ['install', tarball, ...registryOnly, ...flags, ...npmFlags], into)
  const packages = path.join(into, 'node_modules')
  const names = (await readdir(packages)).filter((each) => !each.startsWith('.'))
  const [top] = names
  if (top === undefined) throw new PluginFault('find', 'npm installed nothing of it', 'Unpack it, and add the folder.')
  if (!top.startsWith('@')) return path.join(packages, top)
  const [scoped = ''] = await readdir(path.join(packages, top))
  return path.join(packages, top, scoped)
}

/** Clones one commit, without hooks and without other repositories in it. @param at a tag, a branch or the whole hash of a commit */
export async function cloneRepository({ url, at }: { url: string; at: string | undefined }, into: string): Promise<void> {
  const git = (...args: string[]) =>
    run(
      'git',
      ['-c', 'core.hooksPath=/dev/null', '-c', 'protocol.ext.allow=never', '-c', 'advice.detachedHead=false', ...args],
      path.dirname(into),
    )
  if (at === undefined || !/^[0-9a-f]{40,64}$/.test(at)) {
    if (at?.startsWith('-')) throw new PluginFault('find', `${at} is not a tag or commit`, 'Write it after #, such as #v1.2.0.')
    await git('clone', '--quiet', '--depth', '1', '--no-recurse-submodules', ...(at === undefined ? [] : ['--branch', at]), '--', url, into)
    return
  }
  await git('init', '--quiet', into)
  await git('-C', into, 'fetch', '--quiet', '--depth', '1', '--no-recurse-submodules', '--', url, at)
  await git('-C', into, 'checkout', '--quiet', 'FETCH_HEAD')
}

const remedies = {
  npm: 'See that the package, its version and the registry are right (npm view <package>), and try again.',
  git: 'See that the URL, the tag and your access are right (git ls-remote <url>), and try again.',
  tar: 'Pack it with npm pack, or download it again.',
}

/** @returns what it says on its standard output @throws PluginFault with what it says of its failure */
function run(program: keyof typeof remedies, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SLUICE_')))
    const child = spawn(program, args, {
      cwd,
      env: { ...environment, GIT_TERMINAL_PROMPT: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: maxMs,
      shell: process.platform === 'win32' && program === 'npm',
    })
    let [said, complained] = ['', '']
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      if (said.length > maxOutput) child.kill()
    })
    child.stderr.on('data', (chunk: Buffer) => void (complained = (complained + chunk.toString()).slice(-maxOutput)))
    child.once('error', (error) =>
      reject(
        new PluginFault(
          'find',
          `${program} cannot be started here: ${error.message}`,
          `Install ${program}; or fetch the plugin elsewhere, and add its folder.`,
        ),
      ),
    )
    child.once('close', (code, signal) => {
      if (code === 0) return resolve(said)
      const ended = said.length > maxOutput ? 'it has too many files' : `it took more than ${maxMs / 60_000} minutes`
      const why = signal ? ended : firstWords(complained)
      reject(new PluginFault('find', `${program} could not ${program === 'tar' ? 'unpack' : 'fetch'} it: ${why}`, remedies[program]))
    })
  })
}

/** The lines that say why, without those that say where the log is. */
const firstWords = (complained: string): string =>
  oneLine(
    complained
      .split('\n')
      .map((line) => line.replace(/^(npm error|npm ERR!|fatal:|error:)\s*(\d{3}\b\s*)?/, '').trim())
      .filter(
        (line) =>
          line !== '' && !line.startsWith('npm warn') && !/complete log of this run|^(code|errno|syscall|network|Note that) /i.test(line),
      )
      .slice(0, 3)
      .join(' ')
      .slice(0, 400)
      .replace(/\.$/, ''),
  )
