import { formatUnits, type BaseContract } from 'ethers'
import type { PerpViews } from '../../../contracts/devnet.ts'

interface Contracts {
  readonly house: BaseContract
  readonly vault: BaseContract
  readonly balances: BaseContract
  readonly exchange: BaseContract
  readonly config: BaseContract
  readonly token: BaseContract
}

/** What the exchange's own view functions say: nothing of this goes through the kit that is held against it. */
export async function viewsAt(
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
