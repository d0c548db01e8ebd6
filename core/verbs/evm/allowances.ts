import type { Verb } from '../../handlers/context.ts'
import { fromRaw } from '../../decimal.ts'
import { answerKey } from '../../handlers/tokens.ts'
import { readAddress } from '../../handlers/wallets.ts'
import { evmOf, readSpenders } from './spenders.ts'

export const evmAllowances: Verb<'EVMAllowances'> = async (request, { network, services: { directory }, signal }) => {
  const at = { signal }
  const evm = evmOf(network)
  const owner = readAddress(network, request.address)
  const { addresses } = await readSpenders(request.spender, network, directory)
  const tokens = await network.tokens.resolveAll(request.tokenSymbols, 'tokenSymbols', at)
  const raws = await evm.allowances(owner, addresses, tokens, at)

  const show = (of: (tokenIndex: number) => bigint) =>
    Object.fromEntries(tokens.map((token, i) => [answerKey(request.tokenSymbols[i], token), fromRaw(of(i), token.decimals)]))
  const least = show((i) => raws.map((row) => row[i] ?? 0n).reduce((a, b) => (a < b ? a : b)))
  const each = Object.fromEntries(addresses.map((address, row) => [address, show((i) => raws[row]?.[i] ?? 0n)]))
  return { spender: addresses[0] ?? '', approvals: least, ...(addresses.length > 1 && { spenders: each }) }
}
