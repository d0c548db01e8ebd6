// A program: a whole server on a chain that outlives it. Its settings are the argument, as JSON; it says where it listens in a
// line of JSON, ends in order at SIGTERM, and ends at once when its input does.
import { loadSettings, type Flags } from '../../../core/config/settings.ts'
import { startKernel } from '../../../core/kernel.ts'

/** Where a patched server says that it has come to a point. At the one that was named to it, it dies or stops as if by another's hand. */
const orders = [
  { signal: 'SIGKILL', at: process.env['CHAOS_DIE_AT'] },
  { signal: 'SIGSTOP', at: process.env['CHAOS_STOP_AT'] },
].map(({ signal, at = '' }) => {
  const [point = '', nth = '1'] = at.split('#')
  return { signal, point, nth: Number(nth), passed: 0 }
})

function reached(point: string): void {
  for (const order of orders) {
    if (order.point !== point) continue
    order.passed += 1
    if (order.passed === order.nth) process.kill(process.pid, order.signal)
  }
}

/** What patched sources call. */
function obeyOrders(): void {
  Object.assign(globalThis, { chaosReached: reached })
}

obeyOrders()
process.stdin.resume().on('end', () => process.exit(0))
// Who started it may be gone.
process.stdout.on('error', () => process.exit(0))

const { confDir, devnetUrl, flags, env }: { confDir: string; devnetUrl?: string; flags: Flags; env: Record<string, string> } = JSON.parse(
  process.argv[2] ?? '{}',
)
const endless = {
  chainId: 31337,
  built: false,
  refused: [],
  whyNotDeployed: async () => undefined,
  deployAdded: async () => {},
  ended: new Promise<void>(() => {}),
  stop: async () => {},
} as const
const devnet = devnetUrl === undefined ? {} : { devnet: { rpcUrl: devnetUrl, ...endless } }
const kernel = await startKernel(loadSettings({ confDir, env, flags }), { print: () => {}, ...devnet })
process.once('SIGTERM', () => void kernel.stop().then(() => process.exit(0)))
console.log(JSON.stringify({ url: kernel.url, interfaceUrls: kernel.interfaceUrls }))
