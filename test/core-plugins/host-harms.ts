// What hostile plugins of the table do at run time, as data: code of a connector, and what must happen.
import type { Fixture } from './hostile-plugins.ts'

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
  /** What is else by design in the plugin-host service of the image; docs/operators/security-plugins.md says why. */
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
    answer: /PRICE_FAILED x{100,1000} …$/,
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
    // As itself, with nothing more than it has. A tab is not shown as such.
    inService: { answer: /PRICE_FAILED GOT uid=608\d\d gid=608\d\d( groups=608\d\d)? CapEff: 0+$/ },
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
    // Where the system refuses more before anybody looks, it holds what it has.
    code: `for (;;) { try { kept.push(Buffer.alloc(2 ** 26, 1)) } catch {} await new Promise((resolve) => setTimeout(resolve, 50)) }`,
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
