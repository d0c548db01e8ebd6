/** An event of a stream, as it is printed. */
export interface PrintedEvent {
  event: string
  data: string
}

/** All events of printed server-sent events that are whole. */
export const eventsIn = (text: string): PrintedEvent[] =>
  [...text.matchAll(/^event: (\S+)\nid: \S+\ndata: (.*)$/gm)].map(([, event = '', data = '']) => ({ event, data }))
