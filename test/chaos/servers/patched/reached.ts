/** Where a patched server says that it has come to a point; at the one that CHAOS_KILL_AT names it dies as the machine does. */
const [wanted = '', nth = '1'] = (process.env['CHAOS_KILL_AT'] ?? '').split('#')
let passed = 0

function reached(point: string): void {
  if (point !== wanted) return
  passed += 1
  if (passed === Number(nth)) process.kill(process.pid, 'SIGKILL')
}

Object.assign(globalThis, { chaosReached: reached })
