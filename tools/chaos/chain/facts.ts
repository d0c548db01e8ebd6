import { getAddress } from 'ethers'
import { shownValue } from '../checker/shown-value.ts'
import type { MinedTransaction } from '../history.ts'
import type { Chain } from './chain.ts'

/** Every transaction of the wallets from a block on, as the chain has it now. */
export async function minedSince(chain: Chain, first: number, wallets: readonly string[]): Promise<MinedTransaction[]> {
  const height = await chain.height()
  const mined: MinedTransaction[] = []
  for (let number = first; number <= height; number += 1) {
    const block = asObject(await chain.rpc('eth_getBlockByNumber', quantity(number), true))
    const own = asList(block['transactions'])
      .map(asObject)
      .filter((each) => wallets.includes(getAddress(String(each['from']))))
    if (own.length === 0) continue
    const receipts = new Map(
      asList(await chain.rpc('eth_getBlockReceipts', quantity(number)))
        .map(asObject)
        .map((each) => [String(each['transactionHash']), each]),
    )
    for (const each of own) {
      const txHash = String(each['hash'])
      const status = receipts.get(txHash)?.['status']
      if (status === undefined) throw new Error(`Block ${number} has no receipt of ${txHash}.`)
      mined.push({
        txHash,
        from: getAddress(String(each['from'])),
        to: String(each['to']),
        nonce: Number(each['nonce']),
        valueRaw: shownValue({ value: BigInt(String(each['value'])), data: String(each['input']) }),
        block: number,
        ok: status === '0x1',
      })
    }
  }
  return mined
}

export async function nextNonces(chain: Chain, wallets: readonly string[]): Promise<Map<string, number>> {
  const counts = await Promise.all(wallets.map((wallet) => chain.rpc('eth_getTransactionCount', wallet, 'latest')))
  return new Map(wallets.map((wallet, index) => [wallet, Number(counts[index])]))
}

const quantity = (number: number) => `0x${number.toString(16)}`
const asObject = (value: unknown): Record<string, unknown> => (typeof value === 'object' && value !== null ? { ...value } : {})
const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
