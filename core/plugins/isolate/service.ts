// The plugin-host service: starts processes of plugins for a server that may not make namespaces, in a container of its own without network. Each
// process runs as a user of its own, so that the kernel keeps them apart, and without any capability or way to get one.
import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import path from 'node:path'
import { pause } from '../../base/async.ts'
import { bundledCode, version } from '../../base/layout.ts'
import { sumOfPluginFiles } from '../discover/plugin-files.ts'
import { messageOf } from '../code/thrown.ts'
import { channelDescriptor, endOf, mostOfProcess, programPath } from './containment.ts'
import { maxThreads, usesByUser, type ProcessUse } from './process-tree.ts'
import {
  firstLineMs,
  protocol,
  readLines,
  readRequest,
  scripts,
  writeLine,
  type KeptPlugin,
  type Script,
  type ServiceRequest,
} from './service-protocol.ts'

export interface PluginHostOptions {
  /** The Unix socket that servers connect to. */
  readonly socket: string
  /** The copies of plugins that a server keeps: `<sha256>/<name>`. */
  readonly folder: string
  readonly log: (line: string) => void
}

/** Users of the processes, one for each. systemd's tables of users give this range to nobody; user namespaces of containers have it. */
export const users = { first: 60_801, count: 64 }
const maxConnections = 4 * users.count
const useMs = 250
const maxSaid = 2_000

const programNames = ['sh', 'setpriv', 'prlimit', 'nice'] as const
type Programs = Readonly<Record<(typeof programNames)[number], string>>

/** @throws Error where processes would not be apart from each other, from the network, or from the server */
export async function startPluginHost({ socket: address, folder, log }: PluginHostOptions): Promise<{ stop(): Promise<void> }> {
  const programs = Object.fromEntries(programNames.map((name) => [name, programPath(name)])) as unknown as Programs
  await refuseUnsafe(programs)
  if (existsSync(address)) await removeStale(address)

  const free = new Set(Array.from({ length: users.count }, (_, index) => users.first + index))
  /** What runs, by its user. */
  const running = new Map<number, { control: Socket; last?: string }>()
  /** By their tokens: processes that wait for their channel. */
  const expected = new Map<string, (channel: Socket) => void>()
  const sockets = new Set<Socket>()

  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).once('close', () => sockets.delete(socket))
    if (sockets.size > maxConnections) return void socket.destroy()
    const late = setTimeout(() => socket.destroy(), firstLineMs)
    const stop = readLines(
      socket,
      (line) => {
        clearTimeout(late)
        // Nothing follows the first line before it was answered.
        if (stop().length > 0) throw new Error('more than one line')
        take(socket, readRequest(line))
      },
      () => socket.destroy(),
    )
    socket.once('close', () => clearTimeout(late))
  })

  function take(socket: Socket, request: ServiceRequest): void {
    if ('channel' in request) {
      const attach = expected.get(request.channel)
      expected.delete(request.channel)
      if (attach) attach(socket)
      else socket.destroy()
      return
    }
    const refuse = (reason: string) => {
      writeLine(socket, { refused: reason })
      socket.end()
      socket.resume()
    }
    if (request.protocol !== protocol || request.version !== version)
      return refuse(`the service is of Sluice ${version}, the server of ${request.version}: run both from one image`)
    if (!request.start) {
      writeLine(socket, { ready: { folder, code: bundledCode } })
      socket.end()
      socket.resume()
      return
    }
    begin(socket, request.start.script, request.start.plugins).catch((thrown: unknown) => refuse(messageOf(thrown).slice(0, maxSaid)))
  }

  async function begin(control: Socket, script: Script, plugins: readonly KeptPlugin[]): Promise<void> {
    for (const each of plugins) refuseOther(folder, each)
    const [user] = free
    if (user === undefined) throw new Error(`it runs ${users.count} processes already`)
    free.delete(user)
    const token = randomBytes(16).toString('hex')
    let child: ChildProcess | undefined
    // The server says no more on this connection: its end is all that is waited for.
    const over = new Promise<void>((resolve) =>
      control
        .on('end', resolve)
        .on('close', resolve)
        .on('data', () => control.destroy())
        .resume(),
    )
    writeLine(control, { channel: token })
    try {
      const channel = await Promise.race([
        new Promise<Socket>((resolve) => expected.set(token, resolve)),
        over,
        pause(firstLineMs, undefined, { ref: false }),
      ])
      if (!channel) return
      child = spawnAs(programs, user, [process.execPath, ...scripts[script].flags, scriptFile(script)], channel)
      channel.destroy()
      running.set(user, { control })
      writeLine(control, { started: true })
      const ended = endOf(child)
      await Promise.race([ended, over])
      await endAll(programs, user)
      writeLine(control, { ended: await ended })
    } finally {
      expected.delete(token)
      running.delete(user)
      control.end()
      // Not before nothing of it is left, so that nobody meets what another plugin left.
      if (child) await endAll(programs, user)
      free.add(user)
    }
  }

  const telling = setInterval(() => {
    if (running.size === 0) return
    const uses = usesByUser()
    for (const [user, told] of running) {
      const use: ProcessUse = uses.get(user) ?? { processes: 0, residentBytes: 0, processorMs: 0 }
      const text = JSON.stringify(use)
      // A server that does not read gets no more.
      if (text === told.last || told.control.writableLength > 0 || told.control.writableEnded) continue
      told.last = text
      writeLine(told.control, { use })
    }
  }, useMs)

  // Its owner and its group, which is the server's, and so none of the processes.
  const before = process.umask(0o117)
  server.listen(address)
  await once(server, 'listening').finally(() => process.umask(before))
  server.on('error', (error) => log(error.message))
  log(`Starts processes of the plugins in ${folder} for servers that connect to ${address}.`)

  return {
    async stop() {
      clearInterval(telling)
      for (const each of sockets) each.destroy()
      server.close()
      await Promise.all([...running.keys()].map((user) => endAll(programs, user)))
    },
  }
}

/** @throws Error unless the copy has the bytes of its name */
function refuseOther(folder: string, { sha256, name }: KeptPlugin): void {
  const copy = path.join(folder, sha256, name)
  if (!existsSync(copy)) throw new Error(`it does not see ${copy}: give it the server's folder data/plugins`)
  if (sumOfPluginFiles(copy) !== sha256) throw new Error(`the files in ${copy} have another SHA-256`)
}

const scriptFile = (script: Script): string => path.join(bundledCode, scripts[script].file)

/** Starts a command as this user, with its limits and nothing else of this process. */
function spawnAs(
  { sh, setpriv, prlimit, nice }: Programs,
  user: number,
  command: readonly string[],
  channel: Socket | 'ignore',
): ChildProcess {
  const chain = [
    [`--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--no-new-privs'],
    ['--bounding-set=-all', '--inh-caps=-all', '--ambient-caps=-all', '--pdeathsig', 'KILL'],
    // It has nowhere to write, and no use for a queue of the kernel.
    [
      prlimit,
      `--nproc=${maxThreads}`,
      `--nofile=${mostOfProcess.files}`,
      `--data=${mostOfProcess.dataBytes}`,
      '--core=0',
      '--fsize=0',
      '--msgqueue=0',
    ],
    [nice, '-n', '10', sh, '-c', 'echo 1000 2> /dev/null > /proc/self/oom_score_adj; unset PWD OLDPWD; exec "$@"', 'sh', ...command],
  ].flat()
  const stdio: ('ignore' | 'pipe' | Socket)[] = ['ignore', 'ignore', 'pipe']
  stdio[channelDescriptor] = channel
  return spawn(setpriv, chain, { env: {}, cwd: '/', stdio, detached: true })
}

/** Ends all processes of a user at once, by a process of the same user: this one may not signal others. */
async function endAll(programs: Programs, user: number): Promise<void> {
  while (usesByUser().has(user)) {
    const killer = spawnAs(programs, user, [programs.sh, '-c', 'kill -9 -1'], 'ignore')
    killer.stderr?.resume()
    // The processes that it ends may stop it: then another one ends them all.
    await Promise.race([new Promise((resolve) => killer.once('error', resolve).once('close', resolve)), pause(1_000)])
    await pause(20)
  }
}

/** @throws Error that says what is missing or too much */
async function refuseUnsafe(programs: Programs): Promise<void> {
  const outside = Object.entries(networkInterfaces()).filter(([, addresses]) => addresses?.some(({ internal }) => !internal))
  if (outside.length > 0)
    throw new Error(
      `It would give plugins a network (${outside.map(([name]) => name).join(', ')}). Run it in a container without one: network_mode: none`,
    )
  const taken = [...usesByUser().keys()].find((user) => user >= users.first && user < users.first + users.count)
  if (taken !== undefined) throw new Error(`Processes of the user ${taken} are there already. Run it in a container of its own.`)
  const child = spawnAs(programs, users.first, [process.execPath, '-e', '0'], 'ignore')
  const { status, reason, said } = await endOf(child)
  if (status !== 0)
    throw new Error(
      `It cannot start processes as other users: ${said.trim() || reason}. Run it as root with the capabilities SETUID, SETGID and SETPCAP, and no others.`,
    )
}

/** What a service left that was killed. @throws Error where one answers */
async function removeStale(address: string): Promise<void> {
  const socket = connect(address)
  const answers = await new Promise((resolve) => socket.once('connect', () => resolve(true)).once('error', () => resolve(false)))
  socket.destroy()
  if (answers) throw new Error(`Another plugin-host service listens on ${address}.`)
  rmSync(address)
}
