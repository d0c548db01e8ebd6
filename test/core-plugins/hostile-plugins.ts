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
  /** An expression: its family of chains. */
  readonly family?: string
  /** The chain and network that it is for. */
  readonly on?: readonly [chain: string, network: string]
  /** More of its manifest. */
  readonly manifest?: string
  /** Lines of its `defaults.yml`. */
  readonly defaults?: string
}

/** One that is not loaded. */
export interface RefusedFixture extends Fixture {
  readonly step: 'consent' | 'import' | 'manifest' | 'configuration' | 'create'
  readonly reason: RegExp
  /** Where it is not any sentence. */
  readonly remedy?: RegExp
  /** It is tried by itself, with a small budget of processor time. */
  readonly takesTime?: true
  /** The same by the clock. */
  readonly waits?: true
}

const router = '0x2c4A1b0276Cd3B18695fd175B99d5Ac2294d6D01'
/** Raydium's. */
const program = '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8'
const thief = '0x00000000000000000000000000000000000bad01'

/** By name. */
export const refusedFixtures: Readonly<Record<string, RefusedFixture>> = {
  'schema-backtracks': {
    what: 'has a schema with a pattern that backtracks for ever',
    schema: `{ type: 'object', properties: { note: { type: 'string', pattern: '^(a+)+$' } } }`,
    defaults: `note: ${'a'.repeat(60)}!`,
    step: 'manifest',
    reason: /Checking its configuration by its schema was not done after \d+ s of processor time/,
    takesTime: true,
  },
  'schema-doubles': {
    what: 'has a schema whose parts refer twice to the next one, forty deep',
    schema: `{ type: 'object', $ref: '#/$defs/p0', $defs: Object.fromEntries(Array.from({ length: 40 }, (_, i) =>
      ['p' + i, i === 39 ? { minProperties: 1 } : { allOf: [{ $ref: '#/$defs/p' + (i + 1) }, { $ref: '#/$defs/p' + (i + 1) }] }])) }`,
    step: 'manifest',
    reason: /Checking its configuration by its schema was not done after \d+ s of processor time/,
    takesTime: true,
  },
  'schema-of-itself': {
    what: 'has a schema that refers to itself without an end',
    schema: `{ type: 'object', $ref: '#' }`,
    step: 'manifest',
    reason: /schema: cannot be used: it refers to itself without an end, or is nested too deep/,
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
  'manifest-of-lists': {
    what: 'has twenty thousand wrong entries in a list of its manifest, and keys of kilobytes',
    manifest: `signs: Array(20_000).fill({ ['x'.repeat(30)]: 1 }), ['y'.repeat(5_000)]: 1,`,
    step: 'manifest',
    reason: /^(?:manifest: unknown key "y{100} …"|signs: must NOT have more than 100 items); .*; and \d+ more$/,
  },
  'networks-endless': {
    what: 'names a thousand networks',
    manifest: `available_networks: [{ chain: 'ethereum', networks: ['devnet', ...Array.from({ length: 1_000 }, (_, i) => 'n' + i)] }],`,
    step: 'manifest',
    reason: /^available_networks\.0\.networks: must NOT have more than 100 items$/,
  },
  'schema-trap': {
    what: 'has a schema that cannot be read',
    schema: `new Proxy({}, { ownKeys() { throw new Error('a trap') }, get() { throw new Error('a trap') } })`,
    step: 'manifest',
    reason: /a trap/,
  },
  'schema-circle': {
    what: 'has a schema that is a circle',
    atImport: `const circle = {}
circle.not = circle`,
    schema: `circle`,
    step: 'manifest',
    reason: /circular structure/,
  },
  'event-malformed': {
    what: 'has an event that cannot be read, which would fail every poll',
    connector: `{ events: ['event Sync(uint112 reserve0', 'event Fine(uint256 a)'], AMM: { versions: [], quote: refuse, swap: refuse, fill: refuse } }`,
    step: 'create',
    reason: /^events: /,
  },
  'events-endless': {
    what: 'has more events than anybody reads',
    connector: `{ events: Array.from({ length: 2_000 }, (_, i) => 'event E' + i + '()'), AMM: { versions: [], quote: refuse, swap: refuse, fill: refuse } }`,
    step: 'create',
    reason: /\bevents: the answer must have at most 1000/,
  },
  'spenders-endless': {
    what: 'has more spenders than anybody reads',
    connector: `{ spenders: Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => ['s' + i, venue.contracts.routerAddress])), AMM: { versions: [], quote: refuse, swap: refuse, fill: refuse } }`,
    step: 'create',
    reason: /\bspenders: the answer must have at most 100/,
  },
  'refusals-endless': {
    what: 'has more words for errors than anybody reads',
    connector: `{ refusals: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => ['E' + i, 'x'])), AMM: { versions: [], quote: refuse, swap: refuse, fill: refuse } }`,
    step: 'create',
    reason: /\brefusals: the answer must have at most 10000/,
  },
  'create-waits': {
    what: 'is never created',
    connector: `new Promise(() => {})`,
    step: 'create',
    reason: /returned a promise/,
  },
  'variables-in-defaults': {
    what: 'asks in its defaults for a secret of the environment',
    defaults: 'note: ${DATABASE_PASSWORD}',
    step: 'configuration',
    reason: /DATABASE_PASSWORD/,
  },
  'spender-of-a-stranger': {
    what: 'has a spender that is none of its contracts',
    connector: `{ spenders: { v2: '${thief}' }, AMM: { versions: [], quote: refuse, swap: refuse, fill: refuse } }`,
    step: 'create',
    reason: /spenders\.v2 '0x0+bad01' is not one of its contractAddresses/,
  },
}

/** Those of which only a host keeps the server. */
export const refusedInHosts: Readonly<Record<string, RefusedFixture>> = {
  'actions-declared': {
    what: 'has typed data signed, whose hash the signer cannot read',
    manifest: `signs: [{ domain: 'Exchange', primaryType: 'Order' }],`,
    step: 'consent',
    reason: /has to be trusted: an exchange of signed actions decides/,
  },
  'actions-undeclared': {
    what: 'has a rail of its own, which its manifest does not say',
    connector: `{ actions: { rail: { check: refuse, draft: refuse, send: refuse, poll: refuse }, heads: () => () => {} }, AMM: { versions: [], quote: refuse, swap: refuse, fill: refuse } }`,
    step: 'consent',
    reason: /has to be trusted: an exchange of signed actions decides/,
  },
  'family-of-its-own': {
    what: 'brings a family of chains of its own',
    family: `{ ...solana, name: 'mine', remote: undefined }`,
    on: ['solana', 'mainnet'],
    step: 'consent',
    reason: /has to be trusted: connectors of the family mine /,
  },
  'schema-of-megabytes': {
    what: 'has a schema of many megabytes',
    schema: `{ type: 'object', properties: Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => ['key of some length ' + i, { type: 'string' }])) }`,
    step: 'manifest',
    reason: /Its manifest has \d+ characters as JSON: at most 1000000 are read/,
  },
  'schema-nested': {
    what: 'has a schema that is nested a hundred thousand deep',
    atImport: `let deep = {}
for (let i = 0; i < 100_000; i += 1) deep = { not: deep }`,
    schema: `deep`,
    step: 'manifest',
    reason: /Its manifest is nested too deep to be read/,
  },
  'configuration-replaced': {
    what: "has the answer of its schema name a thief's router",
    atImport: `const stringify = JSON.stringify
JSON.stringify = (...args) => stringify(...args).replaceAll('${router}', '${thief}')`,
    step: 'manifest',
    reason: /its schema changed what is configured/,
  },
  'exit-at-import': {
    what: 'ends its process while it is imported',
    atImport: `process.exit(4)`,
    step: 'import',
    reason: /Its process ended while it was loaded: /,
  },
  'exit-later': {
    what: 'ends its process while it waits to be imported',
    atImport: `await new Promise(() => setTimeout(() => process.exit(0), 10))`,
    step: 'import',
    reason: /Its process ended while it was loaded: /,
  },
  'exit-in-create': {
    what: 'ends its process while it is created',
    atCreate: `process.exit(4)`,
    step: 'create',
    reason: /Its process ended in create\(\): it ended with the status 4/,
  },
  'abort-at-import': {
    what: 'aborts its process',
    atImport: `process.abort()`,
    step: 'import',
    reason: /Its process ended while it was loaded: /,
  },
  'group-at-import': {
    what: 'ends its process group while it is imported',
    atImport: `process.kill(0, 'SIGKILL')
for (;;);`,
    step: 'import',
    reason: /Its process ended while it was loaded: /,
  },
  'heap-at-import': {
    what: 'takes all heap',
    atImport: `const all = []
for (;;) all.push(Array(1e5).fill(all.length))`,
    step: 'import',
    reason: /Its process ended while it was loaded: /,
  },
  'buffers-at-import': {
    what: 'takes memory outside of its heap',
    atImport: `const all = []
for (;;) { all.push(Buffer.alloc(2 ** 25, 1)); await new Promise((resolve) => setTimeout(resolve, 100)) }`,
    step: 'import',
    reason: /Its process ended while it was loaded: it took more than 512 MB of memory/,
    remedy: /^Use less memory/,
  },
  'log-at-create': {
    what: 'floods the log while it is created',
    atCreate: `for (let i = 0; i < 200_000; i += 1) venue.log.warn({ i }, 'a line')`,
    step: 'create',
    reason: /Its process ended in create\(\): (more than \d+ (messages|bytes) within a second|a frame of \d+ bytes is over the bound)/,
    remedy: /^Write less to venue\.log/,
  },
  'loop-at-import': {
    what: 'never ends to be imported',
    atImport: `for (;;);`,
    step: 'import',
    reason: /Loading was not done after \d+ s of processor time/,
    takesTime: true,
  },
  'import-waits': {
    what: 'waits for ever while it is imported',
    atImport: `await new Promise(() => {})`,
    step: 'import',
    reason: /Loading was not done after \d+ s: an await that never settles$/,
    waits: true,
  },
  'loop-in-create': {
    what: 'never ends to be created',
    atCreate: `for (;;);`,
    step: 'create',
    reason: /create\(\) was not done after \d+ s of processor time/,
    takesTime: true,
  },
  'manifest-loops': {
    what: 'has a manifest that is never read to its end',
    manifest: `toJSON() { for (;;); },`,
    step: 'import',
    reason: /Loading was not done after \d+ s of processor time/,
    takesTime: true,
  },
  'module-waits': {
    what: 'is a promise that never settles, as a module',
    atImport: `export const then = () => {}`,
    step: 'import',
    reason: /Loading was not done after \d+ s: an await that never settles$/,
    waits: true,
  },
  'threads-at-import': {
    what: 'starts five hundred threads while it is imported',
    atImport: `const { Worker } = await import('node:worker_threads')
for (let i = 0; i < 500; i += 1) {
  new Worker('setInterval(() => {}, 1_000)', { eval: true })
  await new Promise((resolve) => setTimeout(resolve, 20))
}
await new Promise(() => {})`,
    step: 'import',
    reason: /Its process ended while it was loaded: it started more than \d+ threads/,
    remedy: /^Use less memory, fewer threads/,
  },
  'json-replaced': {
    what: 'writes something else as JSON than what it is given',
    atImport: `JSON.parse = () => ({})
JSON.stringify = () => '{}'`,
    step: 'import',
    reason: /Its process ended while it was loaded: a frame that is no list of messages/,
    remedy: /leave JSON, Promise and the prototypes of all objects as they are/,
  },
  'arrays-replaced': {
    what: 'changes what all arrays do',
    atImport: `Array.prototype.map = () => []
Array.prototype.push = () => 0
Array.prototype.forEach = () => {}`,
    step: 'import',
    reason: /Its process ended while it was loaded: a frame/,
    remedy: /leave JSON, Promise and the prototypes of all objects as they are/,
  },
  'objects-extended': {
    what: 'gives every object another property',
    atImport: `Object.prototype.isAdmin = true`,
    step: 'manifest',
    reason: /'isAdmin' was added to Object\.prototype, which every object has since/,
  },
  'globals-gone': {
    what: 'takes away what all code of its process needs',
    atImport: `globalThis.structuredClone = () => { throw 1 }
globalThis.Buffer = {}
globalThis.process = null`,
    step: 'import',
    reason: /Its process ended while it was loaded: it ended with the status \d+(; The plugin globals-gone says: "(?!at ).+")?$/,
  },
  'terminal-at-import': {
    what: 'throws words that move the cursor and turn the text around',
    atImport: `throw new Error('\\u001b[2J\\u202Egnp.exe')`,
    step: 'import',
    reason: /^The plugin terminal-at-import says: "index\.ts:\d+: [^\p{Cc}\p{Cf}]+"$/u,
  },
  'throws-getter': {
    what: 'throws what cannot be read',
    atImport: `throw { get message() { throw 1 }, toString() { throw 2 } }`,
    step: 'import',
    reason: /threw an object that is not an Error/,
  },
  'file-of-another': {
    what: "imports the server's files by their paths",
    atImport: `await import('/sluice/dist/core/wallet/signer-process.js')`,
    step: 'import',
    reason: /leads out of the plugin's folder|ERR_MODULE_NOT_FOUND|Cannot find|does not exist, and index\.ts imports it/,
  },
}

/** Those that are loaded, since what they have is not looked at. */
export const harmlessFixtures: Readonly<Record<string, Fixture>> = {
  'program-of-solana': {
    what: 'names a program of Solana, which gets no signature of a wallet',
    family: 'solana',
    on: ['solana', 'mainnet'],
  },
  'reads-another-family': {
    what: 'reads Solana as if it were another family: the server answers what it asks by the chain itself',
    family: `{ ...solana, remote: evm.remote }`,
    on: ['solana', 'mainnet'],
  },
  'schema-with-code': {
    what: 'has functions among the keywords and formats of its schema',
    schema: `{ type: 'object', properties: { ttl: { format: () => process.exit(5), validate: () => process.exit(5), compile: () => process.exit(5) } } }`,
  },
}

/** Writes it as a plugin. @returns its folder */
export function plantFixture(folder: string, name: string, fixture: Fixture): string {
  const {
    atImport = '',
    schema = 'singleRouterSchema',
    atCreate = '',
    connector = honest,
    defaults = '',
    family = 'evm',
    manifest = '',
  } = fixture
  const [chain, network] = fixture.on ?? ['ethereum', 'local']
  const planted = path.join(folder, name)
  mkdirSync(planted, { recursive: true })
  writeFileSync(
    path.join(planted, 'index.ts'),
    `import { evm } from 'sluice/evm'
import { defineConnector, singleRouterSchema } from 'sluice/plugin'
${family.includes('solana') ? `import { solana } from 'sluice/solana'` : ''}
const refuse = () => { throw new Error('not for these tests') }
${atImport}
export default defineConnector({
  family: ${family},
  manifest: {
    name: '${name}',
    apiVersion: '1.0',
    version: '0.1.0',
    trading_type: ['AMM'],
    available_networks: [{ chain: '${chain}', networks: ['${network}'] }],
    ${manifest}
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
    `allowedSlippage: 1/100\nttl: 300\ncontractAddresses:\n  ${network}:\n    routerAddress: '${chain === 'solana' ? program : router}'\n${defaults}\n`,
  )
  return planted
}

const honest = '{ AMM: { versions: [], quote: refuse, swap: refuse, fill: refuse } }'
