import { setTimeout as sleep } from 'node:timers/promises'
import { toQuantity, type TransactionReceipt } from 'ethers'
import type { DevnetSite } from '../../../contracts/devnet.ts'

const etherRaw = 10n ** 18n
/** For what takes many offers at once. */
const gasLimit = 10_000_000n
const askAgainMs = 2

/** Anybody's transaction, which no key is needed for on the devnet. Throws where it fails. */
export async function actAs(
  { provider }: DevnetSite,
  from: string,
  call: { to: string; data: string; value?: bigint },
): Promise<TransactionReceipt> {
  const { to, data, value = 0n } = call
  const balanceRaw = BigInt(await provider.send('eth_getBalance', [from, 'latest']))
  if (balanceRaw < value + etherRaw) await provider.send('anvil_setBalance', [from, toQuantity(balanceRaw + value + etherRaw)])
  await provider.send('anvil_impersonateAccount', [from])
  const transaction = { from, to, data, value: toQuantity(value), gas: toQuantity(gasLimit) }
  const hash = String(await provider.send('eth_sendTransaction', [transaction]))
  await provider.send('anvil_stopImpersonatingAccount', [from])
  for (;;) {
    const receipt = await provider.getTransactionReceipt(hash)
    if (receipt?.status === 1) return receipt
    if (receipt) throw new Error(`The transaction ${hash} of ${from} reverted.`)
    await sleep(askAgainMs)
  }
}
