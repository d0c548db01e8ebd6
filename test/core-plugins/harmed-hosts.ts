// The harms of the table, done by contained plugins beside a server: each is its own trouble and nobody else's, whatever contains them.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import type { Answer, Client } from '../../testkit/client.ts'
import { harmful, harmImports, harms, type Harm } from './host-harms.ts'
import { plantFixture, type Fixture } from './hostile-plugins.ts'

const local = { chain: 'ethereum', network: 'local' }
const wallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
/** A plugin that ends five times stays down: so many harms end one. */
const endsOfOne = 3
/** Without the number of a harm. */
const honestAmount = '100'

interface HarmCase {
  readonly name: string
  readonly harm: Harm
  readonly plugin: string
  /** What makes it do harm: of DAI for a price, of ETH for a trade. */
  readonly amount: string
}

/** What harms look for, as they see it. */
export interface Target {
  readonly pid: number
  readonly node: string
  readonly home: string
  readonly host: string
  readonly port: number
  /** The server's own code. */
  readonly code: string
  /** Where plugins lie. */
  readonly plugins: string
}

const lasting = Object.entries(harms).filter(([, { ends }]) => !ends)
const ending = Object.entries(harms).filter(([, { ends, isLong }]) => ends && !isLong)
const groups: [string, typeof lasting][] = [
  ['mischief', lasting],
  ['standing-still', Object.entries(harms).filter(([, { ends, isLong }]) => ends && isLong)],
]
for (let from = 0; from < ending.length; from += endsOfOne)
  groups.push([`deadly-${from / endsOfOne}`, ending.slice(from, from + endsOfOne)])

/** First what is told soon, last the trades that are made. */
export const harmed: readonly HarmCase[] = groups
  .flatMap(([plugin, members]) =>
    members.map(([name, harm], index): HarmCase => ({ name, harm, plugin, amount: amountOf(harm, index + 1) })),
  )
  .toSorted((a, b) => rankOf(a.harm) - rankOf(b.harm))

function rankOf({ at, isLong }: Harm): number {
  return at === 'fill' ? 2 : isLong ? 1 : 0
}

function amountOf({ at }: Harm, number: number): string {
  return at === undefined ? `100.${String(number).padStart(18, '0')}` : `0.1${String(number).padStart(17, '0')}`
}

/** @returns the names of the plugins */
export function plantHarms(folder: string, target: Target, more: Readonly<Record<string, Fixture>>): readonly string[] {
  const fixtures: [string, Fixture][] = [
    ...groups.map(([plugin, members]): [string, Fixture] => [
      plugin,
      { what: 'harms', connector: harmful(members.map(([, harm]) => harm)) },
    ]),
    ...Object.entries(more),
  ]
  for (const [name, fixture] of fixtures)
    writeFileSync(path.join(plantFixture(folder, name, { ...fixture, atImport: harmImports }), 'target.json'), JSON.stringify(target))
  return fixtures.map(([name]) => name)
}

/** What is done with one server that has these plugins. */
export function harmsOf(client: () => Client, { inService = false } = {}) {
  const price = (connector: string, amount: string) =>
    client().get('/amm/price', { ...local, connector, base: 'DAI', quote: 'WETH', amount, side: 'SELL' })
  const trade = (connector: string, amount: string) =>
    client().post('/amm/trade', { ...local, connector, address: wallet, base: 'ETH', quote: 'DAI', amount, side: 'SELL' })
  const poll = (txHash: string) => client().get('/network/poll', { ...local, txHash })
  const deathsOf = async (plugin: string): Promise<number> =>
    (await client().get('/plugins')).body.find((each: { name: string }) => each.name === plugin).host.deaths
  const faultsOf = async (plugin: string): Promise<number> =>
    Number(new RegExp(`sluice_plugin_faults_total\\{plugin="${plugin}"\\} (\\d+)`).exec((await client().get('/metrics')).text)?.[1] ?? 0)

  /** Everybody else is served as ever. */
  async function expectUnharmed(except: string): Promise<void> {
    const other = except === 'mischief' ? 'deadly-0' : 'mischief'
    const [ours, theirs, polled] = await Promise.all([price('uniswap', '100'), price(other, honestAmount), poll(`0x${'1'.repeat(64)}`)])
    expect([ours.status, theirs.status, polled.status], ours.text + theirs.text + polled.text).to.deep.equal([200, 200, 200])
  }

  /** What it gave is not told where its plugin does not say it. */
  async function made(answer: Answer): Promise<Answer> {
    expect(answer.status, answer.text).to.equal(200)
    const polled = () => poll(answer.body.txHash)
    return until(polled, ({ body }) => body.txStatus === 1)
  }

  const ask = ({ harm, plugin, amount }: HarmCase) => (harm.at === undefined ? price(plugin, amount) : trade(plugin, amount))
  async function before(each: HarmCase) {
    return { deaths: await deathsOf(each.plugin), faults: await faultsOf(each.plugin), answer: ask(each) }
  }
  const begun = new Map<HarmCase, ReturnType<typeof before>>()

  const isBack = (plugin: string) =>
    until(
      () => price(plugin, honestAmount),
      ({ status }) => status === 200,
    )

  return {
    /** What takes long is under way while others are tried. */
    begin(): void {
      for (const each of harmed) if (each.harm.isLong) begun.set(each, before(each))
    },
    async expectHarm(each: HarmCase): Promise<void> {
      const { harm, plugin } = each
      const { at, isFault, ends, answer: expected } = { ...harm, ...(inService && harm.inService) }
      const { deaths, faults, ...asked } = await (begun.get(each) ?? before(each))
      const answer = await asked.answer
      if (at === 'fill')
        expect((await made(answer)).body)
          .to.include({ txStatus: 1 })
          .and.not.have.property('fill')
      else if (expected === undefined) expect(said(answer)).to.equal('a price')
      else expect(said(answer)).to.match(expected)
      expect(answer.text).to.have.length.below(20_000)
      await expectUnharmed(plugin)
      const hasDied = () => deathsOf(plugin)
      if (isFault)
        await until(
          () => faultsOf(plugin),
          (now) => now > faults,
        )
      if (!ends) return void expect(await hasDied()).to.equal(deaths)
      await until(hasDied, (now) => now > deaths)
      await isBack(plugin)
    },
    /** Whoever asks for it is told, and a venue that loops is started again. */
    async expectHarmAtStart(plugin: string, ends: boolean): Promise<void> {
      const deaths = await deathsOf(plugin)
      expect(said(await price(plugin, honestAmount))).to.match(/SERVICE_UNINITIALIZED|NETWORK|TIMEOUT/)
      await expectUnharmed(plugin)
      if (ends)
        await until(
          () => deathsOf(plugin),
          (now) => now > deaths,
        )
      else expect(await deathsOf(plugin)).to.equal(deaths)
    },
    /** Events of the pool that its price is of. */
    async expectHarmByEvent(plugin: string, ends: boolean): Promise<void> {
      const deaths = await deathsOf(plugin)
      await isBack(plugin)
      await made(await trade('deadly-0', '0.1'))
      if (ends)
        await until(
          () => deathsOf(plugin),
          (now) => now > deaths,
        )
      await expectUnharmed(plugin)
      if (ends) await isBack(plugin)
      else expect(await deathsOf(plugin)).to.equal(deaths)
    },
    async expectNothingSigned(): Promise<void> {
      const { body } = await client().get('/transactions')
      expect(JSON.stringify(body)).to.match(/"transactions":\[\]|^\[\]$/)
    },
  }
}

/** What it says is marked as its word. */
const bare = (message: string): string => message.replace(/^The plugin [\w-]+ says: "([^"]*)"$/, '$1')

const said = ({ status, body }: Answer): string => (status === 200 ? 'a price' : `${body.name} ${bare(body.message)}`)

async function until<T>(ask: () => Promise<T>, holds: (answer: T) => boolean): Promise<T> {
  for (const deadline = Date.now() + 180_000; ;) {
    const answer = await ask()
    if (holds(answer)) return answer
    if (Date.now() > deadline) throw new Error(`not in time; the last answer: ${JSON.stringify(answer)}`)
    await setTimeout(100)
  }
}
