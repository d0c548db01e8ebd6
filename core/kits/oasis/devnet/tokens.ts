import { Contract, MaxUint256 } from 'ethers'
import type { DevnetSite } from '../../../contracts/devnet.ts'
import { actAs } from './act-as.ts'

export interface OperatorToken {
  readonly symbol: string
  readonly address: string
  readonly decimals: number
}

const tokenAbi = [
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function balanceOf(address) view returns (uint256)',
  'function approve(address, uint256)',
  'function mint(address, uint256)',
  'function deposit() payable',
]

const contractOf = ({ provider }: DevnetSite, address: string) => new Contract(address, tokenAbi, provider)

export async function tokenAt(site: DevnetSite, address: string): Promise<OperatorToken> {
  const contract = contractOf(site, address)
  const ask = (method: string): Promise<unknown> => contract.getFunction(method).staticCall()
  return { address, symbol: String(await ask('symbol')), decimals: Number(await ask('decimals')) }
}

export const balanceOf = async (site: DevnetSite, { address }: OperatorToken, owner: string): Promise<bigint> =>
  BigInt(await contractOf(site, address).getFunction('balanceOf').staticCall(owner))

/** Gives somebody so much out of nothing, and lets a contract take it. */
export async function give(site: DevnetSite, { symbol, address }: OperatorToken, to: string, raw: bigint, spender: string): Promise<void> {
  const encode = (method: string, ...args: readonly unknown[]) => contractOf(site, address).interface.encodeFunctionData(method, [...args])
  // All tokens of the devnet can be minted by anybody, but for the one that wraps ether.
  if (symbol === 'WETH') await actAs(site, to, { to: address, data: encode('deposit'), value: raw })
  else await actAs(site, to, { to: address, data: encode('mint', to, raw) })
  await actAs(site, to, { to: address, data: encode('approve', spender, MaxUint256) })
}
