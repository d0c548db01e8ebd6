import { pathToFileURL } from 'node:url'
import type { DevnetPlugin } from '../contracts/devnet.ts'

/** Imports a plugin's `devnet.ts` and checks its default export. */
export async function loadDevnetPlugin(file: string): Promise<DevnetPlugin> {
  const module: unknown = await import(pathToFileURL(file).href)
  if (typeof module === 'object' && module !== null && 'default' in module && isDevnetPlugin(module.default)) return module.default
  throw new Error('its default export must be defineDevnet({ name, deploy })')
}

function isDevnetPlugin(value: unknown): value is DevnetPlugin {
  if (typeof value !== 'object' || value === null) return false
  if (!('name' in value) || typeof value.name !== 'string' || value.name === '') return false
  const methods = [
    'tokens' in value ? value.tokens : undefined,
    'deploy' in value ? value.deploy : undefined,
    'quoter' in value ? value.quoter : undefined,
    'perpOperator' in value ? value.perpOperator : undefined,
    'bookOperators' in value ? value.bookOperators : undefined,
  ]
  return methods.every((method) => method === undefined || typeof method === 'function') && methods.some((method) => method !== undefined)
}
