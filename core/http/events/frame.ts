/**
 * Where a stream stands: the newest change of a transaction that was told or passed over, and how many others were told since: of what only
 * the newest counts. Changes are numbered alike by every server of a cluster, and for good.
 */
export interface Position {
  change: number
  others: number
}

/** After how long a client that was cut off comes back. */
const retryMs = 1_000

/** An id of an event, `123` or `123-4`: the schema of the request has its pattern. */
export function readPosition(id: string): Position {
  const [change = '0', others = '0'] = id.split('-')
  return { change: Number(change), others: Number(others) }
}

export const showPosition = ({ change, others }: Position): string => (others === 0 ? String(change) : `${change}-${others}`)

/** Of what only the newest counts: written once for all streams. Another object is other news. */
export interface News {
  readonly event: string
  readonly json: string
}

export const newsFrame = ({ event, json }: News, id: string): string => `event: ${event}\nid: ${id}\ndata: ${json}\n\n`

/** One event as it goes over the wire. JSON has no line breaks of its own, so the data is one line. */
export const frame = (event: string, id: string, data: object): string => newsFrame({ event, json: JSON.stringify(data) }, id)

/** The first of a stream: who was told nothing yet can come back to where it was, too. */
export const ready = (id: string, about: object): string => `retry: ${retryMs}\n${frame('ready', id, about)}`

/** Shows proxies and clients that the connection lives. */
export const heartbeat = ': \n\n'
