import { expect } from 'chai'
import { address, generateKeyPairSigner } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { holdsAll, takesAll } from '../../../tools/solana-node/ledger/leaders.ts'
import { startFaultyProxy, type FaultyProxy } from '../../http/trouble/faulty-proxy.ts'
import type { SolanaChainConfig } from '../../../kits/solana/index.ts'
import { freshStore } from '../../transactions/site.ts'
import { comesTo, entryOf, orderOf, startSolanaSite, transactionsAt, transfer, type SolanaSite } from './solana-site.ts'
import { chainOver, soon } from './test-cluster.ts'

describe('a private transaction on Solana', () => {
  let site: SolanaSite
  let open: FaultyProxy
  let relay: FaultyProxy
  const tipAccounts = ['GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ', '9a7xu6pt44A5WRkDyfvFKdfY6MYFuvbcfme1pvsy7e9J'].map((each) =>
    address(each),
  )
  const privateTip = { lamports: 20_000, accounts: tipAccounts }
  before(async () => {
    site = await startSolanaSite()
    ;[open, relay] = [await startFaultyProxy(), await startFaultyProxy()]
    for (const each of [open, relay]) each.target = site.cluster.url
    for (const each of tipAccounts) await site.cluster.fund(each, 1_000_000n)
    site.cluster.blocks(1)
  })
  after(async () => {
    await Promise.all([open?.stop(), relay?.stop()])
    await site?.stop()
  })

  const held = () => tipAccounts.map((each) => site.cluster.svm.getBalance(each) ?? 0n)
  const relays = () => ({ privateUrls: [`http://127.0.0.1:${relay.port}`] })

  interface Transfer {
    /** What is sent to the faucet. */
    lamports?: bigint
    privateOnly?: true
    /** What happens between its sending and its block. */
    meanwhile?: () => Promise<void>
  }

  /** How often each was asked to pass them on, what the last answer was, and what became of it. */
  async function sends(config: SolanaChainConfig, ...sendings: readonly Transfer[]) {
    const { chain } = chainOver({ rpcUrls: [`http://127.0.0.1:${open.port}`], ...config })
    const own = { ...site, chain, network: { ...site.network, impl: chain } }
    const transactions = await transactionsAt(own)
    for (const each of [open, relay]) each.asked.length = 0
    try {
      const outcomes = []
      for (const { lamports = 1n, privateOnly, meanwhile } of sendings) {
        if (meanwhile) site.cluster.lead(holdsAll)
        const plan = transfer(own, site.cluster.faucet.address, lamports)
        const { txHash, gas } = await transactions.submit(orderOf(own, { plan, ...(privateOnly && { privateOnly }) }), soon().signal)
        const asked = [open, relay].map(({ asked: methods }) => methods.filter((method) => method === 'sendTransaction').length)
        await meanwhile?.()
        site.cluster.lead(takesAll)
        await comesTo(own, transactions, txHash, meanwhile ? 'REVERTED' : 'CONFIRMED')
        const receipt = (await chain.find(txHash, soon()))?.receipt
        outcomes.push({ asked, gas, cost: (await entryOf(transactions, txHash))?.landed?.cost, receipt, chain })
      }
      return outcomes
    } finally {
      await transactions.stop(1000)
      await chain.stop?.()
    }
  }

  const refusal = (...args: Parameters<typeof sends>) =>
    sends(...args).then(
      () => 'sent',
      ({ name, message }: Error) => `${name} ${message}`,
    )

  it('goes to the relays alone, and one that is not goes to no relay', async () => {
    const outcomes = await sends(relays(), { privateOnly: true }, {})
    expect(outcomes.map(({ asked }) => asked)).to.deep.equal([
      [0, 1],
      [1, 1],
    ])
  })

  it('gives the tip to one account after the other, within its own transaction, and counts it as a fee', async () => {
    const before = held()
    const private3 = [1, 2, 3].map(() => ({ privateOnly: true }) as const)
    const outcomes = await sends({ ...relays(), privateTip }, ...private3)
    expect(outcomes.map(({ asked }) => asked[0])).to.deep.equal([0, 0, 0])
    expect(held().map((raw, index) => raw - (before[index] ?? 0n))).to.deep.equal([40_000n, 20_000n])
    for (const { gas, cost, receipt, chain } of outcomes) {
      expect(gas.tipRaw).to.equal(20_000n)
      expect(gas.gasCostRaw > 25_000n && gas.gasCostRaw < 26_000n, String(gas.gasCostRaw)).to.equal(true)
      expect(receipt?.tip).to.equal('20000')
      expect(cost).to.deep.equal({ feeRaw: String(BigInt(receipt?.fee ?? '0') + 20_000n) })
      const moved = receipt && chain.movements?.(receipt, site.wallet.address)
      expect(moved?.get(site.chain.nativeCurrency.address)).to.equal(-1n)
    }
  })

  it('is a tip by what was signed, where another account is set before it lands', async () => {
    const store = await freshStore()
    const [first, second] = tipAccounts
    const start = async (account: string | undefined) => {
      const config = { ...relays(), privateTip: { lamports: 20_000, accounts: account === undefined ? [] : [account] } }
      const { chain } = chainOver({ rpcUrls: [`http://127.0.0.1:${open.port}`], ...config })
      const own = { ...site, chain, network: { ...site.network, impl: chain } }
      return { own, transactions: await transactionsAt(own, { store }) }
    }
    site.cluster.lead(holdsAll)
    const before = await start(first)
    const plan = transfer(before.own, site.cluster.faucet.address, 1n)
    const { txHash } = await before.transactions.submit(orderOf(before.own, { plan, privateOnly: true }), soon().signal)
    await before.transactions.stop(1000)
    await before.own.chain.stop?.()
    const { own, transactions } = await start(second)
    site.cluster.lead(takesAll)
    await comesTo(own, transactions, txHash, 'CONFIRMED')
    const landed = (await entryOf(transactions, txHash))?.landed
    const receipt = Object(landed?.receipt)
    expect(receipt.tip).to.equal('20000')
    expect(landed?.cost).to.deep.equal({ feeRaw: String(BigInt(receipt.fee) + 20_000n) })
    expect((await own.chain.find(txHash, soon()))?.receipt?.tip).to.equal('20000')
    await transactions.stop(1000)
    await own.chain.stop?.()
    await store.close()
  })

  it('gives none where it is not private', async () => {
    const before = held()
    const [outcome] = await sends({ ...relays(), privateTip }, {})
    expect(outcome?.gas).to.not.have.property('tipRaw')
    expect(outcome?.receipt).to.not.have.property('tip')
    expect(held()).to.deep.equal(before)
  })

  it('gives none where it fails in its block', async () => {
    const before = held()
    const lamports = (site.cluster.svm.getBalance(site.wallet.address) ?? 0n) / 2n
    const meanwhile = async () => {
      const away = getTransferSolInstruction({ source: site.wallet, destination: site.cluster.faucet.address, amount: lamports })
      await site.cluster.land([away])
    }
    const [outcome] = await sends({ ...relays(), privateTip }, { lamports, privateOnly: true, meanwhile })
    expect(outcome?.receipt).to.not.have.property('tip')
    expect(outcome?.cost).to.deep.equal({ feeRaw: outcome?.receipt?.fee })
    expect(held()).to.deep.equal(before)
  })

  it('is refused before anything is signed where there is no relay', async () => {
    const sent = site.cluster.sent.length
    expect(await refusal({ privateUrls: [] }, { privateOnly: true })).to.match(/privateUrls/)
    expect(site.cluster.sent.length).to.equal(sent)
  })

  it('is refused where the tip leaves too little, or its account could not take it', async () => {
    const tipped = (lamports: number, accounts: readonly string[]) =>
      refusal({ ...relays(), privateTip: { lamports, accounts } }, { privateOnly: true })
    expect(await tipped(5_000_000_000, tipAccounts)).to.match(/^OUT_OF_GAS/)
    // An account that is not there cannot keep less than its rent.
    expect(await tipped(1_000, [(await generateKeyPairSigner()).address])).to.match(/^TRADE_FAILED/)
  })

  it('has a network refused whose tip is for nobody or no address', () => {
    expect(() => chainOver({ rpcUrls: [site.cluster.url], privateTip })).to.throw(/privateTip is for the endpoints of privateUrls/)
    expect(() => chainOver({ ...relays(), privateTip: { lamports: 1_000, accounts: ['1'.repeat(44)] } })).to.throw(/not an address/)
  })
})
