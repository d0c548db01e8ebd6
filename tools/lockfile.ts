// Whether package-lock.json is whole, as `npm ci` wants it on every platform: part of `npm run check`. It asks no registry.
// An `npm install` beside a node_modules of one platform can leave out what other platforms need (https://github.com/npm/cli/issues/4828).
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'

type Versions = Readonly<Record<string, string>>

interface Wants {
  readonly dependencies?: Versions
  readonly devDependencies?: Versions
  readonly optionalDependencies?: Versions
  readonly peerDependencies?: Versions
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}
interface Manifest extends Wants {
  readonly overrides?: Readonly<Record<string, string | Versions>>
}
interface Lock {
  /** By its folder; that of the checkout is the empty text. */
  readonly packages: Readonly<Record<string, Wants & { readonly version?: string }>>
}

const kept = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies', 'peerDependenciesMeta'] as const

/** What is missing or differs, each as a sentence; empty where the lockfile is whole. */
export function lockfileProblems(manifest: Manifest, { packages }: Lock): readonly string[] {
  const stale = kept
    .filter((field) => !isDeepStrictEqual(manifest[field], packages['']?.[field]))
    .map((field) => `package.json and package-lock.json differ in ${field}`)
  const wrong = Object.entries(packages).flatMap(([place, entry]) =>
    Object.entries(neededBy(entry)).flatMap(([name, range]) => {
      const found = entryFor(packages, place, name)
      const who = place === '' ? 'package.json' : place
      if (found === undefined) return [`${who} needs ${name} ${range}, which has no entry`]
      const exact = exactVersion(range)
      const fits = exact === undefined || found.version === exact || isOverridden(manifest, name)
      return fits ? [] : [`${who} needs ${name} ${exact}, and the entry has ${found.version}`]
    }),
  )
  return [...stale, ...wrong]
}

/** What has to be in the lockfile beside a package: what is for other platforms is optional, and has to be there, too. */
function neededBy({ peerDependencies = {}, peerDependenciesMeta = {}, ...wants }: Wants): Versions {
  const peers = Object.entries(peerDependencies).filter(([name]) => peerDependenciesMeta[name]?.optional !== true)
  return { ...Object.fromEntries(peers), ...wants.dependencies, ...wants.devDependencies, ...wants.optionalDependencies }
}

/** As Node looks for a package: in the folder's own node_modules, then in those above it. */
function entryFor(packages: Lock['packages'], place: string, name: string): Lock['packages'][string] | undefined {
  for (let folder = place; ;) {
    const found = packages[`${folder === '' ? '' : `${folder}/`}node_modules/${name}`]
    if (found !== undefined || folder === '') return found
    folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))
  }
}

/** The version of "1.2.3" and of "npm:other@1.2.3"; undefined for a range, which npm itself checks when it writes the entry. */
const exactVersion = (range: string): string | undefined => /^(?:npm:.*@)?(\d+\.\d+\.\d+(?:-[\w.]+)?)$/.exec(range)?.[1]

/** `overrides` gives a package another version than the one that was asked for. */
const isOverridden = ({ overrides = {} }: Manifest, name: string): boolean =>
  Object.entries(overrides).some(([key, value]) => key === name || (typeof value === 'object' && Object.hasOwn(value, name)))

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const read = (file: string) => JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'))
  const problems = lockfileProblems(read('package.json'), read('package-lock.json'))
  for (const each of problems) console.error(each)
  if (problems.length > 0) {
    console.error(
      'npm ci would refuse package-lock.json on some platform. To make it whole: rm -r node_modules; npm install --package-lock-only; npm ci',
    )
    process.exitCode = 1
  }
}
