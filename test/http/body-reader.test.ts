import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { expect } from 'chai'
import Koa from 'koa'
import { SluiceError } from '../../core/base/errors.ts'
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

  it('refuses a character set other than UTF-8, as it would read other characters than were sent', async () => {
    const read = bodyReader(1_000)
    const app = new Koa()
    app.silent = true
    app.use(async (ctx) => {
      try {
        await read(ctx)
        ctx.body = ctx.request.body
      } catch (error) {
        ctx.status = error instanceof SluiceError ? error.http : 500
      }
    })
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const statusOf = async (charset: string) => {
      const headers = { 'content-type': `application/json${charset}` }
      return (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: '{"base":"1"}', headers })).status
    }
    for (const charset of ['', '; charset=utf-8', ';charset="UTF-8"', '; charset=utf8', '; charset=US-ASCII'])
      expect(await statusOf(charset), charset).to.equal(200)
    for (const charset of ['; charset=utf-16', '; charset=UTF-16LE', '; charset="utf-32"', '; charset=iso-8859-1', '; charset=utf-7'])
      expect(await statusOf(charset), charset).to.equal(415)
    server.close()
    server.closeAllConnections()
  })

  it('refuses what is nested so deep that nobody behind it could read it', async () => {
    const read = bodyReader(100_000)
    const app = new Koa()
    app.silent = true
    app.use(async (ctx) => {
      try {
        await read(ctx)
        ctx.body = ctx.request.body
      } catch (error) {
        ctx.status = error instanceof SluiceError ? error.http : 500
      }
    })
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const statusOf = async (depth: number) => {
      const body = `{"orders":${'['.repeat(depth)}${']'.repeat(depth)}}`
      return (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body, headers: { 'content-type': 'application/json' } })).status
    }
    expect(await Promise.all([20, 49, 50, 110, 49_000].map(statusOf))).to.deep.equal([200, 200, 400, 400, 400])
    server.close()
    server.closeAllConnections()
  })
})
