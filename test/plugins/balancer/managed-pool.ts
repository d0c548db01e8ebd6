import { Contract, ZeroAddress, getCreateAddress, id, parseEther, type Wallet } from 'ethers'
import { devnetSite, readArtifact } from '../../../core/devnet/build-state.ts'
import { fillPool, pauseSeconds } from '../../../kits/amm/weighted/devnet.ts'
import { tokens, type DevnetFixture } from '../../kits/amm/devnet-fixture.ts'

const kit = new URL('../../../kits/amm/weighted/devnet.ts', import.meta.url).href
const feeProviderNonce = 2
const tokenAbi = ['function transfer(address, uint256)', 'function balanceOf(address) view returns (uint256)']
const authAbi = ['function getActionId(bytes4) view returns (bytes32)']

export const vaultAbi = async () => (await readArtifact('Vault', kit)).abi

/** Sends half of the trader's balance to another wallet. */
export async function shareTokens({ trader, mined }: DevnetFixture, owner: Wallet): Promise<void> {
  for (const { address } of Object.values(tokens)) {
    const contract = new Contract(address, tokenAbi, trader)
    const held: bigint = await contract.getFunction('balanceOf')(trader.address)
    await mined((await contract.getFunction('transfer')(owner.address, held / 2n)).hash)
  }
}

/** The id of a pool with an asset manager, who may take tokens out and reports their worth. */
export async function newManagedPool({ provider }: DevnetFixture, owner: Wallet, vault: Contract): Promise<string> {
  const site = await devnetSite('balancer', provider)
  const contents = [tokens.USDC, tokens.DAI]
    .toSorted((a, b) => (a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1))
    .map((token) => ({ token: { ...token, mint: async () => {} }, amountRaw: 10n ** BigInt(token.decimals + 3) }))
  const addresses = contents.map(({ token }) => token.address)
  const [weights, none, managers] = [
    addresses.map(() => parseEther('0.5')),
    addresses.map(() => ZeroAddress),
    addresses.map(() => owner.address),
  ]
  const feeProvider = getCreateAddress({ from: owner.address, nonce: feeProviderNonce })
  const { window, buffer } = pauseSeconds
  const terms = ['managed', 'managed', addresses, weights, none, managers, parseEther('0.001')]
  const artifact = await readArtifact('WeightedPoolV3', kit)
  const pool = await site.deploy(artifact, terms, await vault.getAddress(), feeProvider, window, buffer, owner.address, '')
  await fillPool({ site, vault, feeProvider }, pool, contents)
  return pool.getFunction('getPoolId')()
}

/** Gives it the permissions of the exchange's operator. */
export async function allow({ mined }: DevnetFixture, owner: Wallet, vault: Contract, target: string, method: string): Promise<void> {
  const roles = ['function grantRole(bytes32 role, address account)']
  const authorizer = new Contract(await vault.getFunction('getAuthorizer')(), roles, owner)
  const action = await new Contract(target, authAbi, owner).getFunction('getActionId')(id(method).slice(0, 10))
  await mined((await authorizer.getFunction('grantRole')(action, owner.address)).hash)
}
