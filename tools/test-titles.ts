// Titles of tests that begin with a word that says nothing: for `npm run measure`.
import { readFileSync } from 'node:fs'
import path from 'node:path'

const title = /\b(?:it|describe)(?:\.only|\.skip)?\(\s*(['"`])((?:\\.|(?!\1).)*)\1/gs

/** How many titles of `it` and `describe` there are, and how many of them begin with is, are, of or by. */
export function countTitles(files: readonly string[], from: string): { readonly all: number; readonly weak: number } {
  const titles = files.flatMap((file) => [...readFileSync(path.join(from, file), 'utf8').matchAll(title)].map(([, , text = '']) => text))
  return { all: titles.length, weak: titles.filter((text) => /^(is|are|of|by) /.test(text)).length }
}
