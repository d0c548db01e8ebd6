import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { alertsFile, type AlertSettings } from '../../core/config/alerts-file.ts'
import { startKernel, type Kernel } from '../../core/kernel.ts'
import { startServer } from '../../testkit/server.ts'
import { nobody, oneChain } from '../http/shared-server.ts'
import { startReceiver, type Receiver } from './receiver.ts'

describe('alerts of a server that nobody asks for anything', function () {
  this.timeout(300_000)
  let home: string
  let receiver: Receiver
  let kernel: Kernel | undefined
  before(async () => {
    home = await mkdtemp(path.join(tmpdir(), 'sluice-'))
    receiver = await startReceiver()
  })
  after(async () => {
    await kernel?.stop()
    await receiver?.close()
    await rm(home, { recursive: true, force: true })
  })

  it('tell of wallets on a network that starts when it is needed', async () => {
    const alerts = structuredClone(alertsFile.defaults) as AlertSettings
    alerts.channels = { ops: { kind: 'webhook', url: receiver.url, allowPrivate: true } }
    alerts.rules.lowGas.minBalance = { 'ethereum/local': '1000000' }
    const local = { required: false, feeCap: 300 }
    const conf = { 'chains/ethereum.yml': { mainnet: nobody, sepolia: nobody, local } }
    const first = await startServer({ settings: oneChain.settings, conf }, home)
    await first.stop()
    // The test's own start wakes the network; this one is as an operator's.
    const { settings } = first
    kernel = await startKernel({ ...settings, alerts }, { print: () => {} })
    const message = await receiver.message(({ rule }) => rule === 'lowGas', 120_000)
    expect(JSON.stringify(message['items'])).to.contain('ethereum/local 0x')
  })
})
