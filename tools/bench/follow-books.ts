import type { IncomingMessage } from 'node:http'

/** What a stream of events tells of books. */
export interface FollowedBooks {
  onBook(told: (coin: string, time: number, atMs: number) => void): void
  /** Looks again whenever something came. */
  until(holds: (newest: ReadonlyMap<string, number>) => boolean): Promise<void>
  end(): void
}

/** Sluice's event, or the message of the exchange itself: the time of the exchange's book is the sequence of Sluice's. */
const coin = /"(?:market|coin)":"(COIN\d+)/
const time = /"(?:sequence|time)":(\d+)/

export function followBooks(response: IncomingMessage): FollowedBooks {
  const newest = new Map<string, number>()
  let told = (_coin: string, _time: number, _atMs: number) => {}
  let look = () => {}
  let fail = (_error: Error) => {}
  let rest = ''
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    const atMs = performance.now()
    const frames = (rest + chunk).split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      const [of, at] = [coin.exec(frame)?.[1], time.exec(frame)?.[1]]
      if (of === undefined || at === undefined) continue
      newest.set(of, Number(at))
      told(of, Number(at), atMs)
    }
    look()
  })
  const ended = () => fail(new Error(`The stream of events ended (${response.statusCode}): ${rest.slice(0, 500)}`))
  response.on('end', ended)
  response.on('error', ended)
  return {
    onBook(listener) {
      told = listener
    },
    until: (holds) =>
      new Promise((resolve, reject) => {
        fail = reject
        look = () => {
          if (holds(newest)) resolve()
        }
        look()
      }),
    end() {
      look = () => {}
      fail = () => {}
      response.destroy()
    },
  }
}
