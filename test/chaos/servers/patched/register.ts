// Registered before a server starts: changes its source as CHAOS_PATCHES names it, without a seam in the source itself.
import { register } from 'node:module'
import { pathToFileURL } from 'node:url'
import { patchedSources } from './patched-sources.ts'
import { obeyOrders } from './reached.ts'

obeyOrders()
const names = (process.env['CHAOS_PATCHES'] ?? '').split(',').filter((name) => name !== '')
const sources = patchedSources(names).map(({ file, source }): [string, string] => [pathToFileURL(file).href, source])
register('./load-patched.mjs', import.meta.url, { data: { sources } })
