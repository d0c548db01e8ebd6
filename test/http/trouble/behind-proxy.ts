import { rpcTo, type Rpc } from '../../../core/devnet/anvil.ts'
import { startServer, type TestServer } from '../../../testkit/server.ts'
import { oneChain } from '../shared-server.ts'
import { startFaultyProxy, type FaultyProxy } from './faulty-proxy.ts'

/** A server of one chain whose node is behind a proxy. */
export interface BehindProxy {
  readonly proxy: FaultyProxy
  readonly server: TestServer
  /** Past the proxy. */
  readonly rpc: Rpc
  stop(): Promise<void>
}

export async function startBehindProxy(settings: object = {}, conf: Readonly<Record<string, object>> = {}): Promise<BehindProxy> {
  const proxy = await startFaultyProxy()
  const server = await startServer({
    ...oneChain,
    settings: { ...oneChain.settings, ...settings },
    conf: { ...oneChain.conf, ...conf },
    async between(url) {
      proxy.target = url
      return `http://127.0.0.1:${proxy.port}`
    },
  })
  return {
    proxy,
    server,
    rpc: rpcTo(proxy.target),
    async stop() {
      await server.stop()
      await proxy.stop()
    },
  }
}
