// A bot with one connection: the same quotes by the client of the package, and by node:https alone.
import { readFileSync } from 'node:fs'
import https from 'node:https'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import type { createClient as CreateClient } from '../../../client/index.ts'
import { serve } from '../child.ts'
import { quoteFields, quotePath } from '../quote-path.ts'
import { median } from '../measuring.ts'

const bundled: { createClient: typeof CreateClient } = await import(new URL('../../../dist/client/index.js', import.meta.url).href)

const [, , url = '', certsDir = ''] = process.argv
const read = (file: string) => readFileSync(path.join(certsDir, file))
const agent = new https.Agent({
  keepAlive: true,
  maxSockets: 1,
  ca: read('ca_cert.pem'),
  cert: read('client_cert.pem'),
  key: read('client_key.pem'),
})
const client = bundled.createClient({ url, certs: certsDir })

const ways = {
  bare: (index: number) =>
    new Promise<string>((resolve, reject) => {
      const request = https.get(`${url}${quotePath(index)}`, { agent }, (response) => {
        text(response).then((body) => resolve(JSON.parse(body).price), reject)
      })
      request.on('error', reject)
    }),
  client: async (index: number) => (await client.get('/amm/price', quoteFields(index))).price,
}

export interface Use {
  /** Median, from the question to the parsed answer. */
  micros: number
  /** Of the process, per quote. */
  cpuMicros: number
}

export type ClientsProcess = typeof handlers
const handlers = serve(
  {
    async run({ way, count }: { way: keyof typeof ways; count: number }): Promise<Use> {
      const micros: number[] = []
      const before = process.cpuUsage()
      for (let index = 0; index < count; index += 1) {
        const at = performance.now()
        if (typeof (await ways[way](index)) !== 'string') throw new Error('There is no price in the answer.')
        micros.push((performance.now() - at) * 1000)
      }
      const { user, system } = process.cpuUsage(before)
      return { micros: median(micros), cpuMicros: (user + system) / count }
    },
  },
  () => {
    client.close()
    agent.destroy()
  },
)
