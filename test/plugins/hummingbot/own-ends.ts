// What the judges share that are Hummingbot's own code: a server on the devnet, `sluice proxy` before it, and a script that is talked to.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { createInterface } from 'node:readline'
import { expect } from 'chai'
import { startLocalProxy, type LocalProxy } from '../../../core/cli/local-proxy.ts'
import { createSocketTable } from '../../../core/base/socket-table.ts'
import { startServer, type TestServer } from '../../../testkit/server.ts'
import { admins, local, mined, oneChain } from '../../http/shared-server.ts'
import { startFaultyProxy, type FaultyProxy } from '../../http/trouble/faulty-proxy.ts'

/** A checkout of Hummingbot 2.16, which is no part of this one. */
export const folder = process.env['HUMMINGBOT_FOLDER']
export const scriptOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

export interface Ends {
  readonly server: TestServer
  readonly proxy: LocalProxy
  /** Before its node. */
  readonly node: FaultyProxy
  stop(): Promise<void>
}

/** A server on the devnet whose wallet may swap, and `sluice proxy` before it. */
export async function startEnds(tokens: readonly string[], spenders: readonly string[]): Promise<Ends> {
  const hummingbot = { port: 0, receiptSeconds: 6, defaultNetworks: { ethereum: 'local' } }
  const node = await startFaultyProxy()
  const server = await startServer({
    ...oneChain,
    conf: { ...oneChain.conf, 'interfaces/hummingbot.yml': hummingbot },
    async between(url) {
      node.target = url
      return `http://127.0.0.1:${node.port}`
    },
  })
  const approvals = tokens.flatMap((token) => spenders.map((spender) => ['/evm/approve', { spender, token }] as const))
  for (const [route, more] of [['/evm/wrap', { amount: '50' }] as const, ...approvals]) {
    const { status, text, body } = await server.client.post(route, { ...local, address: admins, ...more })
    expect(status, text).to.equal(200)
    await mined(server.client, body.txHash)
  }
  const files = ['ca_cert.pem', 'client_cert.pem', 'client_key.pem'].map((name) => readFile(path.join(server.certsDir, name)))
  const [ca, cert, key] = await Promise.all(files)
  if (!ca || !cert || !key) throw new Error('no certificates')
  const { port } = new URL(server.kernel.interfaceUrls['hummingbot'] ?? '')
  const proxy = await startLocalProxy({
    port: 0,
    upstream: { host: '127.0.0.1', port: Number(port), servername: 'localhost', ca, cert, key },
    only: { users: new Set([process.getuid?.() ?? 0]), owners: createSocketTable() },
    log: () => {},
  })
  return {
    server,
    proxy,
    node,
    async stop() {
      await proxy.stop(0)
      await server.stop()
      await node.stop()
    },
  }
}

/** Runs a script that says on stderr what it waits for, a word a line. @returns what it prints */
export async function converse(
  name: string,
  args: readonly string[],
  words: Readonly<Record<string, () => Promise<void>>>,
): Promise<string> {
  const child = spawn('python3', [scriptOf(name), ...args], { stdio: 'pipe' })
  let [printed, said] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
  let failure: unknown
  createInterface(child.stderr).on('line', (line) => {
    const act = words[line]
    if (act)
      act().then(
        () => child.stdin.write('\n'),
        (error: unknown) => {
          failure = error
          child.kill()
        },
      )
    else said += `${line}\n`
  })
  const [code] = await once(child, 'close')
  if (failure !== undefined) throw failure
  if (code !== 0) throw new Error(`${name} ended with ${code}: ${said.slice(-3_000)}`)
  return printed
}
