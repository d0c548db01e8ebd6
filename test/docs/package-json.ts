import Type from 'typebox'
import { checked } from '../schema.ts'
import { readPage } from './page.ts'

const names = Type.Record(Type.String(), Type.String())
const schema = Type.Object({ scripts: names, dependencies: names, devDependencies: names })

/** What the checkout's package.json says. */
export const packageJson = async () => checked(schema, JSON.parse(await readPage('package.json')))
