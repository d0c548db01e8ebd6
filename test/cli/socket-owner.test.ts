import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { endianness } from 'node:os'
import { createSocketOwners, otherEnd, ownerIn } from '../../core/cli/socket-owner.ts'

const ends = { localAddress: '127.0.0.1', localPort: 0xd8_5c, remoteAddress: '127.0.0.1', remotePort: 0x3e_10 }
const row = (state: string, user: number, inode: number, local = '0100007F', remote = local) =>
  `   5: ${local}:D85C ${remote}:3E10 ${state} 00000000:00000000 00:00000000 00000000 ${String(user).padStart(5)}        0 ${inode} 2 000000003e25fc7f 21 0 0 10 -1\n`

describe('the owner of a connection', () => {
  before(function () {
    if (endianness() !== 'LE') this.skip()
  })

  it('is that of the row with its two ends', () => {
    expect(ownerIn([row('01', 1000, 7).replace('D85C', 'D85D') + row('01', 1001, 8)], ends)).to.equal(1001)
    expect(ownerIn([row('01', 1000, 7)], { ...ends, localPort: 1 })).to.equal(undefined)
    expect(ownerIn([''], ends)).to.equal(undefined)
  })

  it('is found in the table of IPv6, of an address of either kind', () => {
    const mapped = '0000000000000000FFFF00000100007F'
    expect(ownerIn(['', row('01', 1002, 7, mapped)], ends)).to.equal(1002)
    const loopback = '00000000000000000000000001000000'
    expect(ownerIn(['', row('01', 1003, 7, loopback)], { ...ends, localAddress: '::1', remoteAddress: '::1' })).to.equal(1003)
  })

  it('is nobody where the process has closed it, though the system shows it as root', () => {
    for (const state of ['04', '05', '06']) expect(ownerIn([row(state, 0, 0)], ends), state).to.equal(undefined)
    expect(ownerIn([row('01', 0, 0)], ends)).to.equal(undefined)
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
      const owners = createSocketOwners()
      expect(await owners.ownerOf(otherEnd(socket))).to.equal(65_534)
      expect(await owners.ownerOfListener(port)).to.equal(0)
      socket.destroy()
    } finally {
      child.kill('SIGKILL')
      server.close()
    }
  })
})
