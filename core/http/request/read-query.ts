import { parse } from 'node:querystring'

/** The fields of a query: a repeated one is a list. Every field counts, where the parser would stop after a thousand. */
export const readQuery = (search: string): Record<string, unknown> => parse(search, '&', '=', { maxKeys: 0 })
