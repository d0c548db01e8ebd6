// A process in which the `devnet.ts` of a third party's plugin deploys its contracts. It reaches the local chain through the server only, and ends
// when it is told so.
import { Socket } from 'node:net'
import path from 'node:path'
import { JsonRpcProvider, type JsonRpcPayload, type JsonRpcResult } from 'ethers'
import type { DevnetToken, DevnetTokens } from '../contracts/devnet.ts'
import { isObject } from '../base/json.ts'
import { channelDescriptor, messageWithPlace, openChannel, updateHook } from '../plugins/index.ts'
import { chainId } from './anvil.ts'
import { loadDevnetPlugin, siteOf } from './build-state.ts'
import type { DeployRequest } from './outside.ts'

/** The server is trusted: what it sends is bounded so that a defect shows itself. */
const maxFrameBytes = 64 * 2 ** 20

const channel = openChannel({
  socket: new Socket({ fd: channelDescriptor, readable: true, writable: true }),
  answer: (_method, [request]) => deploy(request as DeployRequest),
  onTold: () => {},
  onClosed: () => process.exit(0),
  maxFrameBytes,
  maxQuestions: 1,
})

/** @throws Error whose message has the line that the author wrote: nothing else of it leaves this process */
async function deploy(request: DeployRequest): Promise<void> {
  await updateHook(request.news)
  await deployBy(request).catch((thrown: unknown) => {
    throw new Error(messageWithPlace(thrown, path.dirname(request.file)))
  })
}

async function deployBy({ file, name, tokens }: DeployRequest): Promise<void> {
  const plugin = await loadDevnetPlugin(file)
  if (plugin.name !== name) throw new Error(`its name is '${plugin.name}', and has to be the plugin's own, '${name}'`)
  if (plugin.tokens) throw new Error('it has `tokens`, and the chain of the devnet has them already')
  const minted = tokens.map(({ symbol, address, decimals }): [string, DevnetToken] => [
    symbol,
    { address, decimals, mint: async (to, amountRaw) => void (await channel.ask('mint', [symbol, to, amountRaw])) },
  ])
  // The server has every token of the list.
  await plugin.deploy?.({ ...siteOf(name, new BrokeredProvider()), tokens: Object.fromEntries(minted) as DevnetTokens })
}

/** Asks the server instead of a node. */
class BrokeredProvider extends JsonRpcProvider {
  constructor() {
    super('http://127.0.0.1:1', chainId, { staticNetwork: true, batchMaxCount: 1, cacheTimeout: -1, pollingInterval: 4 })
  }

  override async _send(payload: JsonRpcPayload | JsonRpcPayload[]): Promise<JsonRpcResult[]> {
    return Promise.all(
      [payload].flat().map(async ({ id, method, params }) => {
        const answer = await channel.ask('rpc', [method, params])
        const { result, error } = isObject(answer) ? answer : {}
        // An error stands beside the result in the messages of JSON-RPC; the type of ethers has only the result.
        return { id, result, ...(isObject(error) && { error }) }
      }),
    )
  }
}
