import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { generateKeyPairSigner } from '@solana/kit'
import { nativeAddress } from '../../../kits/solana/index.ts'
import { chainOver, soon, startCluster, type TestCluster } from './test-cluster.ts'

const nobody = 'So1ar1111111111111111111111111111111111111F'

describe('reading Solana', () => {
  let site: TestCluster
  before(async () => {
    site = await startCluster()
  })
  after(() => site?.stop())

  it('returns the newest confirmed slot with the time of the cluster', async () => {
    const { cluster, chain } = site
    const before = await chain.head(soon())
    cluster.blocks(2)
    const after = await chain.head(soon())
    expect(after.number > before.number).to.equal(true)
    expect(Math.abs(after.timestamp - Date.now() / 1000)).to.be.below(60)
  })

  it('names the block before it by its hash, and tells later whether its slot has another block, or none', async () => {
    const { cluster, chain, asked } = site
    cluster.blocks(40)
    const zero = `0x${'0'.repeat(64)}`
    asked()
    const { number, hash = '', timestamp } = await chain.hashedHead!(soon())
    expect(asked()).to.deep.equal(['getMultipleAccounts'])
    const head = await chain.head(soon())
    expect(number < head.number).to.equal(true)
    expect(timestamp).to.equal(head.timestamp)
    const undone = (of: bigint, by = hash) => chain.isUndone!({ number: of, hash: by }, soon())
    expect(await undone(number)).to.equal(false)
    expect(await undone(number, zero)).to.equal(true)
    // It has no such block yet, and had one that is on its list no more.
    for (const unknown of [number + 1_000n, 1n]) expect([await undone(unknown), await undone(unknown, zero)]).to.deep.equal([false, false])
    cluster.reorganise(6, 'lost')
    cluster.blocks(12)
    expect(await undone(number)).to.equal(true)
  })

  it('follows heads by slots', async () => {
    const { cluster, chain } = site
    const watching = new AbortController()
    const seen: bigint[] = []
    for await (const { number } of chain.heads(watching.signal)) {
      seen.push(number)
      if (seen.length === 3) break
      cluster.blocks(2)
    }
    watching.abort()
    expect(seen).to.deep.equal(seen.toSorted((a, b) => Number(a - b)))
    expect(new Set(seen).size).to.equal(3)
  })

  it('reads balances of the coin and of tokens of both programs in one round trip', async () => {
    const { cluster, chain, wallet, asked } = site
    const { USDC, FEES } = cluster.mints
    await cluster.mintTo(wallet.address, USDC, 1_500_000n)
    await cluster.mintTo(wallet.address, FEES, 7n)
    cluster.blocks(1)
    asked()
    const balances = await chain.balances(wallet.address, [chain.nativeCurrency, USDC, FEES], soon())
    expect(balances).to.deep.equal([5_000_000_000n, 1_500_000n, 7n])
    expect(asked()).to.deep.equal(['getGenesisHash', 'getMultipleAccounts'].slice(-1))
  })

  it('returns a balance of 0 where there is no account', async () => {
    const { cluster, chain } = site
    const stranger = await generateKeyPairSigner()
    expect(await chain.balances(stranger.address, [chain.nativeCurrency, cluster.mints.USDC, cluster.mints.FEES], soon())).to.deep.equal([
      0n,
      0n,
      0n,
    ])
  })

  it('knows no balance of an address that is not a mint, and those of the others', async () => {
    const { chain, cluster, wallet } = site
    const wrong = { symbol: 'WRONG', address: wallet.address, decimals: 6 }
    const balances = await chain.balances(wallet.address, [chain.nativeCurrency, wrong, cluster.mints.USDC], soon())
    expect(balances[1]).to.equal(undefined)
    expect([balances[0], balances[2]]).to.not.include(undefined)
  })

  it('reads a hundred tokens in one batch', async () => {
    const { cluster, chain, wallet, asked } = site
    const tokens = Array.from({ length: 100 }, () => cluster.mints.USDC)
    asked()
    const balances = await chain.balances(wallet.address, tokens, soon())
    expect(balances).to.deep.equal(tokens.map(() => 1_500_000n))
    expect(asked()).to.deep.equal(Array.from({ length: 3 }, () => 'getMultipleAccounts'))
  })

  it('reads a token from its mint', async () => {
    const { cluster, chain, wallet } = site
    for (const { address, decimals } of Object.values(cluster.mints))
      expect(await chain.token(address, soon())).to.deep.equal({ symbol: address, address, decimals })
    for (const address of [wallet.address, nativeAddress, nobody]) expect(await chain.token(address, soon())).to.equal(undefined)
  })

  it('finds a transaction with its receipt, and undefined for an unknown one', async () => {
    const { cluster, chain, wallet } = site
    const signature = await cluster.fund(wallet.address, 1_000n)
    cluster.blocks(1)
    const found = await chain.find(signature, soon())
    expect(found?.receipt).to.include({ status: 1, signature, err: null, fee: '5000' })
    expect(found?.receipt?.slot).to.equal(found?.blockNumber)
    expect(found?.tx).to.have.property('message')
    const unknown = '5'.repeat(87)
    expect(chain.isTransactionId(unknown)).to.equal(true)
    expect(await chain.find(unknown, soon())).to.equal(undefined)
  })

  it('names the programs in a log', async () => {
    const { cluster, chain } = site
    const { address } = await generateKeyPairSigner()
    const signature = await cluster.mintTo(address, cluster.mints.USDC, 5n)
    cluster.blocks(1)
    const found = await chain.find(signature, soon())
    const decoded = found?.receipt && chain.decode(found.receipt, [])
    const logs: unknown = Reflect.get(Object(decoded), 'logs')
    expect(logs).to.be.an('array')
    const named = [logs].flat().map((each: unknown) => [Reflect.get(Object(each), 'name'), Reflect.get(Object(each), 'events')])
    const instruction = (value: string) => [{ name: 'instruction', value }]
    expect(named).to.deep.include.members([
      ['Compute Budget', instruction('SetComputeUnitLimit')],
      ['Associated Token Account', instruction('CreateAssociatedTokenIdempotent')],
      ['System', instruction('CreateAccount')],
      ['Token', instruction('InitializeAccount3')],
      ['Token', instruction('MintTo')],
    ])
  })

  it('does not read from a node of another cluster', async () => {
    const { chain } = chainOver({ rpcUrls: [site.cluster.url] }, { genesisHash: nobody, local: false })
    const error = await chain.head(soon()).catch((thrown: unknown) => thrown)
    expect(error).to.include({ name: 'NETWORK' })
    expect(String(Reflect.get(Object(error), 'message'))).to.contain('genesis hash')
    await chain.stop?.()
  })

  it('accepts base58 of 32 bytes as an address and of 64 as a signature, in one spelling only', () => {
    const { chain, wallet } = site
    expect(chain.address(wallet.address)).to.equal(wallet.address)
    expect(chain.address(nativeAddress)).to.equal(nativeAddress)
    for (const wrong of [
      '',
      '0x',
      `0x${'0'.repeat(40)}`,
      wallet.address.slice(0, 20),
      `${wallet.address}11`,
      `1${wallet.address}`,
      ` ${wallet.address}`,
    ])
      expect(chain.address(wrong), wrong).to.equal(undefined)
    for (const wrong of [wallet.address, '0xab', `0x${'ab'.repeat(32)}`, '5'.repeat(60), '5'.repeat(90)])
      expect(chain.isTransactionId(wrong)).to.equal(false)
  })

  it('reads accounts in as many calls as the plan of a node wants, and remembers how many it takes', async () => {
    const { cluster, wallet } = site
    const { USDC, FEES } = cluster.mints
    const counts: number[] = []
    const proxy = createServer((request, response) => {
      void text(request).then(async (body) => {
        const calls: { id: number; method: string; params: unknown[][] }[] = [JSON.parse(body)].flat()
        const told = await (await fetch(cluster.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).json()
        const answers = [told].flat().map((answer, index) => {
          const call = calls[index]
          if (call?.method !== 'getMultipleAccounts') return answer
          const count = call.params[0]?.length ?? 0
          counts.push(count)
          return count <= 2 ? answer : { jsonrpc: '2.0', id: call.id, error: { code: -32602, message: 'Too many inputs provided; max 2' } }
        })
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(Array.isArray(told) ? answers : answers[0]))
      })
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const { chain } = chainOver({ rpcUrls: [`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`] })
    const tokens = [chain.nativeCurrency, USDC, FEES]
    const expected = await site.chain.balances(wallet.address, tokens, soon())
    expect(await chain.balances(wallet.address, tokens, soon())).to.deep.equal(expected)
    expect(Math.max(...counts)).to.be.greaterThan(2)
    counts.length = 0
    expect(await chain.balances(wallet.address, tokens, soon())).to.deep.equal(expected)
    expect(Math.max(...counts)).to.equal(2)
    await chain.stop?.()
    proxy.close()
  })
})
