import { program } from './cli/program.ts'
import { ConfigError } from './config/problems.ts'

try {
  await program().parseAsync()
} catch (error) {
  // Anything else is a defect, and its stack is wanted.
  if (!(error instanceof ConfigError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
