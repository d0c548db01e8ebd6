import { badFields, type NetworkPollResponse } from '../../api/index.ts'
import type { AMM, Fill, Json } from '../../contracts/index.ts'
import type { Entry } from '../../transactions/index.ts'
import type { Verb } from '../context.ts'
import { fromRaw, priceOf } from '../amounts.ts'
import { readAboutTrade } from '../amm/about-trade.ts'
import { mayUseWallet } from '../caller.ts'
import type { Directory, NetworkEntry } from '../directory.ts'

export const networkPoll: Verb<'NetworkPoll'> = async ({ txHash, connector }, { network, services, caller, signal }) => {
  const { impl } = network
  if (!impl.isTransactionId(txHash)) throw badFields([{ field: 'txHash', problem: 'is no transaction hash of this chain' }])
  if (connector !== undefined) services.directory.connector(connector)
  const at = { signal }
  const [head, found, entry] = await Promise.all([
    impl.head(at),
    impl.find(txHash, at),
    services.transactions.find(network.chain, network.network, txHash),
  ])
  const journaled = entry && mayUseWallet(caller, entry.address) ? entry : undefined

  const txBlock = found?.blockNumber ?? -1
  // A block may come between both questions.
  const currentBlock = Math.max(Number(head.number), txBlock)
  const receipt = found?.receipt ?? null
  return {
    currentBlock,
    txHash,
    txStatus: journaled ? services.transactions.status(journaled, found) : plainStatus(found),
    txBlock,
    txData: found?.tx ?? null,
    txReceipt: receipt && decode(receipt, network, services.directory, connector),
    confirmations: txBlock < 0 ? 0 : currentBlock - txBlock + 1,
    ...(journaled && { txState: journaled.state }),
    ...(journaled?.replacedBy !== undefined && { replacedBy: journaled.replacedBy }),
    ...fillOf(journaled, receipt, network, services.directory),
  }
}

/** Of a transaction that is not in the journal. */
function plainStatus(found: { blockNumber?: number; pays?: boolean } | undefined): number {
  if (!found) return -1
  if (found.blockNumber !== undefined) return 1
  return found.pays === false ? 3 : 2
}

/** Logs are explained by the events of the named connector, or of all that are on the network. */
function decode(receipt: Json, { impl, chain, network }: NetworkEntry, directory: Directory, connector: string | undefined): Json {
  const venues = directory.venuesOn(chain, network).filter((each) => connector === undefined || each.connector === connector)
  return impl.decode(receipt, [...new Set(venues.flatMap((each) => each.impl.events ?? []))])
}

/** What a trade really gave, read from its receipt by the connector that made it. */
function fillOf(
  entry: Entry | undefined,
  receipt: Json,
  { chain, network }: NetworkEntry,
  directory: Directory,
): Pick<NetworkPollResponse, 'fill'> {
  if (entry?.kind !== 'trade' || receipt === null) return {}
  const amm = directory.venuesOn(chain, network).find(({ connector }) => connector === entry.connector)?.impl.AMM
  const fill = readFill(amm, receipt, entry.memo)
  const { side, base, quote } = readAboutTrade(entry.about)
  if (!fill) return {}
  const [tokenIn, tokenOut] = side === 'BUY' ? [quote, base] : [base, quote]
  const [quoteRaw, baseRaw] = side === 'BUY' ? [fill.amountInRaw, fill.amountOutRaw] : [fill.amountOutRaw, fill.amountInRaw]
  return {
    fill: {
      amountIn: fromRaw(fill.amountInRaw, tokenIn.decimals),
      amountOut: fromRaw(fill.amountOutRaw, tokenOut.decimals),
      price: priceOf(
        { raw: quoteRaw, decimals: quote.decimals },
        { raw: baseRaw, decimals: base.decimals },
        side === 'BUY' ? 'up' : 'down',
      ),
    },
  }
}

/** Nothing where the connector fails, too: its log has the defect, and what became of the transaction is worth more than its fill. */
function readFill(amm: AMM | undefined, receipt: Json, memo: Json): Fill | undefined {
  try {
    return amm?.fill(receipt, memo)
  } catch {
    return undefined
  }
}
