// LICENSES.md of the package sluice-devnet: under which licence the bytecode of each contract in it stands. And the texts of these licences.
import { readFileSync } from 'node:fs'
import path from 'node:path'

/** @param files paths of all artifacts, from the root */
export function bytecodeLicenses(root, files) {
  const contracts = contractsOf(root, files)
  const counts = new Map()
  for (const { license } of contracts) counts.set(license, (counts.get(license) ?? 0) + 1)
  return `# Licences

What is code of Sluice in this package stands under Apache-2.0. The bytecode in the folders \`artifacts\` is compiled from the sources of
others, each under a licence of its own. It is here to try things on a local chain. The sources are in the packages on npm that the table
names, which are also where the bytecode is from. The folder \`LICENSES\` has the texts.

| licence | contracts |
|---|---|
${[...counts]
  .toSorted(([a], [b]) => a.localeCompare(b))
  .map(([license, count]) => `| ${license} | ${count} |`)
  .join('\n')}

UniswapV3Factory is under BUSL-1.1 until the change date that its licence names, 2023-04-01, and under GPL-2.0-or-later since then.

| contract | licence | from | file |
|---|---|---|---|
${contracts.map(({ contractName, license, origin, file }) => `| ${contractName} | ${license} | ${origin} | \`${file}\` |`).join('\n')}
`
}

/** Name and text of a file for each licence. @param files paths of all artifacts, from the root */
export function licenseTexts(root, files) {
  const ids = new Set(contractsOf(root, files).map(({ license }) => license))
  return [...ids]
    .toSorted((a, b) => a.localeCompare(b))
    .map((id) => {
      const list = path.join(root, 'node_modules', 'spdx-license-list', 'licenses', `${id}.json`)
      return [`${id}.txt`, `${JSON.parse(readFileSync(list, 'utf8')).licenseText.trim()}\n`]
    })
}

function contractsOf(root, files) {
  return files.toSorted().map((file) => {
    const { contractName, license, package: name, version, source, changed } = JSON.parse(readFileSync(path.join(root, file), 'utf8'))
    if (!contractName || !license) throw new Error(`${file} does not name its contract and its licence.`)
    const origin = name ? `${name} ${version}${changed ? ', changed' : ''}` : `Sluice, ${source}`
    return { contractName, license, origin, file: file.split(path.sep).join('/') }
  })
}
