import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { times, type Row } from '../report.ts'

const plugins = fileURLToPath(new URL('../../../plugins/', import.meta.url))
const targets = { connector: 25, chain: 15 }

/** Lines of each plugin's source: what it is, and its constants. What puts it on the devnet is no part of it. */
export function pluginLines(): Row[] {
  return readdirSync(plugins)
    .map((name) => {
      const folder = path.join(plugins, name)
      const sources = readdirSync(folder).filter((file) => file.endsWith('.ts') && file !== 'devnet.ts')
      const kind = readFileSync(path.join(folder, 'index.ts'), 'utf8').includes('defineConnector') ? 'connector' : 'chain'
      const lines = (files: readonly string[]) => files.reduce((sum, file) => sum + linesOf(path.join(folder, file)), 0)
      return { name, kind, own: lines(['index.ts']), constants: lines(sources.filter((file) => file !== 'index.ts')) } as const
    })
    .toSorted((a, b) => b.kind.localeCompare(a.kind) || b.own + b.constants - a.own - a.constants)
    .map(({ name, kind, own, constants }) => {
      // A chain's networks are its substance; a connector's addresses are not.
      const counted = kind === 'chain' ? own + constants : own
      const value = kind === 'chain' ? `${own} + ${constants} networks` : `${own} + ${constants} addresses`
      return { name: `${kind} ${name}`, value, reference: `target ${targets[kind]}`, ratio: times(counted, targets[kind]) }
    })
}

/** Without comments and blank lines. */
const linesOf = (file: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => !/^\s*(?:$|\/\/|\/?\*)/.test(line)).length
