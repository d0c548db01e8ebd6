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
export function obeyOrders(): void {
  Object.assign(globalThis, { chaosReached: reached })
}
