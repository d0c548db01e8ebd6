// `npm run interface`: writes what Sluice promises to who uses it into interface/. With `--check` it writes nothing, says what changed and
// whether that breaks anybody, and ends with 1.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { changesOfDocument, changesOfReport } from './changes.ts'
import { kept, reports } from './reports.mjs'

const isCheck = process.argv.includes('--check')
const now = await reports()
mkdirSync(kept, { recursive: true })
let changed = 0
for (const file of new Set([...readdirSync(kept).filter((name) => /\.api\.md$|^openapi\.json$/.test(name)), ...now.keys()])) {
  const at = path.join(kept, file)
  const before = existsSync(at) ? readFileSync(at, 'utf8') : undefined
  const after = now.get(file)
  if (before === after) continue
  changed += 1
  say(file, before, after)
  if (isCheck) continue
  if (after === undefined) rmSync(at)
  else writeFileSync(at, after)
}
if (isCheck && changed > 0) {
  console.error(
    '\nThe interface is not what interface/ has. Where the change is meant: `npm run interface` writes it, CHANGELOG.md says it,',
  )
  console.error('and CONTRIBUTING.md says what a breaking one needs.')
}
process.exitCode = isCheck && changed > 0 ? 1 : 0

function say(file, before, after) {
  if (before === undefined) return console.log(`interface/${file}: new`)
  if (after === undefined) return console.log(`interface/${file}: BREAKING, the entry point is gone`)
  const { breaking, compatible } = (file === 'openapi.json' ? changesOfDocument : changesOfReport)(before, after)
  console.log(`interface/${file}: ${breaking.length > 0 ? 'BREAKING' : 'compatible'}`)
  for (const line of breaking) console.log(`  breaking   ${line}`)
  for (const line of compatible) console.log(`  compatible ${line}`)
  if (breaking.length + compatible.length === 0) console.log('  words only')
}
