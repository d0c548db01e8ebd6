import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { goodPlugins } from './fixtures.ts'

/** Makes a copy of a good plugin under another name, with more code at its end. @returns its folder */
export function plantPlugin(folder: string, of: string, name: string, code: string): string {
  const planted = path.join(folder, name)
  cpSync(path.join(goodPlugins, of), planted, { recursive: true })
  const file = path.join(planted, 'index.ts')
  writeFileSync(file, `${readFileSync(file, 'utf8').replaceAll(of, name)}\n${code}\n`)
  return planted
}
