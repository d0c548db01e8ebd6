// The cards against connectors that are wrong in one line: exactly one of them is red, and says what is wrong and where to look.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { Contract, id, Interface, JsonRpcProvider, toBeHex } from 'ethers'
import type { BookOperators, PerpOperator, Quoter, QuoterHop } from '../../core/contracts/devnet.ts'
import { tradingWallets } from '../../core/devnet/anvil.ts'
import { devnetNetwork } from '../../core/config/settings.ts'
import { ammCards } from '../../testkit/cards/amm.ts'
import { bookCards } from '../../testkit/cards/books.ts'
import { waitFor } from '../../testkit/cards/expect.ts'
import { lpCards } from '../../testkit/cards/lp.ts'
import { sharesCards } from '../../testkit/cards/shares.ts'
import { perpCards } from '../../testkit/cards/perp.ts'
import { ammOf, loadedPlugin, sharesOf } from '../../testkit/connector-contract.ts'
import {
  loansBy,
  nodeCall,
  price,
  quotedPairs,
  removalAllowanceBy,
  waitForMined,
  type AddCard,
  type TestVenue,
} from '../../testkit/cards/venue.ts'
import { expectPaidOnly, readWalletChanges } from '../../testkit/cards/wallet-changes.ts'
import { devnetBookOperators, devnetPerpOperator, devnetQuoter } from '../../testkit/devnet-operators.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { defaultsOf, sourceOf, wrappedPlugins } from './wrapped-plugins.ts'

const good = fileURLToPath(new URL('../fixtures/plugins/carded', import.meta.url))
/** Each plugin brings its packages. This one is the checkout's, so that it is not copied for each. */
const ethers = `import { createRequire } from 'node:module'
export const { getCreate2Address, id, Interface, solidityPackedKeccak256 } = createRequire(${JSON.stringify(import.meta.url)})('ethers')`

interface Mutation {
  /** What an author may get wrong. */
  readonly what: string
  readonly line: string
  readonly becomes: string
  /** The only card that is red. */
  readonly card: string
  readonly says: RegExp
  /** The exchange's own quoter in devnet.ts is wrong in the same way. */
  readonly quoterIsWrong?: true
}

const step = "steps: [{ to: address, data: call, value: '0' }]"
const call = '[amountRaw, boundRaw, path, recipient, deadline]'
const gas = 'const gasUnits = 60_000n'
const outOf = 'if (amountRaw >= outRaw) return undefined'
const spot = 'return { numerator: outRaw, denominator: inRaw }'
const balance = "{ is: 'balance', token: tokenIn.address, amountRaw: maxRaw },"
const allowance = "{ is: 'allowance', token: tokenIn.address, spender: address, amountRaw: maxRaw },"
const poolsOfAMM = 'const AMM = poolAMM(venue, { protocols: [protocol], routers: [routerOf(routerAddress)] })'
const borrow = "const borrow = lender({ lends: 'swap(uint256 amount0Out, uint256 amount1Out, address to, bytes data)', recipient: 2 })"
const reserves = 'state: [reserve0, reserve1] } : null'
const inverted = 'state: [reserve1, reserve0] } : null'

const mutations: Readonly<Record<string, Mutation>> = {
  stranger: {
    what: "a stranger's recipient",
    line: call,
    becomes: "[amountRaw, boundRaw, path, '0x00000000000000000000000000000000000000A7', deadline]",
    card: 'AMM-06',
    says: /gives the wallet 0 of 0x\w+.* recipient/s,
  },
  'no-balance': { what: 'no need of the balance', line: balance, becomes: '', card: 'AMM-09', says: /`needs` lack { is: 'balance'/ },
  'no-allowance': {
    what: 'no need of the allowance',
    line: allowance,
    becomes: '',
    card: 'AMM-09',
    says: /`needs` lack { is: 'allowance'/,
  },
  'gas-many': {
    what: 'ten times the gas',
    line: gas,
    becomes: 'const gasUnits = 900_000n',
    card: 'AMM-10',
    says: /gasUnits \d+, so a limit of \d+, and used \d+/,
  },
  'gas-few': {
    what: 'a tenth of the gas',
    line: gas,
    becomes: 'const gasUnits = 6_000n',
    card: 'AMM-10',
    says: /gasUnits \d+, so a limit of \d+, and used \d+/,
  },
  'more-than-pools': {
    what: 'a price for more than the pools hold',
    line: outOf,
    becomes: 'if (amountRaw >= outRaw) return amountRaw < 10n ** 6n * outRaw ? { amountRaw: 1000n * inRaw, gasUnits } : undefined',
    card: 'AMM-03',
    says: /BUY 1\d+ .* is quoted, and more than the pools hold has to be PRICE_FAILED: .*`pass` of the pool/s,
  },
  'spot-high': {
    what: 'a spot that is ten times too high',
    line: spot,
    becomes: 'return { numerator: 10n * outRaw, denominator: inRaw }',
    card: 'AMM-11',
    says: /priceImpact 0\.9.*`spot` of the pool/s,
  },
  'spot-low': {
    what: 'a spot that is ten times too low',
    line: spot,
    becomes: 'return { numerator: outRaw, denominator: 10n * inRaw }',
    card: 'AMM-11',
    says: /% less each than 1 does, and priceImpact is 0\..*`spot` of the pool/s,
  },
  'field-order': {
    what: 'the fields of an ABI in the wrong order',
    line: reserves,
    becomes: inverted,
    card: 'AMM-05',
    says: /own quoter \d+, \d+ times .*order and types of the fields in the ABI/s,
  },
  'field-order-twice': {
    what: 'the fields of an ABI in the wrong order, in devnet.ts too',
    line: reserves,
    becomes: inverted,
    card: 'AMM-06',
    says: /was refused|the trade gave .*order and types of the fields in the ABI/s,
    quoterIsWrong: true,
  },
  'event-ignored': {
    what: 'an event that is ignored',
    line: 'poolsOf: ({ address }) => [address.toLowerCase()],',
    becomes: 'poolsOf: () => [],',
    card: 'AMM-06',
    says: /after a trade in block \d+: it quotes .* an event of the contracts is ignored.*`apply`/s,
  },
  'loan-throws': {
    what: 'a `loan` that throws',
    line: 'const sentRaw = trialAmount(along(pool, token).inRaw)',
    becomes: "const sentRaw = trialAmount(along(pool, token).inRaw); throw new Error('no lender')",
    card: 'AMM-12',
    says: /^`loan` of a pool throws \(.*`lender` makes/,
  },
  'pools-throws': {
    what: 'a `pools` that throws',
    line: poolsOfAMM,
    becomes: `const AMM = { ...poolAMM(venue, { protocols: [protocol], routers: [routerOf(routerAddress)] }), followed: undefined, async pools() { throw new Error('no list') } } as unknown as ReturnType<typeof poolAMM>`,
    card: 'AMM-01',
    says: /fails by a defect of the connector .*look at `pools`/,
  },
  'pool-tokens-throws': {
    what: 'a `poolTokens` that throws',
    line: poolsOfAMM,
    becomes: `const AMM = { ...poolAMM(venue, { protocols: [protocol], routers: [routerOf(routerAddress)] }), followed: undefined, async poolTokens() { throw new Error('no tokens') } } as unknown as ReturnType<typeof poolAMM>`,
    card: 'AMM-01',
    says: /fails by a defect of the connector .*look at `poolTokens`/,
  },
  'loan-refuses': {
    what: 'a `loan` that throws an error of the table, by which a token may be refused',
    line: borrow,
    becomes: `import { SluiceError } from 'sluice/plugin'
const borrow = (..._of: unknown[]): never => { throw new SluiceError('TOKEN_NOT_SUPPORTED', 'no lender') }`,
    card: 'AMM-12',
    says: /^`loan` of a pool throws \(no lender\)/,
  },
  'loan-misspelt': {
    what: 'a `loan` by a function that the pools do not have',
    line: borrow,
    becomes: borrow.replace('swap(', 'swop('),
    card: 'AMM-12',
    says: /^`loan` of v2: the pool 0x\w+ was to lend 0x\w+, whose transfers are exact, and the loan failed/,
  },
  'no-loan': {
    what: 'no `loan`',
    line: 'loan(pool, token) {',
    becomes: 'async loanOf(pool: Pool<Reserves>, token: string) {',
    card: 'AMM-12',
    says: /promises .* of 0\.1 TAX, whose transfers take 2 %.*a `loan`/,
  },
  'only-sells': {
    what: 'an exchange that only sells',
    line: outOf,
    becomes: 'return undefined',
    card: 'AMM-02',
    says: /it quotes SELL and never BUY .*the smallest input that gives the amount/s,
  },
  'plan-without-deadline': {
    what: 'a plan without its deadline',
    line: '      deadline,\n      memo',
    becomes: '      memo',
    card: 'AMM-08',
    says: /The plan has no deadline\. .*`noDeadline: true` in devnet\.ts/s,
  },
  'call-without-deadline': {
    what: 'a call without the deadline',
    line: call,
    becomes: '[amountRaw, boundRaw, path, recipient, 10n ** 12n]',
    card: 'AMM-08',
    says: /mined after its deadline, and carried out: `swap` has to put terms\.deadline into the call/,
  },
  'call-without-bound': {
    what: 'a call without the bound',
    line: call,
    becomes: "[amountRaw, exact === 'in' ? 1n : boundRaw, path, recipient, deadline]",
    card: 'AMM-07',
    says: /put terms\.boundRaw into the call/,
  },
  'wrong-hash': {
    what: 'a wrong init-code hash',
    line: '0x96e8',
    becomes: '0x96e9',
    card: 'AMM-01',
    says: /None of the pools .*No pool was found\. .*init-code hash/s,
  },
  'wrong-view': {
    what: 'the wrong ABI of a view',
    line: "encodeFunctionData('getReserves')",
    becomes: "encodeFunctionData('getReserves').replace('0x0', '0x1')",
    card: 'AMM-01',
    says: /No pool was found\. .*ABI of the views/s,
  },
  'no-reason': {
    what: 'a swap that reverts without a reason',
    line: step,
    becomes: "steps: [{ to: address, data: `0xdeadbeef${call.slice(10)}`, value: '0' }]",
    card: 'AMM-06',
    says: /refused the call that no-reason made, and gave no reason.* ABI of the plugin's `swap`/s,
  },
}

/** Mistakes in tideswap, whose price does not move as long as one offer is enough. */
const ofOffers: Readonly<Record<string, Pick<Mutation, 'line' | 'becomes'>>> = {
  'offers-without-bound': { line: 'addressWord(tokenOut.address), word(boundRaw)', becomes: 'addressWord(tokenOut.address), word(1n)' },
  'offers-without-fee-token': { line: 'if (!isListed(tokenIn) || !isListed(tokenOut))', becomes: 'if (tokenIn.native)' },
}

const word = (value: bigint) => toBeHex(value, 32).slice(2)

/** What the market itself says of its offers. */
function offersQuoter(provider: JsonRpcProvider): Quoter {
  const view = (name: string) => `function ${name}(address, address, uint256) view returns (uint256)`
  const ask = async (name: string, [hop]: readonly QuoterHop[], amountRaw: bigint, blockTag: number): Promise<bigint> => {
    const market = new Contract(hop?.pool ?? '', [view(name)], provider)
    const [paid, bought] = [hop?.tokenIn, hop?.tokenOut]
    const tokens = name === 'getBuyAmount' ? [bought, paid] : [paid, bought]
    return market.getFunction(name).staticCall(...tokens, amountRaw, { blockTag })
  }
  return {
    exactIn: (route, amountRaw, block) => ask('getBuyAmount', route, amountRaw, block),
    exactOut: (route, amountRaw, block) => ask('getPayAmount', route, amountRaw, block),
  }
}

/** As for contracts that take no deadline: none in the plan, and one that never comes in the call. */
function withoutDeadline(source: string): string {
  const { 'plan-without-deadline': plan, 'call-without-deadline': inCall } = mutations
  return source.replace(plan?.line ?? '', plan?.becomes ?? '').replace(inCall?.line ?? '', inCall?.becomes ?? '')
}

/** What an author has who makes the same mistake in devnet.ts: the reserves of a pair the wrong way round. */
function invertedQuoter(provider: JsonRpcProvider): Quoter {
  async function reserves({ pool, tokenIn, tokenOut }: QuoterHop, blockTag: number) {
    const pair = new Contract(pool, ['function getReserves() view returns (uint112, uint112, uint32)'], provider)
    const both: readonly bigint[] = await pair.getFunction('getReserves').staticCall({ blockTag })
    const [outRaw = 0n, inRaw = 0n] = BigInt(tokenIn) < BigInt(tokenOut) ? both : [both[1] ?? 0n, both[0] ?? 0n]
    return { inRaw, outRaw }
  }
  return {
    async exactIn(route, amountRaw, block) {
      let raw = amountRaw
      for (const hop of route) {
        const { inRaw, outRaw } = await reserves(hop, block)
        raw = (raw * 997n * outRaw) / (inRaw * 1000n + raw * 997n)
      }
      return raw
    },
    async exactOut(route, amountRaw, block) {
      let raw = amountRaw
      for (const hop of route.toReversed()) {
        const { inRaw, outRaw } = await reserves(hop, block)
        raw = (inRaw * raw * 1000n) / ((outRaw - raw) * 997n) + 1n
      }
      return raw
    },
  }
}

const devnetFile = (plugin: string) => fileURLToPath(new URL(`../../plugins/${plugin}/devnet.ts`, import.meta.url))

describe('the cards of connectors', function () {
  this.timeout(600_000)
  let folder: string
  let server: TestServer
  let provider: JsonRpcProvider
  let quoter: Quoter | undefined
  let perpOperator: PerpOperator | undefined
  let bookOperators: BookOperators | undefined

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-cards-'))
    const plugins = path.join(folder, 'plugins')
    const names = ['millswap', 'no-deadline', ...Object.keys(mutations), 'tideswap', ...Object.keys(ofOffers)]
    for (const name of names) {
      const kind = name === 'tideswap' || name in ofOffers ? 'tideswap' : 'millswap'
      const [source = '', defaults = ''] = await Promise.all(
        ['index.ts', 'defaults.yml'].map((file) => readFile(path.join(good, kind, file), 'utf8')),
      )
      const { line = '', becomes = '' } = mutations[name] ?? ofOffers[name] ?? {}
      if (source.split(line).length !== 2 && line !== '')
        throw new Error(`The line of ${name} stands there ${source.split(line).length - 1} times.`)
      const packages = path.join(plugins, name, 'node_modules', 'ethers')
      await mkdir(packages, { recursive: true })
      await writeFile(path.join(packages, 'package.json'), JSON.stringify({ name: 'ethers', type: 'module', exports: './index.js' }))
      await writeFile(path.join(packages, 'index.js'), ethers)
      const changed = name === 'no-deadline' ? withoutDeadline(source) : source.replace(line, () => becomes)
      await writeFile(path.join(plugins, name, 'index.ts'), changed.replace(`name: '${kind}'`, `name: '${name}'`))
      await writeFile(path.join(plugins, name, 'defaults.yml'), defaults)
    }
    for (const [name, plugin] of Object.entries(wrappedPlugins)) {
      await mkdir(path.join(plugins, name))
      await writeFile(path.join(plugins, name, 'index.ts'), sourceOf(name, plugin))
      await writeFile(path.join(plugins, name, 'defaults.yml'), await defaultsOf(plugin))
    }
    const all = [...names, ...Object.keys(wrappedPlugins)]
    server = await startServer({ plugins: [plugins], trusted: all })
    expect(server.kernel.plugins.refused.filter(({ name }) => all.includes(name))).to.deep.equal([])
    provider = new JsonRpcProvider(server.rpcUrl, undefined, { staticNetwork: true, batchMaxCount: 1, cacheTimeout: -1 })
    // The router is Uniswap's, and so is the quoter.
    quoter = await devnetQuoter(devnetFile('uniswap'), provider)
    perpOperator = await devnetPerpOperator(devnetFile('perp'), provider)
    bookOperators = await devnetBookOperators(devnetFile('oasis'), provider)
  })
  after(async () => {
    provider?.destroy()
    await server?.stop()
    await rm(folder, { recursive: true })
  })

  const venueOf = (connector: string): TestVenue => ({
    connector,
    ...devnetNetwork,
    client: server.client,
    rpcUrl: server.rpcUrl,
    wallets: tradingWallets as unknown as TestVenue['wallets'],
    pairs: [],
    unquoted: [],
    quoter,
    perpOperator,
    bookOperators,
  })

  /** What each card says: `green`, `not run`, or why it is red. */
  async function judged(connector: string, noDeadline = false): Promise<ReadonlyMap<string, string>> {
    const venue: TestVenue = { ...venueOf(connector), noDeadline }
    if (mutations[connector]?.quoterIsWrong) venue.quoter = invertedQuoter(provider)
    if (connector === 'tideswap' || connector in ofOffers) venue.quoter = offersQuoter(provider)
    const quoted = await quotedPairs(venue)
    venue.tryLoans = await loansBy(ammOf(loadedPlugin(server, connector), venue), venue)
    // One pair shows what is wrong.
    Object.assign(venue, quoted, { pairs: quoted.pairs.slice(0, 1) })
    const cards: [string, Parameters<AddCard>[1]][] = []
    ammCards(venue, (title, run) => cards.push([title.slice(0, 6), run]))
    const verdicts = new Map<string, string>()
    for (const [title, run] of cards)
      verdicts.set(
        title,
        await run().then(
          (outcome) => (typeof outcome === 'object' ? `not tested: ${outcome.notTested}` : (outcome ?? 'green')),
          ({ message }: Error) => message,
        ),
      )
    return verdicts
  }
  const red = (verdicts: ReadonlyMap<string, string>) =>
    [...verdicts].filter(([, verdict]) => !/^(green|not run|not tested: .*)$/.test(verdict))

  it('turn green on a good connector', async () => {
    const verdicts = await judged('millswap')
    expect([...verdicts].filter(([, verdict]) => verdict !== 'green')).to.deep.equal([])
    expect([...verdicts.keys()]).to.include.members(['AMM-01', 'AMM-12'])
  })

  it('try what is promised instead where devnet.ts says that the contracts take no deadline', async () => {
    expect(red(await judged('no-deadline', true))).to.deep.equal([])
    // A late transaction that reverts has cost only gas.
    expect(red(await judged('plan-without-deadline', true))).to.deep.equal([])
    expect(red(await judged('millswap', true)).join()).to.match(/^AMM-08,devnet\.ts says noDeadline, and the plan has a deadline/)
  })

  it('turn green on an exchange whose price does not move, and red where its bound is not in the call', async () => {
    const [honest, wrong] = [await judged('tideswap', true), await judged('offers-without-bound', true)]
    expect([...honest].filter(([, verdict]) => verdict !== 'green')).to.deep.equal([])
    expect(red(wrong).join()).to.match(/^AMM-07,The price does not move here, .* nothing refused it: `swap` has to put terms\.boundRaw/)
  })

  it('say what the answer of a live server says of wrong addresses: the plugin, the fields and the remedy', async () => {
    const request = { ...devnetNetwork, connector: 'wrong-hash', base: 'WETH', quote: 'USDC', amount: '1', side: 'SELL' }
    const { body } = await server.client.get('/amm/price', request)
    expect(body.name).to.equal('PAIR_NOT_FOUND')
    expect(body.message).to.match(/^wrong-hash: None of the pools .* compare the factory and the init-code hash .* with the chain\.$/)
  })

  it('turn red on a `loan` that throws where the exchange has no pool of a token that needs it', async () => {
    const venue: TestVenue = { ...venueOf('tideswap'), tryLoans: () => Promise.reject(new Error('no lender')) }
    const cards: Parameters<AddCard>[] = []
    ammCards(venue, (...card) => cards.push(card))
    const verdict = cards.find(([title]) => title.startsWith('AMM-12'))?.[1]()
    expect(await verdict?.catch(({ message }: Error) => message)).to.match(/^`loan` of a pool throws \(no lender\)/)
  })

  it('say what to provide where there is nothing that a card could try', async () => {
    const verdicts = await judged('offers-without-fee-token', true)
    expect(red(verdicts)).to.deep.equal([])
    expect(verdicts.get('AMM-12')).to.match(/^not tested: the exchange has no pool of TAX, .*`site\.tokens\.TAX`/)
  })

  it('read from the chain who got a right over the tokens of a wallet', async () => {
    const [, , address = ''] = tradingWallets
    const rights: string[] = []
    for (const amount of ['1', '2', '1']) {
      const fields = { ...devnetNetwork, address, spender: 'uniswap/v2', token: 'DAI', amount }
      const { body } = await server.client.post('/evm/approve', fields)
      await waitForMined({ ...devnetNetwork, client: server.client } as TestVenue, body.txHash)
      rights.push((await readWalletChanges(server, address, body.txHash)).grants.join())
    }
    expect(rights[1]).to.match(/^0x\w{40} may move 10{18} more of 0x\w{40}$/)
    expect(rights[2]).to.equal('')
  })

  describe('read the wallet from the chain', () => {
    const wallet = '0x00000000000000000000000000000000000c0de5'
    const spender = '0x00000000000000000000000000000000000000a7'
    const node = async (method: string, ...params: unknown[]) => nodeCall(server, method, ...params)
    /** Sends a call as the wallet. Its hash. */
    async function sent(to: string, data: string, from = wallet): Promise<string> {
      await node('anvil_impersonateAccount', from)
      await node('anvil_setBalance', from, '0xde0b6b3a7640000')
      const hash = String(await node('eth_sendTransaction', { from, to, data }))
      await waitFor(
        'it is mined',
        () => node('eth_getTransactionReceipt', hash),
        (receipt) => receipt !== null,
      )
      return hash
    }
    /** Stands in for a contract that is not on the devnet: bytecode that emits one event of its caller. */
    async function emitter(code: string): Promise<string> {
      const address = '0x00000000000000000000000000000000e1717e12'
      await node('anvil_setCode', address, `0x${code}`)
      return address
    }

    it('who may move a position, and all positions, and that this was taken back', async () => {
      const positions = new Interface([
        'function setApprovalForAll(address operator, bool approved)',
        'function approve(address to, uint256 tokenId)',
        'function ownerOf(uint256) view returns (address)',
      ])
      const uniswap = server.kernel.plugins.loaded.find(({ kind, name }) => kind === 'connector' && name === 'uniswap')
      const manager = uniswap?.venues.find(({ network }) => network === devnetNetwork.network)?.contracts['positionManagerAddress'] ?? ''
      const call = (name: string, ...args: unknown[]) => positions.encodeFunctionData(name, args)
      const grants = async (hash: string, of = wallet) => (await readWalletChanges(server, of, hash)).grants.join()
      expect(await grants(await sent(manager, call('setApprovalForAll', spender, true)))).to.match(/^0x0+a7 may move all tokens of 0x/)
      expect(await grants(await sent(manager, call('setApprovalForAll', spender, false)))).to.equal('')
      const held = String(await node('eth_call', { to: manager, data: call('ownerOf', 1) }, 'latest'))
      const owner = `0x${held.slice(-40)}`
      expect(await grants(await sent(manager, call('approve', spender, 1), owner), owner)).to.match(/^0x0+a7 may move 0x\w+\/1$/)
      expect(await grants(await sent(manager, call('approve', `0x${'00'.repeat(20)}`, 1), owner), owner)).to.equal('')
    })

    it('who may move a token through Permit2', async () => {
      const event = id('Approval(address,address,address,uint160,uint48)').slice(2)
      const topics = `73${spender.slice(2)}73${'da'.repeat(20)}337f${event}`
      const permit2 = await emitter(`60406000600037${topics}60406000a400`)
      const of = async (amount: bigint) =>
        (await readWalletChanges(server, wallet, await sent(permit2, `0x${word(amount)}${word(1n)}`))).grants.join()
      expect(await of(5n)).to.match(/^0x0+a7 may move 5 of 0x(da){20} through 0x/)
      expect(await of(0n)).to.equal('')
    })

    it('what an order took, and are red where that is more than it is for, or where a cancel took anything', async () => {
      const venue = venueOf('uniswap')
      const { route } = await price(venue, { base: 'DAI', quote: 'WETH', amount: '1', side: 'SELL' })
      const { pool, tokenIn } = route[0] ?? expect.fail('no route')
      const transfer = new Interface(['function transfer(address, uint256)']).encodeFunctionData('transfer', [spender, 10n ** 18n])
      const hash = await sent(tokenIn, transfer, pool)
      const said = (paid: { symbol: string; most: string } | undefined) =>
        expectPaidOnly(venue, pool, hash, paid, 'The order').then(
          () => 'nothing',
          ({ message }: Error) => message,
        )
      expect(await said({ symbol: 'DAI', most: '1' })).to.equal('nothing')
      expect(await said({ symbol: 'DAI', most: '0.999999999999999999' })).to.match(
        /^The order took 1\.0+ DAI .* for 0\.9+ at most\. Look at/,
      )
      expect(await said({ symbol: 'USDC', most: '1' })).to.match(/took 10{18} of 0x\w+ from the wallet, which the request does not name/)
      expect(await said(undefined)).to.match(/took 10{18} of 0x\w+ from the wallet, which the request does not name/)
    })

    it('and are red where it cannot be read', async () => {
      const event = id('Transfer(address,address,uint256)').slice(2)
      const token = await emitter(`3615600957600080fd5b60016000523360017f${event}60206000a300`)
      const hash = await sent(token, '0x')
      await readWalletChanges(server, wallet, hash).then(
        () => expect.fail('It was read.'),
        ({ message }: Error) => expect(message).to.match(/has events of a token in 0x\w+, and does not answer 0x70a08231 in block \d+\./),
      )
    })
  })

  for (const [name, { what, card, says }] of Object.entries(mutations))
    it(`turn red on ${what}: ${card} alone`, async () => {
      // A plugin whose trade gave less than its bound is quarantined: then its other cards may be refused.
      const verdicts = red(await judged(name)).filter(([, said], index) => index === 0 || !said.includes('403 FORBIDDEN'))
      expect(
        verdicts.map(([each]) => each),
        JSON.stringify(verdicts),
      ).to.deep.equal([card])
      expect(verdicts[0]?.[1]).to.match(says)
    })

  for (const [name, { kind, what, card, says }] of Object.entries(wrappedPlugins))
    it(`turn red on ${what}: ${card}`, async () => {
      const venue = venueOf(name)
      let run: Parameters<AddCard>[1] | undefined
      const add: AddCard = (title, each) => {
        if (title.startsWith(`${card} `)) run = each
      }
      if (kind === 'book') bookCards(venue, ['CLOB'], add)
      if (kind === 'perp') perpCards(venue, add)
      if (kind === 'range') lpCards(venue, add)
      if (kind === 'shares') {
        venue.removalAllowance = removalAllowanceBy(sharesOf(loadedPlugin(server, name), venue))
        sharesCards(venue, add)
      }
      const verdict = await run?.().then(
        () => 'green',
        ({ message }: Error) => message,
      )
      expect(verdict, verdict).to.match(says)
    })
})
