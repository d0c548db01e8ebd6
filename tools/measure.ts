// `npm run measure`: size and shape of the sources, as numbers. Nothing here passes or fails.
// `npm run measure -- --requests` also starts a server and counts the files that one price and one trade run through.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { longFunctions, countTitles } from './code-measures.ts'
import { circularImports, filesIn, root as ownRoot, upwardImports } from './imports.ts'
import { filesOfRequests } from './measure-requests.ts'

const { values } = parseArgs({
  options: {
    requests: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    root: { type: 'string', default: ownRoot },
  },
})
const root = path.resolve(values.root)

interface FileMeasure {
  file: string
  lines: number
  comments: number
  code: number
  depth: number
}

/** Lines of a file: all, comments, and code, which is neither comment nor blank nor import. */
function measureFile(file: string): FileMeasure {
  const lines = readFileSync(path.join(root, file), 'utf8')
    .split('\n')
    .map((line) => line.trim())
  let comments = 0
  let code = 0
  let inside = '' // what ends what we are in: a comment or an import of several lines
  for (const line of lines) {
    if (inside === '*/' || line.startsWith('//') || line.startsWith('/*')) {
      comments += 1
      inside = inside === '*/' || line.startsWith('/*') ? (line.includes('*/') ? '' : '*/') : ''
    } else if (inside === 'from' || /^(import|export) (type )?[{*]|^import /.test(line)) {
      inside = /from '|^import '|^\}$/.test(line) ? '' : 'from'
    } else if (line !== '') code += 1
  }
  return { file, lines: lines.length, comments, code, depth: file.split(path.sep).length - 1 }
}

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0
const shortFiles = (files: readonly FileMeasure[]): string => percent(files.filter(({ lines }) => lines < 40).length, files.length)
const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`
const sum = (files: readonly FileMeasure[], key: 'lines' | 'code' | 'comments'): number =>
  files.reduce((total, each) => total + each[key], 0)
const most = (files: readonly FileMeasure[], key: 'lines' | 'depth'): FileMeasure | undefined =>
  files.toSorted((a, b) => b[key] - a[key])[0]

const server = ['core', 'kits', 'client', 'testkit'].flatMap((folder) => filesIn(folder, root)).map(measureFile)
const all = [...server, ...filesIn('plugins', root).map(measureFile)]
const tools = filesIn('tools', root, ['.ts', '.mjs']).map(measureFile)
const names = all.map(({ file }) => file)
const upward = upwardImports(names, root)
const circular = circularImports(names, root)
const longest = most(all, 'lines')
const deepest = most(all, 'depth')
const long = longFunctions(names, root, 100)
const titles = countTitles(
  ['test', 'testkit', 'plugins', 'tools', 'templates'].flatMap((folder) => filesIn(folder, root)),
  root,
)
const rows: [string, string | number][] = [
  ['files in core, kits, testkit', server.length],
  ['files with plugins', all.length],
  ['folders', new Set(names.map((file) => path.dirname(file))).size],
  ['median lines of a file', median(server.map(({ lines }) => lines))],
  ['files under 40 lines', shortFiles(server)],
  ['longest file', `${longest?.lines}  ${longest?.file}`],
  ['deepest file', `${deepest?.depth}  ${deepest?.file}`],
  ['files in tools', tools.length],
  ['files of tools under 40 lines', shortFiles(tools)],
  ['lines of code', sum(all, 'code')],
  ['comments, of all lines', percent(sum(all, 'comments'), sum(all, 'lines'))],
  ['functions of 100, of 150, of 200 lines', [100, 150, 200].map((least) => long.filter(({ lines }) => lines >= least).length).join(', ')],
  ['imports that run upward', upward.length],
  ['imports that close a circle', circular.length],
  ['test titles that begin with is, are, of, by', percent(titles.weak, titles.all)],
]
if (values.requests) rows.push(...(await filesOfRequests(root)))
for (const [name, value] of rows) console.log(`${name.padEnd(44)} ${value}`)
if (values.list) {
  for (const line of [...upward, ...circular]) console.log(`  ${line}`)
  for (const { file, name, lines } of long) console.log(`  ${lines} lines: ${name} in ${file}`)
}
