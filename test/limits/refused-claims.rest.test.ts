// What requests that are over a limit cost: no nonce, and so no transaction of the server that fills a gap.
import { EventEmitter, once } from 'node:events'
import { expect } from 'chai'
import { hexlify, Transaction } from 'ethers'
import { formatRaw } from '../../core/base/decimal.ts'
import { SluiceError } from '../../core/contracts/index.ts'
import type { Client } from '../../core/config/clients.ts'
import { createClientLimits } from '../../core/limits/client-limits.ts'
import type { NetworkLimits } from '../../core/limits/limit-checks.ts'
import { createSpendingLimits, type LimitReader } from '../../core/limits/spending-limits.ts'
import type { Store } from '../../core/store/store.ts'
import type { Commitment } from '../../core/transactions/budgets.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import type { Journal } from '../../core/transactions/journal/journal.ts'
import type { Sign } from '../../core/transactions/submit-request.ts'
import { kinds as storeKinds, places } from '../store/stores.ts'
import {
  addressOf,
  gate,
  nowhere,
  order,
  planOf,
  sign,
  soon,
  startSite,
  transactionsOn,
  until,
  type TestSite,
} from '../transactions/site.ts'

const usdc = { address: 'in', symbol: 'USDC', decimals: 2 }
const reader: LimitReader = {
  gains: () => undefined,
  tells: () => 'all',
  heldChanges: () => [],
  gasCost: () => 21_000n * 10n ** 9n,
  token: (_, name) => (name === usdc.symbol || name === usdc.address ? usdc : undefined),
  value: () => ({ is: 'no market' }),
  reference: () => undefined,
}
const gives = (raw: bigint): Commitment => ({ gives: { in: raw } })
const perDay = (amount: string, more: NetworkLimits = {}): NetworkLimits => ({
  tokens: { 'ethereum/local': { USDC: { perDay: amount } } },
  ...more,
})

/** Requests at once; more by `npm run test:limits`. */
const burst = process.env.SLUICE_LIMITS_TURNS === 'all' ? 50 : 12
const many = <T>(count: number, each: () => T): T[] => Array.from({ length: count }, each)

describe('a request that is over a limit', () => {
  let site: TestSite
  before(async () => {
    site = await startSite({ flags: ['--no-mining'] })
  })
  after(() => site.stop())

  for (const storeKind of storeKinds)
    describe(storeKind === 'embedded' ? 'in the embedded store' : 'in PostgreSQL', () => {
      const { place } = places(storeKind)
      let store: Store
      const servers: { stop(): Promise<void> }[] = []
      beforeEach(async () => {
        store = await place().open()
      })
      afterEach(async () => {
        for (const { stop } of servers.splice(0)) await stop()
        await site.rpc('anvil_dropAllTransactions')
      })

      interface Server {
        on?: Store
        sign?: Sign
        journalOf?: (journal: Journal) => Journal
      }
      const serverWith = async (bot: NetworkLimits | (() => NetworkLimits | undefined), { on = store, ...more }: Server = {}) => {
        const limits = typeof bot === 'function' ? bot : () => bot
        const budgets = createSpendingLimits((client) => (client === 'bot' ? limits() : undefined), on.kind)
        budgets.readBy(reader)
        const transactions = await transactionsOn({ store: on, budgets, sites: [site.network], ...more })
        const submit = (change: Parameters<typeof order>[1] = {}, signal = soon()) =>
          transactions.submit(order(site, { caller: { id: 'bot' }, ...change }), signal)
        servers.push({ stop: () => transactions.stop(500) })
        return { submit, list: async (): Promise<readonly Entry[]> => (await transactions.list({ limit: 500 })).entries }
      }
      const outcomeOf = (work: Promise<unknown>): Promise<string> =>
        work.then(
          () => 'done',
          ({ name }: Error) => name,
        )
      const kinds = async (list: () => Promise<readonly Entry[]>, kind: string) =>
        (await list()).filter((each) => each.kind === kind && each.attempts.length > 0)
      /** So long that the watcher fills what there is to fill. */
      const settle = async () => {
        for (let block = 0; block < 8; block += 1) {
          await site.mine()
          await new Promise((resolve) => setTimeout(resolve, 100))
        }
      }

      it('claims no nonce: of many at once all but one leave no gap below the one that is signed', async () => {
        const { submit, list } = await serverWith(perDay('1'))
        const first = (await submit({ caller: { id: 'other' } })).nonce
        const over = many(burst - 1, () => outcomeOf(submit({ commitment: gives(101n) })))
        const within = submit({ commitment: gives(100n) })
        const behind = submit({ caller: { id: 'other' } })
        expect(new Set(await Promise.all(over))).to.deep.equal(new Set(['LIMIT_EXCEEDED']))
        expect([(await within).nonce, (await behind).nonce].toSorted((a, b) => a - b)).to.deep.equal([first + 1, first + 2])
        await settle()
        expect(await kinds(list, 'fill')).to.deep.equal([])
      })

      it('claims no nonce where those before it in a burst take what is left', async () => {
        const { submit, list } = await serverWith(perDay('1'))
        const inBurst = many(burst, () => outcomeOf(submit({ commitment: gives(60n) })))
        const behind = submit({ caller: { id: 'other' } })
        const outcomes = await Promise.all(inBurst)
        expect(outcomes.filter((each) => each === 'done')).to.have.length(1)
        expect(outcomes.filter((each) => each === 'LIMIT_EXCEEDED')).to.have.length(burst - 1)
        await behind
        await settle()
        expect(await kinds(list, 'fill')).to.deep.equal([])
        expect(await list()).to.have.length(2)
      })

      it('is let through where one before it in the burst fails, and nothing is counted twice', async () => {
        let refuses = true
        const signer: Sign = async (request) => {
          if (!refuses) return sign(request)
          refuses = false
          throw new SluiceError('FORBIDDEN', 'The signer refuses it.')
        }
        const { submit } = await serverWith(perDay('1'), { sign: signer })
        expect(await outcomeOf(submit({ commitment: gives(60n) }))).to.equal('FORBIDDEN')
        const burst = [20n, 20n, 20n, 20n, 20n].map((raw) => outcomeOf(submit({ commitment: gives(raw) })))
        expect(await Promise.all(burst)).to.deep.equal(['done', 'done', 'done', 'done', 'done'])
        expect(await outcomeOf(submit({ commitment: gives(1n) }))).to.equal('LIMIT_EXCEEDED')
      })

      it('that the write refuses gives its nonce back, and the next request has it', async () => {
        const { submit, list } = await serverWith(perDay('1'), { journalOf: unlooked })
        const { nonce } = await submit({ commitment: gives(100n) })
        for (let tries = 0; tries < 3; tries += 1) expect(await outcomeOf(submit({ commitment: gives(1n) }))).to.equal('LIMIT_EXCEEDED')
        expect((await submit({ caller: { id: 'other' } })).nonce).to.equal(nonce + 1)
        await settle()
        expect(await kinds(list, 'fill')).to.deep.equal([])
      })

      const ofServers = storeKind === 'postgres' ? it : () => {}
      ofServers('of a burst claims one nonce at most for what another server has spent meanwhile', async () => {
        const here = await serverWith(perDay('1'))
        const there = await serverWith(perDay('1'), { on: await place().open() })
        await here.submit({ commitment: gives(10n) })
        await there.submit({ address: addressOf(1), commitment: gives(90n) })
        const before = (await here.list()).length
        const inBurst = many(burst, () => outcomeOf(here.submit({ commitment: gives(1n) })))
        await here.submit({ caller: { id: 'other' } })
        expect(new Set(await Promise.all(inBurst))).to.deep.equal(new Set(['LIMIT_EXCEEDED']))
        await settle()
        expect((await kinds(here.list, 'fill')).length).to.be.at.most(1)
        expect((await here.list()).length).to.be.within(before + 1, before + 2)
      })

      it('that times out while it waits for those before it keeps nobody waiting', async () => {
        const [asked, opening] = [gate(), gate()]
        const held = (journal: Journal): Journal => ({
          ...journal,
          async open(...of) {
            asked.open()
            await opening.pass
            await journal.open(...of)
          },
        })
        const { submit } = await serverWith(perDay('1'), { journalOf: held })
        const first = submit({ commitment: gives(60n) })
        await asked.pass
        expect(await outcomeOf(submit({ commitment: gives(60n) }, AbortSignal.timeout(300)))).to.equal('TIMEOUT')
        const last = submit({ commitment: gives(40n) })
        opening.open()
        expect(await Promise.all([outcomeOf(first), outcomeOf(last)])).to.deep.equal(['done', 'done'])
      })

      it('that the write refuses when a later nonce is taken is filled, and counts for its client', async () => {
        const behind = new EventEmitter()
        const refusesLate = (journal: Journal): Journal => ({
          ...unlooked(journal),
          open: (...of) =>
            journal.open(...of).catch(async (error: unknown) => {
              const sent = once(behind, 'sent')
              behind.emit('refused')
              await sent
              throw error
            }),
        })
        const { submit, list } = await serverWith({ maxDailyGas: '0.000001', maxFee: '0.000001' }, { journalOf: refusesLate })
        for (const chosen of [false, true]) {
          const nonces = (await list()).map(({ nonce }) => nonce)
          const refused = once(behind, 'refused')
          const late = outcomeOf(submit(chosen ? { nonce: Math.max(...nonces) + 1 } : {}))
          await refused
          const { nonce } = await submit({ caller: { id: 'other' } })
          behind.emit('sent')
          expect(await late).to.equal('LIMIT_EXCEEDED')
          await until('the gap is filled', async () => {
            await site.mine()
            return (await kinds(list, 'fill')).some((each) => each.nonce === nonce - 1)
          })
          expect((await kinds(list, 'fill')).find((each) => each.nonce === nonce - 1)?.paidBy).to.equal('bot')
        }
      })

      /** With a maxDailyGas of its own, and of a client without limits and without thin. */
      const boundsOfFees = {
        'its maxDailyGas': () => {
          const bot = { maxDailyGas: '1000' }
          return { limits: () => bot, set: (amountRaw: bigint) => void (bot.maxDailyGas = formatRaw(amountRaw, 18)) }
        },
        'its default maxDailyGas': () => {
          let feesAtCapRaw = 1000n * 10n ** 18n
          const settings = { maxDailyGasPercent: 100, maxFeePercent: 100, maxDailyLossPercent: 2, minDailyLoss: 20 }
          const bot: Client = { name: 'bot', permissions: ['read', 'trade'], wallets: 'all' }
          const clients = [bot]
          const book = createClientLimits({ clients: () => clients, ownOf: () => undefined, settings })
          book.setDefaults({ termsOf: () => ({ feesAtCapRaw, decimals: 18 }), heldMicros: () => 0n })
          return {
            limits: () => book.on('bot', { chain: 'ethereum', network: 'local' }),
            set: (amountRaw: bigint) => void (feesAtCapRaw = amountRaw),
          }
        },
      }
      for (const [bound, boundOf] of Object.entries(boundsOfFees))
        it(`has no fills without end, whatever refuses it late: they count in ${bound}, and then no nonce is claimed`, async () => {
          const turns = new EventEmitter()
          // It refuses what sends 7 wei, once another request is behind it.
          const signer: Sign = async (request) => {
            if (Transaction.from(hexlify(request.signable.bytes)).value !== 7n) return sign(request)
            turns.emit('asked')
            await once(turns, 'behind')
            throw new SluiceError('FORBIDDEN', 'The signer refuses it.')
          }
          const { limits, set } = boundOf()
          const { submit, list } = await serverWith(limits, { sign: signer })
          const plan = planOf({ to: nowhere, data: '0x', value: '7' })
          const outcomes: string[] = []
          while (outcomes.length < 20 && outcomes.at(-1) !== 'LIMIT_EXCEEDED') {
            const asked = once(turns, 'asked')
            const late = outcomeOf(submit({ plan }))
            const isAsked = await Promise.race([asked.then(() => true), late.then(() => false)])
            if (isAsked) {
              await submit({ caller: { id: 'other' } })
              turns.emit('behind')
            }
            outcomes.push(await late)
            await until(
              'each gap is filled',
              async () => (await kinds(list, 'fill')).length === outcomes.filter((each) => each === 'FORBIDDEN').length,
            )
            const fees = (await kinds(list, 'fill'))[0]?.attempts[0]?.fees as { maxFeePerGas: string } | undefined
            const feeRaw = 21_000n * BigInt(fees?.maxFeePerGas ?? 0)
            // A fifth is kept for cancels.
            set(5n * feeRaw)
          }
          expect(outcomes).to.deep.equal(['FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN', 'LIMIT_EXCEEDED'])
        })
    })
})

/** As if the limits had said nothing before the nonce was claimed: another server has spent meanwhile. */
const unlooked = (journal: Journal): Journal => ({ ...journal, admit: () => undefined })
