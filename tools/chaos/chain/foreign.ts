import { HDNodeWallet, keccak256 } from 'ethers'
import type { Random } from '../random.ts'
import type { Chain } from './chain.ts'

const mnemonic = 'test test test test test test test test test test test junk'
const nowhere = '0x000000000000000000000000000000000000dEaD'
const gwei = 10n ** 9n

/**
 * Another program has the key of one of the devnet's wallets and sends by it, past the servers: on the next nonce that the node
 * would give it, or on one that ours wait on. Gives the hash, of bytes that the node may have refused.
 */
export async function sendForeign(chain: Chain, wallet: number, random: Random): Promise<string> {
  const signer = HDNodeWallet.fromPhrase(mnemonic, undefined, `m/44'/60'/0'/0/${wallet}`)
  const nonce = Number(await chain.rpc('eth_getTransactionCount', signer.address, random.pick(['pending', 'latest'])))
  const tip = BigInt(random.between(2, 20)) * gwei
  const fees = { maxFeePerGas: (await chain.baseFee()) * 3n + tip, maxPriorityFeePerGas: tip }
  const raw = await signer.signTransaction({ type: 2, chainId: 31337, nonce, to: nowhere, value: 0, gasLimit: 21_000, ...fees })
  // "replacement underpriced" is the other program's trouble.
  await chain.rpc('eth_sendRawTransaction', raw).catch(() => {})
  return keccak256(raw)
}
