import { program } from './cli/program.ts'
import { ConfigError } from './config/problems.ts'

try {
  const command = await program(process.argv.slice(2))
  await command.parseAsync()
} catch (error) {
  // Anything else is a defect, and its stack is wanted.
  if (!(error instanceof ConfigError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
