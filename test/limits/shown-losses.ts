// What the page for operators says that each way of a thief takes at most, in dollars.
import { readFileSync } from 'node:fs'

const figures = new Map(
  readFileSync(new URL('../../docs/operators/stolen-certificate.md', import.meta.url), 'utf8')
    .split('\n')
    .flatMap((line): [string, number][] => {
      const [, title, figure] = /^\| (.+) \| ([\d,.]+) \|$/.exec(line) ?? []
      return title && figure ? [[title, Number(figure.replaceAll(',', ''))]] : []
    }),
)

/** @throws Error where the page has no such row */
export function shownMost(way: string): number {
  const shown = figures.get(way)
  if (shown === undefined) throw new Error(`docs/operators/stolen-certificate.md has no row "${way}".`)
  return shown
}
