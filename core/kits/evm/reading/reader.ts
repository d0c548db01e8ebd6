import { SluiceError } from '../../../contracts/index.ts'
import type { At, Head, Token } from '../../../contracts/index.ts'
import { ask, nodeLied } from './ask.ts'
import { callResultOf } from './call-result.ts'
import type { Fees } from './fees.ts'
import { multicallViews, packAggregate3, unpackAggregate3 } from './multicall.ts'
import type { EvmNetwork } from '../network.ts'
import { isBytes, quantityOf } from '../quantity.ts'
import type { Call, CallResult, EvmReader, Rpc } from '../types.ts'

export interface ReaderOptions {
  rpc: Rpc
  fees: Fees
  definition: EvmNetwork
  nativeCurrency: Token
  /** How errors name the network. */
  network: string
}

export function createReader({ rpc, fees, definition, nativeCurrency, network }: ReaderOptions): EvmReader {
  const { chainId, wrapped, intermediates, multicall } = definition
  const views = [multicallViews.getBlockNumber, multicallViews.getCurrentBlockTimestamp, multicallViews.getBasefee]
  const headCalls: readonly Call[] = views.map((data) => ({ to: multicall, data }))

  async function read(calls: readonly Call[], at: At): Promise<{ head: Head; results: readonly CallResult[] }> {
    const all = [...headCalls, ...calls]
    const bytes = await ask(rpc, 'eth_call', [{ to: multicall, data: packAggregate3(all) }, 'latest'], at)
    if (bytes === '0x')
      throw new SluiceError('NETWORK', `${network} has no Multicall3 at ${multicall}, which Sluice reads by: check rpcUrls.`)
    const results = isBytes(bytes) ? unpackAggregate3(bytes, all.length) : undefined
    const [number, timestamp, baseFee] = (results ?? []).slice(0, headCalls.length).map(({ data }) => quantityOf(data))
    if (!results || number === undefined || timestamp === undefined)
      throw nodeLied(rpc, 'answered a call to Multicall3 with something else than its result')
    return { head: headOf(number, Number(timestamp), baseFee), results: results.slice(headCalls.length) }
  }

  /** In a call without a gas price geth sets BASEFEE to 0 (`core/vm/evm.go`, NoBaseFee): then it is the block's own, where that is known. */
  function headOf(number: bigint, timestamp: number, called: bigint | undefined): Head {
    const baseFeeRaw = called || fees.baseFeeRaw(number)
    return baseFeeRaw === undefined ? { number, timestamp } : { number, timestamp, baseFeeRaw }
  }

  async function call(request: { to?: string; from?: string; data: string }, at: At): Promise<CallResult> {
    const [answer] = await rpc.batch([{ method: 'eth_call', params: [request, 'latest'] }], at)
    return callResultOf(rpc, answer)
  }

  return { chainId, nativeCurrency, wrapped, intermediates, read, call, gasPriceRaw: (head) => fees.priceRaw(head) }
}
