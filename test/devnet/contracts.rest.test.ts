import { expect } from 'chai'
import { Contract, ContractFactory, Interface, JsonRpcProvider, MaxUint256, keccak256, parseUnits } from 'ethers'
import { devnetQuoter } from '../../testkit/devnet-operators.ts'
import { readArtifact } from '../../core/devnet/build-state.ts'
import { startDevnet, type Devnet } from '../../core/devnet/start-devnet.ts'
import { tradingWallets } from '../../core/devnet/anvil.ts'
import { addresses } from './addresses.ts'
import { devnetFiles, temporaryFolder } from './test-devnet.ts'

const erc20 = [
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function balanceOf(address) view returns (uint256)',
  'function allowance(address, address) view returns (uint256)',
]
const router = [
  'function factory() view returns (address)',
  'function WETH() view returns (address)',
  'function getAmountsOut(uint256, address[]) view returns (uint256[])',
]
const multicall3 = [
  'function aggregate3((address target, bool allowFailure, bytes callData)[]) view returns ((bool success, bytes returnData)[])',
  'function getEthBalance(address) view returns (uint256)',
  'function getBlockNumber() view returns (uint256)',
  'function getChainId() view returns (uint256)',
]
const [wallet = '', otherWallet = ''] = tradingWallets

describe('the contracts of the devnet', function () {
  this.timeout(300_000)
  let place: Awaited<ReturnType<typeof temporaryFolder>>
  let devnet: Devnet
  let provider: JsonRpcProvider

  before(async () => {
    place = await temporaryFolder()
    devnet = await startDevnet({ port: 0, dataDir: place.folder, devnetFiles })
    provider = new JsonRpcProvider(devnet.rpcUrl, devnet.chainId, { staticNetwork: true, cacheTimeout: -1 })
  })
  after(async () => {
    provider.destroy()
    await devnet.stop()
    await place.remove()
  })

  const read = (address: string, abi: readonly string[], method: string, ...args: unknown[]): Promise<unknown> =>
    new Contract(address, abi, provider).getFunction(method).staticCall(...args)

  it('are deployed from nothing at the first start, none refused', () => {
    expect(devnet.built).to.equal(true)
    expect(devnet.refused).to.deep.equal([])
  })

  for (const [symbol, { address, decimals }] of Object.entries(addresses.tokens)) {
    it(`have ${symbol} at its constant address, with plenty of it in every trading wallet`, async () => {
      expect(await read(address, erc20, 'symbol')).to.equal(symbol)
      expect(await read(address, erc20, 'decimals')).to.equal(BigInt(decimals))
      for (const owner of tradingWallets) {
        expect(await read(address, erc20, 'balanceOf', owner)).to.satisfy((raw: bigint) => raw >= parseUnits('100', decimals))
        expect(await provider.getBalance(owner)).to.satisfy((raw: bigint) => raw >= parseUnits('9000', 18))
      }
    })
  }

  for (const [name, exchange] of Object.entries(addresses.exchanges)) {
    it(`have the router of ${name} at its constant address, on its own factory`, async () => {
      expect(await read(exchange.router, router, 'factory')).to.equal(exchange.factory)
      expect(await read(exchange.router, router, 'WETH')).to.equal(addresses.tokens.WETH.address)
    })
  }

  it('give pools whose prices are near 3000 dollars an ether and 60000 a bitcoin, apart on the two exchanges', async () => {
    const { WETH, USDC, WBTC } = addresses.tokens
    const dollars = async (exchange: { router: string }, amountRaw: bigint, ...via: readonly string[]): Promise<number> => {
      const amounts = await read(exchange.router, router, 'getAmountsOut', amountRaw, [...via, USDC.address])
      return Array.isArray(amounts) ? Number(amounts.at(-1)) / 1e6 : Number.NaN
    }
    const { uniswap, sushiswap } = addresses.exchanges
    const [ether, bitcoin] = [parseUnits('0.01', 18), parseUnits('0.001', 8)]
    expect(100 * (await dollars(uniswap, ether, WETH.address))).to.be.closeTo(2991, 1) // less the fee of 0.3 %
    expect(100 * (await dollars(sushiswap, ether, WETH.address))).to.be.closeTo(3010.9, 1)
    expect(1000 * (await dollars(uniswap, bitcoin, WBTC.address, WETH.address))).to.be.closeTo(59640, 60)
  })

  it('have pairs of the same init code as on mainnet', async () => {
    const pair = await readArtifact('UniswapV2Pair', new URL('../../kits/amm/v2/devnet.ts', import.meta.url).href)
    expect(keccak256(pair.bytecode)).to.equal('0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f')
  })

  it('name a quoter that answers as of the block asked for', async () => {
    const { WETH, USDC } = addresses.tokens
    const [uniswapFile = ''] = devnetFiles
    const quoter = await devnetQuoter(uniswapFile, provider)
    const route = [{ tokenIn: WETH.address, tokenOut: USDC.address, pool: '', version: 'v2' }]
    const before = await provider.getBlockNumber()
    const quoted = await quoter?.exactIn(route, parseUnits('1', 18), before)
    expect(await quoter?.exactOut(route, quoted ?? 0n, before)).to.satisfy((raw: bigint) => raw <= parseUnits('1', 18))

    const swap = 'function swapExactETHForTokens(uint256, address[], address, uint256) payable returns (uint256[])'
    const signer = await provider.getSigner(wallet)
    const trade = await new Contract(addresses.exchanges.uniswap.router, [swap], signer)
      .getFunction('swapExactETHForTokens')
      .send(0n, [WETH.address, USDC.address], wallet, MaxUint256, { value: parseUnits('100', 18) })
    const receipt = await trade.wait()
    expect(await quoter?.exactIn(route, parseUnits('1', 18), receipt?.blockNumber ?? 0)).to.satisfy((raw: bigint) => raw < (quoted ?? 0n))
    expect(await quoter?.exactIn(route, parseUnits('1', 18), before)).to.equal(quoted)
  })

  it('have a USDT that returns nothing and refuses to change an allowance that is not zero', async () => {
    const { address } = addresses.tokens.USDT
    const signer = await provider.getSigner(wallet)
    const abi = new Interface(['function approve(address, uint256)'])
    const approve = (raw: bigint): { to: string; data: string } => ({
      to: address,
      data: abi.encodeFunctionData('approve', [addresses.exchanges.uniswap.router, raw]),
    })
    expect(await signer.call(approve(5n))).to.equal('0x')

    await (await signer.sendTransaction(approve(5n))).wait()
    expect(await rejection(signer.call(approve(6n)))).to.match(/revert/)
    await (await signer.sendTransaction(approve(0n))).wait()
    await (await signer.sendTransaction(approve(6n))).wait()
    expect(await read(address, erc20, 'allowance', wallet, addresses.exchanges.uniswap.router)).to.equal(6n)
  })

  it('have Multicall3 where every chain has it, with failures told apart', async () => {
    const { WETH } = addresses.tokens
    const balanceOf = new Interface(erc20).encodeFunctionData('balanceOf', [wallet])
    const results = await read(addresses.multicall3, multicall3, 'aggregate3', [
      { target: WETH.address, allowFailure: false, callData: balanceOf },
      {
        target: WETH.address,
        allowFailure: true,
        callData: new Interface(['function transfer(address, uint256)']).encodeFunctionData('transfer', [wallet, 1n]),
      },
    ])
    expect(results).to.deep.equal([
      [true, `0x${parseUnits('1000', 18).toString(16).padStart(64, '0')}`],
      [false, '0x'],
    ])
    expect(await read(addresses.multicall3, multicall3, 'getChainId')).to.equal(31337n)
    expect(await read(addresses.multicall3, multicall3, 'getEthBalance', wallet)).to.equal(await provider.getBalance(wallet))
  })

  it('can have a token beside them that takes 2 % of what is moved', async () => {
    const { abi, bytecode } = await readArtifact('FeeOnTransferToken', new URL('../../plugins/ethereum/devnet.ts', import.meta.url).href)
    const token = await new ContractFactory(abi, bytecode, await provider.getSigner(wallet)).deploy('Fee', 'FEE', 18)
    await token.waitForDeployment()
    for (const [method, to, amountRaw] of [
      ['mint', wallet, 1000n],
      ['transfer', otherWallet, 100n],
    ] as const) {
      const sent = await token.getFunction(method).send(to, amountRaw)
      await sent.wait()
    }
    expect(await token.getFunction('balanceOf').staticCall(otherWallet)).to.equal(98n)
    expect(await token.getFunction('totalSupply').staticCall()).to.equal(998n)
  })
})

async function rejection(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'nothing was wrong',
    (error: unknown) => String(error),
  )
}
