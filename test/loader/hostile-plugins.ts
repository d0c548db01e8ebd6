// Hostile and broken plugins of third parties as data: what each does, and what must happen to it.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** A connector for the devnet that is honest but for what is named here. */
export interface Fixture {
  /** The sentence that is true of it. */
  readonly what: string
  /** Statements that run when its module is imported. */
  readonly atImport?: string
  /** An expression. */
  readonly schema?: string
  /** Statements of `create`. */
  readonly atCreate?: string
  /** An expression: the connector. */
  readonly connector?: string
  /** Lines of its `defaults.yml`. */
  readonly defaults?: string
}

/** One that is not loaded. */
export interface RefusedFixture extends Fixture {
  readonly step: 'import' | 'manifest' | 'configuration' | 'create'
  readonly reason: RegExp
  /** It is tried by itself, with a small budget. */
  readonly takesTime?: true
}

const router = '0x2c4A1b0276Cd3B18695fd175B99d5Ac2294d6D01'
const thief = '0x00000000000000000000000000000000000bad01'

/** By name. */
export const refusedFixtures: Readonly<Record<string, RefusedFixture>> = {
  'schema-backtracks': {
    what: 'has a schema with a pattern that backtracks for ever',
    schema: `{ type: 'object', properties: { note: { type: 'string', pattern: '^(a+)+$' } } }`,
    defaults: `note: ${'a'.repeat(60)}!`,
    step: 'manifest',
    reason: /Checking its configuration by its schema was not done after 4 s of processor time/,
    takesTime: true,
  },
  'schema-doubles': {
    what: 'has a schema whose parts refer twice to the next one, forty deep',
    schema: `{ type: 'object', $ref: '#/$defs/p0', $defs: Object.fromEntries(Array.from({ length: 40 }, (_, i) =>
      ['p' + i, i === 39 ? { minProperties: 1 } : { allOf: [{ $ref: '#/$defs/p' + (i + 1) }, { $ref: '#/$defs/p' + (i + 1) }] }])) }`,
    step: 'manifest',
    reason: /Checking its configuration by its schema was not done after 4 s of processor time/,
    takesTime: true,
  },
  'schema-of-itself': {
    what: 'has a schema that refers to itself without an end',
    schema: `{ type: 'object', $ref: '#' }`,
    step: 'manifest',
    reason: /schema: cannot be used: Maximum call stack size exceeded/,
  },
  'schema-elsewhere': {
    what: 'has a schema that refers to another machine',
    schema: `{ type: 'object', properties: { ttl: { $ref: 'http://169.254.169.254/latest/meta-data' } } }`,
    step: 'manifest',
    reason: /can't resolve reference http:\/\/169/,
  },
  'schema-in-file': {
    what: 'has a schema that refers to a file',
    schema: `{ type: 'object', properties: { ttl: { $ref: 'file:///etc/passwd' } } }`,
    step: 'manifest',
    reason: /can't resolve reference file:\/\/\/etc\/passwd/,
  },
  'schema-waits': {
    what: 'has an asynchronous schema',
    schema: `{ $async: true, type: 'object' }`,
    step: 'manifest',
    reason: /is an asynchronous schema/,
  },
  'schema-fills-up': {
    what: 'has a schema that fills in a configuration of a hundred thousand entries',
    schema: `{ type: 'object', properties: { list: { default: Array(100_000).fill(0) } } }`,
    step: 'manifest',
    reason: /a configuration of more than 50000 entries/,
  },
}

/** Those of which only a host keeps the server. */
export const refusedInHosts: Readonly<Record<string, RefusedFixture>> = {
  'schema-of-megabytes': {
    what: 'has a schema of many megabytes',
    schema: `{ type: 'object', properties: Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => ['key of some length ' + i, { type: 'string' }])) }`,
    step: 'import',
    reason: /a frame of \d+ bytes is over the bound of \d+/,
  },
  'schema-nested': {
    what: 'has a schema that is nested a hundred thousand deep',
    atImport: `let deep = {}
for (let i = 0; i < 100_000; i += 1) deep = { not: deep }`,
    schema: `deep`,
    step: 'manifest',
    reason: /Maximum call stack size exceeded/,
  },
  'configuration-replaced': {
    what: "has the answer of its schema name a thief's router",
    atImport: `const stringify = JSON.stringify
JSON.stringify = (...args) => stringify(...args).replaceAll('${router}', '${thief}')`,
    step: 'manifest',
    reason: /its schema changed what is configured/,
  },
}

/** Those that are loaded, since what they have is not looked at. */
export const harmlessFixtures: Readonly<Record<string, Fixture>> = {
  'schema-with-code': {
    what: 'has functions among the keywords and formats of its schema',
    schema: `{ type: 'object', properties: { ttl: { format: () => process.exit(5), validate: () => process.exit(5), compile: () => process.exit(5) } } }`,
  },
}

/** Writes it as a plugin. @returns its folder */
export function plantFixture(folder: string, name: string, fixture: Fixture): string {
  const { atImport = '', schema = 'singleRouterSchema', atCreate = '', connector = honest, defaults = '' } = fixture
  const planted = path.join(folder, name)
  mkdirSync(planted, { recursive: true })
  writeFileSync(
    path.join(planted, 'index.ts'),
    `import { evm } from 'sluice/evm'
import { defineConnector, singleRouterSchema } from 'sluice/plugin'
const refuse = () => { throw new Error('not for these tests') }
${atImport}
export default defineConnector({
  family: evm,
  manifest: {
    name: '${name}',
    apiVersion: '1.0',
    trading_type: ['AMM'],
    available_networks: [{ chain: 'ethereum', networks: ['local'] }],
    schema: ${schema},
  },
  create(venue) {
    ${atCreate}
    return ${connector}
  },
})
`,
  )
  writeFileSync(
    path.join(planted, 'defaults.yml'),
    `allowedSlippage: 1/100\nttl: 300\ncontractAddresses:\n  local:\n    routerAddress: '${router}'\n${defaults}\n`,
  )
  return planted
}

const honest = '{ AMM: { versions: [], quote: refuse, swap: refuse, fill: refuse } }'
