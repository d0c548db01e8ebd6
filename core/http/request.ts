import { interfaceVersion } from '../api/index.ts'
import type { Caller } from '../handlers/caller.ts'

/** What the pipeline knows of a request and its answer. */
export interface Exchange {
  caller: Caller
  requestId: string
  startedAt: number
  /** Empty where the URL is malformed. */
  path: string
  /** The path of its endpoint; empty where it is of none. */
  route: string
  /** For the metrics; empty where the request names none. */
  connector: string
}

/** What every answer says in its headers. */
export const idsOf = ({ requestId }: Pick<Exchange, 'requestId'>) => ({ 'X-Request-Id': requestId, 'Sluice-Api-Version': interfaceVersion })
