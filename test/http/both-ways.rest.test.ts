import { expect } from 'chai'
import { endpoints } from '../../core/api/index.ts'
import examples from '../../core/http/openapi-examples.json' with { type: 'json' }
import { sharedServer } from './shared-server.ts'
import { throughKoa, twoWays, type TwoWays } from './two-ways.ts'

describe('a GET that is answered beside Koa', function () {
  this.timeout(300_000)
  let ways: TwoWays
  before(async () => {
    const { url, certsDir } = await sharedServer()
    ways = twoWays(url, certsDir)
  })
  after(() => ways?.close())

  const captured: Readonly<Record<string, { readonly request?: object }>> = examples
  for (const { name, method, path: route } of endpoints) {
    if (method !== 'GET') continue
    it(`has every byte that it has through Koa: ${route}`, async () => {
      const query = new URLSearchParams()
      for (const [key, value] of Object.entries(captured[name]?.request ?? {})) query.set(key, String(value))
      for (const url of new Set([`${route}?${query.toString()}`, route, `${route}?nonsense=1`])) {
        const before = ways.contexts()
        const { direct, koa, tries } = await ways.bothOf(url)
        expect(direct).to.equal(koa)
        expect(ways.contexts() - before).to.equal(tries)
      }
    })
  }

  it('goes through Koa only where it announces a body, or is of no endpoint', async () => {
    const before = ways.contexts()
    await ways.bytesOf('/', {})
    expect(ways.contexts()).to.equal(before)
    await ways.bytesOf('/', throughKoa)
    await ways.bytesOf('/docs/start.js', {})
    expect(ways.contexts()).to.equal(before + 2)
  })
})
