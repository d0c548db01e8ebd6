import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { parseUnits, toBeHex, zeroPadValue } from 'ethers'
import { stringify } from 'yaml'
import { rpcTo } from '../../core/devnet/anvil.ts'
import { readPluginFiles } from '../../core/plugins/discover/plugin-files.ts'
import { startKernel, type Kernel } from '../../core/kernel.ts'
import { createClient, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { newClient } from '../../core/tls/certificates.ts'
import { startReceiver, type Receiver } from '../alerts/receiver.ts'
import { follow } from '../events/client.ts'
import { eventually, sluiceWith, twoPlugins } from '../start/command.ts'
import { isPostgresInstalled, startPostgres, type TestPostgres } from '../store/postgres.ts'
import { scrape } from './scrape.ts'
import { admins, atNode, local, oneChain, outcome, traders } from './shared-server.ts'

const folder = fileURLToPath(new URL('../fixtures/plugins/trapping/trap', import.meta.url))
const contract = '0x00000000000000000000000000000000000000E7'
/** Of the devnet's Uniswap v2, which the plugin's pools are of: its routers are asked for both. */
const factory = '0x45A862bbe3001Ac4018dE978EA960f160f240A8C'
const weth = '0x1b9f902252Ad25601aCB5E70ac1E2035B285D348'
const author = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'

/**
 * With four bytes: says its factory, or its WETH. With 64: keeps how much more to take, and how much less to give, for the next call. Otherwise takes the token of the first word (behind four bytes)
 * from its caller by `transferFrom`, as much as the second says and more, and gives of the token in the third (0: of the coin) as much as the
 * fourth says and less. Written by hand: EVM opcodes, https://www.evm.codes.
 */
const trapCode = (() => {
  const push = (value: number, bytes = 1) => (0x5f + bytes).toString(16) + value.toString(16).padStart(2 * bytes, '0')
  const [load, mstore, sload, sstore, jumpi, jumpdest, iszero, caller, gas, call, stop] = '35 52 54 55 57 5b 15 33 5a f1 00'.split(' ')
  const argument = (index: number) => push(4 + 32 * index) + load
  const selector = (digits: number) => push(digits, 4) + push(224) + '1b' + push(0) + mstore
  const build = (keep: number, coin: number, fail: number, tell: number) => {
    const must = iszero + push(fail, 2) + jumpi
    const callToken = (index: number, bytes: number) =>
      push(32) + push(0) + push(bytes) + push(0) + push(0) + argument(index) + gas + call + must
    const start = [
      '36' + push(64) + '14' + push(keep, 2) + jumpi + '36' + push(4) + '14' + push(tell, 2) + jumpi,
      selector(0x23b872dd) + caller + push(4) + mstore + '30' + push(36) + mstore,
      argument(1) + push(0) + sload + '01' + push(68) + mstore + callToken(0, 100),
      push(1) + sload + argument(3) + '03',
      argument(2) + iszero + push(coin, 2) + jumpi,
      selector(0xa9059cbb) + caller + push(4) + mstore + push(36) + mstore + callToken(2, 68) + stop,
    ].join('')
    const inCoin = jumpdest + push(0) + push(0) + push(0) + push(0) + '84' + caller + gas + call + must + stop
    const keeping = jumpdest + push(0) + load + push(0) + sstore + push(32) + load + push(1) + sstore + stop
    const failing = jumpdest + push(0) + push(0) + 'fd'
    const isFactory = push(0) + load + push(224) + '1c' + push(0xc45a0155, 4) + '14'
    const difference = BigInt.asUintN(256, BigInt(factory) - BigInt(weth))
      .toString(16)
      .padStart(64, '0')
    const address = `${isFactory}7f${difference}0273${weth.slice(2)}01`
    const telling = jumpdest + address + push(0) + mstore + push(32) + push(0) + 'f3'
    return [start, inCoin, keeping, failing, telling]
  }
  const [coin, keep, fail, tell] = build(0, 0, 0, 0)
    .map(({ length }) => length / 2)
    .map((_, index, all) => all.slice(0, index + 1).reduce((sum, each) => sum + each, 0))
  return `0x${build(keep ?? 0, coin ?? 0, fail ?? 0, tell ?? 0).join('')}`
})()

const words = (...values: readonly bigint[]) => `0x${values.map((each) => zeroPadValue(toBeHex(each), 32).slice(2)).join('')}`

const clients = {
  client: { permissions: ['read', 'trade', 'send', 'admin'], wallets: 'all' },
  bot: { permissions: ['read', 'trade', 'send'], wallets: 'all' },
  watcher: { permissions: ['read'], wallets: 'all' },
}

describe('a contained plugin whose trade brings less when it is mined than in its simulation', function () {
  this.timeout(300_000)
  let home: string
  let server: TestServer
  let postgres: TestPostgres | undefined
  /** Of alerts. */
  let receiver: Receiver
  /** Another server on the same PostgreSQL and chain. */
  let other: Kernel | undefined
  let otherClient: Client | undefined
  const trade = { ...local, connector: 'trap', address: admins, base: 'WETH', quote: 'USDC', side: 'SELL', amount: '0.1' }
  const rpc = (method: string, ...params: readonly unknown[]) => rpcTo(server.rpcUrl)(method, ...params)
  const plugin = async () => (await server.client.get('/plugins')).body.find(({ name }: { name: string }) => name === 'trap')
  const samples = async (name: string) =>
    (await scrape(server.client)).text.split('\n').filter((line) => line.startsWith(name) && line.includes('"trap"'))

  async function start(): Promise<void> {
    const lock = {
      lockVersion: 1,
      plugins: {
        trap: {
          sha256: readPluginFiles(folder).sha256,
          tier: 'contained',
          kind: 'connector',
          networks: { 'ethereum/local': { contracts: { routerAddress: contract }, spenders: [contract] } },
          signs: [],
          hosts: [],
          allowedAt: '2026-11-22T15:00:00.000Z',
        },
      },
    }
    server = await startServer(
      {
        settings: { ...oneChain.settings, ...(postgres && { 'store.url': postgres.url }) },
        plugins: [folder],
        conf: {
          'chains/ethereum.yml': { mainnet: { enabled: false }, sepolia: { enabled: false } },
          'clients.yml': { clients },
          'alerts.yml': { channels: { ops: { kind: 'webhook', url: receiver.url, allowPrivate: true } } },
          '../sluice.lock': stringify(lock),
        },
      },
      home,
    )
    expect(server.kernel.plugins.refused).to.deep.equal([])
    await rpc('anvil_setCode', contract, trapCode)
    await rpc('anvil_setBalance', contract, toBeHex(parseUnits('100', 18)))
    const usdc = (await server.client.get('/network/tokens', { ...local, tokenSymbols: 'USDC' })).body[0].address
    const stock = `0xa9059cbb${words(BigInt(contract), parseUnits('20000', 6)).slice(2)}`
    await rpc('eth_sendTransaction', { from: traders, to: usdc, data: stock })
  }

  /** Exactly what the next trade needs: with more, or with another token, nothing is signed for the plugin. */
  async function allow(token: 'WETH' | 'USDC'): Promise<void> {
    const answer = await approve({ token, amount: token === 'WETH' ? '0.1' : '10' })
    expect(outcome(answer), answer.text).to.equal('200')
    await final(answer.body.txHash)
  }

  const approve = (fields: object) => server.client.post('/evm/approve', { ...local, address: admins, spender: 'trap', ...fields })

  /** Waits until the journal has it as final. */
  async function final(txHash: string): Promise<void> {
    for (let tries = 0; tries < 1_200; tries += 1) {
      const { transactions } = (await server.client.get('/transactions', { txHash })).body
      if (transactions[0]?.final) return void expect(transactions[0].txState).to.equal('CONFIRMED')
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw new Error(`${txHash} is not final.`)
  }

  /** The author has the contract take more, or give less, in the same block and before it. */
  async function frontRun(more: bigint, less: bigint, request: object): Promise<string> {
    // In the simulation it is honest.
    await rpc('eth_sendTransaction', { from: author, to: contract, data: words(0n, 0n), gas: '0x30d40' })
    await rpc('evm_mine')
    await rpc('evm_setIntervalMining', 0)
    await rpc('evm_setAutomine', false)
    try {
      const answer = await server.client.post('/amm/trade', { ...trade, ...request })
      expect(outcome(answer), answer.text).to.equal('200')
      await atNode(rpc, answer.body.txHash)
      const price = { maxFeePerGas: toBeHex(parseUnits('200', 9)), maxPriorityFeePerGas: toBeHex(parseUnits('100', 9)) }
      await rpc('eth_sendTransaction', { from: author, to: contract, data: words(more, less), gas: '0x30d40', ...price })
      await rpc('evm_mine')
      // No block comes after it: this is told at first sight.
      for (let tries = 0; tries < 1_200 && !(await plugin()).quarantine; tries += 1) await new Promise((resolve) => setTimeout(resolve, 50))
      return answer.body.txHash
    } finally {
      await rpc('evm_setAutomine', true)
      await rpc('evm_setIntervalMining', 1)
    }
  }

  before(async () => {
    home = await mkdtemp(path.join(tmpdir(), 'sluice-quarantine-'))
    if (isPostgresInstalled) postgres = await startPostgres()
    receiver = await startReceiver()
    await start()
  })
  after(async () => {
    await stopOther()
    await server?.stop()
    await receiver?.close()
    await postgres?.stop()
    await rm(home, { recursive: true, force: true })
  })

  it('goes on as long as its trades do what they were allowed', async () => {
    for (const swap of [{ base: 'WETH' } as const, { base: 'USDC', quote: 'ETH', amount: '10' } as const]) {
      await allow(swap.base)
      const answer = await server.client.post('/amm/trade', { ...trade, ...swap })
      expect(outcome(answer), answer.text).to.equal('200')
      await final(answer.body.txHash)
    }
    expect(await plugin())
      .to.include({ state: 'loaded' })
      .and.not.have.property('quarantine')
    expect(await samples('sluice_plugin_quarantined')).to.deep.equal(['sluice_plugin_quarantined{plugin="trap"} 0'])
    expect(await samples('sluice_plugin_breaches_total')).to.deep.equal([])
  })

  it('goes into quarantine at once; log, /plugins, event, metric and alert say what was lost', async () => {
    const lines: { fields: object; message: string }[] = []
    const { log } = server.kernel
    log.error = (fields: object, message?: string) => void lines.push({ fields, message: message ?? '' })
    const events = await follow({ url: server.url, certsDir: server.settings.ssl.certsDir }, { topics: 'plugins' })
    const since = Date.now()
    await allow('WETH')
    const txHash = await frontRun(0n, parseUnits('100', 6), {})

    const { quarantine } = await plugin()
    await final(txHash)
    const { lost } = quarantine
    expect(lost).to.have.length(1)
    expect(lost[0]).to.include({ symbol: 'USDC', how: 'not brought' })
    expect(Number(lost[0].amount)).to.be.within(90, 100)
    expect(quarantine).to.deep.include({ ...local, lost, txHash, address: admins, breaches: 1 })
    expect(quarantine.since).to.be.within(since, Date.now())
    expect(lines).to.have.length(1)
    expect(lines[0]?.fields).to.deep.include({ plugin: 'trap', txHash, address: admins, lost })
    expect(lines[0]?.message)
      .to.contain(`${txHash} did more to the wallet`)
      .and.contain(`${lost[0].amount} USDC not brought`)
      .and.contain('plugin lift trap')
    const told = await events.hears('the quarantine', ({ data }) => JSON.stringify(data).includes('quarantine'))
    await events.close()
    // Whose wallet it was is not for everybody.
    expect(JSON.stringify(told)).to.contain(`"amount":"${lost[0].amount}"`).and.not.contain(txHash)
    expect(await samples('sluice_plugin_quarantined')).to.deep.equal(['sluice_plugin_quarantined{plugin="trap"} 1'])
    expect(await samples('sluice_plugin_breaches_total')).to.deep.equal(['sluice_plugin_breaches_total{plugin="trap"} 1'])
    const alert = await receiver.message(({ rule }) => rule === 'pluginQuarantined')
    expect(alert).to.include({ status: 'raised', severity: 'critical', count: 1 })
    expect(JSON.stringify(alert['items'])).to.contain(`trap: transaction ${txHash} on ethereum/local`)
  })

  const refuses = async () => {
    for (const answer of [await server.client.post('/amm/trade', trade), await approve({ token: 'WETH', amount: '1' })]) {
      expect(outcome(answer), answer.text).to.equal('403 FORBIDDEN')
      expect(answer.body.details).to.deep.equal({ reason: 'quarantined', plugin: 'trap' })
      expect(answer.body.message).to.match(/trap is quarantined.*GET \/plugins.*sluice plugin lift trap/)
    }
  }

  it('gets nothing more signed, while others trade and its rights can be taken back', async () => {
    await refuses()
    const { address: _, ...any } = { ...trade, connector: 'any', connectors: 'trap,uniswap', candidates: 'true' }
    const { body } = await server.client.get('/amm/price', any)
    expect(body.connector, JSON.stringify(body)).to.equal('uniswap')
    expect(JSON.stringify(body)).to.contain('trap is quarantined')
    expect(outcome(await approve({ token: 'WETH', amount: '0' }))).to.equal('200')
  })

  /** A command as the operator types it, beside the running server. */
  async function type(...args: string[]): Promise<{ code: number | null; said: string }> {
    const { port } = new URL(server.url)
    const variables = { SLUICE_DEVNET_ENABLED: 'true', SLUICE_SERVER_PORT: port, SLUICE_PLUGINS_FOLDERS: [...twoPlugins, folder].join() }
    const { ended, printed } = sluiceWith(variables, home, 'plugin', ...args)
    const { code } = await ended
    return { code, said: printed() }
  }

  async function stopOther(): Promise<void> {
    otherClient?.close()
    await other?.stop()
    otherClient = other = undefined
  }

  it('gets nothing signed by another server on the same PostgreSQL, which shows it within seconds, as it shows that it is lifted', async function () {
    if (!postgres) return this.skip()
    const { settings, kernel } = server
    await server.client.post('/plugins/lift', { plugin: 'trap' })
    const apart = { ...settings, data: { ...settings.data, dir: path.join(home, 'other') } }
    other = await startKernel(apart, { print: () => {}, ...(kernel.devnet && { devnet: kernel.devnet }) })
    await other.pluginsLoaded
    const asked = (otherClient = createClient(other.url, settings.ssl.certsDir))
    const shown = async () => (await asked.get('/plugins')).body.find(({ name }: { name: string }) => name === 'trap')
    expect(await shown())
      .to.include({ state: 'loaded' })
      .and.not.have.property('quarantine')

    await allow('WETH')
    const txHash = await frontRun(0n, parseUnits('100', 6), {})

    // What is signed is asked of the store, at once; what is shown is read every five seconds.
    const approval = { ...local, address: admins, spender: 'trap', token: 'WETH', amount: '1' }
    const refused = await asked.post('/evm/approve', approval)
    expect(outcome(refused), refused.text).to.equal('403 FORBIDDEN')
    expect(refused.body.details).to.deep.equal({ reason: 'quarantined', plugin: 'trap' })
    expect((await asked.post('/amm/trade', trade)).status).to.not.equal(200)
    await eventually(async () => (await shown()).quarantine?.txHash === txHash, 'that the other server shows it')
    const traded = await asked.post('/amm/trade', trade)
    expect(outcome(traded), traded.text).to.equal('403 FORBIDDEN')
    await final(txHash)

    const lifted = await asked.post('/plugins/lift', { plugin: 'trap' })
    expect(lifted.status, lifted.text).to.equal(200)
    await eventually(async () => !(await plugin()).quarantine, 'that the first server shows that it is lifted')
    await stopOther()
    await allow('WETH')
    await frontRun(0n, parseUnits('100', 6), {})
    await refuses()
  })

  it('stays so after a restart', async () => {
    await server.stop()
    await start()
    await refuses()
  })

  it('appears in `plugin list` of the running server, with what was lost and the command that lifts it', async () => {
    const { quarantine } = await plugin()
    const { said } = await type('list')
    expect(said.replaceAll(/\s+/g, ' '))
      .to.match(
        / trap connector contained .* quarantined: 0x[0-9a-f]{64} of 0x\w{40} on ethereum\/local did more to the wallet than its plan was allowed/,
      )
      .and.contain(
        `(${quarantine.lost[0].amount} USDC not brought), found ${new Date(quarantine.since).toISOString()}. Nothing is signed for it.`,
      )
      .and.contain('→ look at it; then: bin/sluice plugin lift trap')
    const listed = JSON.parse((await type('list', '--json')).said).plugins.find(({ name }: { name: string }) => name === 'trap')
    expect(listed.quarantine).to.deep.equal(quarantine)
  })

  for (const [client, permissions] of [
    ['bot', ['read', 'trade', 'send']],
    ['watcher', ['read']],
  ] as const)
    it(`stays in quarantine for a certificate that may ${permissions.join(' and ')} alone`, async () => {
      await newClient(server.settings.ssl.certsDir, client)
      const { code, said } = await type('lift', 'trap', '--yes', '--client', client)
      expect(code, said).to.equal(1)
      expect(said).to.match(/admin.*\(FORBIDDEN, request .+\)/)
      expect(await plugin()).to.have.property('quarantine')
    })

  it('stays in quarantine where its name is mistyped, or without a yes where nobody can be asked', async () => {
    const mistyped = await type('lift', 'trpa', '--yes')
    expect(mistyped.code, mistyped.said).to.equal(1)
    expect(mistyped.said).to.match(/"trpa" is not quarantined.*did you mean .?trap.?.*these are: trap/i)
    const unanswered = await type('lift', 'trap')
    expect(unanswered.code, unanswered.said).to.equal(1)
    expect(unanswered.said)
      .to.match(/^trap is quarantined: 0x[0-9a-f]{64} of /m)
      .and.match(/There is no terminal to ask at; nothing was changed\./)
    expect(await plugin()).to.have.property('quarantine')
  })

  it('leaves quarantine by the command of the operator, which says what it was quarantined for', async () => {
    const { quarantine } = await plugin()
    const { code, said } = await type('lift', 'trap', '--yes')
    expect(code, said).to.equal(0)
    expect(said).to.match(/^trap is quarantined: /m)
    expect(said).to.contain(`trap may act again. It was quarantined for ${quarantine.txHash} on ethereum/local.`)
    expect(await plugin()).to.not.have.property('quarantine')
    const again = await type('lift', 'trap', '--yes')
    expect(again.code, again.said).to.equal(1)
    expect(again.said).to.contain('"trap" is not quarantined; no plugin is')
    await allow('WETH')
    const answer = await server.client.post('/amm/trade', trade)
    expect(outcome(answer), answer.text).to.equal('200')
    await final(answer.body.txHash)
  })

  it('goes into quarantine for a trade that brings less of the native coin, by the balances around its block, and leaves it over HTTP', async () => {
    const less = parseUnits('0.001', 18)
    await allow('USDC')
    const txHash = await frontRun(0n, less, { base: 'USDC', quote: 'ETH', amount: '10' })
    const { quarantine } = await plugin()
    expect(quarantine).to.include({ txHash })
    expect(quarantine.lost).to.have.length(1)
    expect(quarantine.lost[0]).to.include({ symbol: 'ETH', how: 'not brought' })
    expect(Number(quarantine.lost[0].amount)).to.be.within(0.0009, 0.001)
    const unknown = await server.client.post('/plugins/lift', { plugin: 'uniswap' })
    expect(outcome(unknown), unknown.text).to.equal('400 INCOMPLETE_PARAMS')
    expect(unknown.body.message).to.contain('"uniswap" is not quarantined; these are: trap')
    const { status, body } = await server.client.post('/plugins/lift', { plugin: 'trap' })
    expect(status).to.equal(200)
    expect(body.lifted).to.have.length(1)
    expect(body.lifted[0]).to.include({ ...local, address: admins })
    expect(await plugin()).to.not.have.property('quarantine')
  })
})
