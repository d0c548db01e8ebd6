// Whether what the signer service bounds holds against a server that was taken over: it is another user's, and so is what it goes by.
import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { codeRoot } from '../../base/layout.ts'
import { lockFile } from '../../config/lock.ts'
import type { Settings } from '../../config/settings.ts'
import { countFolder } from '../limits/count-file.ts'
import type { Welcome } from './protocol.ts'

/** Who beside the signer's user and root can change files that it goes by: a user, a group, or, with neither, everybody. */
export type Changer = Welcome['changers'][number]

/** The files that say what is signed: conf and its folders, the lock, the count and keys, and the program. */
function boundFiles({ confDir, data }: Pick<Settings, 'confDir' | 'data'>): string[] {
  const inConf = existsSync(confDir)
    ? readdirSync(confDir, { recursive: true, encoding: 'utf8' }).map((file) => path.join(confDir, file))
    : []
  return [
    confDir,
    ...inConf,
    lockFile(confDir),
    data.dir,
    countFolder(data.dir),
    path.join(data.dir, 'keystore'),
    fileURLToPath(codeRoot),
    process.execPath,
  ]
}

/** Of each the first file. ACLs are not looked at, nor how another process sees the mounts. */
export function findChangers(settings: Pick<Settings, 'confDir' | 'data'>, uid = process.getuid?.()): Changer[] {
  const found = new Map<string, Changer>()
  for (const file of boundFiles(settings).filter((each) => existsSync(each)))
    for (const who of changersOf(file, uid)) {
      const key = JSON.stringify(who)
      const before = found.get(key)
      found.set(key, before ? { ...before, more: before.more + 1 } : { ...who, file, more: 0 })
    }
  return [...found.values()]
}

type Who = Pick<Changer, 'uid' | 'gid'>

/** As many as Linux follows. */
const maxLinks = 40
const [groupWrites, othersWrite, sticky] = [0o020, 0o002, 0o1000]

/** Who can write the file, or put another in its place, in its folder or in one above. */
export function changersOf(file: string, uid: number | undefined, links = maxLinks): Who[] {
  if (uid === undefined) return [{}]
  const found = new Map<string, Who>()
  const note = (who: Who) => void found.set(JSON.stringify(who), who)
  let isLeaf = true
  for (let at = path.resolve(file); ; at = path.dirname(at)) {
    const stat = lstatSync(at)
    if (stat.uid !== 0 && stat.uid !== uid) note({ uid: stat.uid })
    if (stat.isSymbolicLink()) {
      // Anybody may have the right to write a link: who can put another in its place is its folder's affair.
      const target = path.resolve(realpathSync(path.dirname(at)), readlinkSync(at))
      for (const who of links === 0 ? [{}] : changersOf(target, uid, links - 1)) note(who)
    } else if (isLeaf || (stat.mode & sticky) === 0) {
      // In a sticky folder nobody but its owner replaces a file.
      if ((stat.mode & groupWrites) !== 0) note({ gid: stat.gid })
      if ((stat.mode & othersWrite) !== 0) note({})
    }
    if (at === path.dirname(at)) return [...found.values()]
    isLeaf = false
  }
}

/** A user of the system, with its groups. */
interface ServerUser {
  readonly uid: number
  readonly groups: readonly number[]
}

const ownUser = (): ServerUser | undefined => {
  const uid = process.getuid?.()
  return uid === undefined ? undefined : { uid, groups: [process.getgid?.() ?? 0, ...(process.getgroups?.() ?? [])] }
}

/** Why the bounds do not hold against a server of this user, where it was taken over; undefined where they hold. */
export function boundProblem(socket: string, changers: readonly Changer[], user = ownUser()): string | undefined {
  if (user === undefined) return 'this system does not say which user a process is of'
  if (user.uid === 0) return 'the user of this process is root'
  try {
    if (statSync(socket).uid === user.uid) return 'the signer and the server are processes of one user'
  } catch {
    return `${socket} cannot be looked at`
  }
  const own = changers.find(({ uid, gid }) => (uid === undefined ? gid === undefined || user.groups.includes(gid) : uid === user.uid))
  return own && `the server's user can change ${filesOf(own)} of the signer`
}

/** What the signer says of them at its start. */
export const changerWords = (changer: Changer): string =>
  `${whoOf(changer)} can change ${filesOf(changer)}: what is bounded here does not hold against servers of that user.`

const whoOf = ({ uid, gid }: Who): string => (uid !== undefined ? `The user ${uid}` : gid !== undefined ? `The group ${gid}` : 'Every user')
const filesOf = ({ file, more }: Changer): string => `${file}${more > 0 ? ` and ${more} more files` : ''}`
