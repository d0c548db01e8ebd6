import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { getBytes } from 'ethers'
import { parse } from 'yaml'
import { SluiceError, permitTypedData, type Plan } from '../../core/contracts/index.ts'
import type { Store } from '../../core/store/store.ts'
import type { Entry, PermitState } from '../../core/transactions/entry.ts'
import type { SignPermit, SubmitRequest } from '../../core/transactions/submit-request.ts'
import type { Transactions } from '../../core/transactions/transactions.ts'
import type { Evm } from '../../kits/evm/index.ts'
import uniswap from '../../plugins/uniswap/index.ts'
import { at, openDevnetFixture, tokens, type DevnetFixture } from '../kits/amm/devnet-fixture.ts'
import { faultyJournal, type Faults } from './submit/faulty-journal.ts'
import { freshStore, reaches, rejection, sign, soon, transactionsOn, until } from './site.ts'

const { USDC, WETH } = tokens
const defaults = parse(readFileSync(new URL('../../plugins/uniswap/defaults.yml', import.meta.url), 'utf8'))

describe('a permit in the journal', () => {
  let fixture: DevnetFixture
  let exchange: ReturnType<typeof uniswap.create>
  let store: Store
  let transactions: Transactions
  const signPermit: SignPermit = async ({ permit }) => {
    const { domain, types, message } = permitTypedData(permit, fixture.chain.chainId)
    return getBytes(await fixture.trader.signTypedData(domain, types, message))
  }
  const start = (more: Omit<Parameters<typeof transactionsOn>[0] & object, 'store' | 'sites'> = {}) =>
    transactionsOn({ store, sites: [{ chain: 'ethereum', network: 'local', impl: fixture.chain }], signPermit, sign, ...more })

  before(async () => {
    fixture = await openDevnetFixture(undefined, { confirmations: 2, pollingSeconds: 0.05 })
    exchange = uniswap.create({ ...fixture.venue(defaults.contractAddresses.local), config: defaults })
    await fixture.approve(USDC.address, exchange.permit2?.address ?? '')
  })
  after(() => fixture.close())
  beforeEach(async () => {
    store = await freshStore()
  })
  afterEach(async () => {
    await transactions?.stop(1_000)
    await store.close()
  })

  let requests = 0
  async function request(): Promise<SubmitRequest> {
    const quote = await exchange.AMM.quote({ tokenIn: USDC, tokenOut: WETH, exact: 'in', amountRaw: 50_000_000n }, { version: 'v4' }, at())
    const deadline = quote.head.timestamp + 60
    const plan: Plan<Evm> = exchange.AMM.swap(quote, {
      recipient: fixture.trader.address,
      boundRaw: (quote.amountRaw * 9n) / 10n,
      deadline,
    })
    requests += 1
    return {
      network: { chain: 'ethereum', network: 'local', impl: fixture.chain },
      address: fixture.trader.address,
      caller: { id: 'client' },
      requestId: `permit-${requests}`,
      feeOverrides: {},
      kind: 'trade',
      plan,
      commitment: { gives: {} },
      scope: { contracts: plan.steps.map(({ to }) => to), valueRaw: 0n },
      touches: () => ({ action: 'swap', tokens: [] }),
      answer: () => ({}),
      permit: { ...exchange.permit2, decimals: 6 },
    }
  }
  const entries = async (requestId: string): Promise<readonly Entry[]> => (await transactions.list({ requestId })).entries
  const becomes = (requestId: string, state: PermitState) =>
    until(`the permit is ${state}`, async () => (await entries(requestId))[0]?.permits?.[0]?.state === state)

  it('stands there before it is signed, and outlives a server that ended before the transaction was signed', async () => {
    const asked = await request()
    let journaled: readonly Entry[] = []
    const faults: Faults = {}
    transactions = await start({
      journalOf: (journal) => faultyJournal(journal, faults),
      async signPermit(of) {
        journaled = await entries(asked.requestId)
        return signPermit(of)
      },
      // Killed now: it never writes again.
      sign: () => new Promise<never>(() => (faults.away = true)),
    })
    const ending = new AbortController()
    const hanging = rejection(transactions.submit(asked, ending.signal))
    await until('the transaction is to be signed', async () => faults.away === true)
    ending.abort()
    expect(journaled[0]?.state).to.equal('QUEUED')
    expect(journaled[0]?.permits?.[0]).to.deep.include({ state: 'outstanding', amountRaw: '50000000', token: USDC.address })
    expect((await hanging).name).to.equal('TIMEOUT')
    await transactions.stop(0)

    transactions = await start()
    const [entry] = await entries(asked.requestId)
    expect([entry?.state, entry?.permits?.[0]?.state]).to.deep.equal(['EXPIRED', 'outstanding'])
    const next = await request()
    expect((await rejection(transactions.submit(next, soon()))).name).to.equal('INSUFFICIENT_ALLOWANCE')
    await fixture.provider.send('evm_increaseTime', [100])
    for (let block = 0; block < 4; block += 1) await fixture.provider.send('evm_mine', [])
    await becomes(asked.requestId, 'expired')
    const { txHash } = await transactions.submit(await request(), soon())
    await fixture.mined(txHash)
  })

  it('stands in the way of the next one from before it is in the journal, whatever blocks come', async () => {
    let [isHeld, isWaiting, release] = [false, false, () => {}]
    transactions = await start({
      journalOf: (journal) => ({
        ...journal,
        async open(...args) {
          if (isHeld) {
            isWaiting = true
            await new Promise<void>((resolve) => (release = resolve))
          }
          return journal.open(...args)
        },
      }),
    })
    // Blocks are followed as long as this one is not final.
    const first = await request()
    await fixture.mined((await transactions.submit(first, soon())).txHash)
    isHeld = true
    const slow = transactions.submit(await request(), soon())
    await until('the journal waits', async () => isWaiting)
    for (let block = 0; block < 3; block += 1) await fixture.provider.send('evm_mine', [])
    await becomes(first.requestId, 'used')
    isHeld = false
    expect((await rejection(transactions.submit(await request(), soon()))).name).to.equal('INSUFFICIENT_ALLOWANCE')
    release()
    await fixture.mined((await slow).txHash)
  })

  it('stays outstanding until its transaction is final, over a restart, and the signature is in the calldata that is journaled', async () => {
    transactions = await start()
    const asked = await request()
    await fixture.provider.send('evm_setIntervalMining', [0])
    await fixture.provider.send('evm_setAutomine', [false])
    const { txHash } = await transactions.submit(asked, soon())
    const [before] = await entries(asked.requestId)
    expect(before?.step).not.to.deep.equal(asked.plan.steps[0])
    await transactions.stop(0)
    transactions = await start()
    expect((await rejection(transactions.submit(await request(), soon()))).name).to.equal('INSUFFICIENT_ALLOWANCE')
    await fixture.provider.send('evm_mine', [])
    await fixture.mined(txHash)
    expect((await entries(asked.requestId))[0]?.permits?.[0]?.state).to.equal('outstanding')
    await fixture.provider.send('evm_setAutomine', [true])
    await fixture.provider.send('evm_setIntervalMining', [1])
    await reaches(transactions, txHash, 'CONFIRMED')
    await becomes(asked.requestId, 'used')
  })

  it('does not appear where the signer refused it', async () => {
    const refused = new SluiceError('FORBIDDEN', 'The signer refused.')
    transactions = await start({ signPermit: () => Promise.reject(refused) })
    const asked = await request()
    expect((await rejection(transactions.submit(asked, soon()))).name).to.equal('FORBIDDEN')
    const [entry] = await entries(asked.requestId)
    expect(entry?.state).to.equal('EXPIRED')
    expect(entry).not.to.have.property('permits')
    // It stands in nobody's way.
    expect((await rejection(transactions.submit(await request(), soon()))).name).to.equal('FORBIDDEN')
  })

  it('stays unsent where the signature is not of the wallet', async () => {
    transactions = await start({ signPermit: async ({ permit, ...of }) => signPermit({ ...of, permit: { ...permit, amountRaw: 1n } }) })
    const failure = await rejection(transactions.submit(await request(), soon()))
    expect(failure.message).to.contain('not of its owner')
  })
})
