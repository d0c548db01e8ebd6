import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import { readFile, readdir, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { DevnetError, rpcTo } from '../../core/devnet/anvil.ts'
import { readSavedState, saveState } from '../../core/devnet/saved-state.ts'
import { chainFrom, startDevnet, type Devnet } from '../../core/devnet/start-devnet.ts'
import { addresses } from './addresses.ts'
import { devnetFiles, temporaryFolder } from './test-devnet.ts'
import { freePort } from '../free-port.ts'

describe('startDevnet', function () {
  this.timeout(400_000)
  let place: Awaited<ReturnType<typeof temporaryFolder>>
  let stateFolder: string
  const running: Devnet[] = []
  const places: Awaited<ReturnType<typeof temporaryFolder>>[] = []

  const start = async (options: { port?: number; dataDir?: string; files?: readonly string[] } = {}): Promise<Devnet> => {
    const { port = 0, dataDir = place.folder, files = devnetFiles } = options
    const devnet = await startDevnet({ port, dataDir, devnetFiles: files })
    running.push(devnet)
    return devnet
  }

  const emptyFolder = async (): Promise<string> => {
    const made = await temporaryFolder()
    places.push(made)
    return made.folder
  }

  before(async () => {
    place = await temporaryFolder()
    stateFolder = path.join(place.folder, 'devnet')
  })
  afterEach(async () => {
    await Promise.all(running.splice(0).map((devnet) => devnet.stop()))
    await Promise.all(places.splice(0).map(({ remove }) => remove()))
  })
  after(() => place.remove())

  it('deploys at the first start and loads the saved state at the second', async () => {
    expect((await start()).built).to.equal(true)
    const second = await start()
    expect(second.built).to.equal(false)
    expect(await hasContracts(second)).to.equal(true)
    expect(await readdir(stateFolder)).to.have.length(1)
  })

  it('has one count of blocks, whenever one is mined while the state is loaded', async () => {
    await start()
    const [kept = ''] = await readdir(stateFolder)
    const state = await readFile(path.join(stateFolder, kept))
    for (let count = 0; count < 8; count += 1) {
      // A block each five milliseconds: many states are loaded while one is mined.
      const anvil = await chainFrom(state, 0, ['--block-time', '0.005', '--mixed-mining', '--no-request-size-limit'])
      if (!anvil) throw new Error('The state was refused.')
      try {
        for (let looks = 0; looks < 5; looks += 1) {
          const before = Number(await anvil.rpc('eth_blockNumber'))
          // NUMBER as contracts see it.
          const seen = Number(await anvil.rpc('eth_call', { data: '0x4360005260206000f3' }, 'latest'))
          expect(seen).to.be.within(before, Number(await anvil.rpc('eth_blockNumber')))
        }
      } finally {
        await anvil.stop()
      }
    }
  })

  it('has the current time after loading, and a block per second without transactions', async () => {
    await start()
    await sleep(4000) // for the state to be old
    const began = Math.floor(Date.now() / 1000)
    const devnet = await start()
    const latest = await latestBlock(devnet)
    expect(devnet.built).to.equal(false)
    expect(latest.timestamp).to.be.within(began, Date.now() / 1000 + 1)
    for (let tries = 0; tries < 200 && (await latestBlock(devnet)).number < latest.number + 2; tries++) await sleep(100)
    const later = await latestBlock(devnet)
    expect(later.number).to.be.at.least(latest.number + 2)
    expect(later.timestamp).to.be.within(latest.timestamp + 1, Date.now() / 1000 + 1)
  })

  it('serves chain 31337 on this machine alone', async () => {
    const devnet = await start()
    expect(await rpcTo(devnet.rpcUrl)('eth_chainId')).to.equal('0x7a69')
    expect(devnet.chainId).to.equal(31337)
    expect(new URL(devnet.rpcUrl).hostname).to.equal('127.0.0.1')
  })

  // The chain's own contracts are enough to see it.
  const files = devnetFiles.filter((file) => file.includes('ethereum'))
  const broken: Record<string, (state: Buffer) => Buffer> = {
    'is cut short': (state) => state.subarray(0, state.length / 2),
    'is empty': () => Buffer.alloc(0),
    'has one bit turned': (state) => Buffer.from(state.map((byte, index) => (index === Math.floor(state.length / 2) ? byte ^ 1 : byte))),
    'is whole but no state': () => gzipSync('{"block":1}'),
  }
  for (const [how, breakIt] of Object.entries(broken)) {
    it(`deploys again when the saved state ${how}`, async () => {
      const dataDir = path.join(place.folder, 'chain')
      await start({ dataDir, files })
      const [file = ''] = await readdir(path.join(dataDir, 'devnet'))
      const state = path.join(dataDir, 'devnet', file)
      await writeFile(state, breakIt(await readFile(state)))
      const devnet = await start({ dataDir, files })
      expect(devnet.built).to.equal(true)
      expect(await hasContracts(devnet, chainContracts)).to.equal(true)
      expect((await start({ dataDir, files })).built).to.equal(false)
    })
  }

  it('lets two servers deploy into one folder at the same time', async () => {
    const folder = await emptyFolder()
    const both = await Promise.all([start({ dataDir: folder }), start({ dataDir: folder })])
    expect(await Promise.all(both.map((devnet) => hasContracts(devnet)))).to.deep.equal([true, true])
    expect(await readdir(path.join(folder, 'devnet'))).to.have.length(1)
    expect((await start({ dataDir: folder })).built).to.equal(false)
  })

  it('keeps the saved state when other inputs are deployed in its folder, and loads it again', async () => {
    const folder = await emptyFolder()
    await start({ dataDir: folder })
    const fewer = await start({ dataDir: folder, files: devnetFiles.filter((file) => !file.includes('sushiswap')) })
    expect(fewer.built).to.equal(true)
    expect((await start({ dataDir: folder })).built).to.equal(false)
  })

  it('keeps the three newest states', async () => {
    const folder = await emptyFolder()
    for (const [index, inputs] of ['first', 'second', 'third', 'fourth'].entries()) {
      await saveState(folder, inputs, Buffer.from(inputs))
      const hoursAgo = new Date(Date.now() - (4 - index) * 3_600_000)
      await utimes(path.join(folder, `${inputs}.json.gz`), hoursAgo, hoursAgo)
    }
    await saveState(folder, 'fifth', Buffer.from('fifth'))
    expect(await readdir(folder)).to.have.members(['third', 'fourth', 'fifth'].map((inputs) => `${inputs}.json.gz`))
  })

  it('keeps a state that was loaded since, and removes a newer one that was not', async () => {
    const folder = await emptyFolder()
    for (const [index, inputs] of ['first', 'second', 'third'].entries()) {
      await saveState(folder, inputs, Buffer.from(inputs))
      const hoursAgo = new Date(Date.now() - (4 - index) * 3_600_000)
      await utimes(path.join(folder, `${inputs}.json.gz`), hoursAgo, hoursAgo)
    }
    expect(String(await readSavedState(folder, 'first'))).to.equal('first')
    await saveState(folder, 'fourth', Buffer.from('fourth'))
    expect(await readdir(folder)).to.have.members(['first', 'third', 'fourth'].map((inputs) => `${inputs}.json.gz`))
  })

  it('names a taken port and the setting, and leaves its holder alone', async () => {
    const holder = createServer((_, response) => void response.end('mine'))
    holder.listen(0, '127.0.0.1')
    await once(holder, 'listening')
    const port = portOf(holder)
    try {
      const error: unknown = await start({ port }).catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(DevnetError)
      expect(String(error)).to.include(`port ${port}`).and.include('devnet.port').and.include('SLUICE_DEVNET_PORT')
      expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).to.equal('mine')
    } finally {
      holder.close()
    }
  })

  it('gives a port to one of two servers that start at the same moment, and refuses the other', async () => {
    await (await start()).stop() // so that both only load, and reach the port together
    running.length = 0
    const port = await freePort()
    const results = await Promise.allSettled([start({ port }), start({ port })])
    expect(results.map(({ status }) => status)).to.have.members(['fulfilled', 'rejected'])
    expect(results.map((result) => (result.status === 'rejected' ? String(result.reason) : '')).join(''))
      .to.include(`port ${port}`)
      .and.include('devnet.port')
    expect(running).to.have.length(1)
    expect(await Promise.all(running.map((devnet) => hasContracts(devnet)))).to.deep.equal([true])
  })

  it('leaves out a devnet file that fails, says why, deploys the rest and tries again next time', async () => {
    const folder = await emptyFolder()
    const faults = {
      'throws.mjs': `export default { name: 'throws', async deploy(site) {
        await site.send({ connect: () => { throw new Error('no such contract') } }, 'anything') } }`,
      'syntax.mjs': 'export default {',
      'shape.mjs': 'export default { deploy: 5 }',
      'namesake.mjs': `export default { name: 'uniswap', async deploy() {} }`,
    }
    for (const [name, source] of Object.entries(faults)) await writeFile(path.join(folder, name), source)
    // Each failure deploys the others again: one exchange is enough.
    const files = [
      ...devnetFiles.filter((file) => !file.includes('sushiswap')),
      ...Object.keys(faults).map((name) => path.join(folder, name)),
    ]

    const devnet = await start({ dataDir: folder, files })
    expect(devnet.refused.map(({ file }) => path.basename(file))).to.have.members(Object.keys(faults))
    expect(devnet.refused.map(({ reason }) => reason).join('\n'))
      .to.include('no such contract')
      .and.include('defineDevnet')
      .and.include('already has the name uniswap')
    expect(await hasContracts(devnet, [...chainContracts, addresses.exchanges.uniswap.router])).to.equal(true)
    expect((await start({ dataDir: folder, files })).built).to.equal(true)
  })

  it('reports a missing chain among the devnet files', async () => {
    const error: unknown = await start({ files: devnetFiles.filter((file) => !file.includes('ethereum')) }).catch(
      (reason: unknown) => reason,
    )
    expect(String(error)).to.include('exactly one')
  })

  it('stops once, however often stop is called, and settles when it has ended', async () => {
    const devnet = await start()
    await Promise.all([devnet.stop(), devnet.stop()])
    await devnet.stop()
    await devnet.ended
    expect(await rpcTo(devnet.rpcUrl)('eth_chainId').catch(() => 'away')).to.equal('away')
  })
})

function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

const chainContracts = [addresses.multicall3, addresses.tokens.USDT.address]
const allContracts = [...chainContracts, addresses.exchanges.uniswap.router, addresses.exchanges.sushiswap.router]

async function hasContracts(devnet: Devnet, places: readonly string[] = allContracts): Promise<boolean> {
  const codes = await Promise.all(places.map((place) => rpcTo(devnet.rpcUrl)('eth_getCode', place, 'latest')))
  return codes.every((code) => typeof code === 'string' && code.length > 2)
}

async function latestBlock(devnet: Devnet): Promise<{ number: number; timestamp: number }> {
  const block = await rpcTo(devnet.rpcUrl)('eth_getBlockByNumber', 'latest', false)
  if (typeof block !== 'object' || block === null || !('number' in block) || !('timestamp' in block)) throw new Error('no block')
  return { number: Number(block.number), timestamp: Number(block.timestamp) }
}
