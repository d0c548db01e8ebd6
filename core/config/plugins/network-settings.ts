import { resolve } from 'node:path'
import { Type, type Static } from 'typebox'
import { compile } from '../check.ts'
import type { Section } from '../tree.ts'

const remoteList = Type.Object(
  {
    url: Type.String({ pattern: '^https://', description: 'an https:// URL' }),
    sha256: Type.String({ pattern: '^[0-9a-fA-F]{64}$', description: 'SHA-256 of the list, 64 hexadecimal digits' }),
  },
  { additionalProperties: false, description: 'url and sha256' },
)

/** What the kernel itself reads of a network's entry in `conf/chains/<chain>.yml`; the rest is the chain family's. */
const networkSchema = Type.Object(
  {
    required: Type.Optional(Type.Boolean({ description: 'Whether the server is ready only when this network is' })),
    enabled: Type.Optional(Type.Boolean({ description: 'false: the network is not loaded, and its entry not checked' })),
    tokenLists: Type.Optional(
      Type.Array(Type.Union([Type.String({ minLength: 1, description: 'a file' }), remoteList]), {
        description: 'Token lists that go over the chain’s own',
      }),
    ),
  },
  { additionalProperties: false },
)
export const networkKeys = Object.keys(networkSchema.properties)
export const validateNetwork = compile(networkSchema)

/** A file (absolute path), or a list fetched once that must have this hash. */
export type TokenListSource = string | { url: string; sha256: string }

export interface NetworkSettings {
  required: boolean
  enabled: boolean
  tokenLists: readonly TokenListSource[]
}

/** An entry's keys, the kernel's and the family's apart. */
export function splitEntry(entry: Section): { kernel: Section; family: Section } {
  const of = (isKernel: boolean) => Object.fromEntries(Object.entries(entry).filter(([key]) => networkKeys.includes(key) === isKernel))
  return { kernel: of(true), family: of(false) }
}

export function networkSettings(
  { required = false, enabled = true, tokenLists = [] }: Static<typeof networkSchema>,
  home: string,
): NetworkSettings {
  const lists = tokenLists.map((source) =>
    typeof source === 'string' ? resolve(home, source) : { url: source.url, sha256: source.sha256.toLowerCase() },
  )
  return { required, enabled, tokenLists: lists }
}
