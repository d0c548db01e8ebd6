import { ExchangeClient, HttpTransport, InfoClient } from '@nktkas/hyperliquid'
import { Wallet, type HDNodeWallet } from 'ethers'
import type { HyperliquidExchange } from './exchange/start-exchange.ts'

/** The exchange's clients, as its users have them, with a new wallet. */
export function newTrader(
  { apiUrl, testnet }: Pick<HyperliquidExchange, 'apiUrl' | 'testnet'>,
  wallet: Wallet | HDNodeWallet = Wallet.createRandom(),
) {
  const transport = new HttpTransport({ apiUrl, isTestnet: testnet })
  return {
    wallet,
    address: wallet.address.toLowerCase() as `0x${string}`,
    info: new InfoClient({ transport }),
    exchange: new ExchangeClient({ transport, wallet }),
  }
}
