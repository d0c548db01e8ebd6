import { AbiCoder, keccak256, toBeHex, type BaseContract } from 'ethers'
import type { DevnetSite } from '../../../contracts/devnet.ts'

interface Contracts {
  readonly house: BaseContract
  readonly vault: BaseContract
  readonly balances: BaseContract
}

const settlementUnit = 10n ** 12n

/**
 * Has the exchange's owner liquidate all of a position. No trade moves a price at once as far as most accounts could bear, so it is the
 * account's collateral that is put away for as long as it takes: down to three hundredths of what its positions are worth, of which
 * half as much again would be needed not to be liquidated, and less is needed to pay the penalty (ClearingHouseConfig.initialize,
 * AccountBalance.getLiquidatablePositionSize).
 */
export async function liquidateNow(site: DevnetSite, { house, vault, balances }: Contracts, owner: string, baseToken: string) {
  const number = async (contract: BaseContract, method: string, ...args: unknown[]) =>
    BigInt(String(await contract.getFunction(method).staticCall(...args)))
  const settlement = String(await vault.getFunction('getSettlementToken').staticCall())
  const [address, slot] = [await vault.getAddress(), collateralSlot(owner, settlement)]
  const put = (raw: bigint) => site.provider.send('anvil_setStorageAt', [address, slot, toBeHex(BigInt.asUintN(256, raw), 32)])

  const value = await number(house, 'getAccountValue', owner)
  const notional = await number(balances, 'getTotalAbsPositionValue', owner)
  const awayRaw = (value - (notional * 3n) / 100n) / settlementUnit
  await put((await number(vault, 'getBalance', owner)) - awayRaw)
  try {
    const receipt = await site.send(house, 'liquidate(address,address)', owner, baseToken)
    return receipt.hash
  } finally {
    await put((await number(vault, 'getBalance', owner)) + awayRaw)
  }
}

/** Slot of `_balance[trader][token]` in Vault (@perp/curie-contract@2.8.4, VaultStorageV1). */
const balancesSlot = 311

/** Where Vault keeps what a trader has of a token. */
export function collateralSlot(trader: string, token: string): string {
  const encode = (types: readonly string[], values: readonly unknown[]) => keccak256(AbiCoder.defaultAbiCoder().encode(types, values))
  return encode(['address', 'bytes32'], [token, encode(['address', 'uint256'], [trader, balancesSlot])])
}
