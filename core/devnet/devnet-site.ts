import { setTimeout as sleep } from 'node:timers/promises'
import { Contract, ContractFactory, toQuantity, type BaseContract, type JsonRpcProvider, type TransactionReceipt } from 'ethers'
import type { DevnetSite } from '../testing/devnet-plugin.ts'
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
      const creation = await new ContractFactory(abi, bytecode, signer).getDeployTransaction(...constructorArguments)
      const { contractAddress } = await mined(provider, (await signer.sendTransaction(creation)).hash)
      if (contractAddress === null) throw new Error('The creation of a contract gave none.')
      return new Contract(contractAddress, abi, signer)
    },
    async send(contract: BaseContract, method: string, ...args: unknown[]): Promise<TransactionReceipt> {
      const { hash } = await contract
        .connect(signer)
        .getFunction(method)
        .send(...args)
      return mined(provider, hash)
    },
  }
}

const askAgainMs = 2

/**
 * Asks until it is there. To wait for the next block instead, as ethers does, is to wait for ever where the transaction was in
 * the last one: this chain makes a block for a transaction only.
 */
async function mined(provider: JsonRpcProvider, hash: string): Promise<TransactionReceipt> {
  for (;;) {
    const receipt = await provider.getTransactionReceipt(hash)
    if (receipt?.status === 0) throw new Error(`The transaction ${hash} reverted.`)
    if (receipt) return receipt
    await sleep(askAgainMs)
  }
}
