// A server beside connectors that each flood it in a way of their own, in a process of its own.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { startServer as StartServer } from '../../../testkit/server.ts'
import { serve } from '../child.ts'

const bundled: { startServer: typeof StartServer } = await import(new URL('../../../dist/testkit/index.js', import.meta.url).href)
/** A flood ends by itself, where nobody ends it. */
const floodMs = 3_500
const model = fileURLToPath(new URL('../../../test/fixtures/plugins/contained/plain-swap', import.meta.url))

/** By name: what a host does once it was asked for a price; `write` writes bytes to its channel, `turn` lets others have theirs. */
const floods = {
  'empty-frames': `const frames = framed('[]').toString('latin1').repeat(10_000); await always(() => write(Buffer.from(frames, 'latin1')))`,
  'tiny-messages': `const one = framed('[[3,"x",[]]]'); await always(async () => { write(one); await turn() })`,
  'messages-in-bounds': `await always(async () => { for (let i = 0; i < 40; i += 1) write(framed('[[3,"changed",[1]]]')); await pause(10) })`,
  'arrays-behind-pings': `const { stringify } = JSON
const many = Array.from({ length: 1_390_000 }, () => [])
JSON.stringify = (value) => stringify(Array.isArray(value) && value.some((each) => each[0] === 1) ? [...value, [3, 'x', many]] : value)
await always(() => pause(100))`,
  'arrays-unasked': `const text = framed('[[3,"x",[' + '[],'.repeat(600_000) + '1]]]'); await always(async () => { write(text); await pause(650) })`,
  'deep-nesting': `const text = framed('[[3,"x",[' + '['.repeat(900_000) + ']'.repeat(900_000) + ']]]'); await always(async () => { write(text); await pause(300) })`,
  'calls-in-one-read': `const calls = Array.from({ length: 19_000 }, () => ({ to: '0x' + '11'.repeat(20), data: '0x12345678' }))
await always(() => venue.reader.read(calls, { signal: AbortSignal.timeout(10_000) }).then(() => {}, () => pause(5)))`,
  questions: `await always(async () => { await Promise.allSettled(Array.from({ length: 50 }, () => venue.reader.call({ to: 'x', data: 'y' }, { signal: AbortSignal.timeout(1_000) }))); await pause(12) })`,
  reads: `await always(async () => { await Promise.allSettled(Array.from({ length: 20 }, () => venue.reader.read([], { signal: AbortSignal.timeout(1_000) }))) })`,
  'frame-drip': `write(Buffer.from([0, 0x3f, 0, 0])); const one = Buffer.from('['); await always(async () => { for (let i = 0; i < 50; i += 1) write(one); await turn() })`,
  'error-output': `await always(async () => { for (let i = 0; i < 50; i += 1) { try { writeSync(2, 'x') } catch {} }; await turn() })`,
  'log-lines': `await always(async () => { for (let i = 0; i < 40; i += 1) venue.log.warn({ i }, 'a line'.repeat(50)); await pause(10) })`,
}

const folder = await mkdtemp(path.join(tmpdir(), 'sluice-floods-'))
for (const [name, code] of Object.entries(floods)) {
  const planted = path.join(folder, name)
  await mkdir(planted)
  for (const file of ['index.ts', 'defaults.yml']) {
    const text = await readFile(path.join(model, file), 'utf8')
    await writeFile(path.join(planted, file), file === 'index.ts' ? flooding(name, code, text) : text)
  }
}
const server = await bundled.startServer({
  settings: { 'log.level': process.env['BENCH_LOG'] ?? 'silent' },
  plugins: Object.keys(floods).map((name) => path.join(folder, name)),
})

function flooding(name: string, code: string, source: string): string {
  return `import { writeSync } from 'node:fs'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
const framed = (text) => { const bytes = Buffer.from(text); const length = Buffer.alloc(4); length.writeUInt32BE(bytes.length); return Buffer.concat([length, bytes]) }
function write(bytes) {
  for (let rest = bytes; rest.length > 0;) try { rest = rest.subarray(writeSync(3, rest)) } catch (error) { if (error.code !== 'EAGAIN') throw error }
}
async function always(step) {
  const until = performance.now() + ${floodMs}
  for (let turns = performance.now(); performance.now() < until; ) { await step(); if (performance.now() - turns > 50) { await turn(); turns = performance.now() } }
}
${source.replaceAll('plain-swap', name).replace(
  'return { AMM',
  `let floods = false
    const flood = async () => { ${code} }
    const { followed: _, ...amm } = AMM
    const quote = (swap, choice, at) => {
      if (!floods) { floods = true; void flood().catch((error) => venue.log.warn({ reason: String(error) }, 'no flood')) }
      return amm.quote(swap, choice, at)
    }
    return { AMM: { ...amm, quote }`,
)}`
}

export type FloodsProcess = typeof handlers
const handlers = serve(
  {
    where: () => ({ url: server.url, certsDir: server.settings.ssl.certsDir, names: Object.keys(floods) }),
    /** Settles with the answer, if any. */
    async flood(name: string) {
      const asked = { chain: 'ethereum', network: 'local', connector: name, base: 'WETH', quote: 'USDC', amount: '0.5', side: 'SELL' }
      await server.client.get('/amm/price', asked)
    },
    /** How often its host was ended. */
    async deaths(name: string): Promise<number> {
      const { body } = await server.client.get('/plugins')
      return body.find((each: { name: string }) => each.name === name)?.host?.deaths ?? Number.NaN
    },
  },
  async () => {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  },
)
