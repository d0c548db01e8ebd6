// What Linux tells of connections in /proc/net/tcp and tcp6: which user of this machine has one, and what its other end has not acknowledged.
import { readFile } from 'node:fs/promises'
import { isIPv6, type Socket } from 'node:net'
import { endianness } from 'node:os'

/** Both ends of a connection, as its owner sees them. */
export interface Ends {
  readonly localAddress: string
  readonly localPort: number
  readonly remoteAddress: string
  readonly remotePort: number
}

export interface SocketTable {
  /** The user id; undefined where the system does not tell it: the connection is gone, or no process has it any more. */
  ownerOf(ends: Ends): Promise<number | undefined>
  /** Of the program that listens on this port of 127.0.0.1. */
  ownerOfListener(port: number): Promise<number | undefined>
  /** What was written and not acknowledged by the other end's system; undefined where the system does not tell it, or nothing is left to be acknowledged. */
  unacknowledgedBytes(ends: Ends): Promise<number | undefined>
}

/** Of a socket of this process. */
export const endsOf = ({ localAddress = '', localPort = 0, remoteAddress = '', remotePort = 0 }: Socket): Ends => ({
  localAddress,
  localPort,
  remoteAddress,
  remotePort,
})

/** The one at its other end. */
export function otherEnd(socket: Socket): Ends {
  const { localAddress, localPort, remoteAddress, remotePort } = endsOf(socket)
  return { localAddress: remoteAddress, localPort: remotePort, remoteAddress: localAddress, remotePort: localPort }
}

const tableFiles = ['/proc/net/tcp', '/proc/net/tcp6']

/**
 * The system makes a table anew at each reading, which takes long where there are many connections. So all that ask while one is read share the next.
 * @param files other tables, for tests
 */
export function createSocketTable(files: readonly string[] = tableFiles): SocketTable {
  const readAll = () => Promise.all(files.map((file) => readFile(file, 'latin1').catch(() => '')))
  let reading: Promise<unknown> = Promise.resolve()
  let next: Promise<string[]> | undefined

  /** A reading that begins after the question. */
  function read(): Promise<string[]> {
    next ??= reading.then(() => {
      next = undefined
      const begun = readAll()
      reading = begun
      return begun
    })
    return next
  }

  return {
    ownerOf: async (ends) => rowIn(await read(), ends)?.user,
    ownerOfListener: async (port) =>
      rowIn(await read(), { localAddress: '127.0.0.1', localPort: port, remoteAddress: '0.0.0.0', remotePort: 0 }, listening)?.user,
    async unacknowledgedBytes(ends) {
      const tables = await read()
      return (rowIn(tables, ends) ?? rowIn(tables, ends, ended))?.unacknowledged
    },
  }
}

/** After both addresses: state, queues (tx:rx), timer (kind:when), retransmissions, user, timeout, inode. Source: Linux, Documentation/networking/proc_net_tcp.rst. */
const rest = /^ ([0-9A-F]{2}) ([0-9A-F]{8}):\S+ \S+ \S+ +(\d+) +\d+ (\d+)/
/** `ended`: by this end (FIN_WAIT1), which the other one has not acknowledged. */
const [established, ended, listening] = ['01', '04', '0A'] as const
type State = typeof established | typeof ended | typeof listening

/** @param tables of IPv4 and IPv6: a socket of IPv6 may have addresses of IPv4 */
export function rowIn(
  tables: readonly string[],
  { localAddress, localPort, remoteAddress, remotePort }: Ends,
  state: State = established,
): { readonly user: number; readonly unacknowledged: number } | undefined {
  const [local, remote] = [forms(localAddress), forms(remoteAddress)]
  for (const table of tables)
    for (const [index, form] of local.entries()) {
      const pair = ` ${form}:${hexPort(localPort)} ${remote[index] ?? ''}:${hexPort(remotePort)}`
      const at = table.indexOf(pair)
      if (at < 0) continue
      const [, found, sent = '', user, inode] = rest.exec(table.slice(at + pair.length, at + pair.length + 120)) ?? []
      // A socket that its process has closed is shown as root's.
      if (found === state && inode !== '0') return { user: Number(user), unacknowledged: Number.parseInt(sent, 16) }
    }
  return undefined
}

const hexPort = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0')

/** How the tables write an address: words of four bytes as the machine has them in memory. Of IPv4 also as an address of IPv6. */
function forms(address: string): string[] {
  const v4 = /^(?:::ffff:)?(\d+)\.(\d+)\.(\d+)\.(\d+)$/i.exec(address)?.slice(1).map(Number)
  if (v4) return [hexWord(v4), `${'0'.repeat(16)}${hexWord([0, 0, 0xff, 0xff])}${hexWord(v4)}`]
  return isIPv6(address) ? [wordsOf(address)] : []
}

function wordsOf(address: string): string {
  const [before = '', after] = address.replace(/%.*$/, '').split('::')
  const groupsOf = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  const [first, last] = [groupsOf(before), groupsOf(after ?? '')]
  const groups = [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last]
  const bytes = groups.flatMap((group) => [group >> 8, group & 0xff])
  return [0, 4, 8, 12].map((at) => hexWord(bytes.slice(at, at + 4))).join('')
}

const hexWord = (bytes: readonly number[]): string =>
  (endianness() === 'LE' ? bytes.toReversed() : bytes).map((byte) => byte.toString(16).toUpperCase().padStart(2, '0')).join('')
