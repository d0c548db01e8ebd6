// What the guides for authors of plugins say. tools/package/guides.mjs follows them, with the packages.
import { expect } from 'chai'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { toBeHex, zeroPadValue } from 'ethers'
import type { PoolProtocol } from '../../kits/amm/index.ts'
import { fencesOf, filesOf, readPage, root, tableOf } from './page.ts'

const connectors = 'docs/authors/writing-a-connector.md'
const liquidity = 'docs/authors/writing-a-liquidity-connector.md'
const pools = 'docs/authors/writing-a-pool-protocol.md'
const books = 'docs/authors/writing-an-order-book-connector.md'
const chains = 'docs/authors/writing-a-chain.md'

describe('the guides for authors of plugins', () => {
  for (const [page, file, most] of [
    [connectors, 'riverswap/index.ts', 30],
    [liquidity, 'lakeswap/index.ts', 30],
    [liquidity, 'marshswap/index.ts', 25],
    [books, 'tidebook/index.ts', 30],
    [chains, 'sonic/index.ts', 15],
  ] as const) {
    it(`show at most ${most} lines of ${file}`, async () => {
      const lines =
        filesOf(await readPage(page))
          .get(file)
          ?.split('\n') ?? []
      expect(lines.filter((line) => line !== '').length).to.be.within(1, most)
    })
  }

  it('show the cards that a connector passes', async () => {
    const cards = fencesOf(await readPage(connectors)).find(({ text }) => text.includes('AMM-05'))?.text ?? ''
    for (const card of ['PLUGIN-01', 'CONFIG-03', 'ADDRESS-01', 'AMM-08']) expect(cards).to.include(card)
  })

  it('show a kind of pools that is kept in memory: what was moved by a log is what is read', async () => {
    const { memory } = (await levelProtocol())([level])
    if (!memory) throw new Error('It is asked for.')
    const { calls, pools } = memory.read(memory.places([[level.tokens[0], level.tokens[1]]]), [])
    expect(calls.map((call) => 'to' in call && call.to)).to.deep.equal([level.address, level.address])
    const read = (...raws: readonly bigint[]) => pools(raws.map((raw) => ({ ok: true, data: toBeHex(raw, 32) })))[0] ?? null
    const [topic = ''] = memory.follow
    const log = (raw: bigint) => ({
      address: level.address.toLowerCase(),
      topics: [topic, zeroPadValue(level.tokens[1], 32)],
      data: toBeHex(raw, 32),
      transactionHash: '0x',
      blockNumber: 1,
    })
    const head = { number: 1n, timestamp: 1 }
    expect(memory.poolsOf(log(7n))).to.deep.equal([level.address.toLowerCase()])
    expect(memory.apply(read(5n, 6n), log(7n), head)).to.deep.equal(read(5n, 7n))
    expect(memory.apply(read(0n, 6n), log(0n), head)).to.equal(null)
    expect(memory.apply(read(0n, 0n), log(7n), head)).to.equal('reload')
  })

  it('name methods that the interface has', async () => {
    const folder = path.join(root, 'core/contracts')
    const sources = (
      await Promise.all(
        (await readdir(folder)).filter((name) => name.endsWith('.ts')).map((name) => readFile(path.join(folder, name), 'utf8')),
      )
    ).join()
    const guides = (await readdir(path.join(root, 'docs/authors'))).map((name) => `docs/authors/${name}`)
    const text = (await Promise.all(guides.map(readPage))).join('\n')
    const tables = [...text.matchAll(/^\| method \| gets .*\n((?:\|.*\n)+)/gm)].map(([, rows = '']) => rows)
    const named = tables
      .flatMap((rows) => [...rows.matchAll(/^\| (`.+?`) \|/gm)])
      .flatMap(([, methods = '']) => methods.match(/\w+/g) ?? [])
    expect(named).to.include('transferCollateral')
    expect(named.filter((name) => !new RegExp(`\\b${name}\\??[(:<]`).test(sources))).to.deep.equal([])
  })

  it('name every card of order books', async () => {
    const rows = tableOf(await readPage(books), 'cards').map(([cards = '']) => cards)
    for (const [kind, count] of [
      ['BOOK', 32],
      ['MARGIN', 5],
      ['PERPBOOK', 8],
    ] as const) {
      const named = rows.flatMap((cards) => numbersIn(cards, kind))
      expect(named, kind).to.deep.equal(Array.from({ length: count }, (_, index) => index + 1))
    }
  })
})

/** "BOOK-01 to BOOK-04", or "BOOK-18, BOOK-19", as numbers. */
function numbersIn(cards: string, kind: string): number[] {
  const numbers = [...cards.matchAll(new RegExp(`\\b${kind}-(\\d+)`, 'g'))].map(([, digits]) => Number(digits))
  const [first = 0, last = first] = numbers
  return numbers.length === 0 ? [] : Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

const level = {
  address: '0x00000000000000000000000000000000000000AA',
  tokens: ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8', '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'],
} as const

/** As it stands there, with the entry points and packages that a server would give it. */
async function levelProtocol(): Promise<(listed: readonly (typeof level)[]) => PoolProtocol<ReadonlyMap<string, bigint>>> {
  const shown = filesOf(await readPage(pools)).get('pools/level-protocol.ts') ?? ''
  const urlOf = (file: string) => pathToFileURL(path.join(root, file)).href
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-page-'))
  try {
    const file = path.join(folder, 'level-protocol.mts')
    const places = {
      'sluice/evm': 'kits/evm/index.ts',
      'sluice/pools': 'kits/amm/index.ts',
      ethers: 'node_modules/ethers/lib.esm/index.js',
    }
    const code = Object.entries(places).reduce((text, [name, place]) => text.replaceAll(`from '${name}'`, `from '${urlOf(place)}'`), shown)
    await writeFile(file, code)
    const loaded = await import(pathToFileURL(file).href)
    return loaded.levelProtocol
  } finally {
    await rm(folder, { recursive: true })
  }
}
