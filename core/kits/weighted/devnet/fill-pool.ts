import { AbiCoder, Contract, MaxUint256, type BaseContract } from 'ethers'
import type { DevnetToken } from '../../../contracts/devnet.ts'
import type { Place } from './vault.ts'

export interface Content {
  readonly token: DevnetToken
  readonly amountRaw: bigint
}

// JoinKind.INIT of WeightedPoolUserDataHelpers, npm @balancer-labs/v2-pool-weighted 2.0.1.
const init = 0
// Without a return value of approve, since some tokens have none.
const tokenAbi = ['function approve(address spender, uint256 value)', 'function allowance(address, address) view returns (uint256)']

/** @param contents in the order of the pool's tokens */
export async function fillPool({ site, vault }: Place, pool: BaseContract, contents: readonly Content[]): Promise<void> {
  const [vaultAddress, owner] = [await vault.getAddress(), site.signer.address]
  for (const { token, amountRaw } of contents) {
    await token.mint(owner, amountRaw)
    const contract = new Contract(token.address, tokenAbi, site.signer)
    // Some refuse to change an allowance that is there.
    if ((await contract.getFunction('allowance')(owner, vaultAddress)) === 0n)
      await site.send(contract, 'approve', vaultAddress, MaxUint256)
  }
  const amounts = contents.map(({ amountRaw }) => amountRaw)
  const userData = AbiCoder.defaultAbiCoder().encode(['uint256', 'uint256[]'], [init, amounts])
  const assets = contents.map(({ token }) => token.address)
  await site.send(vault, 'joinPool', await pool.getFunction('getPoolId')(), owner, owner, [assets, amounts, userData, false])
}
