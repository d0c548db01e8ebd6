// The packages whose code is in dist/, and their licences: `npm run build` writes these to THIRD-PARTY-LICENSES.md, which the package has.
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const mit = `The MIT License (MIT)

HOLDER

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in
all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN
THE SOFTWARE.`

/** Packages that name a licence and come without its text. */
const withoutText = {
  // The copyright line of LICENSE in github.com/koajs/compose.
  'koa-compose': mit.replace('HOLDER', 'Copyright (c) 2013 TJ Holowaychuk tj@apex.sh'),
  // Neither the package nor its repository has more than "MIT" and the author's name.
  'copy-to': mit.replace('HOLDER', 'Copyright (c) dead_horse'),
  '@solana-program/compute-budget': apache(),
  '@solana-program/system': apache(),
  '@solana-program/token': apache(),
}

/** Our own licence is the same one; what it says of its use is ours. */
function apache() {
  const [terms] = readFileSync(path.join(root, 'LICENSE'), 'utf8').split('   APPENDIX:')
  return terms.trim()
}

export class MissingLicense extends Error {}

/** The folders, from the root, of packages that have at least a byte in what esbuild made. */
export function bundledFolders(metafile) {
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs))
  const folders = inputs
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([file]) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? [])
  return [...new Set(folders)].toSorted()
}

/** The same as the text of a file. @throws MissingLicense that names every package without one */
export function licensesOf(folders, from = root) {
  const packages = new Map()
  for (const folder of folders) {
    const { name, version, license } = JSON.parse(readFileSync(path.join(from, folder, 'package.json'), 'utf8'))
    packages.set(`${name} ${version}`, { name, version, license, text: textOf(name, path.join(from, folder)) })
  }
  const all = [...packages.values()].toSorted((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1))
  const bare = all.filter(({ license, text }) => typeof license !== 'string' || text === undefined)
  if (bare.length > 0) {
    const names = bare.map(({ name, version }) => `${name} ${version}`).join(', ')
    throw new MissingLicense(`Bundled without a licence that can be passed on: ${names}. Find its text, and name it in tools/licenses.mjs.`)
  }
  // Many have the same text to the letter.
  const texts = new Map()
  for (const each of all) texts.set(each.text, [...(texts.get(each.text) ?? []), each])
  return [
    '# Licences of the packages that are part of Sluice',
    'The files of `dist` contain code of these packages.',
    table(all),
    ...[...texts].map(([text, users]) => `## ${users.map(({ name, version }) => `${name} ${version}`).join(', ')}\n\n${fenced(text)}`),
    '',
  ].join('\n\n')
}

function table(all) {
  const rows = all.map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`)
  return ['| package | version | licence |', '|---|---|---|', ...rows].join('\n')
}

function fenced(text) {
  return ['~~~~text', text, '~~~~'].join('\n')
}

/** Licence and notices of a package, from its files, else from its readme. */
function textOf(name, folder) {
  const files = readdirSync(folder).filter((file) =>
    /^(licen[cs]e|copying|notice|copyrightnotice|swagger-ui-bundle\.js\.license)/i.test(file),
  )
  const own = files.length > 0 ? files.map((file) => readFileSync(path.join(folder, file), 'utf8')).join('\n\n') : readmeText(folder)
  if (own !== undefined && Object.hasOwn(withoutText, name)) {
    throw new Error(`${name} has a licence text of its own now: take it out of the table in tools/licenses.mjs.`)
  }
  const text = own ?? withoutText[name]
  return text?.replaceAll('\r\n', '\n').trim()
}

function readmeText(folder) {
  const readme = readdirSync(folder).find((file) => /^readme(\.|$)/i.test(file))
  if (readme === undefined) return undefined
  const text = readFileSync(path.join(folder, readme), 'utf8')
  const section = /^#+ *licen[cs]e *\n([^]*?)(?=^#|(?![^]))/im.exec(text)?.[1]
  return section !== undefined && /copyright/i.test(section) && /hereby granted/i.test(section) ? section : undefined
}
