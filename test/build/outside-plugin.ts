import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

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
  replaceIn(index, "name: 'sushiswap'", `name: '${name}'`)
  if (quote !== undefined) replaceIn(index, 'return { AMM,', `return { AMM: { ...AMM, followed: undefined, quote: ${quote} },`)
  return folder
}

function replaceIn(file: string, from: string, to: string): void {
  const text = readFileSync(file, 'utf8')
  if (!text.includes(from)) throw new Error(`${file} does not have: ${from}`)
  writeFileSync(file, text.replace(from, to))
}
