// A reporter of mocha that prints as "spec" does, and writes what each file took: processor seconds of this process and of the processes that
// it started and that have ended, one line of JSON a file. `--reporter-option file=…` says where to.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import process from 'node:process'

const { reporters, Runner } = createRequire(import.meta.url)('mocha')

/** Processor seconds so far; without those of other processes where the system does not say. */
function processorSeconds() {
  const { user, system } = process.cpuUsage()
  const own = (user + system) / 1e6
  if (!existsSync('/proc/self/stat')) return own
  // After the name in brackets, from the third field on: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html, cutime and cstime.
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return own + (Number(fields[13]) + Number(fields[14])) / 100
}

export default class TestSeconds extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options)
    const { file: into } = options.reporterOptions
    let counted = 0
    let current
    const close = () => {
      const now = processorSeconds()
      if (current !== undefined) appendFileSync(into, `${JSON.stringify({ file: current, seconds: now - counted })}\n`)
      counted = now
    }
    // What is before the first, the loading of all files, counts for it.
    runner.on(Runner.constants.EVENT_SUITE_BEGIN, ({ file, root }) => {
      if (root || file === undefined || file === current) return
      if (current !== undefined) close()
      current = file
    })
    runner.once(Runner.constants.EVENT_RUN_END, close)
  }
}
