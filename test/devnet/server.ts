// A program that runs a devnet, for tests that end it from outside: server.ts <data folder> <devnet files>
import { rpcTo } from '../../core/devnet/anvil.ts'
import { startDevnet } from '../../core/devnet/start-devnet.ts'

const [, , dataDir = '', ...devnetFiles] = process.argv

console.log('begun')
const devnet = await startDevnet({ port: 0, dataDir, devnetFiles })

// What a server does that has work to finish on the chain when it is asked to end.
process.once('SIGINT', () => {
  void rpcTo(devnet.rpcUrl)('eth_chainId').then((chainId) => {
    console.log(`still has chain ${String(chainId)}`)
    return devnet.stop()
  })
})
console.log(devnet.rpcUrl)
