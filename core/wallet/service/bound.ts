// Whether what the signer service bounds holds against a server that was taken over: it is another user's, and so is what it goes by.
import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { codeRoot } from '../../base/layout.ts'
import { lockFile } from '../../config/lock.ts'
import type { Settings } from '../../config/settings.ts'
import { countFolder } from '../limits/count-file.ts'

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

/** Those of them that others than this user and root can change. ACLs are not looked at. */
export const changeableFiles = (settings: Pick<Settings, 'confDir' | 'data'>, uid = process.getuid?.()): string[] =>
  boundFiles(settings).filter((file) => existsSync(file) && isChangeableByOthers(file, uid))

/** As many as Linux follows. */
const maxLinks = 40
const othersWrite = 0o022
const sticky = 0o1000

/** Whether others can write the file, or put another in its place, in its folder or in one above. */
export function isChangeableByOthers(file: string, uid: number | undefined, links = maxLinks): boolean {
  if (uid === undefined) return true
  let isLeaf = true
  for (let at = path.resolve(file); ; at = path.dirname(at)) {
    const stat = lstatSync(at)
    const isSafeOwner = stat.uid === 0 || stat.uid === uid
    if (stat.isSymbolicLink()) {
      // Anybody may have the right to write a link: who can put another in its place is its folder's affair.
      if (!isSafeOwner || links === 0) return true
      if (isChangeableByOthers(path.resolve(realpathSync(path.dirname(at)), readlinkSync(at)), uid, links - 1)) return true
    } else {
      // In such a folder nobody but its owner replaces a file.
      const isShared = !isLeaf && (stat.mode & sticky) !== 0
      if (!isSafeOwner || ((stat.mode & othersWrite) !== 0 && !isShared)) return true
    }
    if (at === path.dirname(at)) return false
    isLeaf = false
  }
}

/** Why the bounds do not hold against this server, where it was taken over; undefined where they hold. */
export function boundProblem(socket: string, changeable: readonly string[], uid = process.getuid?.()): string | undefined {
  if (uid === undefined) return 'this system does not say which user a process is of'
  if (uid === 0) return 'the user of this process is root'
  try {
    if (statSync(socket).uid === uid) return 'the signer and the server are processes of one user'
  } catch {
    return `${socket} cannot be looked at`
  }
  const [first, ...others] = changeable
  if (first === undefined) return undefined
  return `others than the user of the signer can change ${first}${others.length > 0 ? ` and ${others.length} more of its files` : ''}`
}
