// The cards against connectors on Solana that are wrong in one line: the card is red, and says what is wrong.
import { expect } from 'chai'
import { constantProduct } from '../../plugins/poolswap/pool.ts'
import { programQuoter } from '../../kits/solana/amm/index.ts'
import { ammCards } from '../../testkit/cards/amm.ts'
import { solanaControl } from '../../testkit/cards/solana-control.ts'
import type { AddCard, TestVenue } from '../../testkit/cards/venue.ts'
import { here, startAmmSite, type AmmSite } from '../plugins/solana/amm-site.ts'

interface Mutation {
  /** What an author may get wrong. */
  readonly what: string
  readonly line: string
  readonly becomes: string
  /** Absent: pool.ts. */
  readonly file?: string
  /** The card that is red, after those that it needs something of. */
  readonly cards: readonly string[]
  readonly says: RegExp
}

const got = 'return (tradedRaw * outRaw) / (inRaw + tradedRaw)'
const paid = 'return paidRaw > 0n && inRaw + paidRaw <= most ? paidRaw : undefined'
const amm = 'accountsAMM(reader, { protocols: [protocol] })'
const wrapped = (plan: string) =>
  `((amm: ReturnType<typeof accountsAMM>) => ({ ...amm, swap: (...[quote, terms]: Parameters<typeof amm.swap>) => ({ ...amm.swap(quote, terms), ${plan} }) }))(${amm})`

const mutations: Readonly<Record<string, Mutation>> = {
  'better-for-more': {
    what: 'a better price for more',
    line: got,
    becomes: 'return ((tradedRaw > 10n ** 9n ? 2n : 1n) * tradedRaw * outRaw) / (inRaw + tradedRaw)',
    cards: ['AMM-01'],
    says: /SELL \w+-\w+: 1\.0+ at .*, 5\.0+ at/,
  },
  'cheap-buys': {
    what: 'a purchase that costs less than the sale brings',
    line: paid,
    becomes: 'return paidRaw > 1n ? paidRaw / 2n : undefined',
    cards: ['AMM-02'],
    says: /BASE-USDC|USDC-BASE/,
  },
  'more-than-pools': {
    what: 'a price for more than the pools hold',
    line: 'if (gotRaw >= outRaw) return undefined',
    becomes: 'if (gotRaw >= outRaw) return gotRaw < 10n ** 6n * outRaw ? inRaw : undefined',
    cards: ['AMM-03'],
    says: /is quoted, and more than the pools hold has to be PRICE_FAILED/,
  },
  'dear-buys': {
    what: 'a purchase that costs more than needed',
    line: paid,
    becomes: 'return paidRaw > 0n ? paidRaw + paidRaw / 100n + 1n : undefined',
    cards: ['AMM-04'],
    says: /to equal/,
  },
  'no-fee': {
    what: 'a fee that is forgotten',
    line: 'const tradedRaw = paidRaw - up(paidRaw * feeBasisPoints, wholeBasisPoints)',
    becomes: 'const tradedRaw = paidRaw - up(0n * feeBasisPoints, wholeBasisPoints)',
    cards: ['AMM-05'],
    says: /it quotes \d+, and the exchange's own quoter \d+/,
  },
  stranger: {
    what: "a stranger's account",
    line: '[from, to, vaultIn, vaultOut]',
    becomes: '[from, vaultOut, vaultIn, to]',
    cards: ['AMM-06'],
    says: /was refused/,
  },
  'no-bound': {
    what: 'a swap without its bound',
    line: "words(exact === 'in' ? 1n : 2n, amountRaw, boundRaw)",
    becomes: "words(exact === 'in' ? 1n : 2n, amountRaw, exact === 'in' ? 1n : boundRaw)",
    cards: ['AMM-07'],
    says: /put terms\.boundRaw into the call/,
  },
  deadline: {
    what: 'a deadline that no program keeps',
    file: 'index.ts',
    line: amm,
    becomes: wrapped('deadline: terms.deadline'),
    cards: ['AMM-08'],
    says: /no program of Solana is known to keep one/,
  },
  'no-needs': {
    what: 'a plan without its needs',
    file: 'index.ts',
    line: amm,
    becomes: wrapped('needs: []'),
    cards: ['AMM-09'],
    says: /`needs` lack { is: 'balance'/,
  },
  'many-units': {
    what: 'ten times the compute units',
    line: 'const swapUnits = 8_000n',
    becomes: 'const swapUnits = 80_000n',
    cards: ['AMM-06', 'AMM-10'],
    says: /gasUnits \d+, so a limit of \d+, and used \d+/,
  },
  'spot-high': {
    what: 'a spot that is ten times too high',
    line: 'return { numerator: outRaw, denominator: inRaw }',
    becomes: 'return { numerator: 10n * outRaw, denominator: inRaw }',
    cards: ['AMM-11'],
    says: /priceImpact 0\.9.*`spot` of the pool/s,
  },
  'fee-token': {
    what: 'a token that the program cannot move',
    line: 'if (vaults.some((vault) => !isOfTokenProgram(vault, accounts))) return null',
    becomes: '',
    cards: ['AMM-12'],
    says: /Transfers of this token take a fee/,
  },
}

describe('the cards of every AMM on Solana, and connectors that are wrong in one line', function () {
  this.timeout(400_000)
  let site: AmmSite
  before(async () => {
    const changed = ({ line, becomes, file = 'pool.ts' }: Mutation) => {
      return (content: string, name: string) => {
        if (name !== file) return content
        expect(content).to.include(line)
        return content.replace(line, becomes)
      }
    }
    site = await startAmmSite({
      slotMs: 40,
      skipped: 0.2,
      hasControls: true,
      withFees: true,
      copies: Object.fromEntries(Object.entries(mutations).map(([name, mutation]) => [name, changed(mutation)])),
    })
  })
  after(() => site?.stop())

  for (const [connector, { what, cards, says }] of Object.entries(mutations))
    it(`show ${what} by ${cards.at(-1)}`, async () => {
      const venue: TestVenue = {
        ...here,
        connector,
        client: site.client,
        rpcUrl: site.solana.url,
        wallets: site.wallets,
        pairs: [['BASE', 'USDC']],
        unquoted: [],
        quoter: programQuoter({ rpcUrl: site.solana.url, payer: site.payer }, constantProduct(site.pools[0].program, [])),
        chainControl: solanaControl(() => site.solana.url),
      }
      const runs = new Map<string, Parameters<AddCard>[1]>()
      ammCards(venue, (title, run) => void runs.set(title.slice(0, 6), run))
      const outcomes: unknown[] = []
      for (const card of cards)
        outcomes.push(
          await runs
            .get(card)?.()
            .catch((error: unknown) => (error instanceof Error ? error.message : error)),
        )
      expect(outcomes.slice(0, -1)).to.deep.equal(cards.slice(1).map(() => undefined))
      expect(outcomes.at(-1)).to.match(says)
    })
})
