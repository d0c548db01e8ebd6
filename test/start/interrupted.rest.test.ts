import { readdirSync, readlinkSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { readServerCertificates } from '../../core/tls/server-certificates.ts'
import { eventually, keepDevnet, makeHome, sluice } from './command.ts'

/** Processes whose working folder this is (Linux): the server's and all that it started. */
function processesIn(folder: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readlinkSync(`/proc/${name}/cwd`) === folder
    } catch {
      return false
    }
  })
}

describe('a start that is interrupted', function () {
  this.timeout(300_000)
  for (const [signal, code, when] of [
    ['SIGINT', 130, /Made certificates/],
    ['SIGTERM', 143, /Deploying the exchanges/],
  ] as const) {
    it(`ends at once on ${signal}, not only when it is through, and leaves neither a process nor half of a file`, async function () {
      if (process.platform !== 'linux') this.skip()
      const { home, remove } = await makeHome()
      try {
        if (signal === 'SIGINT') await keepDevnet(home)
        const server = sluice(home, 'start')
        await server.until(when)
        server.child.kill(signal)
        expect(await server.ended).to.deep.equal({ code, signal: null })
        expect(server.printed()).to.include('ended before the server was up').and.not.include('is ready at')
        await eventually(async () => processesIn(home).length === 0, 'its processes end')
        await readServerCertificates(path.join(home, 'certs'))
      } finally {
        await remove()
      }
    })
  }
})
