import { dataLength, parseUnits, type BaseContract } from 'ethers'
import { defineDevnet, type DevnetSite, type MintableToken } from 'sluice/devnet'

// The same on every chain that has it: https://github.com/mds1/multicall3
const multicall3Address = '0xcA11bde05977b3631167028862bE2a173976CA11'

export default defineDevnet({
  name: 'ethereum',
  async tokens(site) {
    const weth9 = await site.artifact('WETH9', import.meta.url)
    const plain = await site.artifact('TestToken', import.meta.url)
    const noReturn = await site.artifact('NoReturnToken', import.meta.url)
    const feeOnTransfer = await site.artifact('FeeOnTransferToken', import.meta.url)

    // Addresses follow from the order.
    const WETH = await wrappedEther(await site.deploy(weth9))
    const USDC = await mintable(await site.deploy(plain, 'USD Coin', 'USDC', 6), 6)
    const DAI = await mintable(await site.deploy(plain, 'Dai Stablecoin', 'DAI', 18), 18)
    const WBTC = await mintable(await site.deploy(plain, 'Wrapped BTC', 'WBTC', 8), 8)
    const USDT = await mintable(await site.deploy(noReturn, 'Tether USD', 'USDT', 6), 6)
    // On no list: exchanges have to refuse it.
    const TAX = await mintable(await site.deploy(feeOnTransfer, 'Token with a Fee on Transfer', 'TAX', 18), 18)

    await placeMulticall3(site)
    for (const wallet of site.wallets) {
      await WETH.mint(site, wallet, parseUnits('1000', WETH.decimals))
      await WBTC.mint(site, wallet, parseUnits('100', WBTC.decimals))
      for (const dollar of [USDC, DAI, USDT]) await dollar.mint(site, wallet, parseUnits('10000000', dollar.decimals))
    }
    return { WETH, USDC, DAI, WBTC, USDT, TAX }
  },
})

async function mintable(token: BaseContract, decimals: number): Promise<MintableToken> {
  return {
    address: await token.getAddress(),
    decimals,
    mint: async (site, to, amountRaw) => void (await site.send(token, 'mint', to, amountRaw)),
  }
}

async function wrappedEther(weth: BaseContract): Promise<MintableToken> {
  return {
    address: await weth.getAddress(),
    decimals: 18,
    async mint(site, to, amountRaw) {
      await site.send(weth, 'deposit', { value: amountRaw })
      if (to !== site.signer.address) await site.send(weth, 'transfer', to, amountRaw)
    },
  }
}

/** Its address came of a key that nobody here has, so the code is put there; a call without target runs the constructor. */
async function placeMulticall3({ provider, artifact }: DevnetSite): Promise<void> {
  const { bytecode } = await artifact('Multicall3', import.meta.url)
  const code = await provider.call({ data: bytecode })
  if (dataLength(code) === 0) throw new Error('The creation code of Multicall3 gave no code.')
  await provider.send('anvil_setCode', [multicall3Address, code])
}
