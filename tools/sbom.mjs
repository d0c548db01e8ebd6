// `npm run --silent sbom > sluice.cdx.json`: what the package is made of, in CycloneDX's JSON. `npm sbom` knows what is installed only: it
// does not know which packages' code is bundled, nor other platforms' binaries.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { bundledPackages, installedBeside } from './build.mjs'

const root = new URL('..', import.meta.url)

/**
 * The dependencies of the package with theirs, and the packages that are bundled.
 *
 * @param lock package-lock.json
 * @param bundled folders of packages, as they are named there
 */
export function sbom(lock, bundled) {
  const { '': self, ...packages } = lock.packages
  const beside = Object.fromEntries(Object.entries(self.dependencies ?? {}).filter(([name]) => installedBeside.includes(name)))
  const installed = dependenciesOf(packages, '', { dependencies: beside })
  const folders = [...new Set([...bundled, ...reachable(packages, installed)])].toSorted(byText)
  // The same version may lie in several folders.
  const components = new Map(folders.map((folder) => [purlOf(packages, folder), componentOf(packages, folder, bundled.includes(folder))]))
  const ownReference = `pkg:npm/${self.name}@${self.version}`
  const dependsOn = (all) =>
    [...new Set(all.map((folder) => purlOf(packages, folder)))].filter((purl) => components.has(purl)).toSorted(byText)
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${randomUUID()}`,
    version: 1,
    metadata: {
      timestamp: new Date().toISOString(),
      lifecycles: [{ phase: 'build' }],
      component: {
        type: 'application',
        'bom-ref': ownReference,
        name: self.name,
        version: self.version,
        purl: ownReference,
        licenses: licensesOf(self.license),
      },
    },
    components: [...components.values()],
    dependencies: [
      { ref: ownReference, dependsOn: dependsOn([...installed, ...bundled]) },
      ...[...components.keys()].map((purl) => {
        const same = folders.filter((folder) => purlOf(packages, folder) === purl)
        return { ref: purl, dependsOn: dependsOn(same.flatMap((folder) => dependenciesOf(packages, folder, packages[folder]))) }
      }),
    ],
  }
}

function componentOf(packages, folder, isBundled) {
  const { version, integrity, license, optional } = packages[folder]
  const purl = purlOf(packages, folder)
  return {
    type: 'library',
    'bom-ref': purl,
    name: nameOf(folder),
    version,
    // Optional: binaries for one platform, of which npm installs the one that fits.
    scope: optional && !isBundled ? 'optional' : 'required',
    purl,
    hashes: hashesOf(integrity),
    licenses: licensesOf(license),
    // Named in CycloneDX's taxonomy of properties for npm.
    properties: isBundled ? [{ name: 'cdx:npm:package:bundled', value: 'true' }] : [],
  }
}

const byText = (a, b) => (a < b ? -1 : 1)

const nameOf = (folder) => folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** https://github.com/package-url/purl-spec: the at sign of a scope is encoded. */
const purlOf = (packages, folder) => `pkg:npm/${nameOf(folder).replace('@', '%40')}@${packages[folder].version}`

/** Of `sha512-<base64>`. */
function hashesOf(integrity) {
  const [algorithm, digest] = integrity.split(/-(.*)/)
  return [{ alg: algorithm.toUpperCase().replace('SHA', 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') }]
}

function licensesOf(license) {
  if (license === undefined) return []
  return [/[ (]/.test(license) ? { expression: license } : { license: { id: license } }]
}

/** The folders that Node finds for what a package depends on. */
function dependenciesOf(packages, folder, { dependencies = {}, optionalDependencies = {} }) {
  return Object.keys({ ...dependencies, ...optionalDependencies }).flatMap((name) => foundFrom(packages, folder, name) ?? [])
}

function foundFrom(packages, folder, name) {
  const found = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
  if (packages[found] !== undefined) return found
  if (folder === '') return undefined
  return foundFrom(packages, folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/'))), name)
}

function reachable(packages, from) {
  const seen = new Set()
  const visit = (folder) => {
    if (seen.has(folder)) return
    seen.add(folder)
    dependenciesOf(packages, folder, packages[folder]).forEach(visit)
  }
  from.forEach(visit)
  return seen
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const lock = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8'))
  console.log(JSON.stringify(sbom(lock, await bundledPackages()), null, 2))
}
