import { Contract, parseUnits, type BaseContract, formatUnits, AbiCoder, keccak256, toBeHex } from 'ethers'
import type { DevnetSite, PerpOperator, PerpViews } from '../../core/contracts/devnet.ts'
import {
  artifactOf,
  perpDevnetContracts,
  type ExchangeContract,
  priceDecimals,
  type DevnetMarket,
  premiumSeconds,
} from './devnet-contracts.ts'

/** The exchange's owner, who is its deployer, and the exchange's own figures. */
export async function createPerpOperator(site: DevnetSite, markets: readonly DevnetMarket[]): Promise<PerpOperator> {
  const addresses = perpDevnetContracts(site.signer.address)
  const contract = async (name: ExchangeContract) => at(site, name, addresses.exchange(name))
  const [house, vault, balances, exchange, config] = await Promise.all([
    contract('ClearingHouse'),
    contract('Vault'),
    contract('AccountBalance'),
    contract('Exchange'),
    contract('ClearingHouseConfig'),
  ])
  const find = (ticker: string) => {
    const index = markets.findIndex(({ base }) => ticker === `${base}USD`)
    const market = markets[index]
    if (!market) throw new Error(`There is no market ${ticker} on the devnet.`)
    return { ...market, ...addresses.market(index) }
  }

  return {
    async views(owner, ticker, blockTag) {
      const token = await at(site, 'BaseToken', find(ticker).base.address)
      // While anvil mines a block it may answer one part of the calls at the block before.
      for (;;) {
        const head: unknown = await site.provider.send('eth_blockNumber', [])
        const views = await viewsAt({ house, vault, balances, exchange, config, token }, owner, blockTag)
        if ((await site.provider.send('eth_blockNumber', [])) === head) return views
      }
    },
    async moveIndex(ticker, price) {
      const { aggregator, dispatcher } = find(ticker)
      await site.send(await at(site, 'TestAggregator', aggregator.address), 'set', parseUnits(price, priceDecimals))
      // The exchange's keepers do the same: means over time are wrong until the change is dispatched (CumulativeTwap._calculateTwap).
      await site.send(await at(site, 'PriceFeedDispatcher', dispatcher.address), 'dispatchPrice', premiumSeconds)
    },
    async setStatus(ticker, status) {
      const { base, maxTickCrossed } = find(ticker)
      // A paused base token cannot be opened again. Without a tick to cross the exchange trades nothing either.
      await site.send(exchange, 'setMaxTickCrossedWithinBlock', base.address, status === 'paused' ? 0 : maxTickCrossed)
      if (status !== 'closed') return
      const token = await at(site, 'BaseToken', base.address)
      await site.send(token, 'pause')
      await site.send(token, 'close(uint256)', await token.getFunction('getPausedIndexPrice').staticCall())
    },
    liquidate: (owner, ticker) => liquidateNow(site, { house, vault, balances }, owner, find(ticker).base.address),
  }
}

async function at(site: DevnetSite, name: string, address: string): Promise<BaseContract> {
  return new Contract(address, (await artifactOf(site, name)).abi, site.signer)
}

interface Contracts {
  readonly house: BaseContract
  readonly vault: BaseContract
  readonly balances: BaseContract
  readonly exchange: BaseContract
  readonly config: BaseContract
  readonly token: BaseContract
}

/** The exchange's own view functions. The kit has no part in it, since it is tested against these figures. */
async function viewsAt(
  { house, vault, balances, exchange, config, token }: Contracts,
  owner: string,
  blockTag: number,
): Promise<PerpViews> {
  const number = (contract: BaseContract, method: string, ...args: unknown[]) => readNumber(contract, method, ...args, { blockTag })
  const base = await token.getAddress()
  const [decimals, imRatio] = [await number(vault, 'decimals'), await number(config, 'getImRatio')]
  const size = await number(balances, 'getTotalPositionSize', owner, base)
  const openNotional = await number(balances, 'getTotalOpenNotional', owner, base)
  const value = await number(balances, 'getTotalPositionValue', owner, base)
  const [realized = 0n] = numbers(await balances.getFunction('getPnlAndPendingFee').staticCall(owner, { blockTag }))
  const inSettlement = (raw: bigint) => raw * 10n ** (18n - decimals)
  const other = (await number(vault, 'getAccountValue', owner)) - (await number(vault, 'getSettlementTokenValue', owner))
  const text = (raw: bigint) => formatUnits(raw, 18)
  return {
    size: text(size),
    openNotional: text(openNotional),
    unrealizedProfit: text(value + openNotional),
    pendingFunding: text(-(await number(exchange, 'getPendingFundingPayment', owner, base))),
    accountValue: text(await number(house, 'getAccountValue', owner)),
    freeCollateral: text(inSettlement(await number(vault, 'getFreeCollateralByRatio', owner, imRatio))),
    collateral: text(inSettlement((await number(vault, 'getBalance', owner)) + other) + realized),
    initialMargin: text(((await number(balances, 'getTotalDebtValue', owner)) * imRatio) / 1_000_000n),
    maintenanceMargin: text(await number(balances, 'getMarginRequirementForLiquidation', owner)),
    notional: text(await number(balances, 'getTotalAbsPositionValue', owner)),
    markPrice: text(await number(balances, 'getMarkPrice', base)),
    indexPrice: text(await number(token, 'getIndexPrice', 0)),
  }
}

const readNumber = async (contract: BaseContract, method: string, ...args: unknown[]) =>
  BigInt(String(await contract.getFunction(method).staticCall(...args)))

const numbers = (values: unknown): bigint[] => (Array.isArray(values) ? values.map((value) => BigInt(String(value))) : [])

type LiquidationContracts = Pick<Contracts, 'house' | 'vault' | 'balances'>

const settlementUnit = 10n ** 12n

/**
 * Has the exchange's owner liquidate a whole position. No single trade can move the price far enough for most accounts. So the account's
 * collateral is reduced while it lasts, down to three percent of its positions' value: half as much again would be needed against liquidation,
 * and less covers the penalty (ClearingHouseConfig.initialize, AccountBalance.getLiquidatablePositionSize).
 */
async function liquidateNow(site: DevnetSite, { house, vault, balances }: LiquidationContracts, owner: string, baseToken: string) {
  const settlement = String(await vault.getFunction('getSettlementToken').staticCall())
  const [address, slot] = [await vault.getAddress(), collateralSlot(owner, settlement)]
  const setBalance = (raw: bigint) => site.provider.send('anvil_setStorageAt', [address, slot, toBeHex(BigInt.asUintN(256, raw), 32)])

  const value = await readNumber(house, 'getAccountValue', owner)
  const notional = await readNumber(balances, 'getTotalAbsPositionValue', owner)
  const removedRaw = (value - (notional * 3n) / 100n) / settlementUnit
  await setBalance((await readNumber(vault, 'getBalance', owner)) - removedRaw)
  try {
    const receipt = await site.send(house, 'liquidate(address,address)', owner, baseToken)
    return receipt.hash
  } finally {
    await setBalance((await readNumber(vault, 'getBalance', owner)) + removedRaw)
  }
}

/** Slot of `_balance[trader][token]` in Vault (@perp/curie-contract@2.8.4, VaultStorageV1). */
const balancesSlot = 311

/** The storage slot of a trader's balance of a token in Vault. */
export function collateralSlot(trader: string, token: string): string {
  const encode = (types: readonly string[], values: readonly unknown[]) => keccak256(AbiCoder.defaultAbiCoder().encode(types, values))
  return encode(['address', 'bytes32'], [token, encode(['address', 'uint256'], [trader, balancesSlot])])
}
