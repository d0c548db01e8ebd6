// What exchanges may take of the devnet's wallets, where approvals are not what is tried.
import { MaxUint256, parseUnits } from 'ethers'
import { rpcTo } from '../../core/devnet/anvil.ts'
import type { TestServer } from '../../testkit/server.ts'
import { callOf, callTogether, takeAccount } from '../devnet/accounts.ts'
import { addresses } from '../devnet/addresses.ts'
import { freshAddress, local } from '../http/shared-server.ts'

const [most160, most48] = [2n ** 160n - 1n, 2n ** 48n - 1n]

/** All contracts of these connectors, and by Permit2 theirs, may take all tokens: by one transaction of a wallet, while each of Sluice's takes a request. */
export async function approveAll({ kernel, rpcUrl }: TestServer, wallets: readonly string[], connectors: readonly string[]): Promise<void> {
  const rpc = rpcTo(rpcUrl)
  const venues = kernel.services.registry.venuesOn(local.chain, local.network).filter(({ connector }) => connectors.includes(connector))
  const tokens = Object.values(addresses.tokens).map(({ address }) => address)
  const calls = venues.flatMap(({ impl: { spenders = {}, permit2 } }) => {
    const byPermit2 = permit2?.spenders ?? []
    const direct = [...new Set(Object.values(spenders))].filter((spender) => !byPermit2.includes(spender))
    return tokens.flatMap((token) => [
      ...[...direct, ...(permit2 ? [permit2.address] : [])].map((spender) =>
        callOf(token, 'approve(address,uint256)', [spender, MaxUint256]),
      ),
      ...byPermit2.map((spender) =>
        callOf(permit2?.address ?? '', 'approve(address,address,uint160,uint48)', [token, spender, most160, most48]),
      ),
    ])
  })
  const payer = freshAddress()
  await takeAccount(rpc, payer, parseUnits('1000', 18))
  await callTogether(rpc, payer, wallets, calls)
}
