import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { newClient } from '../../core/tls/certificates.ts'
import { watchInterface } from '../../testkit/cards/interface-fixture.ts'
import { interfaceCards } from '../../testkit/cards/interface.ts'
import type { Client } from '../../testkit/client.ts'
import { confOf, siteOf, stranger, watchedPlugins } from '../../testkit/interface-contract.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'

const template = path.join(import.meta.dirname, '..', '..', 'templates', 'pair-prices')

interface Mutation {
  readonly what: string
  /** A part of the template's source, and what stands there instead. */
  readonly line: string
  readonly becomes: string
  /** Which cards are red. */
  readonly cards: readonly string[]
  readonly says: RegExp
}

const mutations: Readonly<Record<string, Mutation>> = {
  'no-summary': {
    what: 'a path without a summary',
    line: "'Wraps coins of a wallet, once for each id.'",
    becomes: "' '",
    cards: ['IFC-02'],
    says: /the summary of POST \/wrap/,
  },
  'error-list': {
    what: 'errors that are no objects',
    line: 'body: { oops: name }',
    becomes: 'body: [name]',
    cards: ['IFC-03', 'IFC-04', 'IFC-05', 'IFC-06', 'IFC-07'],
    says: /GET of an unknown path has to be answered with an object of JSON/,
  },
  'error-success': {
    what: 'an error that is shown as a success',
    line: 'status: http',
    becomes: "status: name === 'RATE_LIMIT' ? 200 : http",
    cards: ['IFC-04'],
    says: /RATE_LIMIT has the status 200/,
  },
  'unchecked-field': {
    what: 'a field that the schema lets through, and the handler does not bear',
    line: "const [base = '', quote = ''] = pair.split('-')",
    becomes: `if (Number(amount) > 1e300) throw new RangeError('too large')
            const [base = '', quote = ''] = pair.split('-')`,
    cards: ['IFC-07'],
    says: /requests are answered by a defect.*GET \/price\/:pair with/,
  },
  'wrong-example': {
    what: 'an example that is refused',
    line: "pair: 'WETH-USDC'",
    becomes: "pair: 'WETH-NOTHING'",
    cards: ['IFC-08'],
    says: /GET \/price\/:pair with .*TOKEN_NOT_SUPPORTED/,
  },
  'gone-caller': {
    what: 'a handler that does not bear that its caller is gone',
    line: 'async answer({ id, wallet: address, amount }, { call }) {',
    becomes: `async answer({ id, wallet: address, amount }, { call, delivered }) {
      void delivered.then((isDelivered) => void (isDelivered || Object.assign(globalThis, { goneCaller: true })))
      if (Reflect.get(globalThis, 'goneCaller')) throw new Error('the last one left')`,
    cards: ['IFC-09'],
    says: /POST \/wrap with .*the last one left/,
  },
  crowded: {
    what: 'requests that hinder each other',
    line: "const [base = '', quote = ''] = pair.split('-')",
    becomes: `const open = (Number(Reflect.get(globalThis, 'crowd')) || 0) + 1
            Reflect.set(globalThis, 'crowd', open)
            await new Promise((resolve) => setTimeout(resolve, 300))
            Reflect.set(globalThis, 'crowd', Number(Reflect.get(globalThis, 'crowd')) - 1)
            if (open > 20) throw new Error('too many')
            const [base = '', quote = ''] = pair.split('-')`,
    cards: ['IFC-10'],
    says: /GET \/price\/:pair with .*too many/,
  },
}

describe('the cards of interfaces', function () {
  this.timeout(300_000)
  let folder: string
  let server: TestServer
  const clients: Client[] = []
  const watchers = new Map(['honest', ...Object.keys(mutations)].map((name) => [name, watchInterface()]))

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'sluice-interface-cards-'))
    const [source, defaults] = ['index.ts', 'defaults.yml'].map((file) => readFileSync(path.join(template, file), 'utf8'))
    for (const name of watchers.keys()) {
      const { line = 'pair-prices', becomes = 'pair-prices' } = mutations[name] ?? {}
      if (!source?.includes(line)) throw new Error(`The line of ${name} is not there.`)
      mkdirSync(path.join(folder, name))
      writeFileSync(path.join(folder, name, 'index.ts'), source.replace(line, () => becomes).replaceAll('pair-prices', name))
      writeFileSync(path.join(folder, name, 'defaults.yml'), defaults ?? '')
    }
    server = await startServer(
      {
        plugins: [folder],
        trusted: [...watchers.keys()],
        conf: Object.assign({}, ...[...watchers.keys()].map((name) => confOf(name))),
      },
      undefined,
      false,
      watchedPlugins((name) => watchers.get(name)),
    )
    await newClient(server.certsDir, stranger)
  })
  after(async () => {
    for (const client of clients) client.close()
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** The cards that are red, with why. */
  async function red(name: string): Promise<ReadonlyMap<string, string>> {
    const watched = watchers.get(name)
    if (!watched) throw new Error(`There is no ${name}.`)
    const site = siteOf(name, server, watched, clients)
    const cards: Parameters<Parameters<typeof interfaceCards>[1]>[] = []
    interfaceCards(
      () => site,
      (...card) => cards.push(card),
    )
    const verdicts = new Map<string, string>()
    for (const [title, run] of cards) await run().catch(({ message }: Error) => verdicts.set(title.slice(0, 6), message))
    return verdicts
  }

  it('turn green on a good interface', async () => {
    expect([...(await red('honest'))]).to.deep.equal([])
  })

  for (const [name, { what, cards, says }] of Object.entries(mutations))
    it(`turn red on ${what}: ${cards.join(', ')}`, async () => {
      const verdicts = await red(name)
      expect([...verdicts.keys()], JSON.stringify([...verdicts])).to.deep.equal(cards)
      expect([...verdicts.values()][0]).to.match(says)
    })
})
