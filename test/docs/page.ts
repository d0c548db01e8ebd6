import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the checkout. */
export const root = fileURLToPath(new URL('../../', import.meta.url))

/** A code block: "```ts riverswap/index.ts" has the language ts and a file. */
export interface Fence {
  language: string
  file: string | undefined
  text: string
  line: number
}

export const readPage = (name: string): Promise<string> => readFile(path.join(root, name), 'utf8')

/** The code blocks of a page, in order; those inside of lists without their indentation. */
export function fencesOf(markdown: string): Fence[] {
  const fences: Fence[] = []
  let open: (Fence & { indent: string; lines: string[] }) | undefined
  for (const [index, line] of markdown.split('\n').entries()) {
    const [, indent = '', info = ''] = /^( *)```(.*)$/.exec(line) ?? []
    if (!/^ *```/.test(line)) open?.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line)
    else if (open) {
      fences.push({ language: open.language, file: open.file, text: `${open.lines.join('\n')}\n`, line: open.line })
      open = undefined
    } else {
      const [language = '', file] = info.trim().split(' ')
      open = { language, file, text: '', line: index + 1, indent, lines: [] }
    }
  }
  if (open) throw new Error(`The code block of line ${open.line} is not closed.`)
  return fences
}

/** Names of files → contents, of a page's blocks that name one. */
export function filesOf(markdown: string): ReadonlyMap<string, string> {
  return new Map(fencesOf(markdown).flatMap(({ file, text }) => (file === undefined ? [] : [[file, text]])))
}

/** The rows of every table whose first heading is this one, cells without code marks. */
export function tableOf(markdown: string, heading: string): string[][] {
  const lines = markdown.split('\n')
  const start = lines.findIndex((line) => line.startsWith(`| ${heading} |`))
  if (start < 0) throw new Error(`There is no table that begins with the column "${heading}".`)
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'))
  return lines.slice(start + 2, end < 0 ? undefined : end).map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) =>
        cell
          .trim()
          .replaceAll('\\|', '|')
          .replace(/^`([^`]*)`$/, '$1'),
      ),
  )
}
