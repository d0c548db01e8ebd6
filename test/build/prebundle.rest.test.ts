import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { temporaryFolder } from '../devnet/test-devnet.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const packages = { ethers: 'lib.esm', kysely: 'dist/esm', typebox: 'build' }

/** Each asks for the same thing by two doors. */
const program = `
  import { deepStrictEqual as same, strictEqual as one } from 'node:assert'
  import * as ethers from 'ethers'
  import { keccak256 } from 'ethers/crypto'
  import { Kysely } from 'kysely'
  import { jsonArrayFrom } from 'kysely/helpers/postgres'
  import { Type } from 'typebox'
  import { Compile } from 'typebox/compile'
  import { Value } from 'typebox/value'
  one(ethers.keccak256, keccak256)
  one(ethers.id('Transfer(address,address,uint256)'), '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef')
  one(typeof Kysely, typeof jsonArrayFrom)
  const schema = Type.Object({ amount: Type.String({ pattern: '^[0-9]+$' }), fee: Type.Optional(Type.Integer()) })
  for (const [value, isGood] of [[{ amount: '1' }, true], [{ amount: 'x' }, false], [{ amount: '1', fee: 0.5 }, false]]) {
    one(Value.Check(schema, value), isGood)
    one(Compile(schema).Check(value), isGood)
  }
  same(Object.keys(JSON.parse(JSON.stringify(schema))), ['type', 'required', 'properties'])
`

describe('the packages that are made few files of', function () {
  this.timeout(60_000)

  it('are what they were, also where it is done again', async () => {
    const { folder, remove } = await temporaryFolder()
    try {
      const modules = path.join(folder, 'node_modules')
      mkdirSync(modules)
      for (const name of readdirSync(path.join(root, 'node_modules')))
        if (/^(ethers|kysely|typebox|@noble|@adraffy|aes-js|tslib|ws)/.test(name))
          cpSync(path.join(root, 'node_modules', name), path.join(modules, name), { recursive: true })
      const { status, stderr } = spawnSync(process.execPath, [path.join(root, 'tools/prebundle.mjs'), modules], { encoding: 'utf8' })
      expect(status, stderr).to.equal(0)
      const run = spawnSync(process.execPath, ['--input-type=module', '-e', program], { cwd: folder, encoding: 'utf8' })
      expect(run.status, run.stderr).to.equal(0)
      for (const [name, esm] of Object.entries(packages)) {
        const files = readdirSync(path.join(modules, name, esm), { recursive: true }).map(String)
        expect(files.filter((file) => path.basename(file).startsWith('shared-')).length, name).to.be.within(1, 20)
      }
    } finally {
      await remove()
    }
  })
})
