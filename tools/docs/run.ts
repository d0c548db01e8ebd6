// `npm run docs`: writes the tables of pages that the code declares: endpoints, errors, metrics, permissions, settings, exchanges.
// With `--check` it writes nothing, names the pages that differ and ends with 1.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { outdated, root } from './pages.ts'

const isCheck = process.argv.includes('--check')
const wrong = await outdated()
for (const [file, text] of wrong) {
  if (isCheck) console.error(`${file} is not what the code declares: npm run docs writes its tables.`)
  else writeFileSync(path.join(root, file), text)
}
if (!isCheck) console.log(wrong.size === 0 ? 'All tables are as the code declares.' : `Written: ${[...wrong.keys()].join(', ')}`)
process.exitCode = isCheck && wrong.size > 0 ? 1 : 0
