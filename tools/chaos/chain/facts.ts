import { readFileSync } from 'node:fs'
import { getAddress, Interface, MaxUint256, toQuantity } from 'ethers'
import { parse } from 'yaml'
import { oasisAbi } from '../../../kits/oasis/contract.ts'
import { markets } from '../../../plugins/oasis/markets.ts'
import { shownValue } from '../checker/known.ts'
import type { MinedTransaction, OfferEvent } from '../history.ts'
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

const { contractAddresses } = parse(readFileSync(new URL('../../../plugins/oasis/defaults.yml', import.meta.url), 'utf8'))
const exchange: string = contractAddresses.local.routerAddress
/** WETH and USDC, the second market of the devnet. */
const [base = '', quote = ''] = markets['ethereum/local']?.[1] ?? []
const erc20 = new Interface(['function approve(address, uint256)'])

/** Lets the order book take what the wallets' orders pay. */
export async function allowOrders(chain: Chain, wallets: readonly string[]): Promise<void> {
  for (const from of wallets) {
    await chain.rpc('anvil_impersonateAccount', from)
    for (const to of [base, quote])
      await chain.rpc('eth_sendTransaction', {
        from,
        to,
        data: erc20.encodeFunctionData('approve', [exchange, MaxUint256]),
        gas: toQuantity(100_000),
      })
    await chain.rpc('anvil_stopImpersonatingAccount', from)
  }
  await chain.mine(1)
}

/** Everything that the order book logged of offers in the market of the bots, in its order, as the chain has it now. */
export async function offersSince(chain: Chain, first: number): Promise<OfferEvent[]> {
  const logs: unknown = await chain.rpc('eth_getLogs', { address: exchange, fromBlock: toQuantity(first), toBlock: 'latest' })
  if (!Array.isArray(logs)) throw new Error('The node gave no list of logs.')
  return logs.flatMap((log: { topics: string[]; data: string; transactionHash: string }) => {
    const parsed = oasisAbi.parseLog(log)
    const is = parsed && kinds[parsed.name]
    if (!is) return []
    const { id, maker, taker, pay_gem: pays, buy_gem: wants, take_amt: taken, give_amt: given } = parsed.args
    if (![pays, wants].every((token) => [base, quote].includes(getAddress(token)))) return []
    const baseRaw = is === 'taken' ? { baseRaw: BigInt(getAddress(pays) === base ? taken : given) } : {}
    return [{ txHash: log.transactionHash, is, orderId: String(BigInt(id)), maker, ...(is === 'taken' && { taker }), ...baseRaw }]
  })
}

/** Those of them that are still there. */
export async function offersLeft(chain: Chain, orderIds: readonly string[]): Promise<Set<string>> {
  const left = new Set<string>()
  for (const id of orderIds) {
    const answer = await chain.rpc('eth_call', { to: exchange, data: oasisAbi.encodeFunctionData('offers', [id]) }, 'latest')
    if (BigInt(oasisAbi.decodeFunctionResult('offers', String(answer))['pay_amt']) > 0n) left.add(id)
  }
  return left
}

const kinds: Readonly<Record<string, OfferEvent['is']>> = { LogMake: 'made', LogTake: 'taken', LogKill: 'killed' }
