import {
  SluiceError,
  type Life,
  type PerpAMM,
  type PerpFunding,
  type PerpMarketName,
  type UnlistedMarket,
  type Venue,
} from '../../core/contracts/index.ts'
import type { Evm } from '../evm/types.ts'
import { readTexts, combineAll, deferred, combine } from './batch-read.ts'
import { readWithTerms, type Curie, type CurieMarket, findCurie, deploymentOf, type PerpOptions } from './curie.ts'
import {
  accountWithoutFigures,
  liquidationsFrom,
  liquidationsOf,
  readAccount,
  collateralOf,
  readFunding,
  readMarket,
  readPosition,
  toPosition,
} from './state.ts'
import { quoteClose, typicalGasUnits, quoteOrder } from './quote.ts'
import { planClose, planMove, planOpen } from './plan.ts'
import { readPerpFill } from './fill.ts'

/** Perpetual Protocol v2 on one network. `spender` is the contract that takes collateral from wallets. */
export type Perp = PerpAMM<Evm> & Required<Pick<Life, 'start'>> & { readonly spender: string }

/** @throws where the plugin or its configuration lacks the network */
export function perp(venue: Venue<Evm>, options: PerpOptions): Perp {
  const deployment = deploymentOf(venue, options)
  let found: Curie | undefined
  const curie = (): Curie => {
    if (found) return found
    throw new SluiceError('SERVICE_UNINITIALIZED', 'The connector is still reading the addresses of the exchange. Try again shortly.', {
      retryAfterSeconds: 2,
    })
  }
  const marketOf = ({ id }: PerpMarketName): CurieMarket => {
    const market = curie().markets.find((each) => each.id === id)
    if (market) return market
    throw new SluiceError('PAIR_NOT_FOUND', `The exchange has no market ${id}; /perpAMM/pairs lists them.`)
  }

  return {
    spender: deployment.vault,
    typicalGasUnits,
    // `perpRefusals` says what they mean, and where they are from.
    slippageReasons: ['CH_TLRS', 'CH_TMRL'],
    async start(signal) {
      found = await findCurie(venue, deployment, { signal })
    },
    async listMarkets() {
      const { markets, settlement, unlisted } = curie()
      return { markets, settlement, ...(unlisted.length > 0 && { unlisted }) }
    },
    async prices(name, at) {
      const market = marketOf(name)
      const { head, answer } = await readWithTerms(curie(), (terms) => readMarket(curie().contracts, terms, market), at)
      return { head, market: answer.market, prices: answer.prices }
    },
    async position(owner, name, at) {
      const market = marketOf(name)
      const { contracts, settlement } = curie()
      const { head, answer } = await readWithTerms(
        curie(),
        (terms) =>
          combine({
            state: readMarket(contracts, terms, market),
            account: deferred(readAccount(contracts, terms, settlement, owner)),
            position: readPosition(contracts, market, owner),
          }),
        at,
      )
      const position = toPosition(answer.position, answer.state)
      try {
        return { head, position, account: answer.account().account }
      } catch (error) {
        return { ...(await accountWithoutFigures(curie(), owner, error, at)), position, head }
      }
    },
    async account(owner, at) {
      const { contracts, settlement } = curie()
      const { head, answer } = await readWithTerms(curie(), (terms) => deferred(readAccount(contracts, terms, settlement, owner)), at)
      try {
        return { head, account: answer().account }
      } catch (error) {
        return accountWithoutFigures(curie(), owner, error, at)
      }
    },
    async funding(owner, at) {
      const { contracts, markets } = curie()
      const { head, answer } = await readWithTerms(
        curie(),
        (terms) =>
          combine({
            bases: readTexts(contracts.balances, 'getBaseTokens', owner),
            markets: combineAll(markets.map((market) => deferred(readFunding(contracts, terms, market, owner)))),
          }),
        at,
      )
      const funding: PerpFunding[] = []
      const unread: UnlistedMarket[] = []
      let failure: SluiceError | undefined
      for (const base of answer.bases) {
        const index = markets.findIndex(({ id }) => id === base)
        const market = markets[index]
        try {
          const read = answer.markets[index]?.()
          if (read) funding.push(read)
          else unread.push({ market: base, reason: 'this connector does not list the market of this base token' })
        } catch (error) {
          if (!(error instanceof SluiceError) || !market) throw error
          failure ??= error
          unread.push({ market: `${market.base}${market.quote}`, reason: error.message })
        }
      }
      if (failure && funding.length === 0) throw failure
      return { head, funding, ...(unread.length > 0 && { unread }) }
    },
    quote: (order, owner, at) => quoteOrder(curie(), marketOf(order.market), order, owner, at),
    quoteClose: (owner, name, at) => quoteClose(curie(), marketOf(name), owner, at),
    open: (quote, terms) => planOpen(curie().contracts, quote, terms),
    close: (closing, terms) => planClose(curie().contracts, closing, terms),
    collateral: (owner, token, at) => collateralOf(curie(), owner, token, at),
    transferCollateral: (token, amountRaw, how) => planMove(curie().contracts, token, amountRaw, how),
    perpFill: readPerpFill,
    liquidations: (owner, name, sinceBlock, at) => liquidationsOf(curie(), marketOf(name), owner, sinceBlock, at),
    liquidationsFrom: (at) => liquidationsFrom(curie().reader, at),
  }
}
