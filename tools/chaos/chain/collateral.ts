import { readFileSync } from 'node:fs'
import { Interface, MaxUint256, parseUnits, toQuantity } from 'ethers'
import { parse } from 'yaml'
import type { Chain } from './chain.ts'

const abi = new Interface([
  'function getSettlementToken() view returns (address)',
  'function approve(address, uint256)',
  'function deposit(address, uint256)',
])
const dollarsRaw = parseUnits('100000', 6)
const gas = toQuantity(1_000_000)

/** Gives wallets collateral in the perpetual exchange, and lets it take more, so that bots can open positions and deposit. */
export async function putCollateral(chain: Chain, wallets: readonly string[]): Promise<void> {
  const { contractAddresses } = parse(readFileSync(new URL('../../../plugins/perp/defaults.yml', import.meta.url), 'utf8'))
  const vault: string = contractAddresses.local.vaultAddress
  const asked = await chain.rpc('eth_call', { to: vault, data: abi.encodeFunctionData('getSettlementToken') }, 'latest')
  const [token] = abi.decodeFunctionResult('getSettlementToken', String(asked))
  const sent: unknown[] = []
  for (const from of wallets) {
    await chain.rpc('anvil_impersonateAccount', from)
    const send = async (to: string, data: string) => sent.push(await chain.rpc('eth_sendTransaction', { from, to, data, gas }))
    await send(token, abi.encodeFunctionData('approve', [vault, MaxUint256]))
    await send(vault, abi.encodeFunctionData('deposit', [token, dollarsRaw]))
    await chain.rpc('anvil_stopImpersonatingAccount', from)
  }
  await chain.mine(1)
  for (const hash of sent) {
    const receipt: unknown = await chain.rpc('eth_getTransactionReceipt', hash)
    if (Reflect.get(Object(receipt), 'status') !== '0x1') throw new Error('A wallet could not put collateral into the exchange.')
  }
}
