import { fileURLToPath } from 'node:url'
import { Contract, MaxUint256, Wallet, toBeHex, type BaseContract } from 'ethers'
import type { KnownPerpAccount, PerpAccount, PerpMarketName, PerpOrder, Plan } from '../../../core/contracts/index.ts'
import { devnetPerpOperator } from '../../../testkit/devnet-operators.ts'
import { deployer, deployerAddress, readArtifact } from '../../../core/devnet/build-state.ts'
import type { Evm, EvmReceipt } from '../../../kits/evm/index.ts'
import { perpDevnetContracts, type ExchangeContract } from '../../../kits/perp/devnet-contracts.ts'
import { collateralSlot } from '../../../kits/perp/devnet-operator.ts'
import { perp } from '../../../kits/perp/index.ts'
import type { Perp } from '../../../kits/perp/perp.ts'
import { markets } from '../../../plugins/perp/index.ts'
import { at, openDevnetFixture, tokens } from '../amm/devnet-fixture.ts'

const devnetFile = fileURLToPath(new URL('../../../plugins/perp/devnet.ts', import.meta.url))
const files = [fileURLToPath(new URL('../../../plugins/ethereum/devnet.ts', import.meta.url)), devnetFile]
const artifacts = new URL('../../../kits/perp/devnet.ts', import.meta.url).href
const collateralRaw = 100_000_000_000n

/** The same with answers that lack no figure: every market of these tests answers. */
const whole = (found: Perp) => ({
  ...found,
  async account(...asked: Parameters<Perp['account']>) {
    const { account, ...rest } = await found.account(...asked)
    return { ...rest, account: wholeAccount(account) }
  },
  async position(...asked: Parameters<Perp['position']>) {
    const { account, ...rest } = await found.position(...asked)
    return { ...rest, account: wholeAccount(account) }
  },
  async collateral(...asked: Parameters<Perp['collateral']>) {
    const { withdrawableRaw, ...rest } = await found.collateral(...asked)
    if (withdrawableRaw === undefined) throw new Error('What can be withdrawn is not known.')
    return { ...rest, withdrawableRaw }
  },
})

function wholeAccount({ decimals, ...figures }: KnownPerpAccount): PerpAccount {
  const { valueRaw, freeCollateralRaw, collateralRaw, initialMarginRaw, maintenanceMarginRaw, notionalRaw } = figures
  if (
    valueRaw === undefined ||
    freeCollateralRaw === undefined ||
    collateralRaw === undefined ||
    initialMarginRaw === undefined ||
    maintenanceMarginRaw === undefined ||
    notionalRaw === undefined
  )
    throw new Error('A figure of the account is missing.')
  return { decimals, valueRaw, freeCollateralRaw, collateralRaw, initialMarginRaw, maintenanceMarginRaw, notionalRaw }
}

export type PerpFixture = Awaited<ReturnType<typeof createPerpFixture>>

/** The exchange on a devnet of its own, the kit for it, and traders with collateral. */
export async function createPerpFixture() {
  const fixture = await openDevnetFixture(files)
  const { provider } = fixture
  const placed = perpDevnetContracts(deployerAddress('perp'))
  const contractAt = async (name: string, address: string): Promise<BaseContract> =>
    new Contract(address, (await readArtifact(name, artifacts)).abi, deployer('perp', provider))
  const contract = (name: ExchangeContract) => contractAt(name, placed.exchange(name))
  const venue = fixture.venue({ routerAddress: placed.exchange('ClearingHouse'), vaultAddress: placed.exchange('Vault') })
  /** An instance that does something before each of its plain calls. */
  const exchangeWith = async ({ beforeCall }: { beforeCall(): Promise<void> }) => {
    const { reader } = venue
    const call: typeof reader.call = async (request, at) => {
      await beforeCall()
      return reader.call(request, at)
    }
    const found = perp({ ...venue, reader: { ...reader, call } }, { markets })
    await found.start(at().signal)
    return whole(found)
  }
  const exchange = await exchangeWith({ beforeCall: async () => {} })
  const { markets: listed } = await exchange.listMarkets(at())
  const operator = await devnetPerpOperator(devnetFile, provider)
  if (!operator) throw new Error('The devnet names no operator of the exchange.')

  const named = (base: string): PerpMarketName => {
    const market = listed.find((each) => each.base === base)
    if (!market) throw new Error(`There is no market of ${base}.`)
    return market
  }
  const executeBy = async (trader: Wallet, { steps: [{ to, data, value }] }: Plan<Evm>): Promise<EvmReceipt> => {
    const { hash } = await trader.sendTransaction({ to, data, value, gasLimit: 3_000_000n })
    return fixture.mined(hash)
  }

  /** A new wallet with collateral in the exchange. */
  const newTrader = async (depositRaw = collateralRaw): Promise<Wallet> => {
    const trader = new Wallet(Wallet.createRandom().privateKey, provider)
    await provider.send('anvil_setBalance', [trader.address, '0x56bc75e2d63100000'])
    const usdc = new Contract(tokens.USDC.address, ['function mint(address, uint256)'], trader)
    await (await usdc.getFunction('mint').send(trader.address, depositRaw * 2n)).wait()
    await approveBy(trader, tokens.USDC.address)
    if (depositRaw > 0n) await executeBy(trader, exchange.transferCollateral(tokens.USDC, depositRaw, 'deposit', trader.address))
    return trader
  }

  const approveBy = async (trader: Wallet, token: string) => {
    const contract = new Contract(token, ['function approve(address, uint256)'], trader)
    await (await contract.getFunction('approve').send(placed.exchange('Vault'), MaxUint256)).wait()
  }

  const deadline = async () => ((await provider.getBlock('latest'))?.timestamp ?? 0) + 600
  /** Opens a position at its quote, to the unit. */
  const open = async (trader: Wallet, order: PerpOrder) => {
    const quote = await exchange.quote(order, trader.address, at())
    const plan = exchange.open(quote, { owner: trader.address, boundRaw: quote.quoteRaw, deadline: await deadline() })
    const receipt = await executeBy(trader, plan)
    return { quote, plan, receipt, fill: exchange.perpFill(receipt, JSON.parse(JSON.stringify(plan.memo))) }
  }
  const close = async (trader: Wallet, market: PerpMarketName, { slackMillionths = 0n } = {}) => {
    const closing = await exchange.quoteClose(trader.address, market, at())
    if (!closing) throw new Error('There is nothing to close.')
    const slackRaw = (closing.quoteRaw * slackMillionths) / 1_000_000n
    const boundRaw = closing.quoteRaw + (closing.order.side === 'LONG' ? slackRaw : -slackRaw)
    const plan = exchange.close(closing, { owner: trader.address, boundRaw, deadline: await deadline() })
    const receipt = await executeBy(trader, plan)
    return { closing, plan, receipt, fill: exchange.perpFill(receipt, JSON.parse(JSON.stringify(plan.memo))) }
  }
  const setCollateral = async (owner: string, raw: bigint) => {
    const slot = collateralSlot(owner, tokens.USDC.address)
    await provider.send('anvil_setStorageAt', [placed.exchange('Vault'), slot, toBeHex(raw, 32)])
    await provider.send('evm_mine', [])
  }
  /** Advances the chain's clock for good. */
  const wait = async (seconds: number) => {
    await provider.send('evm_increaseTime', [seconds])
    await provider.send('evm_mine', [])
  }

  return {
    ...fixture,
    end: fixture.close,
    placed,
    contract,
    contractAt,
    exchange,
    exchangeWith,
    operator,
    named,
    executeBy,
    approveBy,
    newTrader,
    open,
    close,
    wait,
    setCollateral,
    deadline,
  }
}
