// A process that logs as it is told, for tests that read, or do not read, what it writes.
import { createLog } from '../../core/config/log.ts'

const log = createLog({ settings: { log: { level: 'info' } } })
const key = '0123456789abcdef0123456789abcdef'

process.on('message', (what) => {
  if (what === 'flood') {
    for (let line = 0; line < 2_000; line += 1) log.info({ line }, 'x'.repeat(1_000))
    // Only a loop that turns gets here.
    setTimeout(() => process.send?.('still here'), 50)
  }
  if (what === 'flood and end') {
    for (let line = 0; line < 2_000; line += 1) log.info({ line }, 'x'.repeat(1_000))
    process.exit(0)
  }
  if (what === 'end') {
    const error = new Error(`no answer (info={ "requestUrl": "https://node.example/v3/${key}" })`)
    error.cause = error
    log.error(
      { err: error, url: `wss://user:word@node.example/${key}`, quoted: `"https://node.example/v3/${key}"` },
      `tried https://node.example/v3/${key}`,
    )
    log.fatal('the last line')
    process.exit(0)
  }
})
