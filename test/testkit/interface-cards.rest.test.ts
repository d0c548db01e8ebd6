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
import { oneChain } from '../http/one-chain.ts'

const template = path.join(import.meta.dirname, '..', '..', 'templates', 'pair-prices')

interface Mutation {
  readonly what: string
  /** The interface that has it: those that redden no card in common are in one. */
  readonly of: 'careless' | 'misshapen' | 'fragile'
  /** A part of the template's source, and what stands there instead. */
  readonly line: string
  readonly becomes: string
  /** Which cards are red. */
  readonly cards: readonly string[]
  readonly says: RegExp
}

const mutations: readonly Mutation[] = [
  {
    what: 'a path without a summary',
    of: 'careless',
    line: "'Wraps coins of a wallet, once for each id.'",
    becomes: "' '",
    cards: ['IFC-02'],
    says: /the summary of POST \/wrap/,
  },
  {
    what: 'errors that are no objects',
    of: 'misshapen',
    line: 'body: { oops: name }',
    becomes: 'body: [name]',
    cards: ['IFC-03', 'IFC-04', 'IFC-05', 'IFC-06', 'IFC-07'],
    says: /GET of an unknown path has to be answered with an object of JSON/,
  },
  {
    what: 'an error that is shown as a success',
    of: 'careless',
    line: 'status: http',
    becomes: "status: name === 'RATE_LIMIT' ? 200 : http",
    cards: ['IFC-04'],
    says: /RATE_LIMIT has the status 200/,
  },
  {
    what: 'a field that the schema lets through, and the handler does not bear',
    of: 'fragile',
    line: "const [base = '', quote = ''] = pair.split('-')",
    becomes: `if (Number(amount) > 1e300) throw new RangeError('too large')
            const [base = '', quote = ''] = pair.split('-')`,
    cards: ['IFC-07'],
    says: /requests are answered by a defect.*GET \/price\/:pair with/,
  },
  {
    what: 'an example that is refused',
    of: 'careless',
    line: "pair: 'WETH-USDC'",
    becomes: "pair: 'WETH-NOTHING'",
    cards: ['IFC-08'],
    says: /GET \/price\/:pair with .*TOKEN_NOT_SUPPORTED/,
  },
  {
    what: 'a handler that does not bear that its caller is gone',
    of: 'careless',
    line: 'async answer({ id, wallet: address, amount }, { call }) {',
    becomes: `async answer({ id, wallet: address, amount }, { call, delivered }) {
      void delivered.then((isDelivered) => void (isDelivered || Object.assign(globalThis, { goneCaller: true })))
      if (Reflect.get(globalThis, 'goneCaller')) throw new Error('the last one left')`,
    cards: ['IFC-09'],
    says: /POST \/wrap with .*the last one left/,
  },
  {
    what: 'requests that hinder each other',
    of: 'fragile',
    line: "const [base = '', quote = ''] = pair.split('-')",
    becomes: `const open = (Number(Reflect.get(globalThis, 'crowd')) || 0) + 1
            Reflect.set(globalThis, 'crowd', open)
            // Those of a crowd wait for all that a busy machine has not brought yet.
            await new Promise((resolve) => setTimeout(resolve, open > 1 ? 10_000 : 1_000))
            Reflect.set(globalThis, 'crowd', Number(Reflect.get(globalThis, 'crowd')) - 1)
            if (open > 20) throw new Error('too many')
            const [base = '', quote = ''] = pair.split('-')`,
    cards: ['IFC-10'],
    says: /GET \/price\/:pair with .*too many/,
  },
]

describe('the cards of interfaces', function () {
  this.timeout(600_000)
  let folder: string
  let server: TestServer
  const clients: Client[] = []
  const watchers = new Map(['honest', ...mutations.map(({ of }) => of)].map((name) => [name, watchInterface()]))
  const verdictsOf = new Map<string, Promise<ReadonlyMap<string, string>>>()

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'sluice-interface-cards-'))
    const [source, defaults] = ['index.ts', 'defaults.yml'].map((file) => readFileSync(path.join(template, file), 'utf8'))
    for (const name of watchers.keys()) {
      let mutated = source ?? ''
      for (const { what, line, becomes } of mutations.filter(({ of }) => of === name)) {
        if (!mutated.includes(line)) throw new Error(`The line for ${what} is not there.`)
        mutated = mutated.replace(line, () => becomes)
      }
      mkdirSync(path.join(folder, name))
      writeFileSync(path.join(folder, name, 'index.ts'), mutated.replaceAll('pair-prices', name))
      writeFileSync(path.join(folder, name, 'defaults.yml'), defaults ?? '')
    }
    server = await startServer(
      {
        ...oneChain,
        plugins: [folder],
        trusted: [...watchers.keys()],
        conf: Object.assign({ ...oneChain.conf }, ...[...watchers.keys()].map((name) => confOf(name))),
      },
      undefined,
      watchedPlugins((name) => watchers.get(name)),
    )
    await newClient(server.certsDir, stranger)
  })
  after(async () => {
    for (const client of clients) client.close()
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** The cards that are red, with why. They are run once. */
  function red(name: string): Promise<ReadonlyMap<string, string>> {
    const known = verdictsOf.get(name) ?? play(name)
    verdictsOf.set(name, known)
    return known
  }

  async function play(name: string): Promise<ReadonlyMap<string, string>> {
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

  for (const { what, of, cards, says } of mutations)
    it(`turn red on ${what}: ${cards.join(', ')}`, async () => {
      const verdicts = await red(of)
      const expected = mutations.filter((each) => each.of === of).flatMap((each) => each.cards)
      expect([...verdicts.keys()], JSON.stringify([...verdicts])).to.have.members(expected)
      expect(verdicts.get(cards[0] ?? '')).to.match(says)
    })
})
