import { execFile, spawnSync } from 'node:child_process'
import { chown, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { mountsOf } from '../../core/wallet/changeable.ts'

const module = new URL('../../core/wallet/changeable.ts', import.meta.url).href
const isRoot = process.getuid?.() === 0
/** The server's: another one than root, which can write everything. */
const user = isRoot ? 60_999 : (process.getuid?.() ?? 0)
/** Root of a container need not be allowed to mount. */
const canMount = isRoot && spawnSync('unshare', ['--mount', 'true']).status === 0

describe('a file that the user of the server can change', () => {
  let own: string
  beforeEach(async () => {
    own = await mkdtemp(path.join(tmpdir(), 'sluice-lock-'))
    await chown(own, user, -1)
  })
  afterEach(() => rm(own, { recursive: true, force: true }))

  /** What the module says as that user, after these commands of root in a mount namespace of its own. */
  async function asUser(expression: string, files: readonly string[], mounts?: string): Promise<unknown> {
    const code = `import { canChange, readWithOrigin } from ${JSON.stringify(module)}; const files = process.argv.slice(1); console.log(JSON.stringify(${expression}))`
    const node = [process.execPath, '--import=tsx', '--input-type=module', '-e', code, '--', ...files]
    const other = isRoot ? ['setpriv', '--reuid', `${user}`, '--regid', `${user}`, '--clear-groups'] : []
    const mounted = mounts === undefined ? [] : ['unshare', '--mount', 'sh', '-c', `${mounts} || exit 1; exec "$@"`, 'sh']
    const [program = '', ...args] = [...mounted, ...other, ...node]
    const { stdout } = await promisify(execFile)(program, args)
    return JSON.parse(stdout)
  }

  it('may lie behind a link whose folder the user can write', async () => {
    const link = path.join(own, 'sluice.lock')
    await symlink('/etc/hostname', link)
    expect(await asUser('files.map(canChange)', [link, '/etc/hostname'])).to.deep.equal([true, false])
  })

  it('may lie in a folder of others, where the user can rename a folder above that', async () => {
    const folder = path.join(own, 'home', 'operator')
    await mkdir(folder, { recursive: true })
    const file = path.join(folder, 'sluice.lock')
    await writeFile(file, '')
    expect(await asUser('files.map(canChange)', [file, '/etc/hostname'])).to.deep.equal([true, false])
  })

  it('differs from a file of others when it is read', async () => {
    const read = (file: string) => `readWithOrigin(${JSON.stringify(file)}, () => 'read')`
    const file = path.join(own, 'sluice.lock')
    await writeFile(file, '')
    expect(await asUser(`[${read(file)}, ${read('/etc/hostname')}]`, [])).to.deep.equal([
      { value: 'read', isOfOthers: false },
      { value: 'read', isOfOthers: true },
    ])
  })

  if (!canMount) return

  it('may lie on a read-only mount, where the user can rename a folder above the mount', async () => {
    const mount = path.join(own, 'home', 'operator')
    await mkdir(mount, { recursive: true })
    await writeFile(path.join(mount, 'sluice.lock'), '')
    await chown(path.join(mount, 'sluice.lock'), user, user)
    const mounts = `mount --bind ${mount} ${mount} && mount -o remount,ro,bind ${mount} && mount -t tmpfs none /mnt && touch /mnt/sluice.lock && chown -R ${user} /mnt && mount -o remount,ro /mnt`
    const files = [path.join(mount, 'sluice.lock'), '/mnt/sluice.lock']
    expect(await asUser('files.map(canChange)', files, mounts)).to.deep.equal([true, false])
  })

  it('may give its place to another file once it was read', async () => {
    // Root puts it there, since the user cannot: the file that was opened is not the one whose folders were looked at.
    const mounts = 'mount -t tmpfs -o mode=755 none /mnt && touch /mnt/sluice.lock && mkfifo -m 666 /mnt/go /mnt/done'
    const swap = `(read x </mnt/go; cp -p /mnt/sluice.lock /mnt/new && mv /mnt/new /mnt/sluice.lock; echo x >/mnt/done) & true`
    const read = `readWithOrigin(files[0], () => { fs.writeFileSync('/mnt/go', 'x\\n'); fs.readFileSync('/mnt/done'); return 'read' })`
    const other = `readWithOrigin('/etc/hostname', () => 'read')`
    const found = await asUser(`await import('node:fs').then((fs) => [${read}, ${other}])`, ['/mnt/sluice.lock'], `${mounts} && ${swap}`)
    expect(found).to.deep.equal([
      { value: 'read', isOfOthers: false },
      { value: 'read', isOfOthers: true },
    ])
  })
})

describe('the mounts of a process', () => {
  it('name the file systems that its own user makes, which say of owners what they like', () => {
    const text = String.raw`29 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
41 29 0:52 / /srv/with\040space rw,nosuid shared:2 - fuse.sshfs host:/ rw,user_id=1000,group_id=1000
42 29 0:300 / /srv/other ro - fuse /dev/fuse ro,user_id=10001,group_id=0`
    const { points, ownDevices } = mountsOf(text, 1000)
    expect([...points]).to.deep.equal(['/', '/srv/with space', '/srv/other'])
    expect([...ownDevices]).to.deep.equal([52n])
    expect([...mountsOf(text, 10_001).ownDevices]).to.deep.equal([0x10002cn])
  })
})
