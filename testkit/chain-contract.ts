import path from 'node:path'
import { expect } from 'chai'
import { tradingWallets } from '../core/devnet/anvil.ts'
import type { LoadedVenue } from '../core/plugins/index.ts'
import type { Chain } from '../core/contracts/index.ts'
import { startServer, type TestServer } from './server.ts'

export interface ChainContract {
  /** The plugin's folder, anywhere. */
  folder: string
  /** A network of the chain with a node here, for the cards that need one. Absent: only the other cards run. */
  network?: string
  /** Configuration files that the network needs: name in the conf folder → content. */
  conf?: Readonly<Record<string, unknown>>
  /** A wallet that holds the coin and every listed token there. Absent: a trading wallet of the devnet. */
  owner?: string
}

/** Transaction ids of each chain family that do not exist. */
const unknownIds = [`0x${'ab'.repeat(32)}`, '5'.repeat(87)]

const at = () => ({ signal: AbortSignal.timeout(30_000) })

/** Mocha tests that every chain must pass, ours or a third party's. */
export function chainContract(contract: ChainContract): void {
  chainCards(contract)
}

/**
 * @internal What authors see leads to no part of the server.
 * @param running the server that has the plugin already, and goes on afterwards
 */
export function chainCards({ folder, network, conf, owner = tradingWallets[0] }: ChainContract, running?: TestServer): void {
  const name = path.basename(folder)

  describe(`chain ${name}`, function () {
    this.timeout(180_000)
    let server: TestServer
    // A server that starts only after the hook's timeout is stopped, too. Otherwise mocha would not end.
    let starting: Promise<TestServer> | undefined
    let venues: readonly LoadedVenue<Chain>[]
    before(async function () {
      // A busy machine takes long to start a server.
      this.timeout(300_000)
      if (running) server = running
      else {
        starting = startServer({ plugins: [folder], trusted: [name], ...(conf && { conf }) })
        server = await starting
      }
      const plugin = server.kernel.plugins.loaded.find((each) => each.name === name)
      const refusal = server.kernel.plugins.refused.find((each) => each.name === name)
      if (plugin?.kind !== 'chain')
        throw new Error(
          refusal
            ? `${name} was refused (${refusal.step}): ${refusal.reason}. ${refusal.remedy}`
            : `${name} was not found, or is not a chain`,
        )
      venues = plugin.venues
    })
    after(async () => (await starting?.catch(() => undefined))?.stop())

    it('CHAIN-01 the server loads it and serves its networks', async () => {
      const { body } = await server.client.get('/network/status', { chain: name })
      expect(body.map((each: { network: string }) => each.network)).to.have.members(venues.map((venue) => venue.network))
    })

    it('CHAIN-02 each network has its own chain id and names its coin', () => {
      const ids = venues.map(({ implementation }) => implementation.chainId)
      expect(new Set(ids).size).to.equal(ids.length)
      for (const { implementation, tokens } of venues) {
        const { native, symbol, address } = implementation.nativeCurrency
        // A coin that is a token itself must be listed as one.
        expect(native ?? tokens.some((token) => token.address === address), symbol).to.equal(true)
        expect(implementation.feeCapRaw > 0n).to.equal(true)
        expect(implementation.confirmations).to.be.at.least(1)
      }
    })

    it('CHAIN-03 addresses have one spelling, and other text is not an address', () => {
      for (const { implementation, tokens } of venues) {
        for (const { address } of tokens) {
          expect(implementation.address(address)).to.equal(address)
          expect(implementation.address(address.slice(0, address.length / 2))).to.equal(undefined)
        }
        for (const nonsense of ['', '0x', 'WETH', '../..', '0x' + 'g'.repeat(40)])
          expect(implementation.address(nonsense), nonsense).to.equal(undefined)
      }
    })

    it('CHAIN-04 every listed token has a symbol and decimals', () => {
      for (const token of venues.flatMap(({ tokens }) => tokens)) {
        expect(token.symbol).to.match(/^\S{1,32}$/)
        expect(token.decimals).to.be.within(0, 36)
      }
    })

    it('CHAIN-05 a network without answering nodes keeps its entry and delays no other', async () => {
      const { status, body } = await server.client.get('/network/status')
      expect(status).to.equal(200)
      for (const entry of body) if (entry.error !== undefined) expect(entry).to.include({ currentBlockNumber: -1, currentBlockSeconds: -1 })
    })

    if (network === undefined) return
    const venue = () => {
      const found = venues.find((each) => each.network === network)
      if (!found) throw new Error(`${name} has no network ${network}`)
      return found
    }

    it('CHAIN-06 heads increase and have the time', async () => {
      const first = await venue().implementation.head(at())
      const watching = new AbortController()
      for await (const next of venue().implementation.heads(watching.signal)) {
        expect(next.timestamp).to.be.at.least(first.timestamp)
        if (next.number > first.number) break
      }
      watching.abort()
    })

    it('CHAIN-07 the token list agrees with the chain', async () => {
      for (const { address, decimals } of venue().tokens) {
        expect(await venue().implementation.token(address, at()), address).to.include({ decimals })
      }
    })

    it('CHAIN-08 balances of the coin and of every token come in one answer', async () => {
      const { implementation, tokens } = venue()
      const balances = await implementation.balances(owner ?? '', [implementation.nativeCurrency, ...tokens], at())
      expect(balances).to.have.length(tokens.length + 1)
      for (const balance of balances) expect(balance !== undefined && balance > 0n).to.equal(true)
    })

    it('CHAIN-09 gas has a price, the limit covers the units, and the cost is at least price times limit', async () => {
      const { gasLimit, gasPriceRaw, gasPriceDecimals = 0, gasCostRaw } = await venue().implementation.gas(100_000n, undefined, at())
      expect(gasLimit >= 100_000n).to.equal(true)
      expect(gasPriceRaw > 0n).to.equal(true)
      expect(gasCostRaw * 10n ** BigInt(gasPriceDecimals) >= gasLimit * gasPriceRaw).to.equal(true)
    })

    it('CHAIN-10 an unknown transaction hash is an empty answer, not an error', async () => {
      const txHash = unknownIds.find((id) => venue().implementation.isTransactionId(id)) ?? ''
      const { body } = await server.client.get('/network/poll', { chain: name, network, txHash })
      expect(body).to.include({ txStatus: -1, txBlock: -1, txData: null, txReceipt: null })
    })
  })
}
