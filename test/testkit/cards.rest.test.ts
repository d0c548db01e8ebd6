// The cards against connectors that are wrong in one line: exactly one of them is red, and says what is wrong and where to look.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { Contract, JsonRpcProvider } from 'ethers'
import type { Quoter, QuoterHop } from '../../core/contracts/devnet.ts'
import { tradingWallets } from '../../core/devnet/anvil.ts'
import { devnetNetwork } from '../../core/config/settings.ts'
import { ammCards } from '../../testkit/cards/amm.ts'
import { quotedPairs, waitForMined, type TestVenue } from '../../testkit/cards/venue.ts'
import { readWalletChanges } from '../../testkit/cards/wallet-changes.ts'
import { devnetQuoter } from '../../testkit/devnet-operators.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'

const good = fileURLToPath(new URL('../fixtures/plugins/carded/millswap', import.meta.url))
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
const spot = 'return { numerator: outRaw, denominator: inRaw }'
const balance = "{ is: 'balance', token: tokenIn.address, amountRaw: mostRaw },"
const allowance = "{ is: 'allowance', token: tokenIn.address, spender: address, amountRaw: mostRaw },"
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
    says: /gasUnits \d+ and used \d+/,
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
    says: /fails by a defect of the connector .*look at `loan`/,
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
    line: 'if (amountRaw >= outRaw) return undefined',
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

describe('the cards of an AMM', function () {
  this.timeout(300_000)
  let folder: string
  let server: TestServer
  let provider: JsonRpcProvider
  let quoter: Quoter | undefined

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-cards-'))
    const plugins = path.join(folder, 'plugins')
    const [source, defaults] = await Promise.all(['index.ts', 'defaults.yml'].map((file) => readFile(path.join(good, file), 'utf8')))
    const names = ['millswap', 'no-deadline', ...Object.keys(mutations)]
    for (const name of names) {
      const { line = '', becomes = '' } = mutations[name] ?? {}
      if (source?.split(line).length !== 2 && line !== '')
        throw new Error(`The line of ${name} stands there ${(source?.split(line).length ?? 1) - 1} times.`)
      const packages = path.join(plugins, name, 'node_modules', 'ethers')
      await mkdir(packages, { recursive: true })
      await writeFile(path.join(packages, 'package.json'), JSON.stringify({ name: 'ethers', type: 'module', exports: './index.js' }))
      await writeFile(path.join(packages, 'index.js'), ethers)
      const changed = name === 'no-deadline' ? withoutDeadline(source ?? '') : (source ?? '').replace(line, () => becomes)
      await writeFile(path.join(plugins, name, 'index.ts'), changed.replace("name: 'millswap'", `name: '${name}'`))
      await writeFile(path.join(plugins, name, 'defaults.yml'), defaults ?? '')
    }
    server = await startServer({ plugins: [plugins], trusted: names })
    expect(server.kernel.plugins.refused.filter(({ name }) => names.includes(name))).to.deep.equal([])
    provider = new JsonRpcProvider(server.rpcUrl, undefined, { staticNetwork: true, batchMaxCount: 1, cacheTimeout: -1 })
    // The router is Uniswap's, and so is the quoter.
    quoter = await devnetQuoter(fileURLToPath(new URL('../../plugins/uniswap/devnet.ts', import.meta.url)), provider)
  })
  after(async () => {
    provider?.destroy()
    await server?.stop()
    await rm(folder, { recursive: true })
  })

  /** What each card says: `green`, `not run`, or why it is red. */
  async function judged(connector: string, noDeadline = false): Promise<ReadonlyMap<string, string>> {
    const venue: TestVenue = {
      connector,
      ...devnetNetwork,
      client: server.client,
      rpcUrl: server.rpcUrl,
      wallets: tradingWallets as unknown as TestVenue['wallets'],
      pairs: [],
      unquoted: [],
      noDeadline,
      quoter: mutations[connector]?.quoterIsWrong ? invertedQuoter(provider) : quoter,
    }
    const quoted = await quotedPairs(venue)
    // One pair shows what is wrong.
    Object.assign(venue, quoted, { pairs: quoted.pairs.slice(0, 1) })
    const cards: [string, () => Promise<void | 'not run'>][] = []
    ammCards(venue, (title, run) => cards.push([title.slice(0, 6), run]))
    const verdicts = new Map<string, string>()
    for (const [title, run] of cards)
      verdicts.set(
        title,
        await run().then(
          (outcome) => outcome ?? 'green',
          ({ message }: Error) => message,
        ),
      )
    return verdicts
  }
  const red = (verdicts: ReadonlyMap<string, string>) => [...verdicts].filter(([, verdict]) => verdict !== 'green' && verdict !== 'not run')

  it('are green on a good connector', async () => {
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

  for (const [name, { what, card, says }] of Object.entries(mutations))
    it(`are red on ${what}: ${card} alone`, async () => {
      const verdicts = red(await judged(name))
      expect(
        verdicts.map(([each]) => each),
        JSON.stringify(verdicts),
      ).to.deep.equal([card])
      expect(verdicts[0]?.[1]).to.match(says)
    })
})
