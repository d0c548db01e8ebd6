import { readFileSync } from 'node:fs'

/** Sluice's own version, from its package.json: in a checkout and in a compiled tree it lies above this folder. */
export const version: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version
