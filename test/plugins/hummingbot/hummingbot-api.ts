// A client that behaves as hummingbot-api does with a gateway: it keeps books of swaps and positions, and sends nothing again by itself. Condor and
// the MCP speak to it alone.
import { expect } from 'chai'
import type { Bot } from './bot.ts'
import { chainNetwork } from './bot.ts'

export interface BookedSwap {
  readonly signature: string
  state: 'CONFIRMED' | 'SUBMITTED' | 'FAILED'
}

interface BookedPosition {
  readonly connector: string
  isOpen: boolean
}

interface Order {
  readonly connector: string
  readonly baseToken: string
  readonly quoteToken: string
  readonly amount: string
  readonly side: 'BUY' | 'SELL'
  readonly slippagePct?: string
}

/** A bare name means the first of these that the connector has. */
const typesOfBareName = ['router', 'clmm', 'amm']

export class HummingbotApi {
  readonly swaps: BookedSwap[] = []
  readonly positions = new Map<string, BookedPosition>()
  readonly #bot: Bot

  constructor(bot: Bot) {
    this.#bot = bot
  }

  /** Before each call that is guarded. */
  async #ping(): Promise<void> {
    expect(await this.#bot.get('/')).to.include({ status: 'ok' })
  }

  async #typeOf(connector: string): Promise<string> {
    const [, named] = connector.split('/')
    if (named !== undefined) return named
    const { connectors } = await this.#bot.get('/config/connectors')
    const found = connectors.find((each: { name: string }) => each.name === connector)
    const type = typesOfBareName.find((each) => found?.trading_types.includes(each))
    if (type === undefined) throw new Error(`there is no connector ${connector}`)
    return type
  }

  async wallet(): Promise<string> {
    const { defaultWallet } = await this.#bot.get('/config', { namespace: 'ethereum' })
    // Such a text stands for none.
    if (/^<.*-wallet-address>$/.test(defaultWallet)) throw new Error('there is no wallet')
    return defaultWallet
  }

  async quote({ connector, ...order }: Order) {
    await this.#ping()
    return this.#bot.get(`/trading/${await this.#typeOf(connector)}/quote-swap`, {
      chainNetwork,
      connector: connector.replace(/\/.*/, ''),
      ...order,
    })
  }

  /** Books it by its answer. Amounts of its bodies were text in June, and are numbers since. */
  async swap({ connector, ...order }: Order, amounts: 'text' | 'number' = 'number'): Promise<BookedSwap> {
    await this.#ping()
    const fields = { ...order, ...(amounts === 'number' && { amount: Number(order.amount) }) }
    const body = { chainNetwork, walletAddress: await this.wallet(), connector: connector.replace(/\/.*/, ''), ...fields }
    return this.#book(await this.#bot.post(`/trading/${await this.#typeOf(connector)}/execute-swap`, body))
  }

  async executeQuote(connector: string, quoteId: string): Promise<BookedSwap> {
    const body = { chainNetwork, connector, walletAddress: await this.wallet(), quoteId }
    return this.#book(await this.#bot.post('/trading/router/execute-quote', body))
  }

  #book(answer: { signature?: string; status?: number; data?: Record<string, unknown> }): BookedSwap {
    expect(answer.signature).to.be.a('string').and.not.equal('')
    // A null in the amounts ends its request after the trade.
    for (const [name, value] of Object.entries(answer.data ?? {})) expect(value, name).not.to.equal(null)
    const swap: BookedSwap = { signature: answer.signature ?? '', state: answer.status === 1 ? 'CONFIRMED' : 'SUBMITTED' }
    this.swaps.push(swap)
    return swap
  }

  /** Every ten seconds, for an hour. */
  async pollSwaps(): Promise<void> {
    for (const swap of this.swaps.filter(({ state }) => state === 'SUBMITTED')) {
      const body = { network: 'local', signature: swap.signature }
      const { txStatus, error, fee } = await this.#bot.post('/chains/ethereum/poll', body)
      expect(fee === null || typeof fee === 'number').to.equal(true)
      // Any text is a failure to it.
      if (txStatus === -1 || error !== null) swap.state = 'FAILED'
      else if (txStatus === 1) swap.state = 'CONFIRMED'
    }
  }

  /** Those of all wallets, and then each one by itself: every five minutes. What is refused with 404 or 500 is closed in its database. */
  async pollPositions(connector: string): Promise<void> {
    for (const { walletAddresses } of await this.#bot.get('/wallet'))
      for (const walletAddress of walletAddresses)
        for (const { address } of await this.#bot.get('/trading/clmm/positions-owned', { connector, chainNetwork, walletAddress }))
          if (!this.positions.has(address)) this.positions.set(address, { connector, isOpen: true })
    for (const [positionAddress, position] of this.positions) {
      if (!position.isOpen) continue
      const { status } = await this.#bot.answer('/trading/clmm/position-info', { connector, chainNetwork, positionAddress })
      if (status === 404 || status === 500) position.isOpen = false
    }
  }
}
