import type { At, PerpLiquidation } from '../../contracts/index.ts'
import { curieAbi } from '../../../kits/perp/abi.ts'
import type { Curie, CurieMarket } from '../../../kits/perp/curie.ts'

/** What liquidators took of a wallet's position, as the exchange logged it. */
export async function liquidationsOf(
  { reader, contracts: { house } }: Curie,
  { id }: CurieMarket,
  owner: string,
  sinceBlock: number,
  at: At,
): Promise<readonly PerpLiquidation[]> {
  const topics = curieAbi.encodeFilterTopics('PositionLiquidated', [owner, id])
  const logs = await reader.logs({ address: house, topics: topics.map(String), fromBlock: sinceBlock + 1 }, at)
  return logs.flatMap(({ topics, data, transactionHash, blockNumber }) => {
    const parsed = curieAbi.parseLog({ topics: [...topics], data })
    return parsed ? [{ txHash: transactionHash, blockNumber, sizeRaw: BigInt(parsed.args['positionSize']) }] : []
  })
}
