// What wallets hold of listed tokens and of the coin, at the market of now, at least.
import type { At } from '../contracts/index.ts'
import type { NetworkEntry } from '../plugins/index.ts'
import { microsOf } from '../transactions/budgets.ts'
import type { Market } from './market.ts'

/** In millionths of the reference token. What has no market counts as nothing; undefined until the market of what they hold was read. */
export async function heldValue(
  wallets: readonly string[],
  {
    network,
    market,
    client,
  }: { readonly network: NetworkEntry; readonly market: Pick<Market, 'watch' | 'valuesNow'>; readonly client: string },
  at: At,
): Promise<bigint | undefined> {
  const { impl, tokens } = network
  const counted = [impl.nativeCurrency, ...tokens.listed.filter(({ address }) => address !== impl.nativeCurrency.address)]
  const held = new Map<string, bigint>()
  for (const wallet of wallets) {
    const balances = await impl.balances(wallet, counted, at)
    for (const [index, { address }] of counted.entries()) {
      const raw = balances[index] ?? 0n
      if (raw > 0n) held.set(address, (held.get(address) ?? 0n) + raw)
    }
  }
  const addresses = [...held.keys()]
  if (!market.watch(network, addresses, client)) return undefined
  const values = market.valuesNow(network, addresses, 'lowX')
  return addresses.reduce((sum, address) => sum + microsOf(held.get(address) ?? 0n, values[address] ?? 0n, 'down'), 0n)
}
