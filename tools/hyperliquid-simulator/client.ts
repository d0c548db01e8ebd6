import { setTimeout as sleep } from 'node:timers/promises'
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

/** Waits for a condition. @throws Error where it does not come about in half a minute */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = Date.now() + 30_000
  while (!(await condition())) {
    if (Date.now() > giveUpAt) throw new Error('what was waited for did not come about')
    await sleep(2)
  }
}
