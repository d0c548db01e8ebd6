import inspector from 'node:inspector'
import { complain } from './cli/output.ts'
import { program } from './cli/program.ts'
import { ConfigError } from './config/problems.ts'
import { refuseCoreFiles } from './base/core-files.ts'

// Each command may have a key or a passphrase in its memory, for a moment at least.
refuseCoreFiles()
// bin/sluice ignores SIGUSR1, which would open a debugger. What was opened before that is closed, unless it was asked for.
process.on('SIGUSR1', () => {})
const options = [...process.execArgv, process.env.NODE_OPTIONS ?? '']
if (inspector.url() !== undefined && !options.some((option) => option.includes('--inspect'))) inspector.close()

try {
  const command = await program(process.argv.slice(2))
  await command.parseAsync()
} catch (error) {
  // Anything else is a defect, and its stack is wanted.
  if (!(error instanceof ConfigError)) throw error
  complain(error.message)
  process.exitCode = 1
}
