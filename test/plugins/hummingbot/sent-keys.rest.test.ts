import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { Wallet } from 'ethers'
import { pino } from 'pino'
import { rpcTo } from '../../../core/devnet/anvil.ts'
import { newClient } from '../../../core/tls/certificates.ts'
import { createClient, type Client } from '../../../testkit/client.ts'
import { startServer, type ServerOptions, type TestServer } from '../../../testkit/server.ts'
import { admins, oneChain, traders } from '../../http/shared-server.ts'
import { temporaryFolder } from '../../wallet/temporary-folder.ts'
import { Bot } from './bot.ts'

const listed = {
  client: { permissions: ['read', 'trade'], wallets: 'all' },
  trader: { permissions: ['read', 'trade'], wallets: [traders] },
  reader: { permissions: ['read'], wallets: 'all' },
}
const newKey = () => Wallet.createRandom().privateKey

describe('keys that bots of Hummingbot send, where the operator accepts them', function () {
  this.timeout(240_000)
  const sent = new Wallet(newKey())
  const home = temporaryFolder()
  const passphraseFile = path.join(temporaryFolder(), 'passphrase')
  const passphrase = 'correct horse battery'
  const logged: string[] = []
  const https: Client[] = []
  let server: TestServer
  const options: ServerOptions = {
    ...oneChain,
    env: { SLUICE_WALLET_PASSPHRASE_FILE: passphraseFile },
    conf: { ...oneChain.conf, 'clients.yml': { clients: listed }, 'interfaces/hummingbot.yml': { port: 0, keys: 'accept' } },
  }
  const log = pino({ level: 'trace' }, { write: (line) => void logged.push(line) })
  const start = () => startServer(options, home, { log: { open: () => log } })
  const botOf = (name?: string): Bot => {
    const client = createClient(server.interfaceUrls['hummingbot'] ?? '', server.certsDir, name)
    https.push(client)
    return new Bot(client)
  }

  const fund = () => rpcTo(server.rpcUrl)('anvil_setBalance', sent.address, '0x8ac7230489e80000')

  before(async () => {
    await writeFile(passphraseFile, passphrase)
    server = await start()
    for (const name of ['trader', 'reader']) await newClient(server.certsDir, name)
  })
  after(async () => {
    for (const each of https) each.close()
    await server?.stop()
    expect(logged.join('')).to.include(sent.address)
    for (const secret of [sent.privateKey.slice(2), passphrase]) expect(logged.join('')).not.to.include(secret)
  })

  it('trade at once, as the default where the bot says so', async () => {
    const bot = botOf()
    const answer = await bot.post('/wallet/add', { chain: 'ethereum', network: 'local', privateKey: sent.privateKey, setDefault: true })
    expect(answer.address).to.equal(sent.address)
    expect(JSON.stringify(answer)).not.to.include(sent.privateKey.slice(2))
    const [{ walletAddresses: all }] = await bot.get('/wallet')
    expect(all[0]).to.equal(sent.address)
    expect(all).to.include.members([admins, traders])
    await fund()
    const { signature } = await bot.post('/chains/ethereum/wrap', { network: 'local', amount: '0.5' })
    const { transactions } = (await server.client.get('/transactions', { kind: 'wrap', limit: '1' })).body
    expect(transactions[0]).to.include({ txHash: signature, address: sent.address })
  })

  it('are kept once, and are never given back', async () => {
    const bot = botOf()
    const again = await bot.post('/wallet/add', { chain: 'ethereum', privateKey: sent.privateKey.slice(2) })
    expect(again.address).to.equal(sent.address)
    const file = await readFile(path.join(home, 'data', 'keystore', 'ethereum', `${sent.address}.json`), 'utf8')
    for (const shown of [file, JSON.stringify(await bot.get('/config')), JSON.stringify(await bot.get('/wallet'))])
      expect(shown.toLowerCase()).not.to.include(sent.privateKey.slice(2))
  })

  it('are not taken from a client that may not use the wallet, until the operator gives it the address', async () => {
    const own = new Wallet(newKey())
    const trader = botOf('trader')
    const add = { chain: 'ethereum', privateKey: own.privateKey }
    const { status, body } = await trader.refusal('POST', '/wallet/add', add)
    expect([status, body.message]).to.deep.equal([
      403,
      `${own.address} is no wallet of this client, and its key was not taken. An operator gives it to the client first: wallets of "trader" in conf/clients.yml. Then send the key again.`,
    ])
    expect((await server.client.get('/wallet')).body.map((each: { address: string }) => each.address)).not.to.include(own.address)
    expect((await botOf('reader').refusal('POST', '/wallet/add', add)).status).to.equal(403)
    const clients = { clients: { ...listed, trader: { ...listed.trader, wallets: [traders, own.address] } } }
    await writeFile(path.join(home, 'conf', 'clients.yml'), JSON.stringify(clients))
    let answer = await trader.refusal('POST', '/wallet/add', add).catch(() => undefined)
    for (let tries = 0; answer && tries < 600; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      answer = await trader.refusal('POST', '/wallet/add', add).catch(() => undefined)
    }
    const [{ walletAddresses }] = await trader.get('/wallet')
    expect(walletAddresses).to.have.members([traders, own.address])
  })

  it('are refused where they are none, in words that do not repeat them', async () => {
    const bot = botOf()
    const wrong: [object, RegExp][] = [
      [{ chain: 'ethereum', privateKey: `${sent.privateKey.slice(0, -2)}zz` }, /not hexadecimal/],
      [{ chain: 'ethereum', privateKey: ['a', 'list'] }, /privateKey: is a text in the body/],
      [{ chain: 'ethereum' }, /privateKey/],
      [{ chain: 'nowhere', privateKey: sent.privateKey }, /"nowhere"/],
      [{ chain: 'solana', privateKey: sent.privateKey }, /no network on this server/],
    ]
    for (const [fields, words] of wrong) {
      const { status, body } = await bot.refusal('POST', '/wallet/add', fields)
      expect([status, body.code], body.message).to.deep.equal([400, 'INVALID_PARAMS'])
      expect(body.message).to.match(words).and.not.include(sent.privateKey.slice(2, -2))
    }
    const client = https[0]
    const inUrl = await client?.request('POST', `/wallet/add?chain=ethereum&privateKey=${sent.privateKey}`)
    expect([inUrl?.status, inUrl?.text.includes(sent.privateKey.slice(2))]).to.deep.equal([400, false])
  })

  it('sign after the next start', async () => {
    await server.stop()
    server = await start()
    await fund()
    const { signature } = await botOf().post('/chains/ethereum/wrap', { network: 'local', address: sent.address, amount: '0.5' })
    expect(signature).to.match(/^0x/)
  })
})
