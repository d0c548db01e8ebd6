// Takes what projects publish on npm about their own deployments, for tests to compare ours with:
// `node tools/facts/published-facts.mjs`, or with the names of some files: `node tools/facts/published-facts.mjs viem sushi`.
// The packages are heavy and some do not install, so only the facts are kept, with where they are from.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { take } from '../artifacts/artifacts.mjs'
import { chains } from './chains.mjs'
import { exchanges } from './exchanges.mjs'
import { solana, solanaPrograms } from './solana.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const target = 'test/fixtures/published'

const wanted = [...chains, ...exchanges(constants), ...solana, ...solanaPrograms]

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !wanted.some((item) => item.name === name))
if (unknown.length > 0) throw new Error(`No facts are called ${unknown.join(', ')}: there are ${wanted.map(({ name }) => name).join(', ')}`)

const folder = mkdtempSync(path.join(tmpdir(), 'sluice-facts-'))
try {
  mkdirSync(path.join(root, target), { recursive: true })
  for (const { pack, name, read } of wanted.filter((item) => asked.length === 0 || asked.includes(item.name))) {
    const { files, ...origin } = take(pack, folder)
    const file = path.join(target, `${name}.json`)
    writeFileSync(path.join(root, file), `${JSON.stringify({ ...origin, facts: await read(files) }, null, 1)}\n`)
    console.log(file)
  }
} finally {
  rmSync(folder, { recursive: true })
}

/** Bundled, since the packages import their own files as only bundlers do. */
async function constants(file, names) {
  const { outputFiles } = await build({
    stdin: { contents: `export { ${names.join(', ')} } from ${JSON.stringify(file)}`, resolveDir: path.dirname(file) },
    bundle: true,
    format: 'esm',
    write: false,
    logLevel: 'silent',
  })
  const module = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`)
  return Object.fromEntries(names.map((name) => [name, module[name]]))
}
