import Type from 'typebox'
import { Value } from 'typebox/value'
import { readPage } from './page.ts'

const names = Type.Record(Type.String(), Type.String())
const schema = Type.Object({ scripts: names, dependencies: names, devDependencies: names })

/** What the checkout's package.json says. */
export const packageJson = async () => Value.Parse(schema, JSON.parse(await readPage('package.json')))
