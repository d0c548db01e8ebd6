// Bots that follow prices, and a chain that makes a block a second: one clock tells how long it is from a block to the events of it.
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { rpcTo } from '../../../core/devnet/anvil.ts'
import { createClient } from '../../../testkit/client.ts'
import { serve } from '../child.ts'
import { percentile } from '../measuring.ts'

export interface Followers {
  url: string
  certsDir: string
  connector: string
  /** The questions of each stream. */
  streams: readonly (readonly string[])[]
}

export interface Blocks {
  rpcUrl: string
  blocks: number
  /** Sent in each of them; without it they are empty. */
  swap?: Readonly<Record<string, string>>
}

const place = { chain: 'ethereum', network: 'local' }
const open: IncomingMessage[] = []
const blockNumber = /"(?:blockNumber|number)":(\d+)/
let told = (_event: string, _block: number, _atMs: number) => {}
let prices = 0

export type PriceFollowersProcess = typeof handlers
const handlers = serve({ follow, leave, make })

/** Settles when every question was answered once. */
async function follow({ url, certsDir, connector, streams }: Followers): Promise<void> {
  const client = createClient(url, certsDir)
  prices = 0
  listen(await client.open('/events', { topics: 'blocks', ...place }))
  for (const questions of streams) {
    listen(
      await client.open(`/events?${new URLSearchParams({ topics: 'price', ...place, connector, price: questions.join(',') }).toString()}`),
    )
  }
  const wanted = streams.flat().length
  for (let tries = 0; prices < wanted; tries += 1) {
    if (tries > 600) throw new Error(`Of ${wanted} prices ${prices} were told within a minute.`)
    await sleep(100)
  }
}

function listen(response: IncomingMessage): void {
  if (response.statusCode !== 200) throw new Error(`The stream was refused: ${response.statusCode}`)
  open.push(response)
  let rest = ''
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    const atMs = performance.now()
    const frames = (rest + chunk).split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      const event = frame.slice('event: '.length, frame.indexOf('\n'))
      const block = Number(blockNumber.exec(frame)?.[1])
      if (Number.isNaN(block)) continue
      if (event === 'price') prices += 1
      told(event, block, atMs)
    }
  })
}

function leave(): void {
  for (const response of open.splice(0)) response.destroy()
}

/** The devnet makes no blocks but these meanwhile. */
async function make({ rpcUrl, blocks, swap }: Blocks) {
  const rpc = rpcTo(rpcUrl)
  const madeAt = new Map<number, number>()
  const [tookMs, headMs]: [number[], number[]] = [[], []]
  /** Of each block, the last of its prices. */
  const lastMs = new Map<number, number>()
  told = (event, block, atMs) => {
    const made = madeAt.get(block)
    if (made === undefined) return
    if (event === 'blocks') headMs.push(atMs - made)
    else {
      tookMs.push(atMs - made)
      lastMs.set(block, atMs - made)
    }
  }
  await rpc('evm_setAutomine', false)
  await rpc('evm_setIntervalMining', 0)
  for (let i = 0; i < blocks; i += 1) {
    const next = Number(await rpc('eth_blockNumber')) + 1
    if (swap) await rpc('eth_sendTransaction', swap)
    const before = performance.now()
    madeAt.set(next, before)
    await rpc('evm_mine')
    await sleep(1000 - (performance.now() - before))
  }
  await sleep(1000)
  await rpc('evm_setIntervalMining', 1)
  await rpc('evm_setAutomine', true)
  return {
    events: tookMs.length / blocks,
    headP50Ms: percentile(headMs, 0.5),
    headP99Ms: percentile(headMs, 0.99),
    p50Ms: percentile(tookMs, 0.5),
    p99Ms: percentile(tookMs, 0.99),
    lastP50Ms: percentile([...lastMs.values()], 0.5),
  }
}
