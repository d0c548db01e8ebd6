import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const model = fileURLToPath(new URL('../../plugins/sushiswap/', import.meta.url))

/**
 * A connector as a third party would drop it in: a folder of TypeScript whose contracts the devnet has already; with
 * `quote`, the text of a function, in place of its own. Gives the folder.
 */
export function writeOutsidePlugin(parent: string, name: string, { quote }: { quote?: string } = {}): string {
  const folder = path.join(parent, name)
  mkdirSync(parent, { recursive: true })
  cpSync(model, folder, { recursive: true })
  rmSync(path.join(folder, 'devnet.ts'))
  const index = path.join(folder, 'index.ts')
  replaceIn(index, "name: 'sushiswap'", `name: '${name}', version: '0.1.0'`)
  if (quote !== undefined) {
    replaceIn(index, 'import { defineConnector,', 'import { SluiceError, defineConnector,')
    replaceIn(index, 'return { AMM,', `return { AMM: { ...AMM, followed: undefined, quote: ${quote} },`)
  }
  return folder
}

/** Makes JavaScript of it, as docs/authors/writing-a-connector.md says. */
export async function compilePlugin(folder: string): Promise<void> {
  const entry = path.join(folder, 'index.ts')
  await build({ entryPoints: [entry], outdir: folder, bundle: true, packages: 'external', tsconfigRaw: {}, format: 'esm' })
  for (const name of readdirSync(folder)) if (name.endsWith('.ts')) rmSync(path.join(folder, name))
}

/** A connector that writes down, in the file that `LOADS` names, in which thread it was loaded. */
export function writeTellingPlugin(parent: string, name: string): void {
  const folder = path.join(parent, name)
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, 'defaults.yml'), 'allowedSlippage: 1/100\nttl: 300\ncontractAddresses:\n  mainnet: {}\n')
  writeFileSync(
    path.join(folder, 'index.ts'),
    `import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { evm } from 'sluice/evm'
import { defineConnector } from 'sluice/plugin'

if (process.env['LOADS']) appendFileSync(process.env['LOADS'], '${name} in ' + (isMainThread ? 'the process' : 'a thread') + '\\n')

export default defineConnector({
  family: evm,
  manifest: { name: '${name}', apiVersion: '1.0', version: '0.1.0', trading_type: ['AMM'], available_networks: [{ chain: 'ethereum', networks: ['mainnet'] }], schema: {} },
  create: () => ({ AMM: { quote() {}, swap() {}, fill() {} } }),
})
`,
  )
}

function replaceIn(file: string, from: string, to: string): void {
  const text = readFileSync(file, 'utf8')
  if (!text.includes(from)) throw new Error(`${file} does not have: ${from}`)
  writeFileSync(file, text.replace(from, to))
}
