// Long functions, and titles of tests: for `npm run measure` and test/architecture/functions.test.ts.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import ts from 'typescript-5'

interface LongFunction {
  readonly file: string
  readonly name: string
  readonly lines: number
}

/** Functions of so many lines and more, the longest first. */
export function longFunctions(files: readonly string[], from: string, least: number): readonly LongFunction[] {
  const found = files.flatMap((file) => {
    const source = ts.createSourceFile(file, readFileSync(path.join(from, file), 'utf8'), ts.ScriptTarget.Latest, true)
    const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line
    const inFile: LongFunction[] = []
    const visit = (node: ts.Node): void => {
      if (ts.isFunctionLike(node) && 'body' in node && node.body) {
        const lines = lineOf(node.end) - lineOf(node.getStart()) + 1
        const { parent } = node
        const name = node.name ?? (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) ? parent.name : undefined)
        if (lines >= least) inFile.push({ file, name: name?.getText() ?? 'without a name', lines })
      }
      ts.forEachChild(node, visit)
    }
    visit(source)
    return inFile
  })
  return found.toSorted((one, other) => other.lines - one.lines)
}

/** A title of `it` or `describe`. */
const title = /\b(?:it|describe)(?:\.only|\.skip)?\(\s*(['"`])((?:\\.|(?!\1).)*)\1/gs

/** How many titles of `it` and `describe` there are, and how many of them begin with is, are, of or by. */
export function countTitles(files: readonly string[], from: string): { readonly all: number; readonly weak: number } {
  const titles = files.flatMap((file) => [...readFileSync(path.join(from, file), 'utf8').matchAll(title)].map(([, , text = '']) => text))
  return { all: titles.length, weak: titles.filter((text) => /^(is|are|of|by) /.test(text)).length }
}
