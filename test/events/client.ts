import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Agent, EventSource, type MessageEvent } from 'undici'
import { eventTopics } from '../../core/api/index.ts'

export interface ReceivedEvent {
  topic: string
  id: string
  // eslint-disable-next-line typescript/no-explicit-any -- tests look into whatever was told
  data: any
}

export interface Follower {
  /** All that was told so far but for the first word. */
  readonly told: readonly ReceivedEvent[]
  /** Waits until it holds of something that was told. */
  hears(what: string, holds: (told: ReceivedEvent) => boolean): Promise<ReceivedEvent>
  /** Of the first word. */
  readonly lastEventId: string
  /** How often the server answered: once more for every time that the client came back. */
  readonly opened: number
  close(): Promise<void>
}

export interface Door {
  url: string
  certsDir: string
  /** Of the certificate. */
  name?: string
}

const pems = (certsDir: string, name: string) => {
  const read = (file: string) => readFileSync(path.join(certsDir, file))
  return { ca: read('ca_cert.pem'), cert: read(`${name}_cert.pem`), key: read(`${name}_key.pem`) }
}

/** A bot that follows events as a browser does: it comes back by itself, with the id of the last event. */
export async function follow({ url, certsDir, name = 'client' }: Door, query: Record<string, string> = {}): Promise<Follower> {
  const dispatcher = new Agent({ connect: pems(certsDir, name) })
  const source = new EventSource(`${url}/events?${new URLSearchParams(query).toString()}`, { node: { dispatcher, reconnectionTime: 50 } })
  const told: ReceivedEvent[] = []
  const listeners = new Set<() => void>()
  let opened = 0
  let first = ''
  for (const topic of ['ready', ...eventTopics]) {
    source.addEventListener(topic, (event) => {
      const { data, lastEventId } = event as MessageEvent
      if (topic === 'ready') {
        if (opened === 0) first = lastEventId
        opened += 1
      } else told.push({ topic, id: lastEventId, data: JSON.parse(data) })
      for (const listener of listeners) listener()
    })
  }
  const until = (what: string, holds: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (!holds()) return
        clearTimeout(timer)
        listeners.delete(look)
        resolve()
      }
      const timer = setTimeout(() => {
        listeners.delete(look)
        reject(
          new Error(
            `Nothing was heard of it: ${what}. Heard: ${JSON.stringify(told.map(({ id, topic, data }) => [id, topic, data.txState]))}`,
          ),
        )
      }, 40_000)
      listeners.add(look)
      look()
    })
  await until('the first word', () => opened > 0)
  return {
    told,
    lastEventId: first,
    get opened() {
      return opened
    },
    async hears(what, holds) {
      let found: ReceivedEvent | undefined
      await until(what, () => (found = told.find(holds)) !== undefined)
      if (!found) throw new Error(what)
      return found
    },
    async close() {
      source.close()
      await dispatcher.destroy()
    },
  }
}
