// The server's side of the plugin-host service, of which nothing is believed.
import { connect, type Socket } from 'node:net'
import { withTimeout } from '../../base/async.ts'
import { version } from '../../base/layout.ts'
import type { ContainedProcess, ProcessEnd } from './containment.ts'
import type { ProcessUse } from './process-tree.ts'
import {
  protocol,
  readLines,
  readMessage,
  writeLine,
  type KeptPlugin,
  type Script,
  type ServiceFolders,
  type ServiceMessage,
} from './service-protocol.ts'

/** What it may take to answer and to start a process. */
const answerMs = 10_000
/** What it may take to end one. */
const endMs = 5_000

/** The service cannot be reached, or does not answer: perhaps later. */
export class ServiceAwayError extends Error {
  override readonly name = 'ServiceAwayError'
}

/** What the service sees where. @throws Error, ServiceAwayError */
export async function askService(address: string): Promise<ServiceFolders> {
  const line = talk(address)
  try {
    writeLine(line.socket, { protocol, version })
    const said = await line.next()
    if ('ready' in said) return said.ready
    throw new Error('it answers something else')
  } finally {
    line.socket.destroy()
  }
}

/** Starts a process with a script of this release, which sees the copies of these plugins. @throws Error, ServiceAwayError */
export async function startInService(address: string, script: Script, plugins: readonly KeptPlugin[]): Promise<ContainedProcess> {
  const control = talk(address)
  let channel: Socket | undefined
  try {
    writeLine(control.socket, { protocol, version, start: { script, plugins: [...plugins] } })
    const expected = await control.next()
    if (!('channel' in expected)) throw new Error('it answers something else')
    channel = connect(address)
    channel.on('error', () => {})
    writeLine(channel, expected)
    if (!('started' in (await control.next()))) throw new Error('it answers something else')
  } catch (thrown) {
    control.socket.destroy()
    channel?.destroy()
    throw thrown
  }
  let use: ProcessUse | undefined
  const ended = new Promise<ProcessEnd>((resolve) => {
    control.listen(
      (said) => {
        if ('use' in said) use = said.use
        else if ('ended' in said) resolve(said.ended)
        else throw new Error('it says what nobody asked for')
      },
      (why) => resolve({ reason: `the plugin-host service ended it: ${why.message}`, said: '', isLost: true }),
    )
  })
  void ended.then(() => control.socket.destroy())
  return {
    channel,
    ended,
    kill() {
      control.socket.end()
      setTimeout(() => control.socket.destroy(), endMs).unref()
    },
    use: () => use,
  }
}

interface Line {
  readonly socket: Socket
  /** @throws Error that the service refused with, ServiceAwayError */
  next(): Promise<ServiceMessage>
  /** Each line from now on, and the end. */
  listen(onSaid: (said: ServiceMessage) => void, onOver: (why: Error) => void): void
}

function talk(address: string): Line {
  const socket = connect(address)
  const said: ServiceMessage[] = []
  let over: Error | undefined
  let onSaid: ((each: ServiceMessage) => void) | undefined
  let onOver: ((why: Error) => void) | undefined
  const end = (why: Error) => {
    over ??= why
    onOver?.(over)
    socket.destroy()
  }
  readLines(
    socket,
    (line) => {
      const each = readMessage(line)
      if ('refused' in each) end(new Error(each.refused))
      else if (onSaid) onSaid(each)
      // Nobody says so much before it is asked.
      else if (said.push(each) > 8) throw new Error('it says what nobody asked for')
    },
    end,
  )
  socket.on('error', (error) => end(new ServiceAwayError(error.message)))
  socket.on('close', () => end(new ServiceAwayError('it closed the connection')))

  function next(): Promise<ServiceMessage> {
    const first = said.shift()
    if (first) return Promise.resolve(first)
    if (over) return Promise.reject(over)
    const answer = new Promise<ServiceMessage>((resolve, reject) => {
      onSaid = (each) => {
        // The next line, which may be here already, is not the answer to this.
        onSaid = onOver = undefined
        resolve(each)
      }
      onOver = reject
    })
    return withTimeout(answer, answerMs, () => {
      throw new ServiceAwayError(`it did not answer within ${answerMs / 1000} s`)
    })
  }

  return {
    socket,
    next,
    listen(eachSaid, atEnd) {
      onSaid = eachSaid
      onOver = atEnd
      try {
        for (const each of said.splice(0)) eachSaid(each)
      } catch (thrown) {
        end(thrown instanceof Error ? thrown : new Error('it cannot be read'))
      }
      if (over) atEnd(over)
    },
  }
}
