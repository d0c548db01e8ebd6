import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { Interface } from 'ethers'
import { parse, stringify } from 'yaml'
import { approvableOf, revoke, standingAllowances, unminedOf } from '../../core/cli/plugin-allowances.ts'
import { rightsWords } from '../../core/cli/plugin-rights.ts'
import { serverClient } from '../../core/cli/server-client.ts'
import { lockFile, readLock } from '../../core/config/lock.ts'
import { rpcTo } from '../../core/devnet/anvil.ts'
import { readPluginFiles } from '../../core/plugins/discover/plugin-files.ts'
import { writeWholeFile } from '../../core/base/whole-file.ts'
import { v2Deployments } from '../../plugins/uniswap/deployments.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { startRelay, type Relay } from '../transactions/relay.ts'
import { admins, atNode, local, mined, noted, oneChain, outcome, tradeExactly, twins } from './shared-server.ts'

const plugins = fileURLToPath(new URL('../fixtures/plugins/allowed', import.meta.url))
const plainSwap = fileURLToPath(new URL('../fixtures/plugins/contained/plain-swap', import.meta.url))
const router = '0x2c4A1b0276Cd3B18695fd175B99d5Ac2294d6D01'

/** The same connector with a router that no other one has. */
const ownRouter = '0x00000000000000000000000000000000000000E5'
const ownSwap = path.join(mkdtempSync(path.join(tmpdir(), 'sluice-allowed-')), 'own-swap')
cpSync(plainSwap, ownSwap, { recursive: true })
for (const [file, from, to] of [
  ['index.ts', 'plain-swap', 'own-swap'],
  ['defaults.yml', router, ownRouter],
] as const)
  writeFileSync(path.join(ownSwap, file), readFileSync(path.join(plainSwap, file), 'utf8').replace(`'${from}'`, `'${to}'`))

/** The same as `rogue`, but with no spender of its own: it calls the router all the same. */
const shySwap = path.join(path.dirname(ownSwap), 'shy-swap')
cpSync(path.join(plugins, 'rogue'), shySwap, { recursive: true })
const rogueCode = readFileSync(path.join(shySwap, 'index.ts'), 'utf8')
writeFileSync(
  path.join(shySwap, 'index.ts'),
  rogueCode.replace("name: 'rogue'", "name: 'shy-swap'").replace('spenders: amm.spenders,', 'spenders: {},'),
)
const weth = '0x1b9f902252Ad25601aCB5E70ac1E2035B285D348'
const contracts = (
  parse(readFileSync(fileURLToPath(new URL('../../plugins/uniswap/defaults.yml', import.meta.url)), 'utf8')) as {
    contractAddresses: { local: Record<string, string> }
  }
).contractAddresses.local

/** Forks of the same exchange as data alone. One has a fee that leaves the wallet a tenth, one the most slippage that such a plugin may bring. */
const ofData = ['plain-data', 'greedy-data', 'loose-data'].map((name) => {
  const folder = path.join(path.dirname(ownSwap), name)
  mkdirSync(folder)
  const defaults = readFileSync(path.join(plainSwap, 'defaults.yml'), 'utf8')
  writeFileSync(
    path.join(folder, 'defaults.yml'),
    name === 'loose-data' ? defaults.replace(/^allowedSlippage: .*/m, 'allowedSlippage: 1/20') : defaults,
  )
  const networks = { 'ethereum/local': v2Deployments['ethereum/local'] }
  const data = {
    kind: 'fork',
    kit: 'uniswap-v2',
    name,
    apiVersion: '1.0',
    version: '0.1.0',
    fee: name === 'greedy-data' ? '900/1000' : '3/1000',
    networks,
  }
  writeFileSync(path.join(folder, 'plugin.yml'), stringify(data))
  return folder
})

/** What `sluice plugin allow` writes. */
const allowed = (folder: string, spender = router, tier = 'contained') => ({
  sha256: readPluginFiles(folder).sha256,
  tier,
  kind: 'connector',
  networks: { 'ethereum/local': { contracts: { routerAddress: spender }, spenders: [spender] } },
  signs: [],
  hosts: [],
  allowedAt: '2026-11-22T15:00:00.000Z',
})
const lock = {
  lockVersion: 1,
  plugins: {
    rogue: allowed(`${plugins}/rogue`),
    'plain-swap': allowed(plainSwap),
    'own-swap': allowed(ownSwap, ownRouter),
    'shy-swap': allowed(shySwap),
    ...Object.fromEntries(ofData.map((folder) => [path.basename(folder), allowed(folder, router, 'data')])),
  },
}
const twinList = {
  name: 'Twins',
  tokens: twins.map((address, index) => ({ chainId: 31337, address, symbol: `TWIN${index}`, name: 'Twin', decimals: 6 })),
}

describe('trades of a plugin that the operator has allowed', function () {
  this.timeout(300_000)
  let server: TestServer
  let relay: Relay
  const approve = async (fields: object, amount: string, wallet = admins) => {
    const answer = await server.client.post('/evm/approve', { ...local, address: wallet, amount, ...fields })
    expect(outcome(answer), answer.text).to.equal('200')
    await mined(server.client, answer.body.txHash)
  }
  const nonce = () => rpcTo(server.rpcUrl)('eth_getTransactionCount', admins, 'pending')
  const trade = (swap: Record<string, string>) =>
    tradeExactly(server.client, { ...local, connector: 'rogue', address: admins, base: 'WETH', quote: 'USDC', side: 'SELL', ...swap })
  /** The last digit says how the plugin lies about it. */
  const [honest, half, lyingFill] = ['0.100000000000000000', '0.100000000000000001', '0.100000000000000002'] as const
  /** Its call takes 10 WETH. */
  const greedy = '0.100000000000000004'
  const sale = { base: 'WETH', quote: 'USDC', side: 'SELL', amount: honest }

  before(async () => {
    server = await startServer({
      // A block comes every second, which a plugin on a busy machine does not keep up with.
      settings: { ...oneChain.settings, 'market.staleBlocks': 30 },
      plugins: [plugins, plainSwap, ownSwap, shySwap, ...ofData],
      between: async (rpcUrl) => {
        relay = await startRelay(rpcUrl)
        return relay.url
      },
      conf: {
        'chains/ethereum.yml': { mainnet: { enabled: false }, sepolia: { enabled: false } },
        '../sluice.lock': stringify(lock),
        'tokens/ethereum/local.json': JSON.stringify(twinList),
      },
    })
  })
  after(async () => {
    await server?.stop()
    await relay?.stop()
    rmSync(path.dirname(ownSwap), { recursive: true, force: true })
  })
  afterEach(() => {
    relay.meddle = () => 'pass'
  })

  it('get signed where its quote is near that of the built-in connectors', async () => {
    for (const side of ['SELL', 'BUY']) {
      const answer = await trade({ amount: honest, side })
      expect(outcome(answer), answer.text).to.equal('200')
      // It moves the price, which the following compare.
      await mined(server.client, answer.body.txHash)
    }
  })

  it('get no signature where its quote is far worse, and the plan gives the rest to somebody else', async () => {
    const before = await nonce()
    const answer = await trade({ amount: half })
    expect(outcome(answer), answer.text).to.equal('400 INCOMPLETE_PARAMS')
    expect(answer.body.details[0].field).to.equal('limitPrice')
    expect(answer.body.message).to.match(/rogue.*more than 5 % worse.*\(\w+\).*nothing was signed/i)
    expect(await nonce()).to.equal(before)
  })

  it('get no signature where its own slippage would let them end far worse', async () => {
    const { body } = await server.client.get('/amm/price', {
      ...local,
      connector: 'loose-data',
      base: 'WETH',
      quote: 'USDC',
      amount: '20',
      side: 'SELL',
    })
    const answer = await trade({ connector: 'loose-data', amount: '20' })
    expect(outcome(answer), answer.text).to.equal('400 INCOMPLETE_PARAMS')
    expect(answer.body.message).to.include(`slippage allow, ${body.slippagePrice},`)
  })

  it('get no signature past the limitPrice of the request', async () => {
    const before = await nonce()
    const { body } = await server.client.get('/amm/price', {
      ...local,
      connector: 'uniswap',
      base: 'WETH',
      quote: 'USDC',
      amount: honest,
      side: 'SELL',
    })
    const answer = await trade({ amount: half, limitPrice: body.slippagePrice })
    expect(outcome(answer), answer.text).to.equal('422 SWAP_PRICE_LOWER_THAN_LIMIT_PRICE')
    expect(await nonce()).to.equal(before)
  })

  it('need a limitPrice where no built-in connector has a price', async () => {
    const before = await nonce()
    const swap = { base: 'TWIN0', quote: 'TWIN1', amount: '1.000003' }
    const answer = await trade(swap)
    expect(outcome(answer), answer.text).to.equal('400 INCOMPLETE_PARAMS')
    expect(answer.body.details[0].field).to.equal('limitPrice')
    expect(answer.body.message).to.match(/no built-in connector/)
    // With it the trade goes on, to the wallet's funds.
    const limited = await trade({ ...swap, limitPrice: '0.1' })
    expect(outcome(limited)).to.not.equal('400 INCOMPLETE_PARAMS')
    expect(await nonce()).to.equal(before)
  })

  it('keep the same bounds and simulation where it is data alone', async () => {
    const shown = (await server.client.get('/plugins')).body.find(({ name }: { name: string }) => name === 'plain-data')
    expect(shown).to.include({ state: 'loaded', tier: 'data', allowedBy: 'operator' }).and.not.have.property('host')
    const before = await nonce()
    const greedy = await trade({ connector: 'greedy-data', amount: honest })
    expect(outcome(greedy), greedy.text).to.equal('400 INCOMPLETE_PARAMS')
    expect(greedy.body.details[0].field).to.equal('limitPrice')
    expect(await nonce()).to.equal(before)
    const answer = await trade({ connector: 'plain-data', amount: honest })
    expect(outcome(answer), answer.text).to.equal('200')
    const { body } = await mined(server.client, answer.body.txHash)
    expect(body.fill).to.include({ amountIn: honest, amountOut: answer.body.expectedAmount })
  })

  /** Of what a spender may take, nothing is signed; `remedy` is what the answer says to do. */
  async function expectRefusedByRight(trading: Record<string, string>, says: RegExp): Promise<void> {
    const before = await nonce()
    const sale = { ...local, connector: 'rogue', address: admins, base: 'WETH', quote: 'USDC', side: 'SELL', amount: honest }
    const answer = await server.client.post('/amm/trade', { ...sale, ...trading })
    expect(outcome(answer), answer.text).to.equal('422 TRADE_FAILED')
    expect(answer.body.details.reason).to.equal('a standing right')
    expect(answer.body.message).to.match(says)
    expect(await nonce()).to.equal(before)
  }

  it('reach nothing that stands for the router of a built-in exchange, be it among their own spenders or not', async () => {
    await approve({ spender: router, token: 'WETH' }, '10')
    for (const connector of ['rogue', 'shy-swap', 'plain-data'])
      for (const amount of [honest, greedy])
        await expectRefusedByRight(
          { connector, amount },
          new RegExp(`${router} may take 10 of WETH from the wallet, and the plan of ${connector}.*POST /evm/approve .*"amount":"0"`),
        )
    // Nor of the token that comes in.
    await approve({ spender: router, token: 'WETH' }, honest)
    await approve({ spender: router, token: 'USDC' }, '5')
    await expectRefusedByRight({}, /may take 5 of USDC .* needs none of it/)
    await approve({ spender: router, token: 'USDC' }, '0')
    const answer = await server.client.post('/amm/trade', { ...local, connector: 'rogue', address: admins, ...sale })
    expect(outcome(answer), answer.text).to.equal('200')
    await mined(server.client, answer.body.txHash)
  })

  it('show the operator the rights that its contracts could use, with the requests that take them back', async () => {
    await approve({ spender: router, token: 'WETH' }, '10')
    const record = readLock(server.settings.confDir)['rogue']
    const said = (await rightsWords(record ?? { networks: {} }, server.settings, server.url)).join('\n')
    expect(said).to.match(/^\nA contract that it calls could use what wallets have approved:\n/)
    expect(said).to.match(new RegExp(`^ {2}10\\.0* WETH of ${admins} on ethereum/local, by ${router} \\(uniswap, .*rogue.*\\)$`, 'im'))
    const [request = ''] = /(?<=POST \/evm\/approve )\{.*\}(?= takes it back\.)/.exec(said) ?? []
    const answer = await server.client.post('/evm/approve', JSON.parse(request))
    expect(outcome(answer), answer.text).to.equal('200')
    await mined(server.client, answer.body.txHash)
    expect(await rightsWords(record ?? { networks: {} }, server.settings, server.url)).to.deep.equal([])
  })

  it('get signed where a purchase may cost by its limitPrice what is approved, and not where more is', async () => {
    const buying = { connector: 'rogue', base: 'WETH', quote: 'USDC', side: 'BUY', amount: '0.1' }
    const { body } = await server.client.get('/amm/price', { ...local, ...buying })
    const limitPrice = (Number(body.price) * 1.05).toFixed(6)
    const costRaw = BigInt(Math.ceil(Number(limitPrice) * 1e5))
    const decimal = (raw: bigint) => `${raw / 1_000_000n}.${(raw % 1_000_000n).toString().padStart(6, '0')}`
    await approve({ spender: router, token: 'USDC' }, decimal(costRaw + 2n))
    await expectRefusedByRight({ ...buying, limitPrice }, /approve exactly what is needed: POST \/evm\/approve /)
    await approve({ spender: router, token: 'USDC' }, decimal(costRaw))
    const answer = await server.client.post('/amm/trade', { ...local, ...buying, address: admins, limitPrice })
    expect(outcome(answer), answer.text).to.equal('200')
    await mined(server.client, answer.body.txHash)
    await approve({ spender: router, token: 'USDC' }, '0')
  })

  it('reach nothing that Permit2 lets somebody take, nor positions, all of them or one', async () => {
    const rpc = rpcTo(server.rpcUrl)
    const send = async (to: string, method: string, ...args: unknown[]) => {
      const data = new Interface([`function ${method}`]).encodeFunctionData(method.slice(0, method.indexOf('(')), args)
      await mined(server.client, String(await rpc('eth_sendTransaction', { from: admins, to, data, gas: '0xf4240' })))
    }
    await rpc('anvil_impersonateAccount', admins)
    const { permit2Address: permit2 = '', positionManagerAddress: positions = '' } = contracts
    await approve({ spender: router, token: 'WETH' }, honest)
    await send(weth, 'approve(address,uint256)', permit2, 10n ** 19n)
    await send(permit2, 'approve(address,address,uint160,uint48)', weth, router, 10n ** 19n, 2n ** 48n - 1n)
    await expectRefusedByRight({}, new RegExp(`may take 10.1 of WETH .*"spender":"${permit2}"`, 'i'))
    await send(permit2, 'approve(address,address,uint160,uint48)', weth, router, 0n, 0n)

    await send(positions, 'setApprovalForAll(address,bool)', router, true)
    await expectRefusedByRight({}, new RegExp(`may take everything of ${positions} .*setApprovalForAll\\(${router}, false\\)`))
    await send(positions, 'setApprovalForAll(address,bool)', router, false)

    for (const token of ['WETH', 'USDC']) await approve({ spender: positions, token }, '1000')
    const range = { token0: 'WETH', token1: 'USDC', fee: 'MEDIUM', lowerPrice: '1000', upperPrice: '9000', amount0: '0.1', amount1: '300' }
    const added = await server.client.post('/amm/liquidity/add', { ...local, connector: 'uniswap', address: admins, ...range })
    const { tokenId } = (await mined(server.client, added.body.txHash)).body.fill
    await send(positions, 'approve(address,uint256)', router, BigInt(tokenId))
    await expectRefusedByRight({}, new RegExp(`may take number ${tokenId} of ${positions} .*approve\\(0x0{40}, ${tokenId}\\)`))
    await send(positions, 'approve(address,uint256)', `0x${'0'.repeat(40)}`, BigInt(tokenId))
    const answer = await server.client.post('/amm/trade', { ...local, connector: 'rogue', address: admins, ...sale })
    expect(outcome(answer), answer.text).to.equal('200')
    await mined(server.client, answer.body.txHash)
  })

  it('have the fill that their events tell, whatever the plugin says', async () => {
    const answer = await trade({ amount: lyingFill })
    expect(outcome(answer), answer.text).to.equal('200')
    const { body } = await mined(server.client, answer.body.txHash)
    expect(body.fill).to.include({ amountIn: lyingFill })
    expect(Number(body.fill.amountOut)).to.be.closeTo(Number(answer.body.expectedAmount), Number(answer.body.expectedAmount) / 100)
    // A final transaction has less in the journal.
    await noted(server.client, answer.body.txHash)
    const later = await server.client.get('/network/poll', { ...local, txHash: answer.body.txHash })
    expect(later.body.fill, later.text).to.deep.equal(body.fill)
  })

  it('have a fill for the native coin where their events tell all of it, and none where they do not', async () => {
    for (const { swap, isTold } of [
      { swap: { base: 'ETH', amount: honest }, isTold: true },
      // What the router sends to the wallet, it sends without an event.
      { swap: { base: 'ETH', side: 'BUY', amount: honest }, isTold: false },
      { swap: { base: 'USDC', quote: 'ETH', side: 'BUY', amount: '10' }, isTold: false },
      { swap: { base: 'USDC', quote: 'ETH', amount: '10' }, isTold: false },
    ]) {
      const answer = await trade(swap)
      expect(outcome(answer), answer.text).to.equal('200')
      const { body } = await mined(server.client, answer.body.txHash)
      expect(body.txReceipt.status).to.equal(1)
      expect(body.fill !== undefined, JSON.stringify({ swap, fill: body.fill })).to.equal(isTold)
      if (isTold) expect(body.fill.amountIn).to.equal(honest)
    }
  })

  it('need allowances in exact amounts, where no built-in connector has the same spender', async () => {
    const approve = (fields: object) => server.client.post('/evm/approve', { ...local, address: admins, token: 'USDC', ...fields })
    const before = await nonce()
    const most = (2n ** 96n - 1n).toString()
    for (const fields of [
      { spender: 'own-swap' },
      { spender: ownRouter },
      { spender: 'own-swap', amount: `${most.slice(0, -6)}.${most.slice(-6)}` },
    ]) {
      const answer = await approve(fields)
      expect(outcome(answer), answer.text).to.equal('400 INCOMPLETE_PARAMS')
      expect(answer.body.details[0].field).to.equal('amount')
      expect(answer.body.message).to.match(/contained plugin.*exact amounts only/)
    }
    expect(await nonce()).to.equal(before)
    // The last one has the router of the built-in Uniswap.
    for (const fields of [{ spender: 'own-swap', amount: '12.5' }, { spender: 'own-swap', amount: '0' }, { spender: 'plain-swap' }]) {
      const answer = await approve(fields)
      expect(outcome(answer), answer.text).to.equal('200')
      await mined(server.client, answer.body.txHash)
    }
  })

  it('leave allowances that the command which removes the plugin finds and has revoked', async () => {
    const approved = await server.client.post('/evm/approve', {
      ...local,
      address: admins,
      spender: ownRouter,
      token: 'USDC',
      amount: '7.5',
    })
    await mined(server.client, approved.body.txHash)
    const { settings, url } = server
    const client = serverClient({ settings, url, clients: ['client'], timeoutMs: 60_000 })
    const record = readLock(settings.confDir)['own-swap']
    const all = record ? approvableOf(record, [{ chain: local.chain, address: admins }]) : []
    const [found, ...more] = await standingAllowances(client, all)
    expect(found).to.include({ ...local, address: admins, spender: ownRouter, symbol: 'USDC', amount: '7.500000' })
    expect(more).to.deep.equal([])
    if (!found) throw new Error('There is none.')
    const rpc = rpcTo(server.rpcUrl)
    await rpc('evm_setIntervalMining', 0)
    await rpc('evm_setAutomine', false)
    const sent = [{ allowance: found, txHash: await revoke(client, found) }]
    try {
      expect(await unminedOf(client, sent, 0)).to.deep.equal(sent)
    } finally {
      await rpc('evm_setAutomine', true)
      await rpc('evm_setIntervalMining', 1)
    }
    expect(await unminedOf(client, sent, 40_000)).to.deep.equal([])
    expect(await standingAllowances(client, all)).to.deep.equal([])
  })

  it('all get signed where twenty of one wallet are on their way', async () => {
    const rpc = rpcTo(server.rpcUrl)
    for (const token of ['WETH', 'USDC']) await approve({ spender: router, token }, '0')
    const before = Number(await nonce())
    await rpc('evm_setAutomine', false)
    try {
      const sides = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 'SELL' : 'BUY'))
      const answers = await Promise.all(
        sides.map((side, index) =>
          // Of the coin: a spender's allowance may be that of one trade.
          trade({
            connector: index % 4 < 2 ? 'rogue' : 'plain-swap',
            ...(side === 'SELL' ? { base: 'ETH', amount: '0.01' } : { base: 'USDC', quote: 'ETH', amount: '10' }),
            side,
          }),
        ),
      )
      for (const answer of answers) expect(outcome(answer), answer.text).to.equal('200')
      const nonces = answers.map(({ body }) => Number(body.nonce)).toSorted((one, other) => one - other)
      expect(nonces).to.deep.equal(sides.map((_, index) => before + index))
      // They are simulated on a block that has none of them.
      await rpc('evm_mine')
      for (const { body } of answers) expect((await mined(server.client, body.txHash)).body.txReceipt.status).to.equal(1)
    } finally {
      await rpc('evm_setAutomine', true)
      await rpc('evm_mine')
    }
  })

  const refuses = (...what: readonly string[]) => {
    relay.meddle = (methods, body) => {
      if (what.includes('eth_simulateV1') && methods.includes('eth_simulateV1')) return { error: 'Unsupported method' }
      return what.includes('overrides') && body.includes('"code"') ? { error: 'too many arguments, want at most 2' } : 'pass'
    }
  }

  it('get signed where the node has no eth_simulateV1 but takes state overrides', async () => {
    refuses('eth_simulateV1')
    const answer = await trade({ amount: honest })
    expect(outcome(answer), answer.text).to.equal('200')
  })

  it('get no signature where the node can simulate in no way, which the answer says', async () => {
    await approve({ spender: router, token: 'WETH' }, honest)
    refuses('eth_simulateV1', 'overrides')
    const before = await nonce()
    const answer = await trade({ amount: honest })
    expect(outcome(answer), answer.text).to.equal('501 UNSUPPORTED')
    expect(answer.body.message).to.match(/eth_simulateV1.*rogue.*nothing was signed.*rpcUrls/)
    expect(await nonce()).to.equal(before)
    const own = await server.client.post('/amm/trade', {
      ...local,
      connector: 'uniswap',
      version: 'v2',
      address: admins,
      base: 'WETH',
      quote: 'USDC',
      side: 'SELL',
      amount: '0.01',
    })
    expect(outcome(own), own.text).to.equal('200')
  })

  it('get signed for the version that runs while an update is not taken up, and once it is removed only at higher fees', async () => {
    const rpc = rpcTo(server.rpcUrl)
    const approve = (spender = 'own-swap') =>
      server.client.post('/evm/approve', { ...local, address: admins, token: 'USDC', spender, amount: '3.5' })
    const { 'own-swap': before, ...others } = lock.plugins
    const write = (plugins: object) =>
      writeWholeFile(lockFile(server.settings.confDir), stringify({ lockVersion: 1, plugins: { ...others, ...plugins } }))
    const { allowedAt: since } = allowed(ownSwap)
    // Its folder never gets the files of this version.
    const update = {
      ...before,
      ...allowed(ownSwap, '0x00000000000000000000000000000000000000E6'),
      sha256: 'ab'.repeat(32),
      allowedAt: '2026-11-22T16:00:00.000Z',
    }
    await rpc('evm_setIntervalMining', 0)
    await rpc('evm_setAutomine', false)
    try {
      await write({ 'own-swap': update })
      const removedBetween = await approve()
      expect(outcome(removedBetween), removedBetween.text).to.equal('403 FORBIDDEN')
      expect(removedBetween.body.message).to.match(/its plugin is not in sluice\.lock any more/)

      await write({ 'own-swap': before })
      const again = await approve()
      expect(outcome(again), again.text).to.equal('200')
      await write({ 'own-swap': { ...update, since } })
      const open = await approve()
      expect(outcome(open), open.text).to.equal('200')

      await write({})
      const faster = await server.client.post('/evm/speedUp', { ...local, address: admins, nonce: open.body.nonce })
      expect(outcome(faster), faster.text).to.equal('200')
      // By its lock, or, once the server has taken it away, as a name that nobody knows.
      const removed = await approve()
      expect(outcome(removed), removed.text).to.be.oneOf(['403 FORBIDDEN', outcome(await approve('nobody'))])
      await atNode(rpc, faster.body.txHash)
      await rpc('evm_mine')
      expect((await mined(server.client, faster.body.txHash)).body.txReceipt.status).to.equal(1)
    } finally {
      await rpc('evm_setAutomine', true)
      await rpc('evm_setIntervalMining', 1)
      await rpc('evm_mine')
    }
  })
})
