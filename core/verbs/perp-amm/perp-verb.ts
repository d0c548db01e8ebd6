import type { EndpointName } from '../../api/index.ts'
import type { Verb } from '../../handlers/context.ts'

type Name = EndpointName extends infer N ? (N extends `PerpAMM${infer V}` ? V : never) : never

/** One function behind both prefixes of an endpoint. */
export type PerpVerb<V extends Name> = Verb<`PerpAMM${V}`> & Verb<`Perp${V}`>
