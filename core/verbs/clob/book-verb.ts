import type { AnswerOf, BookSet, EndpointName, EndpointNamed, RequestOf } from '../../api/index.ts'
import type { Call, On, Services } from '../../handlers/context.ts'

type Name = EndpointName extends infer N ? (N extends `CLOBPerp${infer V}` ? V : never) : never
type Of<V extends Name> = EndpointNamed<`CLOBPerp${V}`>

/** The function behind one endpoint of every kind of order book: what is asked of perpetuals is all that can be asked. */
export type BookVerb<V extends Name> = (
  request: RequestOf<Of<V>>,
  context: Call & { services: Services } & On<'connector'>,
) => Promise<AnswerOf<Of<V>>>

/** A verb, by the kind of book that it is for. */
export type ForBook<V extends Name> = (type: BookSet) => BookVerb<V>
