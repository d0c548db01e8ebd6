// What wallets hold of listed tokens and of the coin, at least: at the market of now or of the last minutes, whichever is less.
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
  }: { readonly network: NetworkEntry; readonly market: Pick<Market, 'watch' | 'valuesNow' | 'medianValues'>; readonly client: string },
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
  // A price that is pushed for a moment moves the first and not the second.
  const [now, medians] = [market.valuesNow(network, addresses, 'lowX'), market.medianValues(network, addresses, 'lowX')]
  return addresses.reduce((sum, address) => {
    const [valueX = 0n, medianX = 0n] = [now[address], medians[address]]
    return sum + microsOf(held.get(address) ?? 0n, valueX < medianX ? valueX : medianX, 'down')
  }, 0n)
}
