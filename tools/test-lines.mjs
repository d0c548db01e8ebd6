// A reporter of mocha for many files beside each other: a line for each file that is done, or one bar for all of them (`--reporter-option bar=yes`), and the
// failures at the end. `--reporter-option files=…` says how many files there are.
import { createRequire } from 'node:module'
import path from 'node:path'
import process from 'node:process'

const { reporters, Runner } = createRequire(import.meta.url)('mocha')
const barWidth = 40

export default class TestLines extends reporters.Base {
  constructor(runner, options) {
    super(runner, options)
    const { files = 0, bar } = options.reporterOptions
    const began = performance.now()
    let [done, failed] = [0, 0]
    /** Of the file whose tests are told: those of one file come together. */
    let tests = { pass: 0, fail: 0 }
    let file

    const count = (word) => (test) => {
      file ??= test.file
      tests[word] += 1
    }
    const tellFile = () => {
      done += 1
      failed += tests.fail
      const seconds = Math.round((performance.now() - began) / 1000)
      if (bar) {
        const full = Math.round((barWidth * done) / Math.max(done, files))
        const line = `[${'#'.repeat(full)}${'.'.repeat(barWidth - full)}] ${done} of ${files} files, ${seconds} s${failed > 0 ? `, ${failed} failed` : ''}`
        process.stdout.write(`\r${line}`)
      } else {
        const name = file === undefined ? 'a file without tests' : path.relative(process.cwd(), file)
        process.stdout.write(
          `${tests.fail > 0 ? '✗' : '✔'} ${name}: ${tests.pass} passed${tests.fail > 0 ? `, ${tests.fail} failed` : ''}\n`,
        )
      }
      tests = { pass: 0, fail: 0 }
      file = undefined
    }
    runner.on(Runner.constants.EVENT_TEST_PASS, count('pass'))
    runner.on(Runner.constants.EVENT_TEST_FAIL, count('fail'))
    runner.on(Runner.constants.EVENT_SUITE_END, ({ root }) => root && tellFile())
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      if (bar) process.stdout.write('\n')
      this.epilogue()
    })
  }
}
