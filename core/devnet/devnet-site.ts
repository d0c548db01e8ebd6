import {
  ContractFactory,
  toQuantity,
  type BaseContract,
  type ContractTransactionResponse,
  type JsonRpcProvider,
  type TransactionReceipt,
} from 'ethers'
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
      const contract = await new ContractFactory(abi, bytecode, signer).deploy(...constructorArguments)
      return contract.waitForDeployment()
    },
    async send(contract: BaseContract, method: string, ...args: unknown[]): Promise<TransactionReceipt> {
      const sent: ContractTransactionResponse = await contract
        .connect(signer)
        .getFunction(method)
        .send(...args)
      const receipt = await sent.wait() // throws when it reverted
      if (!receipt) throw new Error(`${method} was not mined.`)
      return receipt
    },
  }
}
