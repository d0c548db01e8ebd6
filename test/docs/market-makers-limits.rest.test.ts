// The market makers of examples/ in a fast market, with the limits that a client has by default.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { MaxUint256, parseUnits } from 'ethers'
import { addresses } from '../devnet/addresses.ts'
import { pools, startRobbedWallets, type RobbedWallets, type Stolen } from '../limits/robbed-wallets.ts'
import { uniswap } from '../http/shared-server.ts'
import { root } from './page.ts'

const { WETH, USDC } = addresses.tokens
/** Of a wallet with one WETH, the least with which they sell: 2 % of 3,000. */
const leastDefault = 60
/** Six are once to and fro. */
const turns = process.env.SLUICE_LIMITS_TURNS === 'all' ? 12 : 6
const programs = [
  ['node', 'examples/market-maker.mjs'],
  ['/usr/bin/python3', 'examples/market_maker.py'],
] as const

describe('the market makers of examples/ and the limits of everybody', function () {
  this.timeout(600_000)
  let site: RobbedWallets
  let folder: string
  const running: ChildProcess[] = []

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-makers-'))
    site = await startRobbedWallets(programs.length, undefined)
    await site.owner.get('/amm/price', { ...uniswap, base: 'WETH', quote: 'USDC', amount: '1', side: 'SELL' })
    // What the wallets hold is read with the first trade of each: by then there is a price for all of it.
    await site.pass(600)
    for (const { client, address } of site.stolen)
      await client.post('/amm/trade', { ...uniswap, base: 'WETH', quote: 'USDC', amount: '0.1', side: 'SELL', address })
    // A quarter of the market's minutes, and some more, by which the price of all that they hold is known for long enough.
    await site.pass(360)
    // Soon after: until then the least default counts, which is for wallets of nearly nothing.
    for (const one of site.stolen) while (Number((await lossOf(one)).basis.of) === 0) await sleep(500)
  })
  after(async () => {
    for (const each of running) each.kill('SIGKILL')
    await site?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  async function start([command, program]: (typeof programs)[number], index: number, { address }: Stolen): Promise<() => string> {
    const certs = await mkdtemp(path.join(folder, 'certs-'))
    const of = (file: string) => path.join(site.server.certsDir, file)
    await copyFile(of('ca_cert.pem'), path.join(certs, 'ca_cert.pem'))
    for (const each of ['cert', 'key']) await copyFile(of(`bot-${index}_${each}.pem`), path.join(certs, `client_${each}.pem`))
    const env = { ...process.env, SLUICE_URL: site.server.url, SLUICE_CERTS: certs, WALLET: address }
    const child = spawn(command, [path.join(root, program), path.join(certs, 'orders.json')], {
      env: { ...env, PYTHONPATH: path.join(root, 'clients/python/src') },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    running.push(child)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => void (output += text))
    return () => output
  }

  const lossOf = async ({ client }: Stolen) => {
    const { body } = await client.get('/limits')
    return body.limits.find(({ limit }: { limit: string }) => limit === 'maxDailyLoss')
  }
  /** By 1.5 %: the makers place both of their orders anew. */
  const push = (isUp: boolean) =>
    site.send(pools.v2Router, 'swapExactTokensForTokens(uint256,uint256,address[],address,uint256)', [
      isUp ? parseUnits('225000', 6) : parseUnits('75', 18),
      0n,
      isUp ? [USDC.address, WETH.address] : [WETH.address, USDC.address],
      pools.v2Router,
      MaxUint256,
    ])

  it('stay below the default of maxDailyLoss while others push the price by 4.5 % to and fro, and what was filled counts with what it lost', async () => {
    const outputs = await Promise.all(programs.map((each, index) => start(each, index, site.stolen[index] as Stolen)))
    const placed = (output: string) => [...output.matchAll(/^\d+-\d+: \w+ at [\d.]+: [A-Z_]+$/gm)].length
    const most = programs.map(() => 0)
    for (let turn = 0; turn < turns; turn += 1) {
      await push(turn % 6 < 3)
      await site.pass(10)
      const before = outputs.map((output) => placed(output()))
      for (const until = Date.now() + 180_000; outputs.some((output, index) => placed(output()) < (before[index] ?? 0) + 2);) {
        if (Date.now() > until) break
        await sleep(250)
        for (const [index, one] of site.stolen.entries()) most[index] = Math.max(most[index] ?? 0, Number((await lossOf(one)).used))
      }
    }
    for (const [index, output] of outputs.entries()) {
      expect(placed(output()), output()).to.be.above(turns)
      expect(output()).not.to.match(/maxDailyLoss|maxPriceImpact/)
      expect(most[index], output()).to.be.within(0, leastDefault)
    }
    for (const child of running) {
      child.kill('SIGINT')
      await once(child, 'close')
    }
  })
})
