// Loaded before the server, for tests: it blocks the event loop without any plugin.
const { isMainThread } = require('node:worker_threads')
const inspector = require('node:inspector')

if (isMainThread) {
  process.on('SIGUSR2', function loopForEver() {
    for (;;);
  })
  process.on('SIGWINCH', function pauseUnderDebugger() {
    inspector.open(0, '127.0.0.1')
    // The next sign of life says so.
    setTimeout(() => {
      for (const end = Date.now() + 9_000; Date.now() < end;);
      inspector.close()
      console.log('goes on')
    }, 1_000)
  })
}
