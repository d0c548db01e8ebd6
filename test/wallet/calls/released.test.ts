import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { mergedFiles } from '../../../core/config/yaml.ts'
import { isObject } from '../../../core/base/json.ts'
import { builtInPlugins } from '../../../core/base/layout.ts'
import { readerNames } from '../../../core/wallet/calls/index.ts'
import { readReleasePolicy } from '../../../core/wallet/release-policy.ts'
import { signingReaders, unreadMethods } from '../../../tools/signing-readers.ts'

const folderOf = (folder: string) => fileURLToPath(new URL(`../../../${folder}`, import.meta.url))
const sources = (folder: string): string[] =>
  readdirSync(folderOf(folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !path.basename(file).includes('devnet'))
    .map((file) => readFileSync(path.join(folderOf(folder), file), 'utf8'))

/** The functions in ABIs of a folder that change something, with the name of the coin as `ETH`. */
const methodsIn = (folder: string): Set<string> =>
  new Set(
    sources(folder).flatMap((text) =>
      [...text.matchAll(/[`'"]function ([\w${}.]+)\((?:[^`'"]|\$\{[^}]*\})*[`'"]/g)].flatMap(([signature, name = '']) =>
        / view\b/.test(signature) ? [] : [name.replace('${coin}', 'ETH')],
      ),
    ),
  )

describe('the readers of calls of the release', () => {
  it('has one, or a stated reason, for each contract of each connector', () => {
    const { connectors } = readReleasePolicy()
    const missing: string[] = []
    for (const [name, { readers = {} }] of Object.entries(connectors)) {
      const { contractAddresses } = mergedFiles([path.join(builtInPlugins, name, 'defaults.yml')])
      const labels = new Set(
        Object.values(isObject(contractAddresses) ? contractAddresses : {}).flatMap((each) => Object.keys(isObject(each) ? each : {})),
      )
      for (const label of labels) if (signingReaders[name]?.[label] === undefined) missing.push(`${name} ${label}`)
      for (const reader of Object.values(readers)) if (!readerNames.includes(reader)) missing.push(`${name} ${reader}`)
    }
    expect(missing).to.deep.equal([])
  })

  it('reads, or states why not, every method that connectors of the release call', () => {
    const read = methodsIn('core/wallet/calls')
    const called = ['kits/amm', 'kits/oasis', 'kits/perp'].flatMap((folder) => [...methodsIn(folder)])
    expect(called.length).to.be.above(20)
    // Nobody sends these: they are asked by `eth_call`.
    const asked = ['swap', 'queryJoin']
    const unread = [...new Set(called)].filter((name) => !read.has(name) && !(name in unreadMethods) && !asked.includes(name))
    expect(unread).to.deep.equal([])
  })
})
