import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { newClient } from '../../core/tls/certificates.ts'
import { createClient } from '../../testkit/client.ts'
import { startServer } from '../../testkit/server.ts'
import { local, mined, oneChain, outcome, swap, traders } from '../http/shared-server.ts'

const storeBefore = new URL('../fixtures/store-0.2.0/sluice.db.gz', import.meta.url)

describe('a server on a data folder from before the market check', function () {
  this.timeout(300_000)
  let home: string
  before(async () => {
    home = await mkdtemp(path.join(tmpdir(), 'sluice-'))
    await mkdir(path.join(home, 'data'), { recursive: true })
    await writeFile(path.join(home, 'data', 'sluice.db'), gunzipSync(await readFile(storeBefore)))
  })
  after(() => rm(home, { recursive: true, force: true }))

  /** What a start says of the client, and what its trade is answered. */
  async function startWith(bot: object): Promise<{ said: readonly string[]; trade: string }> {
    const clients = {
      client: { permissions: ['read', 'admin'], wallets: 'all' },
      bot: { permissions: ['read', 'trade'], wallets: 'all', ...bot },
    }
    const settings = { ...oneChain.settings, 'limits.onLocalNetworks': true }
    const server = await startServer({ settings, conf: { ...oneChain.conf, 'clients.yml': { clients } } }, home)
    await newClient(server.certsDir, 'bot').catch(() => undefined) // it has one from the start before
    const client = createClient(server.url, server.certsDir, 'bot')
    try {
      const approved = await client.post('/evm/approve', { ...local, address: traders, spender: 'uniswap', token: 'WETH' })
      if (approved.status === 200) await mined(client, approved.body.txHash)
      const trade = await client.post('/amm/trade', { ...swap, address: traders })
      return { said: server.kernel.warnings.filter((each) => each.includes('"bot"')), trade: outcome(trade) }
    } finally {
      client.close()
      await server.stop()
    }
  }

  it('lets who could trade before trade as before, and says so at each start, until conf decides', async () => {
    for (let starts = 0; starts < 2; starts++) {
      const { said, trade } = await startWith({})
      expect(trade).to.equal('200')
      expect(said.join()).to.match(/"bot" may trade far below the market, as before this version.*marketCheck: true/)
    }
    expect(await startWith({ marketCheck: false })).to.deep.equal({ said: [], trade: '200' })
    expect(await startWith({ marketCheck: true })).to.deep.equal({ said: [], trade: '403 FORBIDDEN' })
  })
})
