// A process with the commands of certificates alone, for tests that look at it from outside: certs-cli.ts <certificates' folder> <arguments>
import { certsCommand } from '../../core/cli/certs.ts'

const [certsDir = '', ...args] = process.argv.slice(2)
await certsCommand(() => certsDir).parseAsync(args, { from: 'user' })
