import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const model = fileURLToPath(new URL('../../plugins/sushiswap/', import.meta.url))

/** A connector as a third party would drop it in: a folder of TypeScript whose contracts the devnet has already. Gives the folder. */
export function writeOutsidePlugin(parent, name) {
  const folder = path.join(parent, name)
  mkdirSync(parent, { recursive: true })
  cpSync(model, folder, { recursive: true })
  rmSync(path.join(folder, 'devnet.ts'))
  const index = path.join(folder, 'index.ts')
  writeFileSync(index, readFileSync(index, 'utf8').replace("name: 'sushiswap'", `name: '${name}'`))
  return folder
}
