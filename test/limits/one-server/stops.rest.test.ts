// What an operator stops: every way of setting and lifting it, and what goes through meanwhile.
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import type { Client } from '../../../testkit/client.ts'
import { follow } from '../../events/client.ts'
import { scrape } from '../../http/scrape.ts'
import { admins, local, others, outcome, swap, traders, withoutBlocks } from '../../http/shared-server.ts'
import { limitedServer, restarted, type LimitedServer } from './limited-server.ts'

const clients = {
  bot: { permissions: ['read', 'trade', 'thin'], wallets: [traders] },
  guard: { permissions: ['read', 'stop'] },
  boss: { permissions: ['read', 'resume'] },
}
type Name = keyof typeof clients

describe('what an operator stops', function () {
  this.timeout(300_000)
  const started = limitedServer(clients)
  let server: LimitedServer['server']
  let rpc: LimitedServer['rpc']
  let mined: LimitedServer['mined']
  let as: Record<Name, Client>
  const use = (limited: LimitedServer) => {
    ;({ server, rpc, mined } = limited)
    as = { bot: limited.as('bot'), guard: limited.as('guard'), boss: limited.as('boss') }
  }
  before(async () => use(await started()))
  afterEach(async () => {
    for (const { of, address, client } of (await as.boss.get('/stops')).body.stops as Record<string, string>[])
      await lift(of === 'all' ? {} : of === 'wallet' ? { address } : { client })
  })

  const stop = (by: Client, fields: object) => by.post('/stops', fields)
  const lift = (fields: object, by = as.boss) =>
    by.request('DELETE', '/stops', { raw: JSON.stringify(fields), headers: { 'content-type': 'application/json' } })
  const trade = (by: Client, address: string, headers: Record<string, string> = {}) =>
    by.post('/amm/trade', { ...swap, base: 'ETH', address, amount: '0.001' }, { headers })
  const revoke = (amount: string) =>
    server.client.post('/evm/approve', { ...local, address: admins, token: 'USDC', spender: 'uniswap', amount })

  it('for all keeps every client from trading, with who, when and why, until somebody else lifts it', async () => {
    const key = { 'Idempotency-Key': 'stopped-once' }
    const set = await stop(as.guard, { mode: 'stop', reason: 'a stolen laptop' })
    expect(outcome(set), set.text).to.equal('200')
    expect(set.body).to.include({ mode: 'stop', of: 'all', setBy: 'guard', reason: 'a stolen laptop' })
    for (const refused of [await trade(server.client, admins, key), await trade(as.bot, traders), await revoke('0')]) {
      expect(outcome(refused)).to.equal('403 STOPPED')
      expect(refused.body.errorCode).to.equal(1030)
      expect(refused.body.details).to.deep.equal(set.body)
      expect(refused.body.message).to.match(/^stop is set for all by "guard" since .*: "a stolen laptop"\. Nothing was signed/)
    }
    expect((await as.bot.get('/stops')).body.stops).to.deep.equal([set.body])
    expect((await scrape(server.client)).text).to.contain('sluice_stops{mode="stop",of="all"} 1')
    for (const by of [server.client, as.bot, as.guard]) expect(outcome(await lift({}, by))).to.equal('403 FORBIDDEN')
    expect((await lift({})).body.lifted).to.deep.equal([set.body])
    const traded = await trade(server.client, admins, key)
    expect(outcome(traded), traded.text).to.equal('200')
    await mined(traded.body.txHash)
  })

  it('is told as it happens to who may see it: what is set and what is lifted, by whom, also by a file', async () => {
    const door = { url: server.url, certsDir: server.certsDir }
    const [bots, guards] = [
      await follow({ ...door, name: 'bot' }, { topics: 'stops' }),
      await follow({ ...door, name: 'guard' }, { topics: 'stops' }),
    ]
    try {
      await bots.hears('nothing is stopped', ({ data }) => data.stops.length === 0)
      await stop(as.guard, { mode: 'reduce-only', address: admins, reason: 'not the bot' })
      await stop(as.guard, { mode: 'stop', address: traders })
      const { data } = await bots.hears('its wallet is stopped', (event) => event.data.stops.length > 0)
      expect(data.stops).to.have.length(1)
      expect(data.stops[0]).to.include({ mode: 'stop', of: 'wallet', setBy: 'guard' })
      await guards.hears('both are stopped', (event) => event.data.stops.length === 2)
      await lift({ address: traders })
      const { data: after } = await bots.hears('it is lifted', (event) =>
        event.data.lifted.some(({ of }: { of: string }) => of === 'wallet'),
      )
      expect(after.stops).to.deep.equal([])
      expect(after.lifted[0]).to.include({ mode: 'stop', of: 'wallet', setBy: 'guard', liftedBy: 'boss' })
      const file = path.join(server.settings.data.dir, 'STOP')
      await writeFile(file, '')
      await bots.hears('a file stops all', (event) => event.data.stops.some(({ file: name }: { file?: string }) => name !== undefined))
      await rm(file)
      await bots.hears(
        'the file is gone',
        ({ data: last }) => last === bots.told.at(-1)?.data && last.stops.length === 0 && last.lifted.length > 0,
      )
    } finally {
      await Promise.all([bots.close(), guards.close()])
    }
  })

  it('as reduce-only lets an allowance be revoked, and none be given', async () => {
    await stop(as.guard, { mode: 'reduce-only' })
    expect(outcome(await trade(server.client, admins))).to.equal('403 STOPPED')
    expect(outcome(await revoke('5'))).to.equal('403 STOPPED')
    const revoked = await revoke('0')
    expect(outcome(revoked), revoked.text).to.equal('200')
    await mined(revoked.body.txHash)
  })

  it('as reduce-only lets positions be closed, liquidity be removed and orders be cancelled, and none be made', async () => {
    const wallet = { ...local, address: others }
    const [perp, pools, book] = ['perp', 'uniswap', 'oasis'].map((connector) => ({ ...wallet, connector }))
    const make = async (path: string, fields: object) => {
      const ask = () => server.client.post(path, fields)
      // While anvil makes a block, calls may have its state and the clock of the block before: perpetuals do not stand that.
      const answer = await (path.startsWith('/perp/') ? withoutBlocks(rpc, ask) : ask())
      expect(outcome(answer), `${path} ${answer.text}`).to.equal('200')
      await mined(answer.body.txHash)
      return answer.body
    }
    const tokens = ['ETH', 'DAI']
    const { pool } = (await server.client.get('/amm/shares/position', { ...pools, tokens })).body
    await make('/evm/approve', { ...wallet, token: pool, spender: 'uniswap/v2' })
    await make('/perpAMM/deposit', { ...perp, token: 'USDC', amount: '10000' })
    const position = { ...perp, base: 'ETH', quote: 'USD', side: 'LONG', amount: '0.5', margin: '1000', leverage: '5' }
    await make('/perp/open', position)
    const shares = { ...pools, tokens, amounts: ['0.5'] }
    await make('/amm/shares/add', shares)
    const order = { ...book, market: 'WETH-USDC', side: 'BUY', orderType: 'LIMIT', price: '700', amount: '0.01' }
    const { clientOrderId } = await make('/clob/orders', order)

    await stop(as.guard, { mode: 'reduce-only' })
    const refused: readonly [string, object][] = [
      ['/perp/open', position],
      ['/perpAMM/withdraw', { ...perp, token: 'USDC', amount: '1' }],
      ['/amm/shares/add', shares],
      ['/clob/orders', order],
      ['/evm/wrap', { ...wallet, amount: '0.1' }],
    ]
    for (const [path, fields] of refused) expect(outcome(await server.client.post(path, fields)), path).to.equal('403 STOPPED')
    await make('/perp/close', { ...perp, base: 'ETH', quote: 'USD' })
    await make('/amm/shares/remove', { ...pools, tokens, decreasePercent: 50 })
    const cancelled = await server.client.request('DELETE', '/clob/orders', {
      raw: JSON.stringify({ ...book, market: 'WETH-USDC', clientOrderId }),
      headers: { 'content-type': 'application/json' },
    })
    expect(outcome(cancelled), cancelled.text).to.equal('200')
  })

  it('leaves other wallets and clients alone, and shows to those whom it is about', async () => {
    const ofWallet = await stop(as.guard, { mode: 'stop', address: admins })
    expect(ofWallet.body).to.deep.include({ of: 'wallet', address: admins.toLowerCase() })
    expect(outcome(await trade(server.client, admins))).to.equal('403 STOPPED')
    const theirs = await trade(server.client, traders)
    expect(outcome(theirs), theirs.text).to.equal('200')
    await mined(theirs.body.txHash)
    expect((await as.bot.get('/stops')).body.stops).to.deep.equal([])
    expect((await server.client.get('/stops')).body.stops).to.deep.equal([ofWallet.body])
    expect((await as.guard.get('/stops')).body.stops).to.deep.equal([ofWallet.body])
    await lift({ address: admins })

    await stop(as.guard, { mode: 'stop', client: 'bot' })
    expect(outcome(await trade(as.bot, traders))).to.equal('403 STOPPED')
    const again = await trade(server.client, traders)
    expect(outcome(again), again.text).to.equal('200')
    await mined(again.body.txHash)
  })

  it('needs the permission trade to stop oneself, and the permission stop for anything else', async () => {
    expect(outcome(await stop(as.bot, { mode: 'stop' }))).to.equal('403 FORBIDDEN')
    expect(outcome(await stop(as.bot, { mode: 'stop', address: traders }))).to.equal('403 FORBIDDEN')
    expect(outcome(await stop(as.bot, { mode: 'stop', client: 'client' }))).to.equal('403 FORBIDDEN')
    expect(outcome(await stop(as.boss, { mode: 'stop', client: 'boss' }))).to.equal('403 FORBIDDEN')
    expect(outcome(await stop(as.bot, { mode: 'stop', client: 'bot' }))).to.equal('200')
    expect(outcome(await trade(as.bot, traders))).to.equal('403 STOPPED')
    expect(outcome(await lift({ client: 'bot' }, as.bot))).to.equal('403 FORBIDDEN')
  })

  it('has to exist: a name or a wallet that nobody has gets a 400', async () => {
    const wrong: readonly [object, RegExp][] = [
      [{ mode: 'stop', client: 'bots' }, /"bots" has no entry in conf\/clients\.yml.*"bot"/],
      [{ mode: 'stop', address: '0x00000000000000000000000000000000000000a1' }, /is not a wallet of this server/],
      [{ mode: 'stop', address: traders, client: 'bot' }, /together with address/],
      [{ mode: 'halt' }, /stop or reduce-only/],
      [{}, /mode/],
    ]
    for (const [fields, message] of wrong) {
      const answer = await stop(as.guard, fields)
      expect(outcome(answer)).to.equal('400 INCOMPLETE_PARAMS')
      expect(answer.body.message).to.match(message)
    }
    expect((await as.guard.get('/stops')).body.stops).to.deep.equal([])
  })

  it('holds by a file in the data folder as long as it is there, for whom it names, and for all where it is odd', async () => {
    const file = path.join(server.settings.data.dir, 'STOP')
    const tries = async () => [outcome(await trade(server.client, admins)), outcome(await trade(as.bot, traders))]
    try {
      await writeFile(file, '')
      expect(await tries()).to.deep.equal(['403 STOPPED', '403 STOPPED'])
      const refused = await trade(server.client, admins)
      expect(refused.body.message).to.match(/^stop is set for all by the file STOP in the data folder since .*by removing the file\.$/)
      expect((await as.bot.get('/stops')).body.stops).to.deep.equal([refused.body.details])
      await writeFile(file, `# lost\n${admins}\n`)
      expect(await tries()).to.deep.equal(['403 STOPPED', '200'])
      await writeFile(file, 'bot\n')
      expect(await tries()).to.deep.equal(['200', '403 STOPPED'])
      await writeFile(file, 'bots\n')
      expect(await tries()).to.deep.equal(['403 STOPPED', '403 STOPPED'])
      expect((await trade(as.bot, traders)).body.message).to.contain('names neither a wallet nor a client, so it counts as stop for all')
    } finally {
      await rm(file, { force: true })
    }
    expect(await tries()).to.deep.equal(['200', '200'])
  })

  it('stays after a restart', async () => {
    const { body } = await stop(as.guard, { mode: 'stop' })
    use(await restarted())
    expect((await as.guard.get('/stops')).body.stops).to.deep.equal([body])
    expect(outcome(await trade(server.client, admins))).to.equal('403 STOPPED')
  })
})
