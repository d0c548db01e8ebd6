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

/** Who deployed the exchange owns it. */
export async function createPerpOperator(site: DevnetSite, markets: readonly DevnetMarket[]): Promise<PerpOperator> {
  const placed = perpDevnetContracts(site.signer.address)
  const contract = async (name: ExchangeContract) => at(site, name, placed.exchange(name))
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
    return { ...market, ...placed.market(index) }
  }

  return {
    async views(owner, ticker, blockTag) {
      const token = await at(site, 'BaseToken', find(ticker).base.address)
      // What anvil is asked while it mines a block, it may answer by two blocks at once.
      for (;;) {
        const head: unknown = await site.provider.send('eth_blockNumber', [])
        const views = await viewsAt({ house, vault, balances, exchange, config, token }, owner, blockTag)
        if ((await site.provider.send('eth_blockNumber', [])) === head) return views
      }
    },
    async moveIndex(ticker, price) {
      const { aggregator, dispatcher } = find(ticker)
      await site.send(await at(site, 'TestAggregator', aggregator.address), 'set', parseUnits(price, priceDecimals))
      // As the exchange's keepers do: means over time are wrong as long as nobody has told of a change (CumulativeTwap._calculateTwap).
      await site.send(await at(site, 'PriceFeedDispatcher', dispatcher.address), 'dispatchPrice', premiumSeconds)
    },
    async setStatus(ticker, status) {
      const { base, maxTickCrossed } = find(ticker)
      // A base token that was paused is never opened again; where no tick may be crossed nothing is traded either.
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

/** What the exchange's own view functions say: nothing of this goes through the kit that is held against it. */
async function viewsAt(
  { house, vault, balances, exchange, config, token }: Contracts,
  owner: string,
  blockTag: number,
): Promise<PerpViews> {
  const ask = (contract: BaseContract, method: string, ...args: unknown[]): Promise<unknown> =>
    contract.getFunction(method).staticCall(...args, { blockTag })
  const number = async (contract: BaseContract, method: string, ...args: unknown[]) => BigInt(String(await ask(contract, method, ...args)))
  const base = await token.getAddress()
  const [decimals, imRatio] = [await number(vault, 'decimals'), await number(config, 'getImRatio')]
  const size = await number(balances, 'getTotalPositionSize', owner, base)
  const openNotional = await number(balances, 'getTotalOpenNotional', owner, base)
  const value = await number(balances, 'getTotalPositionValue', owner, base)
  const [realized = 0n] = numbers(await ask(balances, 'getPnlAndPendingFee', owner))
  const inSettlement = (raw: bigint) => raw * 10n ** (18n - decimals)
  const other = (await number(vault, 'getAccountValue', owner)) - (await number(vault, 'getSettlementTokenValue', owner))
  const shown = (raw: bigint) => formatUnits(raw, 18)
  return {
    size: shown(size),
    openNotional: shown(openNotional),
    unrealizedProfit: shown(value + openNotional),
    pendingFunding: shown(-(await number(exchange, 'getPendingFundingPayment', owner, base))),
    accountValue: shown(await number(house, 'getAccountValue', owner)),
    freeCollateral: shown(inSettlement(await number(vault, 'getFreeCollateralByRatio', owner, imRatio))),
    collateral: shown(inSettlement((await number(vault, 'getBalance', owner)) + other) + realized),
    initialMargin: shown(((await number(balances, 'getTotalDebtValue', owner)) * imRatio) / 1_000_000n),
    maintenanceMargin: shown(await number(balances, 'getMarginRequirementForLiquidation', owner)),
    notional: shown(await number(balances, 'getTotalAbsPositionValue', owner)),
    markPrice: shown(await number(balances, 'getMarkPrice', base)),
    indexPrice: shown(await number(token, 'getIndexPrice', 0)),
  }
}

const numbers = (values: unknown): bigint[] => (Array.isArray(values) ? values.map((value) => BigInt(String(value))) : [])

interface ContractsOfLiquidate {
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
async function liquidateNow(site: DevnetSite, { house, vault, balances }: ContractsOfLiquidate, owner: string, baseToken: string) {
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
