import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { endianness } from 'node:os'
import { createSocketTable, endsOf, otherEnd, rowIn, type Ends } from '../../core/base/socket-table.ts'

const until = async (what: string, holds: () => Promise<boolean>) => {
  for (let tries = 0; !(await holds()); tries += 1) if (tries > 1_000) throw new Error(`never came: ${what}`)
}

const ends = { localAddress: '127.0.0.1', localPort: 0xd8_5c, remoteAddress: '127.0.0.1', remotePort: 0x3e_10 }
const row = (state: string, user: number, inode: number, local = '0100007F', remote = local) =>
  `   5: ${local}:D85C ${remote}:3E10 ${state} 00000000:00000000 00:00000000 00000000 ${String(user).padStart(5)}        0 ${inode} 2 000000003e25fc7f 21 0 0 10 -1\n`

const userIn = (tables: readonly string[], of: Ends) => rowIn(tables, of)?.user

describe('the other end of a connection, by the table of the system', () => {
  before(function () {
    if (endianness() !== 'LE') this.skip()
  })

  it('is that of the row with its two ends', () => {
    expect(userIn([row('01', 1000, 7).replace('D85C', 'D85D') + row('01', 1001, 8)], ends)).to.equal(1001)
    expect(userIn([row('01', 1000, 7)], { ...ends, localPort: 1 })).to.equal(undefined)
    expect(userIn([''], ends)).to.equal(undefined)
  })

  it('stands in the table of IPv6, too, with an address of either kind', () => {
    const mapped = '0000000000000000FFFF00000100007F'
    expect(userIn(['', row('01', 1002, 7, mapped)], ends)).to.equal(1002)
    const loopback = '00000000000000000000000001000000'
    expect(userIn(['', row('01', 1003, 7, loopback)], { ...ends, localAddress: '::1', remoteAddress: '::1' })).to.equal(1003)
    const [local, remote] = ['B80D0120000000000000000001000000', '000080FE00000000FF2B9A025CEE1FFE']
    const far = { ...ends, localAddress: '2001:db8::1', remoteAddress: 'fe80::29a:2bff:fe1f:ee5c%eth0' }
    expect(userIn(['', row('01', 1004, 7, local, remote)], far)).to.equal(1004)
  })

  it('has no owner where the process has closed it, though the system shows it as root', () => {
    for (const state of ['04', '05', '06']) expect(userIn([row(state, 0, 0)], ends), state).to.equal(undefined)
    expect(userIn([row('01', 0, 0)], ends)).to.equal(undefined)
  })

  it('has not acknowledged what it does not take', async function () {
    if (process.platform !== 'linux') this.skip()
    const server = net.createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = net.connect((server.address() as AddressInfo).port, '127.0.0.1').pause()
    const [socket] = (await once(server, 'connection')) as [net.Socket]
    const table = createSocketTable()
    socket.write('x')
    await until('it is acknowledged', async () => (await table.unacknowledgedBytes(endsOf(socket))) === 0)
    while (!socket.writableNeedDrain) socket.write(Buffer.alloc(1 << 20))
    expect(await table.unacknowledgedBytes(endsOf(socket))).to.be.above(0)
    for (const each of [client, socket]) each.destroy()
    server.close()
  })

  it('is the user whose process connected', async function () {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) this.skip()
    const server = net.createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const script = `require('net').connect(${port}, '127.0.0.1'); setTimeout(() => {}, 60000)`
    const child = spawn(process.execPath, ['-e', script], { uid: 65_534, stdio: 'ignore' })
    try {
      const accepted = once(server, 'connection')
      const [socket] = (await accepted) as [net.Socket]
      const owners = createSocketTable()
      expect(await owners.ownerOf(otherEnd(socket))).to.equal(65_534)
      expect(await owners.ownerOfListener(port)).to.equal(0)
      socket.destroy()
    } finally {
      child.kill('SIGKILL')
      server.close()
    }
  })
})
