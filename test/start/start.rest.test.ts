import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { answering, fakeBlock, startFakeNode } from '../kits/evm/fake-node.ts'
import { eventually, keepDevnet, makeHome, sluiceWith, twoPlugins, type RunningCommand } from './command.ts'

const ready = /Sluice is ready at (https:\S+)/
const rpc = /ethereum\/local\s+block \d+, \d+ s ago\s+(http:\S+)/

describe('sluice start', function () {
  this.timeout(300_000)
  const cleanUps: (() => unknown)[] = []
  afterEach(async () => {
    for (const each of cleanUps.splice(0).toReversed()) await each()
  })

  async function home(server?: Record<string, unknown>): Promise<string> {
    const made = await makeHome(server)
    await keepDevnet(made.home)
    cleanUps.push(made.remove)
    return made.home
  }
  const run = (where: string, ...args: string[]): RunningCommand => runWith({}, where, ...args)
  function runWith(environment: Readonly<Record<string, string>>, where: string, ...args: string[]): RunningCommand {
    const running = sluiceWith(environment, where, ...args)
    cleanUps.push(async () => {
      running.child.kill('SIGKILL')
      await running.ended
    })
    return running
  }

  it('prints a summary whose curl commands work', async () => {
    const where = await home()
    const server = run(where, 'start')
    await server.until(/Ctrl-C stops the server/)
    const text = server.printed()
    expect(text)
      .to.match(/✓ uniswap +AMM/)
      .and.match(rpc)
      .and.include('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266')
      .and.include('client_key.pem')
    const [quote, trade] = text
      .split('\n')
      .filter((line) => line.startsWith('  curl'))
      .map((line) => paste(line, where))
    expect(quote).to.have.property('expectedAmount')
    expect(trade).to.have.property('txHash')
    const steps = text.split('\n').filter((line) => /^ {2}ask\b/.test(line))
    const answers = pasteAll(steps.join('\n'), where)
    const [, bid, , , position, , liquidity, margin, perpetual] = answers
    expect(answers).to.have.length(9)
    expect(bid).to.have.property('clientOrderId')
    expect(position).to.have.nested.property('position.positionSide', 'SHORT')
    expect(liquidity).to.have.property('liquidity')
    expect(margin).to.have.property('equity')
    expect(perpetual).to.have.property('state', 'FILLED')
    server.child.kill('SIGTERM')
    expect(await server.ended).to.deep.equal({ code: 0, signal: null })
  })

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL'] as const) {
    it(`leaves no devnet behind after ${signal}`, async () => {
      const server = run(await home(), 'start')
      const [, url = ''] = await server.until(rpc)
      expect(await answers(url)).to.equal(true)
      server.child.kill(signal)
      await server.ended
      await eventually(async () => !(await answers(url)), 'the devnet ends')
    })
  }

  it('starts a second time with the same certificates and the saved devnet', async () => {
    const where = await home()
    const first = run(where, 'start')
    await first.until(/Made certificates/)
    await first.until(ready)
    first.child.kill('SIGTERM')
    await first.ended
    const second = run(where, 'start')
    await second.until(/Ctrl-C stops the server/)
    expect(second.printed()).to.not.include('Made certificates').and.not.include('Deploying')
  })

  it('says which setting to change when its port is taken, and leaves the holder alone', async () => {
    const holder = createServer().listen(0, '127.0.0.1')
    cleanUps.push(() => new Promise((resolve) => holder.close(resolve)))
    await new Promise((resolve) => holder.once('listening', resolve))
    const { port } = holder.address() as AddressInfo
    const server = run(await home(), 'start', '--port', String(port))
    expect((await server.ended).code).to.equal(1)
    expect(server.printed()).to.include(`Port ${port} on 127.0.0.1 is taken`).and.include('SLUICE_SERVER_PORT')
    expect(holder.listening).to.equal(true)
  })

  it('does not start on a wrong setting, and says file, path and remedy', async () => {
    const server = run(await home({ server: { prot: 1 } }), 'start')
    expect((await server.ended).code).to.equal(1)
    expect(server.printed())
      .to.match(/server\.yml:\d+/)
      .and.include('server.prot')
      .and.include('port')
  })

  it('does not start without the database of store.url, and does not show its password', async () => {
    const server = run(await home({ store: { url: 'postgres://sluice:secret@127.0.0.1:1/sluice' } }), 'start')
    expect((await server.ended).code).to.equal(1)
    expect(server.printed())
      .to.match(/did not start/)
      .and.not.include('secret')
  })

  it('does not start beside another server on the same data folder, and names it', async () => {
    const where = await home()
    const first = run(where, 'start')
    await first.until(ready)
    const second = run(where, 'start')
    expect((await second.ended).code).to.equal(1)
    expect(second.printed())
      .to.match(/did not start/)
      .and.include(`process ${first.child.pid}`)
    first.child.kill('SIGTERM')
    expect(await first.ended).to.deep.equal({ code: 0, signal: null })
  })

  it('does not say that it is ready while a required network is missing, says why and what to do, and says it once it is there', async () => {
    const node = await startFakeNode((_asked, response) => response.writeHead(503).end())
    cleanUps.push(() => node.close())
    const where = await home({ plugins: { folders: twoPlugins }, devnet: { enabled: false } })
    await writeFile(path.join(where, 'conf/chains/ethereum.yml'), stringify({ mainnet: { required: true, rpcUrls: [node.url] } }))
    const server = run(where, 'start')
    await server.until(/Ctrl-C stops the server/)
    const text = server.printed()
    expect(text).to.match(/Sluice is up at https:\S+ \([\d.]+ s\), but not ready/)
    expect(text).to.match(/^ {2}✗ ethereum\/mainnet: .*127\.0\.0\.1/m)
    expect(text).to.include(`→ Its node is on this machine, at ${node.url}: start that, or correct rpcUrls in conf/chains/ethereum.yml`)
    expect(text).to.match(/✗ ethereum\/mainnet {2}not ready, see above/)
    expect(text).not.to.match(ready)
    const [curl = ''] = text.split('\n').filter((line) => line.startsWith('  curl'))
    expect(paste(curl.replace('/network/status', '/health/ready'), where)).to.have.nested.property('failing[0].part', 'ethereum/mainnet')

    node.behave(answering({ eth_chainId: '0x1', eth_getBlockByNumber: fakeBlock(1), eth_maxPriorityFeePerGas: '0x1', eth_getCode: '0x60' }))
    await server.until(ready)
  })

  it('starts nothing of the devnet when it is disabled', async () => {
    const server = run(await home(), 'start', '--no-devnet')
    await server.until(/Ctrl-C stops the server/)
    expect(server.printed()).to.not.include('ethereum/local').and.not.include('0xf39Fd6e5').and.not.include('_PROXY')
  })

  it('warns of proxies that it does not use, without their passwords, and of symbols that a list gives to several tokens', async () => {
    const where = await home({ plugins: { folders: twoPlugins }, devnet: { enabled: false } })
    const address = '0x00000000000000000000000000000000000000AA'
    const tokens = [{ chainId: 1, address, symbol: 'usdc', decimals: 6, name: 'x' }]
    await writeFile(path.join(where, 'list.json'), JSON.stringify({ name: 'a published list', tokens }))
    const mainnet = { required: true, rpcUrls: ['http://127.0.0.1:1'], tokenLists: ['list.json'] }
    await writeFile(path.join(where, 'conf/chains/ethereum.yml'), stringify({ mainnet }))
    const environment = { HTTPS_PROXY: 'http://me:hunter2@proxy.example:3128', http_proxy: 'http://proxy.example' }
    const server = runWith(environment, where, 'start')
    await server.until(/Ctrl-C stops the server/)
    expect(server.printed())
      .to.include('Warning: HTTPS_PROXY and http_proxy are set, and Sluice does not use them')
      .and.not.include('hunter2')
      .and.not.include('proxy.example')
    const [line = ''] = server
      .printed()
      .split('\n')
      .filter((each) => each.includes('several tokens have this symbol'))
    expect(line).to.include(address).and.include('list.json').and.include('ethereum/tokens.json').and.include('"symbol":"USDC"')
  })
})

/** Runs a line in a shell, as a person would. */
function paste(line: string, cwd: string): unknown {
  const { stdout, stderr } = spawnSync('sh', ['-c', line.replace('curl ', 'curl -sS ')], { cwd, encoding: 'utf8' })
  expect(stderr).to.equal('')
  return JSON.parse(stdout)
}

/** Each answer is a line. */
function pasteAll(lines: string, cwd: string): unknown[] {
  const { stdout } = spawnSync('sh', ['-c', lines.replace('curl ', 'curl -sS ')], { cwd, encoding: 'utf8' })
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line))
}

async function answers(url: string): Promise<boolean> {
  try {
    return (
      await fetch(url, {
        method: 'POST',
        body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}',
        headers: { 'content-type': 'application/json' },
      })
    ).ok
  } catch {
    return false
  }
}
