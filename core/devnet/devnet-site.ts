import { setTimeout as sleep } from 'node:timers/promises'
import {
  Contract,
  ContractFactory,
  toQuantity,
  type BaseContract,
  type JsonRpcProvider,
  type TransactionReceipt,
  type TransactionRequest,
  type Wallet,
} from 'ethers'
import type { DevnetSite } from '../contracts/devnet.ts'
import { deployer } from './deployer.ts'
import { readArtifact } from './read-artifact.ts'
import { tradingWallets } from './trading-wallets.ts'

const deployerEther = 1_000_000n

/** What one plugin gets to deploy with. Transactions are sent one after the other, so nonces follow the order of calls. */
export async function devnetSite(pluginName: string, provider: JsonRpcProvider): Promise<DevnetSite> {
  const signer = deployer(pluginName, provider)
  await provider.send('anvil_setBalance', [signer.address, toQuantity(deployerEther * 10n ** 18n)])
  return {
    provider,
    signer,
    wallets: tradingWallets,
    artifact: readArtifact,
    async deploy({ abi, bytecode }, ...constructorArguments) {
      const creation = await new ContractFactory(abi, bytecode).getDeployTransaction(...constructorArguments)
      const { contractAddress } = await mined(provider, signer, creation)
      if (contractAddress === null) throw new Error('The creation of a contract gave none.')
      return new Contract(contractAddress, abi, signer)
    },
    async send(contract: BaseContract, method: string, ...args: unknown[]): Promise<TransactionReceipt> {
      const call = contract.connect(signer).getFunction(method)
      return mined(provider, signer, await call.populateTransaction(...args))
    },
  }
}

// Said beforehand: to ask the chain for each takes longer than the transaction. It is half of a block's gas, and many times the
// base fee that the chain begins with.
const gasLimit = 15_000_000n
const maxFeePerGas = 100_000_000_000n
const askAgainMs = 2

/**
 * Asks until it is there. To wait for the next block instead, as ethers does, is to wait for ever where the transaction was in
 * the last one: this chain makes a block for a transaction only.
 */
async function mined(provider: JsonRpcProvider, signer: Wallet, wanted: TransactionRequest): Promise<TransactionReceipt> {
  const { chainId } = await provider.getNetwork()
  const nonce = await provider.getTransactionCount(signer.address)
  const fees = { type: 2, maxFeePerGas, maxPriorityFeePerGas: 0n }
  const transaction = { gasLimit, ...wanted, ...fees, nonce, chainId, from: signer.address }
  const signed = await signer.signTransaction(transaction)
  const hash: unknown = await provider.send('eth_sendRawTransaction', [signed])
  if (typeof hash !== 'string') throw new Error('The chain gave no hash of a transaction.')
  for (;;) {
    const receipt = await provider.getTransactionReceipt(hash)
    if (receipt?.status === 0) {
      // Called again it says why.
      await provider.call({ ...transaction, nonce: null })
      throw new Error(`The transaction ${hash} reverted.`)
    }
    if (receipt) return receipt
    await sleep(askAgainMs)
  }
}
