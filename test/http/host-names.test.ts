import { Socket } from 'node:net'
import { expect } from 'chai'
import { createHostNames, isOfBrowser } from '../../core/http/host-names.ts'

describe('the name in the header Host', () => {
  it('is the server’s own where it is an address, localhost or the configured one, with any port; others are counted', () => {
    let others = 0
    const { isOwn } = createHostNames('Sluice.example', () => (others += 1))
    const socket = new Socket()
    const ask = (host?: string) => isOwn({ headers: { ...(host !== undefined && { host }) }, socket })
    for (const host of ['localhost', 'LOCALHOST:15888', 'localhost.', '127.0.0.1:1', '10.1.2.3', '[::1]:15888', 'sluice.example:15888'])
      expect(ask(host), host).to.equal(true)
    expect(others).to.equal(0)
    const foreign = [
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      'a@localhost',
      'localhost:x',
      '',
      ' localhost',
      '[::1',
      '0x7f000001',
    ]
    for (const host of [...foreign, undefined]) expect(ask(host), host).to.equal(false)
    expect(others).to.equal(foreign.length + 1)
  })

  it('matters where a browser asks, which says so', () => {
    expect(isOfBrowser({ headers: { origin: 'null' } })).to.equal(true)
    expect(isOfBrowser({ headers: { 'sec-fetch-mode': 'cors' } })).to.equal(true)
    expect(isOfBrowser({ headers: { host: 'evil.example', 'user-agent': 'Mozilla/5.0' } })).to.equal(false)
  })
})
