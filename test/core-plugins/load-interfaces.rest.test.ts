import { expect } from 'chai'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { load } from './fixtures.ts'

const pairPrices = path.join(import.meta.dirname, '..', '..', 'templates', 'pair-prices')

/** An interface with other parts than it should have. */
const desk = ({ manifest = '', create = 'throw new Error("create was called")' }: { manifest?: string; create?: string }) =>
  `import { defineInterface, Type } from 'sluice/interface'
const path = { method: 'GET', path: '/a', summary: 'A.', request: Type.Object({}), response: Type.Object({}), answer: () => ({}) }
const showError = () => ({ status: 500, body: {} })
export default defineInterface({
  manifest: { name: 'desk', apiVersion: '1.0', version: '0.1.0', trading_type: [], available_networks: [], schema: { type: 'object' }, ${manifest} },
  async create({ config }) { ${create} },
})`

describe('loading interfaces', function () {
  this.timeout(300_000)
  let home: string
  beforeEach(() => {
    home = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'sluice-interfaces-')))
  })
  afterEach(() => rmSync(home, { recursive: true, force: true }))

  const write = (file: string, text: string): string => {
    const target = path.join(home, file)
    mkdirSync(path.dirname(target), { recursive: true })
    writeFileSync(target, text)
    return path.dirname(target)
  }
  const loadDesk = async (parts: Parameters<typeof desk>[0], conf?: string) => {
    const folder = write('desk/index.ts', desk(parts))
    if (conf !== undefined) write('conf/interfaces/desk.yml', conf)
    return load([folder], { confDir: path.join(home, 'conf') })
  }

  it('returns one with a port beside the chains and connectors, with its paths', async () => {
    write('conf/interfaces/pair-prices.yml', 'port: 15999')
    const { loaded, interfaces, refused } = await load([pairPrices], { confDir: path.join(home, 'conf') })
    expect([loaded, refused]).to.deep.equal([[], []])
    const [only] = interfaces
    expect(only).to.include({ name: 'pair-prices', kind: 'interface', tier: 'trusted' })
    expect(only?.listener?.port).to.equal(15999)
    expect(only?.listener?.interface.paths.map((each) => each.path)).to.deep.equal(['/price/:pair', '/wrap'])
  })

  it('does not create one without a port', async () => {
    const { interfaces, refused } = await loadDesk({})
    expect(refused).to.deep.equal([])
    expect(interfaces.map(({ name, listener }) => [name, listener])).to.deep.equal([['desk', undefined]])
  })

  for (const { what, defaults, manifest = '' } of [
    { what: 'its defaults have one', defaults: 'port: 0' },
    {
      what: 'its schema has one',
      defaults: 'other: 1',
      manifest: "schema: { type: 'object', properties: { other: {} }, allOf: [{ properties: { port: { default: 0 } } }] },",
    },
  ])
    for (const conf of [undefined, 'port:', 'other: 2'])
      it(`opens no port because ${what}, where the operator's file ${conf === undefined ? 'is not there' : `is ${conf}`}`, async () => {
        write('desk/defaults.yml', defaults)
        const { interfaces, refused } = await loadDesk(
          { manifest: manifest || "schema: { type: 'object', properties: { other: {} } }," },
          conf,
        )
        expect(refused).to.deep.equal([])
        expect(interfaces.map(({ name, listener }) => [name, listener])).to.deep.equal([['desk', undefined]])
      })

  it('listens where the operator says, not where its defaults do', async () => {
    write('desk/defaults.yml', 'host: 0.0.0.0\nport: 15998')
    const create = 'return { paths: [path], showError }'
    const addressOf = async (conf: string) => (await loadDesk({ create }, conf)).interfaces[0]?.listener
    expect(await addressOf('port: 15999'))
      .to.include({ port: 15999 })
      .and.not.have.property('host')
    expect(await addressOf('port: 15999\nhost: 127.0.0.1')).to.include({ port: 15999, host: '127.0.0.1' })
  })

  for (const { what, parts = {}, conf = 'port: 0', step, says } of [
    { what: 'whose create fails', step: 'create', says: /create was called/ },
    { what: 'without paths', parts: { create: 'return { paths: [], showError }' }, step: 'create', says: /no list called paths/ },
    {
      what: 'with a path twice',
      parts: { create: 'return { paths: [path, path], showError }' },
      step: 'create',
      says: /GET \/a is there twice/,
    },
    {
      what: 'whose path names a field that its request does not have',
      parts: { create: "return { paths: [{ ...path, path: '/a/:b' }], showError }" },
      step: 'create',
      says: /GET \/a\/:b has no field b/,
    },
    {
      what: 'whose path may take longer than its clients wait',
      parts: { create: 'return { paths: [{ ...path, timeoutSeconds: 301 }], showError }' },
      step: 'create',
      says: /timeoutSeconds of GET \/a is none of more than 0 and at most 300/,
    },
    { what: 'with a setting that it does not know', conf: 'prot: 1', step: 'configuration', says: /prot/ },
    {
      what: 'with networks of its own',
      parts: { manifest: "available_networks: [{ chain: 'ethereum', networks: ['local'] }]" },
      step: 'manifest',
      says: /has no trading type, and serves all networks/,
    },
  ])
    it(`refuses one ${what}`, async () => {
      const { interfaces, refused } = await loadDesk(parts, conf)
      expect(interfaces).to.deep.equal([])
      expect(refused.map((each) => each.step)).to.deep.equal([step])
      expect(refused[0]?.reason).to.match(says)
    })
})
