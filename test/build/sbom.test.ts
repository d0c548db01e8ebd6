import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { expect } from 'chai'

interface Component {
  readonly name: string
  readonly version: string
  readonly scope: string
  readonly purl: string
  readonly hashes: readonly unknown[]
  readonly properties: readonly unknown[]
}
interface Sbom {
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}
interface Lock {
  readonly packages: Readonly<Record<string, object>>
}
const tool = new URL('../../tools/sbom.mjs', import.meta.url).href
const bundledMark = { name: 'cdx:npm:package:bundled', value: 'true' }

// What https://cyclonedx.org/schema/bom-1.5.schema.json requires of these parts, and what we promise beyond it.
const license = {
  oneOf: [
    { type: 'object', required: ['license'], properties: { license: { type: 'object', required: ['id'] } } },
    { type: 'object', required: ['expression'] },
  ],
}
const component = {
  type: 'object',
  required: ['type', 'name', 'version', 'bom-ref', 'purl', 'licenses'],
  properties: {
    type: { enum: ['application', 'library'] },
    name: { type: 'string', minLength: 1 },
    version: { type: 'string', minLength: 1 },
    purl: { type: 'string', pattern: '^pkg:npm/(%40[^/@]+/)?[^/@]+@[^/@]+$' },
    scope: { enum: ['required', 'optional'] },
    licenses: { type: 'array', minItems: 1, items: license },
    hashes: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['alg', 'content'],
        properties: { alg: { const: 'SHA-512' }, content: { type: 'string', pattern: '^[0-9a-f]{128}$' } },
      },
    },
  },
}
const schema = {
  type: 'object',
  required: ['bomFormat', 'specVersion', 'serialNumber', 'version', 'metadata', 'components', 'dependencies'],
  properties: {
    bomFormat: { const: 'CycloneDX' },
    specVersion: { const: '1.5' },
    serialNumber: { type: 'string', pattern: '^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' },
    version: { type: 'integer', minimum: 1 },
    metadata: { type: 'object', required: ['timestamp', 'component'], properties: { component } },
    components: { type: 'array', minItems: 1, items: component },
    dependencies: {
      type: 'array',
      items: {
        type: 'object',
        required: ['ref'],
        properties: { dependsOn: { type: 'array', uniqueItems: true, items: { type: 'string' } } },
      },
    },
  },
}

describe('the bill of materials', () => {
  let make: (lock: Lock, bundled: readonly string[]) => Sbom
  before(async () => {
    ;({ sbom: make } = await import(tool))
  })

  /** Packages as package-lock.json has them. */
  const lockOf = (packages: Record<string, object>): Lock => ({
    packages: Object.fromEntries(
      Object.entries(packages).map(([folder, fields]) => [
        folder,
        { version: '1.0.0', license: 'MIT', integrity: `sha512-${Buffer.alloc(64).toString('base64')}`, ...fields },
      ]),
    ),
  })

  it('names dependencies with theirs and bundled packages, and nothing of development alone', () => {
    const lock = lockOf({
      '': { name: 'sluice', dependencies: { libsql: '1.0.0' } },
      'node_modules/libsql': { dependencies: { '@neon-rs/load': '^1' }, optionalDependencies: { '@libsql/linux-x64-gnu': '1.0.0' } },
      'node_modules/@neon-rs/load': {},
      'node_modules/@libsql/linux-x64-gnu': { optional: true },
      'node_modules/koa': { dev: true, dependencies: { bytes: '1' } },
      'node_modules/koa/node_modules/bytes': { dev: true, version: '2.0.0' },
      'node_modules/bytes': { dev: true },
      'node_modules/mocha': { dev: true },
    })
    const { components, dependencies } = make(lock, ['node_modules/koa', 'node_modules/koa/node_modules/bytes'])
    expect(components.map(({ purl, scope, properties }) => [purl, scope, properties])).to.have.deep.members([
      ['pkg:npm/libsql@1.0.0', 'required', []],
      ['pkg:npm/%40neon-rs/load@1.0.0', 'required', []],
      ['pkg:npm/%40libsql/linux-x64-gnu@1.0.0', 'optional', []],
      ['pkg:npm/koa@1.0.0', 'required', [bundledMark]],
      ['pkg:npm/bytes@2.0.0', 'required', [bundledMark]],
    ])
    expect(dependencies).to.deep.include.members([
      { ref: 'pkg:npm/sluice@1.0.0', dependsOn: ['pkg:npm/bytes@2.0.0', 'pkg:npm/koa@1.0.0', 'pkg:npm/libsql@1.0.0'] },
      { ref: 'pkg:npm/koa@1.0.0', dependsOn: ['pkg:npm/bytes@2.0.0'] },
    ])
  })

  it('names a version once that lies in several folders', () => {
    const lock = lockOf({ '': { name: 'sluice' }, 'node_modules/a/node_modules/c': {}, 'node_modules/b/node_modules/c': {} })
    const { components } = make(lock, ['node_modules/a/node_modules/c', 'node_modules/b/node_modules/c'])
    expect(components.map(({ purl }) => purl)).to.deep.equal(['pkg:npm/c@1.0.0'])
  })

  it('has of this release every field that CycloneDX asks for, and refers to nothing that it does not have', async () => {
    const build: { bundledPackages(): Promise<string[]> } = await import(new URL('../../tools/build.mjs', import.meta.url).href)
    const lock: Lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'))
    const document = make(lock, await build.bundledPackages())
    const validate = new Ajv({ allErrors: true }).compile(schema)
    validate(document)
    expect(validate.errors ?? []).to.deep.equal([])

    const names = document.components.map(({ name }) => name)
    expect(names).to.include.members(['ethers', 'koa', 'swagger-ui-dist', 'esbuild', 'libsql', 'typebox', '@libsql/linux-arm64-gnu'])
    expect(names).not.to.include.oneOf(['mocha', 'tsx', 'typescript', '@foundry-rs/anvil'])
    const references = document.dependencies.map(({ ref }) => ref)
    expect(new Set(references).size).to.equal(references.length)
    expect(document.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !references.includes(ref))).to.deep.equal([])
  })
})
