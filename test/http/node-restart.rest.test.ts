// The only node of a network is stopped and started again on its port.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { rpcTo, startAnvil, type Anvil, type Rpc } from '../../core/devnet/anvil.ts'
import type { Answer, Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { freePort } from '../free-port.ts'
import { admins, local, mined, oneChain, outcome, swap, traders } from './shared-server.ts'

describe('a node that is stopped and started again', () => {
  let server: TestServer
  let client: Client
  let node: Anvil
  let port: number
  let folder: string
  let stateFile: string

  before(async () => {
    port = await freePort()
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-node-'))
    stateFile = path.join(folder, 'state.json')
    const between = async (devnetUrl: string) => {
      await keep(rpcTo(devnetUrl))
      await start()
      return node.rpcUrl
    }
    server = await startServer({ ...oneChain, between })
    client = server.client
    for (const address of [admins, traders]) {
      const { body, text } = await client.post('/evm/approve', { ...local, address, spender: 'uniswap', token: 'WETH' })
      expect(body.txHash, text).to.be.a('string')
      await mined(client, body.txHash)
    }
  })
  after(async () => {
    await server?.stop()
    await node?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  /** Its state for the next start. Transactions that wait are no part of it. */
  async function keep(rpc: Rpc): Promise<void> {
    const dump = String(await rpc('anvil_dumpState'))
    await writeFile(stateFile, gunzipSync(Buffer.from(dump.slice(2), 'hex')))
  }
  const start = async () => void (node = await startAnvil(port, ['--load-state', stateFile]))

  const trade = (address: string, key: string) => client.post('/amm/trade', { ...swap, address }, { headers: { 'idempotency-key': key } })
  const isAway = ({ status, body, headers }: Answer) => status === 503 && body.name === 'NETWORK' && Number(headers['retry-after']) > 0

  it('makes answers say Retry-After while it is away, serves again by itself, and costs no transaction its one outcome', async () => {
    await node.rpc('evm_setAutomine', false)
    const pending = await trade(admins, 'before')
    expect(outcome(pending), pending.text).to.equal('200')
    await keep(node.rpc)
    await node.stop()

    const asked = () => [
      client.post('/network/balances', { ...local, address: admins, tokenSymbols: ['WETH', 'ETH'] }),
      client.get('/evm/gas', local),
      trade(traders, 'meanwhile'),
    ]
    const until = Date.now() + 180_000
    for (;;) {
      const answers = await Promise.all(asked())
      if (answers.every(isAway)) break
      for (const answer of answers) expect(outcome(answer), answer.text).to.equal('503 NETWORK')
      if (Date.now() > until) throw new Error(answers.map(({ text, headers }) => `${text} ${String(headers['retry-after'])}`).join('\n'))
    }
    expect((await client.get('/network/poll', { ...local, txHash: pending.body.txHash })).body.txStatus).to.not.equal(1)

    await start()
    const { body: first } = await mined(client, pending.body.txHash)
    expect(first.txReceipt.status).to.equal(1)
    const { body: journaled } = await client.get('/transactions', { idempotencyKey: 'before' })
    expect(journaled.transactions).to.have.length(1)
    expect((await trade(admins, 'before')).text).to.equal(pending.text)

    // What was refused was not sent, and is made now.
    const again = await trade(traders, 'meanwhile')
    expect(outcome(again), again.text).to.equal('200')
    await mined(client, again.body.txHash)
    for (const address of [admins, traders]) {
      const { body } = await client.get('/transactions', { address })
      expect(body.transactions.filter(({ kind }: { kind: string }) => kind === 'trade')).to.have.length(1)
    }
    for (const answer of await Promise.all(asked().slice(0, 2))) expect(outcome(answer), answer.text).to.equal('200')
    for (const address of [admins, traders])
      expect(Number(await node.rpc('eth_getTransactionCount', address, 'latest'))).to.equal(
        (await client.get('/evm/nonce', { ...local, address })).body.nonce,
      )
  })
})
