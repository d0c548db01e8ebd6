// Rules of a network about balances and gas, by HTTP: Monad's own table, and the fields of a chain that is data alone. Each network is a bare anvil of its chain id.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { Wallet, parseEther, toQuantity } from 'ethers'
import { stringify } from 'yaml'
import { startAnvil, type Anvil } from '../../core/devnet/anvil.ts'
import { saveKey } from '../../core/keys/keystore.ts'
import { multicall3 } from '../../kits/evm/index.ts'
import monadTokens from '../../plugins/monad/tokens.json' with { type: 'json' }
import type { Answer } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { place } from '../kits/evm/test-chain.ts'
import { until } from '../transactions/site.ts'
import { coldStore, nobody, outcome } from './shared-server.ts'

const passphrase = 'only for tests'
const wrapped = monadTokens.tokens.find(({ chainId, symbol }) => chainId === 143 && symbol === 'WMON')?.address ?? ''
const monad = { chain: 'monad', network: 'mainnet' } as const

/** A chain that is data alone. */
const tonic = {
  kind: 'chain',
  kit: 'evm',
  name: 'tonic',
  apiVersion: '1.0',
  version: '0.1.0',
  networks: {
    mainnet: {
      chainId: 7_001_146,
      nativeCurrency: 'TON',
      tokens: ['WTON'],
      blockSeconds: 1,
      confirmations: 2,
      maxGas: 40_000,
      gasLimitIsPaid: true,
      reserveBalance: { amount: '3', blocks: 2 },
    },
  },
}
const { chainId } = tonic.networks.mainnet
const tonicTokens = { name: 'Tonic', tokens: [{ chainId, address: wrapped, name: 'Wrapped', symbol: 'WTON', decimals: 18 }] }

describe("a network's rules about balances and gas", function () {
  this.timeout(300_000)
  const { address, privateKey } = Wallet.createRandom()
  const nodes: Anvil[] = []
  let home: string
  let server: TestServer
  let node: Anvil
  let ofTonic: Anvil

  before(async () => {
    home = await mkdtemp(path.join(tmpdir(), 'sluice-rules-'))
    const dataDir = path.join(home, 'data')
    const [passphraseFile, folder] = [path.join(home, 'passphrase'), path.join(home, 'own')]
    await mkdir(dataDir, { mode: 0o700 })
    await writeFile(passphraseFile, passphrase, { mode: 0o600 })
    for (const chain of ['monad', 'tonic']) await saveKey({ dataDir, chain, privateKey, passphrase, scryptN: 2 })
    await mkdir(path.join(folder, 'tonic'), { recursive: true })
    await writeFile(path.join(folder, 'tonic', 'plugin.yml'), stringify(tonic))
    await writeFile(path.join(folder, 'tonic', 'tokens.json'), JSON.stringify(tonicTokens))
    const startNode = async (id: number): Promise<Anvil> => {
      const started = await startAnvil(0, ['--no-mining'])
      nodes.push(started)
      await started.rpc('anvil_setChainId', id)
      await place(started.rpc, multicall3, 'plugins/ethereum/artifacts/Multicall3.json')
      await place(started.rpc, wrapped, 'plugins/ethereum/artifacts/WETH9.json')
      await started.rpc('anvil_mine', '0x8')
      return started
    }
    node = await startNode(143)
    ofTonic = await startNode(chainId)
    const rules = { permissions: ['read', 'trade', 'send'], wallets: 'all', sendTo: { [address]: [coldStore] } }
    const nodeOf = (url: string) => ({ rpcUrls: [url], pollingSeconds: 0.1 })
    server = await startServer(
      {
        settings: {
          'devnet.enabled': false,
          'data.dir': dataDir,
          'plugins.folders': [fileURLToPath(new URL('../../plugins/monad', import.meta.url)), folder],
        },
        conf: {
          'clients.yml': { clients: { client: rules } },
          'chains/monad.yml': { mainnet: nodeOf(node.rpcUrl), testnet: nobody },
          'chains/tonic.yml': { mainnet: nodeOf(ofTonic.rpcUrl) },
        },
        env: { SLUICE_WALLET_PASSPHRASE_FILE: passphraseFile },
      },
      home,
    )
  })
  after(async () => {
    await server?.stop()
    for (const each of nodes) await each.stop()
    await rm(home, { recursive: true, force: true })
  })

  const hold = (amount: string, at = node) => at.rpc('anvil_setBalance', address, toQuantity(parseEther(amount)))
  const mine = (blocks: number, at = node) => at.rpc('anvil_mine', toQuantity(blocks))
  const wrap = (amount: string) => server.client.post('/evm/wrap', { ...monad, address, amount })
  /** In a block of its own, and it did not revert. */
  const minedAt = async ({ body: { txHash } }: Answer, at = node) => {
    await until('the node has it', async () => (await at.rpc('eth_getTransactionByHash', txHash)) !== null)
    await mine(1, at)
    expect(await at.rpc('eth_getTransactionReceipt', txHash)).to.include({ status: '0x1' })
  }
  const refusedBy = (amount: string, blocks: number) =>
    new RegExp(
      `reserve balance of ${amount}[.0]* \\w+:.*last ${blocks} blocks.*nothing was signed: wait until those are ${blocks} blocks old, spend less, or fund the wallet up to [\\d.]+ \\w+\\.`,
    )
  const expectRefused = (answer: Answer, amount = '10', blocks = 3) => {
    expect(outcome(answer), answer.text).to.equal('422 INSUFFICIENT_BALANCE')
    expect(answer.body.message).to.match(refusedBy(amount, blocks))
    expect(answer.body.details).to.include({ reason: 'reserve balance' })
  }
  const expectSigned = (answer: Answer) => {
    expect(outcome(answer), answer.text).to.equal('200')
    return answer
  }

  it('on Monad one of three wraps that come at once is signed, and the others are refused with the rule', async () => {
    await hold('12.5')
    const answers = await Promise.all(['2', '2', '2'].map(wrap))
    const [signed = expect.fail('no answer'), ...refused] = answers.toSorted((a, b) => a.status - b.status)
    expectSigned(signed)
    expect(refused).to.have.length(2)
    for (const each of refused) expectRefused(each)
    expectRefused(await wrap('2'))
    await minedAt(signed)
    // It leaves the reserve.
    await minedAt(expectSigned(await wrap('0.2')))
    expectRefused(await wrap('2'))
    expectRefused(await server.client.post('/evm/send', { ...monad, address, to: coldStore, token: 'MON', amount: '2' }))
    await mine(2)
    expectRefused(await wrap('2'))
    await mine(1)
    await minedAt(expectSigned(await wrap('2')))
    expect(await node.rpc('eth_getTransactionCount', address, 'pending')).to.equal('0x3')
  })

  it('on a chain that is data alone the reserve and the maximum gas hold that its file names', async () => {
    const send = (amount: string) =>
      server.client.post('/evm/send', { chain: 'tonic', network: 'mainnet', address, to: coldStore, token: 'TON', amount })
    await hold('5', ofTonic)
    // PUSH1 1 PUSH0 SSTORE: some 43,000 gas.
    await ofTonic.rpc('anvil_setCode', coldStore, '0x60015f55')
    const expensive = await send('1')
    expect(outcome(expensive), expensive.text).to.equal('422 OUT_OF_GAS')
    expect(expensive.body.message).to.contain('40000')
    await ofTonic.rpc('anvil_setCode', coldStore, '0x')
    const signed = expectSigned(await send('2.5'))
    expectRefused(await send('1'), '3', 2)
    await minedAt(signed, ofTonic)
    expectRefused(await send('1'), '3', 2)
    await mine(2, ofTonic)
    await minedAt(expectSigned(await send('1')), ofTonic)
  })
})
