// signing.json: what the release says of the plugins that it brings, for the signer, which loads no plugin. `npm run signing` makes it.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as Type from 'typebox'
import type { Static } from 'typebox'
import { fits } from '../base/schema-check.ts'
import { codeRoot } from '../base/layout.ts'
import type { CurveName } from '../keys/curves.ts'
import { releasedAction, type TypedDataRules } from './policy.ts'

const releasedNetwork = Type.Object(
  {
    chainId: Type.Integer({ minimum: 0 }),
    feeCapRaw: Type.String({ pattern: '^[0-9]+$' }),
    local: Type.Optional(Type.Boolean()),
    /** The token that wraps the native coin. */
    wrapped: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
)

/** What the release's plugins declare in code and their files do not have. By their folders; made by `npm run signing`. */
export const releasePolicy = Type.Object(
  {
    chains: Type.Record(
      Type.String(),
      Type.Object(
        {
          chain: Type.String(),
          keys: Type.Union([Type.Literal('secp256k1'), Type.Literal('ed25519')]),
          networks: Type.Record(Type.String(), releasedNetwork),
        },
        { additionalProperties: false },
      ),
    ),
    connectors: Type.Record(
      Type.String(),
      Type.Object(
        {
          /** As `chain/network`. */
          networks: Type.Array(Type.String()),
          /** Those of its contracts that may be given allowances, by their names. */
          spenders: Type.Array(Type.String()),
          /** Those in which wallets have positions, collateral or offers, by their names. */
          holds: Type.Array(Type.String()),
          signs: Type.Array(Type.Unsafe<TypedDataRules>({})),
          /** By the names of its contracts, the reader of what calls of them take: `calls/index.ts`. Those that have none are not read. */
          readers: Type.Optional(Type.Record(Type.String(), Type.String())),
          /** Those of what it signs whose amounts are read. */
          signedActions: Type.Optional(Type.Array(releasedAction)),
          /** Its contract that is Permit2, and those of the spenders that take tokens by it and may be given permits, by their names. */
          permits: Type.Optional(
            Type.Object({ permit2: Type.String(), spenders: Type.Array(Type.String()) }, { additionalProperties: false }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
)
export type ReleasePolicy = Static<typeof releasePolicy>

/** @throws Error where the installation is broken */
export function readReleasePolicy(): ReleasePolicy {
  const file = fileURLToPath(new URL('signing.json', codeRoot))
  const read: unknown = JSON.parse(readFileSync(file, 'utf8'))
  if (fits(releasePolicy, read)) return read
  throw new Error(`${file} is not what this version has: the installation is incomplete, install it again.`)
}

/** The kind of keys that a chain has in the release; secp256k1 where it is not of the release. */
export function curveOf(chain: string): CurveName {
  return Object.values(readReleasePolicy().chains).find((each) => each.chain === chain)?.keys ?? 'secp256k1'
}
