import { fileURLToPath } from 'node:url'
import { Contract, MaxUint256, Wallet } from 'ethers'
import type { ActionOutcome, BookAction, BookMarket, Head, NewOrder, Plan, Token } from '../../../core/contracts/index.ts'
import { devnetBookOperators } from '../../../testkit/devnet-operators.ts'
import { deployerAddress, readArtifact } from '../../../core/devnet/build-state.ts'
import type { Evm, EvmReceipt } from '../../../kits/evm/index.ts'
import { oasisDevnetMarket } from '../../../kits/oasis/devnet.ts'
import { oasis } from '../../../kits/oasis/index.ts'
import { markets } from '../../../plugins/oasis/markets.ts'
import { at, openDevnetFixture, tokens } from '../amm/devnet-fixture.ts'

const devnetFile = fileURLToPath(new URL('../../../plugins/oasis/devnet.ts', import.meta.url))
const files = [fileURLToPath(new URL('../../../plugins/ethereum/devnet.ts', import.meta.url)), devnetFile]
const artifacts = new URL('../../../kits/oasis/devnet.ts', import.meta.url).href

export type OasisFixture = Awaited<ReturnType<typeof createOasisFixture>>

/** The market on a devnet of its own, the kit for it, and traders. */
export async function createOasisFixture() {
  const fixture = await openDevnetFixture(files)
  const { provider, chain } = fixture
  const address = oasisDevnetMarket(deployerAddress('oasis'))
  const market = new Contract(address, (await readArtifact('TestOasisDex', artifacts)).abi, provider)
  const exchange = oasis(fixture.venue({ routerAddress: address }), { markets })
  const operator = (await devnetBookOperators(devnetFile, provider))?.CLOB
  if (!operator) throw new Error('The devnet names no operator of the exchange.')
  const named = async (name: string): Promise<BookMarket> => {
    const found = (await exchange.markets(at())).find(({ base, quote }) => `${base}-${quote}` === name)
    if (!found) throw new Error(`There is no market ${name}.`)
    return found
  }

  /** A new wallet with plenty of every token and approvals for the market. */
  const newTrader = async (): Promise<Wallet> => {
    const trader = new Wallet(Wallet.createRandom().privateKey, provider)
    await provider.send('anvil_setBalance', [trader.address, '0xd3c21bcecceda1000000'])
    for (const { address: token, symbol, decimals } of Object.values(tokens).filter(({ symbol }) => symbol !== 'USDT')) {
      const contract = new Contract(
        token,
        ['function mint(address, uint256)', 'function deposit() payable', 'function approve(address, uint256)'],
        trader,
      )
      const raw = 10n ** BigInt(decimals) * (symbol === 'WETH' ? 1000n : 10_000_000n)
      const [method, args] = symbol === 'WETH' ? ['deposit', [{ value: raw }]] : ['mint', [trader.address, raw]]
      await fixture.mined((await contract.getFunction(method).send(...args)).hash)
      await fixture.mined((await contract.getFunction('approve').send(address, MaxUint256)).hash)
    }
    return trader
  }

  const execute = async ({ steps: [{ to, data, value }] }: Plan<Evm>, trader: Wallet, gasLimit = 5_000_000n): Promise<EvmReceipt> =>
    fixture.mined((await trader.sendTransaction({ to, data, value, gasLimit })).hash)

  const actBy = async (trader: Wallet, action: BookAction): Promise<{ outcome: ActionOutcome; receipt: EvmReceipt; plan: Plan<Evm> }> => {
    const [planned] = await exchange.act(trader.address, [action], at())
    if (!planned || 'via' in planned.plan) throw new Error('An order goes the way of transactions.')
    const receipt = await execute(planned.plan, trader)
    const [outcome] = exchange.outcome(JSON.parse(JSON.stringify(receipt)), JSON.parse(JSON.stringify(planned.plan.memo)))
    if (!outcome) throw new Error('An action has one outcome.')
    return { outcome, receipt, plan: planned.plan }
  }
  const limit = (side: NewOrder['side'], price: string, amount: string): NewOrder => ({
    clientOrderId: 'any',
    side,
    orderType: 'LIMIT',
    timeInForce: 'GTC',
    price,
    amount,
  })
  const atMarket = (side: NewOrder['side'], price: string, amount: string): NewOrder => ({
    ...limit(side, price, amount),
    orderType: 'MARKET',
    timeInForce: 'FOK',
  })
  const place = async (trader: Wallet, name: string, order: NewOrder) => actBy(trader, { do: 'create', market: await named(name), order })
  const cancel = async (trader: Wallet, name: string, orderId: string) =>
    actBy(trader, { do: 'cancel', market: await named(name), order: { orderId } })

  const head = async (block: number | 'latest' = 'latest'): Promise<Head> => {
    const found = await provider.getBlock(block)
    if (!found?.hash) throw new Error('The chain has no such block.')
    return { number: BigInt(found.number), timestamp: found.timestamp, hash: found.hash, parentHash: found.parentHash }
  }
  /** The book of a market, read now. */
  const book = async (name: string) => {
    const found = await named(name)
    const { books } = exchange
    if (!('load' in books)) throw new Error('The books are followed.')
    const { states } = await books.load([books.keyOfMarket(found)], await head(), at())
    const { buys, sells } = books.show(states.get(books.keyOfMarket(found)), found)
    return { buys, sells }
  }
  const empty = async (name: string) => operator.clear(name, [])
  const balance = async (owner: string, token: Token) => (await chain.balances(owner, [token], at()))[0] ?? 0n

  return {
    ...fixture,
    end: fixture.close,
    market,
    address,
    exchange,
    operator,
    named,
    newTrader,
    execute,
    actBy,
    limit,
    atMarket,
    place,
    cancel,
    head,
    book,
    empty,
    balance,
  }
}
