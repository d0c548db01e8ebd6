import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { tables } from './tables.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))

const marked = /(<!-- generated: ([\w ]+) -->\n)([^]*?)(<!-- end -->)/g

/** Every page, by its path in the checkout. */
export function pages(): Map<string, string> {
  const names = readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`)
  const files = ['README.md', ...names.filter((name) => name.endsWith('.md')).toSorted()]
  return new Map(files.map((file) => [file, readFileSync(path.join(root, file), 'utf8')]))
}

/** The page as it should be. @throws where a mark names no table, or has no end */
export async function withTables(markdown: string): Promise<string> {
  const starts = markdown.match(/^<!-- generated: /gm)?.length ?? 0
  const parts = [...markdown.matchAll(marked)]
  if (parts.length !== starts) throw new Error(`${starts} marks "<!-- generated: … -->" begin a table, and ${parts.length} have an end.`)
  let page = markdown
  for (const [whole, begin = '', wanted = '', , end = ''] of parts) {
    const [name = '', ...words] = wanted.split(' ')
    const write = tables[name]
    if (!write) throw new Error(`There is no table ${name}: ${Object.keys(tables).join(', ')}.`)
    page = page.replace(whole, `${begin}\n${await write(words)}\n\n${end}`.replaceAll('$', '$$$$'))
  }
  return page
}

/** The pages that are not what the command would write, each as it should be. */
export async function outdated(): Promise<Map<string, string>> {
  const wrong = new Map<string, string>()
  for (const [file, text] of pages()) {
    const wanted = await withTables(text)
    if (wanted !== text) wrong.set(file, wanted)
  }
  return wrong
}
