import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { freePort } from '../free-port.ts'
import { runCommand } from './run-command.ts'
import { oneChain, outcome, swap, traders } from '../http/shared-server.ts'

const clients = { client: { permissions: ['read', 'trade', 'stop', 'resume'], wallets: 'all' } }

describe('sluice stop, reduce-only and resume', function () {
  this.timeout(300_000)
  let server: TestServer
  before(async () => {
    server = await startServer({ settings: oneChain.settings, conf: { ...oneChain.conf, 'clients.yml': { clients } } })
  })
  after(() => server?.stop())

  const sluice = (args: readonly string[], port?: string) => runCommand(server, args, port)
  const trade = async () => outcome(await server.client.post('/amm/trade', { ...swap, base: 'ETH', address: traders, amount: '0.001' }))
  const file = (name = 'STOP') => path.join(server.settings.data.dir, name)

  it('stop by a running server, and lift it', async () => {
    expect(await sluice(['stop', '--reason', 'a stolen laptop'])).to.match(
      /^stop is set for all by "client" since .*Only cancels go through/,
    )
    expect(existsSync(file())).to.equal(false)
    expect(await trade()).to.equal('403 STOPPED')
    expect(await sluice(['resume'])).to.match(/^Lifted for all: stop, set by "client" at /)
    expect(await sluice(['resume'])).to.match(/^Nothing was stopped for all/)
    expect(await trade()).to.equal('200')
    expect(await sluice(['reduce-only', '--client', 'client'])).to.match(/^reduce-only is set for client by "client"/)
    expect(await trade()).to.equal('403 STOPPED')
    expect(await sluice(['resume', '--client', 'client'])).to.match(/^Lifted for client: reduce-only/)
  })

  it('write the file where no server answers, which the server holds all the same', async () => {
    const nobody = String(await freePort())
    expect(await sluice(['stop'], nobody)).to.match(/cannot be reached.*\nSo the file is written\.\n.*stop is set for all by .*STOP\./s)
    expect(readFileSync(file(), 'utf8')).to.equal('')
    expect(await trade()).to.equal('403 STOPPED')
    expect(await sluice(['resume'], nobody)).to.match(
      /STOP does not say it any more\. What the store says is lifted by a running server only.*failed/s,
    )
    expect(existsSync(file())).to.equal(false)
    expect(await trade()).to.equal('200')
  })

  it('add to the file, and take out of it, one wallet or client at a time', async () => {
    await sluice(['reduce-only', '--file', '--wallet', traders])
    await sluice(['reduce-only', '--file', '--client', 'client'])
    expect(readFileSync(file('REDUCE-ONLY'), 'utf8')).to.equal(`${traders}\nclient\n`)
    expect(await trade()).to.equal('403 STOPPED')
    await sluice(['resume', '--client', 'client'])
    expect(readFileSync(file('REDUCE-ONLY'), 'utf8')).to.equal(`${traders}\n`)
    expect(await sluice(['resume', '--file'])).to.match(/^Nothing was lifted for all\. .*REDUCE-ONLY still stops: 0x/)
    expect(await sluice(['resume', '--wallet', traders.toLowerCase()])).to.match(/REDUCE-ONLY does not say it any more/)
    expect(existsSync(file('REDUCE-ONLY'))).to.equal(false)
  })

  it('say which file still stops all for a line that names nobody, and what lifts it', async () => {
    writeFileSync(file(), 'Client # typo\n')
    expect(await trade()).to.equal('403 STOPPED')
    for (const args of [['resume'], ['resume', '--file']]) {
      const said = await sluice(args)
      expect(said).to.match(
        /^Nothing was lifted for all\. .*STOP still stops: Client\. A line that names neither a wallet nor a client counts as stop for all/,
      )
      expect(said).to.match(/resume --client Client/)
    }
    await sluice(['stop'])
    expect(await sluice(['resume'])).to.match(/Lifted for all: stop, set by "client".*STOP still stops: Client/s)
    expect(await sluice(['resume', '--client', 'Client'])).to.match(/STOP does not say it any more/)
    expect(await trade()).to.equal('200')
  })

  it('say that stop still holds where reduce-only is set beside it', async () => {
    await sluice(['stop'])
    const said = await sluice(['reduce-only'])
    expect(said).to.match(/stop is in force for all, too, so only cancels go through/)
    expect(said).to.match(/resume, then .*reduce-only/)
    expect(await sluice(['resume'])).to.match(/Lifted for all: stop.*reduce-only/)
    await sluice(['stop', '--file'])
    expect(await sluice(['reduce-only', '--file'])).to.match(/stop is in force for all, too, so only cancels go through/)
    await sluice(['resume', '--file'])
  })

  it('stop nothing for a name that the server does not know, and say so', async () => {
    expect(await sluice(['stop', '--client', 'clinet'])).to.match(/"clinet" has no entry in conf\/clients\.yml.*INCOMPLETE_PARAMS.*failed/s)
    expect(existsSync(file())).to.equal(false)
    expect(await trade()).to.equal('200')
  })
})
