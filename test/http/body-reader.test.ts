import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { expect } from 'chai'
import Koa from 'koa'
import { bodyReader } from '../../core/http/request.ts'

describe('the reader of bodies', () => {
  it('reads the next body where its parser could not be loaded for one', async () => {
    let loads = 0
    const read = bodyReader(1_000, async () => {
      loads += 1
      if (loads === 1) throw new Error('EMFILE: too many open files')
      return import('koa-bodyparser')
    })
    const app = new Koa()
    app.silent = true
    app.use(async (ctx) => {
      await read(ctx)
      ctx.body = ctx.request.body
    })
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const post = () =>
      fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: '{"amount":"1"}', headers: { 'content-type': 'application/json' } })
    expect((await post()).status).to.equal(500)
    expect(await (await post()).json()).to.deep.equal({ amount: '1' })
    expect(loads).to.equal(2)
    server.close()
    server.closeAllConnections()
  })
})
