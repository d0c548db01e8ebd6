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
    reason: /^events: the answer must have at most 1000/,
  },
  'spenders-endless': {
    what: 'has more spenders than anybody reads',
    connector: `{ spenders: Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => ['s' + i, venue.contracts.routerAddress])), AMM: { versions: [], quote: refuse, swap: refuse, fill: refuse } }`,
    step: 'create',
    reason: /^spenders: the answer must have at most 100/,
  },
  'refusals-endless': {
    what: 'has more words for errors than anybody reads',
    connector: `{ refusals: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => ['E' + i, 'x'])), AMM: { versions: [], quote: refuse, swap: refuse, fill: refuse } }`,
    step: 'create',
    reason: /^refusals: the answer must have at most 10000/,
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
    connector: `{ actions: { rail: { check: refuse, draft: refuse, send: refuse, look: refuse }, heads: () => () => {} }, AMM: { versions: [], quote: refuse, swap: refuse, fill: refuse } }`,
    step: 'consent',
    reason: /has to be trusted: an exchange of signed actions decides/,
  },
  'program-of-solana': {
    what: 'has the wallet call a program of Solana',
    family: 'solana',
    on: ['solana', 'mainnet'],
    step: 'consent',
    reason: /has to be trusted: connectors of the family solana .* no allowance bounds/,
  },
  'family-of-its-own': {
    what: 'brings a family of chains of its own',
    family: `{ ...solana, name: 'mine' }`,
    on: ['solana', 'mainnet'],
    step: 'consent',
    reason: /has to be trusted: connectors of the family mine /,
  },
  'family-that-lies': {
    what: 'says of the family of Solana that it is read from another process',
    family: `{ ...solana, remote: evm.remote }`,
    on: ['solana', 'mainnet'],
    step: 'consent',
    reason: /has to be trusted: connectors of the family solana .* no allowance bounds/,
  },
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
for (;;) { all.push(Buffer.alloc(2 ** 25, 1)); await new Promise((resolve) => setTimeout(resolve, 50)) }`,
    step: 'import',
    reason: /Its process ended while it was loaded: it took more than 512 MB of memory/,
  },
  'log-at-create': {
    what: 'floods the log while it is created',
    atCreate: `for (let i = 0; i < 200_000; i += 1) venue.log.warn({ i }, 'a line')`,
    step: 'create',
    reason: /Its process ended in create\(\): (more than \d+ (messages|bytes) within a second|a frame of \d+ bytes is over the bound)/,
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
    reason: /Loading was not done after \d+ s: an await that never settles/,
    waits: true,
  },
  'loop-in-create': {
    what: 'never ends to be created',
    atCreate: `for (;;);`,
    step: 'create',
    reason: /create\(\) was not done after \d+ s of processor time/,
    takesTime: true,
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

/** What a plugin does while it is asked for a price, or for what its trade needs. */
export interface Harm {
  /** The sentence that is true of it. */
  readonly what: string
  /** Statements; `honest()` is the price, and what is returned is the answer. */
  readonly code: string
  /** Whether its process ends by it. */
  readonly ends?: true
  /** Whether the harm is told as a failure in its background. */
  readonly isFault?: true
  /** The error of the caller; absent: the price is right. */
  readonly answer?: RegExp
  /** The method that does it; absent: it is asked for a price. */
  readonly at?: 'swap' | 'fill'
  /** It is begun before all others: it only waits. */
  readonly isLong?: true
  /** What is else by design in the plugin-host service of the image; docs/security.md says why. */
  readonly inService?: Pick<Harm, 'answer' | 'ends'>
}

const unavailable = /SERVICE_UNINITIALIZED|TIMEOUT/
const wrong = /UNKNOWN_ERROR/
/** A statement that tries, and fails the request with what it got. */
const attempt = (code: string): string => `let got
try { got = 'GOT ' + String(await (async () => { ${code} })()) } catch (error) { got = 'refused ' + (error.code ?? error.message) }
throw new SluiceError('PRICE_FAILED', got)`
const nothing = /PRICE_FAILED refused /

/** By name. Those that end their process are asked of plugins of their own. */
export const harms: Readonly<Record<string, Harm>> = {
  // In the background.
  'rejected promise': { what: 'rejects where nobody waits', code: `void Promise.reject(new Error('boo')); return honest()`, isFault: true },
  'rejected proxy': {
    what: 'rejects with a value that cannot be read',
    code: `void Promise.reject(trap()); return honest()`,
    isFault: true,
  },
  timer: { what: 'throws in a timer', code: `setTimeout(() => { throw new Error('boo') }); return honest()`, isFault: true },
  'thrown proxy': {
    what: 'throws a value that cannot be read',
    code: `setTimeout(() => { throw trap() }); return honest()`,
    isFault: true,
  },
  microtask: { what: 'throws in a microtask', code: `queueMicrotask(() => { throw new Error('boo') }); return honest()`, isFault: true },
  'next tick': { what: 'throws at the next tick', code: `process.nextTick(() => { throw null }); return honest()`, isFault: true },
  'no error listener': {
    what: 'has an emitter whose error nobody hears',
    code: `setImmediate(() => new EventEmitter().emit('error', new Error('boo'))); return honest()`,
    isFault: true,
  },
  stream: {
    what: 'has a stream that fails',
    code: `new Readable({ read() { this.destroy(new Error('boo')) } }).resume(); return honest()`,
    isFault: true,
  },
  'abort listener': {
    what: 'throws where a signal is aborted',
    code: `const controller = new AbortController()
controller.signal.addEventListener('abort', () => { throw new Error('boo') })
controller.abort()
return honest()`,
    isFault: true,
  },
  'worker thread': {
    what: 'has a thread that fails',
    code: `new Worker('throw new Error("boo")', { eval: true }); return honest()`,
    isFault: true,
  },
  // What it answers.
  'thrown nothing': { what: 'throws null', code: `throw null`, answer: wrong },
  'thrown trap': { what: 'throws what cannot be read', code: `throw trap()`, answer: wrong },
  'long message': { what: 'throws with a message of 100 MB', code: `throw new Error('x'.repeat(1e8))`, answer: wrong },
  'long words to callers': {
    what: 'has words of 100 MB for its caller',
    code: `throw new SluiceError('PRICE_FAILED', 'x'.repeat(1e8))`,
    answer: /PRICE_FAILED x{100,10000}$/,
  },
  'cyclic answer': {
    what: 'answers with a circle',
    code: `const quote = { ...(await honest()) }; quote.route = [quote]; return quote`,
    answer: wrong,
  },
  'getters that change': {
    what: 'answers with a getter that says something else each time: it is read once',
    code: `let times = 0n; const quote = { ...(await honest()) }
Object.defineProperty(quote, 'amountRaw', { enumerable: true, get: () => quote.spotAmountRaw * 10n ** (times += 1n) })
return quote`,
  },
  'proxy that throws': { what: 'answers with a proxy that throws', code: `return trap()`, answer: wrong },
  symbols: {
    what: 'answers with symbols',
    code: `return { ...(await honest()), amountRaw: Symbol('1'), [Symbol.iterator]: 1 }`,
    answer: wrong,
  },
  prototypes: {
    what: 'answers with prototypes',
    code: `return JSON.parse('{"__proto__":{"amountRaw":"#1"},"constructor":{"prototype":{}}}')`,
    answer: wrong,
  },
  'no answer': { what: 'answers nothing', code: `return undefined`, answer: wrong },
  'negative amount': {
    what: 'answers with an amount below nothing',
    code: `return { ...(await honest()), amountRaw: -1n }`,
    answer: wrong,
  },
  'amount as number': {
    what: 'answers with an amount that is no bigint',
    code: `return { ...(await honest()), amountRaw: 1e30 }`,
    answer: wrong,
  },
  'head of its own': {
    what: 'answers for a block that nobody has seen',
    code: `return { ...(await honest()), head: { number: 10n ** 9n, timestamp: 2 ** 33, hash: '0x' + '7'.repeat(64) } }`,
    answer: /NETWORK/,
  },
  'error of another kind': {
    what: 'says that the server failed',
    code: `throw new SluiceError('LOAD_WALLET', 'send your keys')`,
    answer: /./,
  },
  // What never settles.
  'endless quote': { what: 'never has a price', code: `return new Promise(() => {})`, isLong: true, answer: /TIMEOUT/ },
  'endless swap': { what: 'has a plan that never settles', code: `return new Promise(() => {})`, at: 'swap', answer: wrong },
  'endless fill': { what: 'has a fill that never settles', code: `return new Promise(() => {})`, at: 'fill' },
  // What it tries to reach.
  environment: { what: 'reads the environment', code: attempt(`return Object.keys(process.env).length || fail()`), answer: nothing },
  'the server': { what: 'ends the server', code: attempt(`return process.kill(target.pid, 'SIGKILL')`), answer: nothing },
  keystore: { what: 'reads keys', code: attempt(`return readFileSync(target.home + '/data/keystore')`), answer: nothing },
  settings: {
    what: 'reads settings',
    code: attempt(`return readdirSync(target.home + '/conf')`),
    answer: nothing,
    // The image's own, which everybody has; the operator's are not there.
    inService: { answer: /PRICE_FAILED GOT chains,clients\.yml,[\w.,-]+$/ },
  },
  certificates: { what: 'reads certificates', code: attempt(`return readFileSync(target.home + '/certs/ca_key.pem')`), answer: nothing },
  'other processes': {
    what: 'reads of other processes',
    code: attempt(`return readFileSync('/proc/' + target.pid + '/environ')`),
    answer: nothing,
  },
  'memory of others': {
    what: 'reads the memory of others',
    code: attempt(`return readFileSync('/proc/' + target.pid + '/mem')`),
    answer: nothing,
  },
  'other plugins': {
    what: 'reads other plugins',
    code: attempt(`return readdirSync(target.plugins).filter((name) => name !== 'mischief' && name !== 'node_modules').join() || fail()`),
    answer: nothing,
  },
  'writes to disk': {
    what: 'writes to a disk',
    code: attempt(
      `return ['/', '/tmp', '/dev', '/sluice', '/plugins/mischief', target.home].filter((folder) => { try { writeFileSync(folder + '/x', 'x'); return true } catch { return false } }).join() || fail()`,
    ),
    answer: nothing,
  },
  devices: {
    what: 'opens a device',
    code: attempt(
      `return ['/dev/mem', '/dev/kmsg', '/dev/sda', '/dev/null'].filter((file) => { try { readFileSync(file); return true } catch { return false } }).join() || fail()`,
    ),
    answer: nothing,
    inService: { answer: /PRICE_FAILED GOT \/dev\/null$/ },
  },
  loopback: { what: 'connects to the node', code: attempt(`return connected({ host: '127.0.0.1', port: target.port })`), answer: nothing },
  'metadata service': {
    what: 'connects to a metadata service',
    code: attempt(`return connected({ host: '169.254.169.254', port: 80 })`),
    answer: nothing,
  },
  fetch: { what: 'fetches a page', code: attempt(`return (await fetch('http://' + target.host)).status`), answer: nothing },
  names: { what: 'looks up a name', code: attempt(`return (await lookup('example.com')).address`), answer: nothing },
  datagram: {
    what: 'sends a datagram',
    code: attempt(
      `return new Promise((resolve, reject) => createSocket('udp4').send('x', 53, '1.1.1.1', (error) => error ? reject(error) : resolve('sent')))`,
    ),
    answer: nothing,
  },
  'native addon': {
    what: 'loads native code',
    code: attempt(`const module = { exports: {} }; process.dlopen(module, '/usr/lib/x86_64-linux-gnu/libc.so.6'); return 'libc'`),
    answer: nothing,
  },
  programs: {
    what: 'runs a shell',
    code: attempt(`return execFileSync('/bin/sh', ['-c', 'id; grep -h ^CapEff /proc/self/status'])`),
    answer: nothing,
    // As itself, with nothing more than it has.
    inService: { answer: /PRICE_FAILED GOT uid=608\d\d gid=608\d\d( groups=608\d\d)?\nCapEff:\t0+\n$/ },
  },
  'more namespaces': {
    what: 'makes namespaces of its own',
    code: attempt(`return execFileSync('/usr/bin/unshare', ['--user', 'true'])`),
    answer: nothing,
    // The engine's seccomp filter refuses them; without one they are those of a user without rights.
    inService: { answer: /PRICE_FAILED (refused |GOT $)/ },
  },
  inspector: {
    what: 'looks for other threads with an inspector',
    code: attempt(`const session = new Session(); session.connectToMainThread(); return 'the main thread'`),
    answer: nothing,
  },
  'core by path': {
    what: "imports the server's modules by their paths",
    code: attempt(`return Object.keys(await import(target.code + '/core/wallet/signer-process.js'))`),
    answer: nothing,
  },
  webassembly: {
    what: 'runs WebAssembly',
    code: `await WebAssembly.instantiate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])); return honest()`,
  },
  'a few notices': {
    what: 'writes a thousand lines of a log',
    code: `for (let i = 0; i < 1_000; i += 1) venue.log.warn({ i, text: 'x'.repeat(1_000) }, 'y'.repeat(1_000)); return honest()`,
  },
  'error output': {
    what: 'writes without end to its error output',
    code: `for (let i = 0; i < 500; i += 1) writeSync(2, 'x'.repeat(1e6)); return honest()`,
    answer: wrong,
  },
  output: {
    what: 'writes without end to its output',
    code: `for (let i = 0; i < 500; i += 1) writeSync(1, 'x'.repeat(1e6)); return honest()`,
  },
  debugger: { what: 'opens a debugger, which nobody can reach', code: `openInspector(0, '127.0.0.1'); return honest()` },
  // What ends it.
  exit: { what: 'ends its process', code: `process.exit(3)`, ends: true, answer: unavailable },
  'delayed exit': {
    what: 'ends its process later',
    code: `setTimeout(() => process.exit(0), 10); return new Promise(() => {})`,
    ends: true,
    answer: unavailable,
  },
  'process group': {
    what: 'ends its process group, and so whoever started it, where that is in it',
    code: `process.kill(0, 'SIGKILL'); return new Promise(() => {})`,
    ends: true,
    answer: unavailable,
  },
  abort: { what: 'aborts its process', code: `process.abort()`, ends: true, answer: unavailable },
  'kills all': {
    what: 'kills all that it can',
    code: `process.kill(process.pid, 'SIGSEGV'); process.abort()`,
    ends: true,
    answer: unavailable,
  },
  loop: { what: 'loops', code: `for (;;);`, ends: true, answer: unavailable },
  'sleep in swap': {
    what: 'stands still without using a processor while a trade is planned',
    code: `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)`,
    at: 'swap',
    ends: true,
    isLong: true,
    answer: unavailable,
  },
  'loop in fill': { what: 'loops while a trade is read', code: `for (;;);`, at: 'fill', ends: true },
  'many bits': {
    what: 'answers with a number of four million bits',
    code: `return { ...(await honest()), amountRaw: 1n << 4_000_000n }`,
    answer: wrong,
  },
  'million hops': {
    what: 'answers with a route of a million hops',
    code: `const quote = await honest(); return { ...quote, route: Array.from({ length: 1_000_000 }, () => quote.route[0]) }`,
    answer: wrong,
  },
  'flood of notices': {
    what: 'floods the log',
    code: `for (let i = 0; i < 200_000; i += 1) venue.log.warn({ i }, 'a line'); return new Promise(() => {})`,
    ends: true,
    answer: unavailable,
  },
  heap: { what: 'takes all heap', code: `const all = []; for (;;) all.push(Array(1e5).fill(all.length))`, ends: true, answer: unavailable },
  buffers: {
    what: 'takes memory outside of its heap',
    code: `for (;;) { kept.push(Buffer.alloc(2 ** 26, 1)); await new Promise((resolve) => setTimeout(resolve, 50)) }`,
    ends: true,
    answer: unavailable,
  },
  processes: {
    what: 'starts processes without end',
    code: `for (let i = 0; i < 12; i += 1) spawn(target.node, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'pipe' }); return new Promise(() => {})`,
    ends: true,
    answer: unavailable,
  },
  'its channel': {
    what: 'finds its channel and writes into it',
    code: `for (const handle of process._getActiveHandles()) if (handle.write) handle.write(Buffer.alloc(64, 255)); return new Promise(() => {})`,
    ends: true,
    answer: unavailable,
  },
  'forged answers': {
    what: 'finds its channel and answers what nobody asked',
    code: `const text = Buffer.from('[[1,999999999,{}]]'); const length = Buffer.alloc(4); length.writeUInt32BE(text.length)
for (const handle of process._getActiveHandles()) if (handle.write) handle.write(Buffer.concat([length, text])); return new Promise(() => {})`,
    ends: true,
    answer: unavailable,
  },
}

/** What harms may use. */
export const harmImports = `import { SluiceError } from 'sluice/plugin'
import { poolAMM } from 'sluice/pools'
import { uniswapV2 } from 'sluice/uniswap-v2'
import { execFileSync, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { EventEmitter } from 'node:events'
import { readdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { open as openInspector, Session } from 'node:inspector'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { Worker } from 'node:worker_threads'
import target from './target.json' with { type: 'json' }
const kept = []
const fail = () => { throw new Error('nothing') }
const spring = () => { throw new Error('a trap') }
const trap = () => new Proxy(new Error('x'), { get: (_, key) => key === 'then' ? undefined : spring(), has: spring, getPrototypeOf: spring, getOwnPropertyDescriptor: spring, ownKeys: spring })
const connected = (to) => new Promise((resolve, reject) => { const socket = connect(to, () => resolve('a connection')); socket.setTimeout(1000, () => reject(new Error('timeout'))); socket.on('error', reject) })
const deployments = { 'ethereum/local': { factory: '0x45A862bbe3001Ac4018dE978EA960f160f240A8C', initCodeHash: '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f' } }`

/** A connector that does the n-th harm when it is asked for some thousand units and n, or that trade is planned or read. */
export const harmful = (harms: readonly Harm[]): string => `(() => {
  const { followed: _, ...amm } = poolAMM(venue, uniswapV2(venue, { fee: [3n, 1000n], deployments }))
  const harms = [${harms.map(({ code, at = 'quote' }) => `{ at: '${at}', harm: async (honest) => { ${code}\n } }`).join(',\n')}]
  const answer = (at, amountRaw, honest) => {
    const one = harms[Number(amountRaw % 1_000n) - 1]
    return one?.at === at ? one.harm(honest) : honest()
  }
  return { AMM: {
    ...amm,
    quote: (swap, choice, at) => answer('quote', swap.amountRaw, () => amm.quote(swap, choice, at)),
    swap: (quote, terms) => answer('swap', quote.swap.amountRaw, () => amm.swap(quote, terms)),
    fill: (receipt, memo) => {
      const fill = amm.fill(receipt, memo)
      return fill && answer('fill', fill.amountInRaw, () => fill)
    },
  } }
})()`

/** Connectors whose prices are followed, that hang where an event of a pool comes, and where the server stops. */
export const hangingLater: Readonly<Record<string, Fixture & { readonly ends: boolean }>> = {
  'loops-later': { what: 'loops at an event', connector: hangsLater('for (;;);'), ends: true },
  'waits-later': { what: 'has a state that never settles at an event', connector: hangsLater('return new Promise(() => {})'), ends: false },
}

/** Those that hang where they start. */
export const hangingStarts: Readonly<Record<string, Fixture & { readonly ends: boolean }>> = {
  'loops-at-start': { what: 'loops at its start', connector: hangsAtStart('for (;;);'), ends: true },
  'waits-at-start': { what: 'never has started', connector: hangsAtStart('return new Promise(() => {})'), ends: false },
}

function hangsLater(hang: string): string {
  return `(() => {
  const { followed, ...amm } = poolAMM(venue, uniswapV2(venue, { fee: [3n, 1000n], deployments }))
  // What is followed is known by its identity.
  const hanging = new Map()
  const hangs = (each) => {
    if (!hanging.has(each)) hanging.set(each, { ...each, keysOf: (change) => each.keysOf(change), load: (...args) => each.load(...args), apply: () => { ${hang} } })
    return hanging.get(each)
  }
  const basis = (tokens, choice) => followed.basis(tokens, choice).map((one) => ({ ...one, followed: hangs(one.followed) }))
  return { stop() { ${hang} }, AMM: { ...amm, followed: { ...followed, basis, quote: (...args) => followed.quote(...args), vet: (...args) => followed.vet(...args) } } }
})()`
}

function hangsAtStart(hang: string): string {
  return `(() => {
  const { followed: _, ...amm } = poolAMM(venue, uniswapV2(venue, { fee: [3n, 1000n], deployments }))
  return { start() { ${hang} }, AMM: amm }
})()`
}
