import { setTimeout as sleep } from 'node:timers/promises'
import type { Endpoint, HttpAnswer } from './answer.ts'

/** A request on its way. Whoever has it does with it what it will. */
export interface CarriedRequest {
  readonly endpoint: Endpoint
  readonly type: string
  readonly body: unknown
  /** Has it carried out, and gives the answer. */
  run(): HttpAnswer
  send(answer: HttpAnswer): void
  /** The connection is cut. */
  hangUp(): void
}

export type Fault = (carried: CarriedRequest) => void | Promise<void>

export interface Faults {
  carry(carried: CarriedRequest): Promise<void>
  /** From now on, for those that it is about, so many times; gives what ends it. The newest comes first. */
  add(fault: Fault, about?: (carried: CarriedRequest) => boolean, times?: number): () => void
  clear(): void
}

export function createFaults(): Faults {
  let rules: { fault: Fault; about: (carried: CarriedRequest) => boolean; left: number }[] = []
  return {
    carry: async (carried) => {
      const rule = rules.find(({ about, left }) => left > 0 && about(carried))
      if (!rule) return carried.send(carried.run())
      rule.left -= 1
      await rule.fault(carried)
    },
    add: (fault, about = () => true, times = Infinity) => {
      const rule = { fault, about, left: times }
      rules = [rule, ...rules]
      return () => {
        rules = rules.filter((each) => each !== rule)
      }
    },
    clear: () => {
      rules = []
    },
  }
}

/** Carried out, and nobody learns of it. */
export const losesAnswer: Fault = ({ run, hangUp }) => {
  run()
  hangUp()
}

/** It never came. */
export const losesRequest: Fault = ({ hangUp }) => hangUp()

/** A time in milliseconds, or what a test waits for. */
type Until = number | Promise<unknown>

const passed = (until: Until) => (typeof until === 'number' ? sleep(until) : until)

/** The connection is cut, and yet it arrives: later. */
export const arrivesLate =
  (until: Until): Fault =>
  async ({ run, hangUp }) => {
    hangUp()
    await passed(until)
    run()
  }

/** It is carried out later. */
export const delaysRequest =
  (until: Until): Fault =>
  async ({ run, send }) => {
    await passed(until)
    send(run())
  }

/** It is carried out at once, and the answer comes later. */
export const delaysAnswer =
  (until: Until): Fault =>
  async ({ run, send }) => {
    const answer = run()
    await passed(until)
    send(answer)
  }

/** As the real one says that an address asks for too much. */
export const overItsLimit: Fault = ({ send }) => send({ status: 429, body: null })

/** Something before the exchange fails; `carriedOut` says whether it came through all the same. */
export const failsWith =
  (status: number, carriedOut = false): Fault =>
  ({ run, send }) => {
    if (carriedOut) run()
    send({ status, body: `<html><body>${status}</body></html>` })
  }

/** Every second answer waits for the next one, which overtakes it; where none comes, for this long. */
export function answersOutOfOrder(mostMs = 200): Fault {
  let waiting: (() => void) | undefined
  return ({ run, send }) => {
    const answer = run()
    if (waiting) {
      send(answer)
      waiting()
      waiting = undefined
      return
    }
    const late = () => send(answer)
    waiting = late
    setTimeout(() => {
      if (waiting === late) waiting = undefined
      late()
    }, mostMs).unref()
  }
}
