import { pause } from '../../core/base/async.ts'
import {
  Contract,
  getCreateAddress,
  parseUnits,
  type BaseContract,
  MaxUint256,
  Wallet,
  id as hashOf,
  toBeHex,
  type TransactionReceipt,
  toQuantity,
} from 'ethers'
import {
  type DevnetPlugin,
  devnetTokenSymbols,
  type Artifact,
  type DevnetSite,
  type DevnetTokens,
  type DevnetTokenSymbol,
  type BookOperator,
  type ExchangeOrder,
} from '../../core/contracts/devnet.ts'
import { bookPriceOf, formatRaw } from '../../core/base/decimal.ts'

export interface OasisDevnetOptions {
  readonly name: string
  /** Base and quote of its markets, by their addresses on the devnet. */
  readonly pairs: readonly (readonly [base: string, quote: string])[]
  readonly books: readonly DevnetBook[]
  readonly least: LeastAmounts
}

/** Deploys a matching market on the devnet, with offers on both sides of its books. */
export function oasisDevnet({ name, pairs, books, least }: OasisDevnetOptions): DevnetPlugin {
  return {
    name,
    async deploy(site) {
      await fillBooks(site, await deployMarket(site, least), books)
    },
    bookOperators: async (site) => ({ CLOB: await createBookOperator(site, pairs) }),
  }
}

// The first transaction of the deployer.
const marketNonce = 0

/** The minimum that an offer must pay, by token and in human units. */
export type LeastAmounts = Readonly<Partial<Record<DevnetTokenSymbol, string>>>

/** The market's address on the devnet. */
export const oasisDevnetMarket = (deployer: string): string => getCreateAddress({ from: deployer, nonce: marketNonce })

async function deployMarket(site: DevnetSite & { readonly tokens: DevnetTokens }, least: LeastAmounts): Promise<BaseContract> {
  const market = await site.deploy(await artifactOf(site))
  for (const symbol of devnetTokenSymbols) {
    const amount = least[symbol]
    const { address, decimals } = site.tokens[symbol]
    if (amount !== undefined) await site.send(market, 'setMinSell', address, parseUnits(amount, decimals))
  }
  return market
}

const marketAt = async (site: DevnetSite): Promise<Contract> =>
  new Contract(oasisDevnetMarket(site.signer.address), (await artifactOf(site)).abi, site.signer)

const artifactOf = (site: DevnetSite): Promise<Artifact> => site.artifact('TestOasisDex', import.meta.url)

/** A market with offers on both sides of a price. */
export interface DevnetBook {
  readonly base: DevnetTokenSymbol
  readonly quote: DevnetTokenSymbol
  readonly price: number
  /** The base amount of every offer. */
  readonly amount: string
}

/** Distance of the offers from the price, in basis points: the best bid and the best ask are more than a percent apart. */
const offersBps = [60, -60, 100, -100, 200, -200]
/** The market cannot represent prices with more decimals exactly. */
const priceDecimals = 2

const offer = 'offer(uint256,address,uint256,address,uint256,bool)'

/** Places offers of the market's deployer, who is none of the trading wallets. */
async function fillBooks(
  site: DevnetSite & { readonly tokens: DevnetTokens },
  market: BaseContract,
  books: readonly DevnetBook[],
): Promise<void> {
  const { tokens, signer } = site
  const spender = await market.getAddress()
  for (const symbol of new Set(books.flatMap(({ base, quote }) => [base, quote])))
    await site.send(new Contract(tokens[symbol].address, ['function approve(address, uint256)']), 'approve', spender, MaxUint256)
  for (const { base, quote, price, amount } of books) {
    const baseRaw = parseUnits(amount, tokens[base].decimals)
    const offers = offersBps.map((bps) => {
      const quoteRaw = quoteOf(
        baseRaw,
        ((price * (10_000 + bps)) / 10_000).toFixed(priceDecimals),
        tokens[base].decimals,
        tokens[quote].decimals,
      )
      return bps > 0 ? ([base, baseRaw, quote, quoteRaw] as const) : ([quote, quoteRaw, base, baseRaw] as const)
    })
    for (const symbol of [base, quote])
      await tokens[symbol].mint(
        signer.address,
        offers.reduce((sum, [pays, payRaw]) => (pays === symbol ? sum + payRaw : sum), 0n),
      )
    for (const [pays, payRaw, wants, wantRaw] of offers)
      await site.send(market, offer, payRaw, tokens[pays].address, wantRaw, tokens[wants].address, 0n, true)
  }
}

const quoteOf = (baseRaw: bigint, price: string, baseDecimals: number, quoteDecimals: number): bigint =>
  (baseRaw * parseUnits(price, 18) * 10n ** BigInt(quoteDecimals)) / 10n ** BigInt(18 + baseDecimals)

type Side = 'buys' | 'sells'
type Level = Awaited<ReturnType<BookOperator['book']>>['buys'][number]
interface OperatedMarket {
  readonly base: OperatorToken
  readonly quote: OperatorToken
}

/** The other traders on the market, and the market's own figures. */
async function createBookOperator(site: DevnetSite, pairs: readonly (readonly [string, string])[]): Promise<BookOperator> {
  const market = await marketAt(site)
  const address = await market.getAddress()
  const trader = new Wallet(hashOf('sluice devnet: another trader')).address
  const markets: OperatedMarket[] = []
  for (const [base, quote] of pairs) markets.push({ base: await tokenAt(site, base), quote: await tokenAt(site, quote) })
  const find = (name: string): OperatedMarket => {
    const found = markets.find(({ base, quote }) => name === `${base.symbol}-${quote.symbol}`)
    if (!found) throw new Error(`There is no market ${name} on the devnet.`)
    return found
  }
  const sideOf = ({ base, quote }: OperatedMarket, side: Side, blockTag: number | 'latest' = 'latest') =>
    side === 'sells'
      ? sortedOffers(market, base.address, quote.address, blockTag)
      : sortedOffers(market, quote.address, base.address, blockTag)
  const act = (from: string, method: string, ...args: readonly unknown[]) =>
    sendAs(site, from, { to: address, data: market.interface.encodeFunctionData(method, [...args]) })

  return {
    async book(name, blockNumber) {
      const named = find(name)
      return {
        buys: levels(named, 'buys', await sideOf(named, 'buys', blockNumber)),
        sells: levels(named, 'sells', await sideOf(named, 'sells', blockNumber)),
      }
    },
    async clear(name, wallets) {
      for (const side of ['buys', 'sells'] as const)
        for (const { id, owner } of await sideOf(find(name), side)) if (!wallets.includes(owner)) await act(owner, 'cancel', id)
    },
    async place(name, { side, price, amount }) {
      const { base, quote } = find(name)
      const baseRaw = parseUnits(amount, base.decimals)
      const quoteRaw = quoteOf(baseRaw, price, base.decimals, quote.decimals)
      if (side === 'BUY') {
        await fund(site, quote, trader, quoteRaw, address)
        return madeIn(market, await act(trader, offer, quoteRaw, quote.address, baseRaw, base.address, 0n, true))
      }
      await fund(site, base, trader, baseRaw, address)
      // An offer to sell ends once it got its quote amount, and would sell less base at better prices. So better bids are taken first.
      const soldRaw = crossedRaw(await sideOf(find(name), 'buys'), baseRaw, quoteRaw)
      if (soldRaw > 0n) await act(trader, 'sellAllAmount', base.address, soldRaw, quote.address, 0n)
      const leftRaw = baseRaw - soldRaw
      if (leftRaw === 0n) return {}
      return madeIn(market, await act(trader, offer, leftRaw, base.address, (quoteRaw * leftRaw) / baseRaw, quote.address, 0n, true))
    },
    async cancel(_name, orderId) {
      const { owner } = await market.getFunction('offers').staticCall(orderId)
      await act(owner, 'cancel', orderId)
    },
    async open(name, owner) {
      const named = find(name)
      const own: { id: bigint; order: ExchangeOrder }[] = []
      for (const side of ['buys', 'sells'] as const)
        for (const offered of (await sideOf(named, side)).filter((each) => each.owner === owner)) {
          const made = baseAndQuote(side, await madeAs(market, offered.id))
          const left = baseAndQuote(side, offered)
          const order: ExchangeOrder = {
            orderId: String(offered.id),
            side: side === 'buys' ? 'BUY' : 'SELL',
            price: priceOf(named, side, made),
            amount: formatRaw(made.baseRaw, named.base.decimals),
            filledAmount: formatRaw(made.baseRaw - left.baseRaw, named.base.decimals),
          }
          own.push({ id: offered.id, order })
        }
      return own.toSorted((a, b) => Number(a.id - b.id)).map(({ order }) => order)
    },
    async funds(owner, symbol) {
      const token = markets.flatMap(({ base, quote }) => [base, quote]).find((each) => each.symbol === symbol)
      if (!token) throw new Error(`No market of the devnet trades ${symbol}.`)
      let lockedRaw = 0n
      for (const named of markets)
        for (const [side, pays] of [
          ['sells', named.base],
          ['buys', named.quote],
        ] as const)
          if (pays.address === token.address)
            for (const offered of await sideOf(named, side)) if (offered.owner === owner) lockedRaw += offered.payRaw
      return { free: formatRaw(await balanceOf(site, token, owner), token.decimals), locked: formatRaw(lockedRaw, token.decimals) }
    },
    // The flags apply to all markets. This one leaves the sorted lists intact: an offer cancelled while matching is off stays in them.
    async setStatus(_name, status) {
      if (status === 'closed') await act(site.signer.address, 'stop')
      else await act(site.signer.address, 'setBuyEnabled', status === 'open')
    },
  }
}

const baseAndQuote = (side: Side, { payRaw, buyRaw }: Pick<SortedOffer, 'payRaw' | 'buyRaw'>) =>
  side === 'sells' ? { baseRaw: payRaw, quoteRaw: buyRaw } : { baseRaw: buyRaw, quoteRaw: payRaw }

const priceOf = ({ base, quote }: OperatedMarket, side: Side, { baseRaw, quoteRaw }: { baseRaw: bigint; quoteRaw: bigint }) =>
  bookPriceOf({ raw: quoteRaw, decimals: quote.decimals }, { raw: baseRaw, decimals: base.decimals }, side === 'sells' ? 'up' : 'down')

function levels(named: OperatedMarket, side: Side, offers: readonly SortedOffer[]): readonly Level[] {
  const summed = new Map<string, bigint>()
  const worst = side === 'sells' ? 1 : -1
  const sorted = offers
    .map((each) => baseAndQuote(side, each))
    .toSorted((a, b) => (a.quoteRaw * b.baseRaw < b.quoteRaw * a.baseRaw ? -worst : worst))
  for (const each of sorted) {
    const price = priceOf(named, side, each)
    summed.set(price, (summed.get(price) ?? 0n) + each.baseRaw)
  }
  return [...summed].map(([price, baseRaw]) => ({ price, quantity: formatRaw(baseRaw, named.base.decimals) }))
}

/** The part of a base amount that is taken by bids at its price or better. */
function crossedRaw(bids: readonly SortedOffer[], baseRaw: bigint, quoteRaw: bigint): bigint {
  const takenRaw = bids.reduce((sum, bid) => (bid.payRaw * baseRaw >= bid.buyRaw * quoteRaw ? sum + bid.buyRaw : sum), 0n)
  return takenRaw < baseRaw ? takenRaw : baseRaw
}

/** The amounts with which an offer was made: the market stores only the rest. */
async function madeAs(market: Contract, id: bigint): Promise<Pick<SortedOffer, 'payRaw' | 'buyRaw'>> {
  const [made] = await market.queryFilter(market.filters['LogMake']?.(toBeHex(id, 32)) ?? 'LogMake')
  if (!made || !('args' in made)) throw new Error(`The market did not log that offer ${id} was made.`)
  return { payRaw: made.args['pay_amt'], buyRaw: made.args['buy_amt'] }
}

function madeIn(market: Contract, { logs }: TransactionReceipt): { orderId?: string } {
  const made = logs.map((log) => market.interface.parseLog(log)).find((parsed) => parsed?.name === 'LogMake')
  return made ? { orderId: String(BigInt(made.args['id'])) } : {}
}

interface SortedOffer {
  readonly id: bigint
  readonly payRaw: bigint
  readonly buyRaw: bigint
  readonly owner: string
}

/** One side of a book by the market's own view functions, in the market's order. */
async function sortedOffers(market: Contract, pays: string, wants: string, blockTag: number | 'latest'): Promise<readonly SortedOffer[]> {
  const call = async (method: string, ...args: readonly unknown[]) => market.getFunction(method).staticCall(...args, { blockTag })
  const offers: SortedOffer[] = []
  let id = BigInt(await call('getBestOffer', pays, wants))
  while (id !== 0n) {
    const { pay_amt: payRaw, buy_amt: buyRaw, owner } = await call('offers', id)
    if (payRaw > 0n) offers.push({ id, payRaw, buyRaw, owner })
    id = BigInt(await call('getWorseOffer', id))
  }
  return offers
}

interface OperatorToken {
  readonly symbol: string
  readonly address: string
  readonly decimals: number
}

const tokenAbi = [
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function balanceOf(address) view returns (uint256)',
  'function approve(address, uint256)',
  'function allowance(address, address) view returns (uint256)',
  'function mint(address, uint256)',
  'function deposit() payable',
]

const contractOf = ({ provider }: DevnetSite, address: string) => new Contract(address, tokenAbi, provider)

async function tokenAt(site: DevnetSite, address: string): Promise<OperatorToken> {
  const contract = contractOf(site, address)
  const call = (method: string): Promise<unknown> => contract.getFunction(method).staticCall()
  return { address, symbol: String(await call('symbol')), decimals: Number(await call('decimals')) }
}

const balanceOf = async (site: DevnetSite, { address }: OperatorToken, owner: string): Promise<bigint> =>
  BigInt(await contractOf(site, address).getFunction('balanceOf').staticCall(owner))

/** Mints tokens for somebody who has too few, enough for some orders, and approves a spender for them. */
async function fund(site: DevnetSite, token: OperatorToken, to: string, neededRaw: bigint, spender: string): Promise<void> {
  const { symbol, address } = token
  const contract = contractOf(site, address)
  const send = (method: string, args: readonly unknown[], value = 0n) =>
    sendAs(site, to, { to: address, data: contract.interface.encodeFunctionData(method, [...args]), value })
  if ((await balanceOf(site, token, to)) < neededRaw) {
    const raw = neededRaw * 50n
    // Anybody can mint the devnet's tokens, except the one that wraps ether.
    await (symbol === 'WETH' ? send('deposit', [], raw) : send('mint', [to, raw]))
  }
  const allowedRaw = BigInt(await contract.getFunction('allowance').staticCall(to, spender))
  if (allowedRaw < neededRaw) await send('approve', [spender, MaxUint256])
}

const etherRaw = 10n ** 18n
/** Enough for taking many offers at once. */
const gasLimit = 10_000_000n
const pollMs = 2

/** Sends a transaction of any address: the devnet needs no key. @throws where it reverts */
async function sendAs(
  { provider }: DevnetSite,
  from: string,
  call: { to: string; data: string; value?: bigint },
): Promise<TransactionReceipt> {
  const { to, data, value = 0n } = call
  const balanceRaw = BigInt(await provider.send('eth_getBalance', [from, 'latest']))
  if (balanceRaw < value + etherRaw) await provider.send('anvil_setBalance', [from, toQuantity(balanceRaw + value + etherRaw)])
  const transaction = { from, to, data, value: toQuantity(value), gas: toQuantity(gasLimit) }
  const hash = String(await provider.send('eth_sendUnsignedTransaction', [transaction]))
  for (;;) {
    const receipt = await provider.getTransactionReceipt(hash)
    if (receipt?.status === 1) return receipt
    if (receipt) throw new Error(`The transaction ${hash} of ${from} reverted.`)
    await pause(pollMs)
  }
}
