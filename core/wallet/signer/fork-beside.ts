import { fork, type ChildProcess } from 'node:child_process'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** All that a child gets of the environment: no secret of the server's, no NODE_OPTIONS. The last is how coverage is measured. */
const passedOn = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'SYSTEMROOT', 'TZ', 'NODE_V8_COVERAGE']

/** Forks a module of this folder as a process of its own, in the form that this one runs in: source (through tsx) or compiled. */
export function forkBeside(module: string): ChildProcess {
  const extension = path.extname(fileURLToPath(import.meta.url))
  const entry = fileURLToPath(new URL(`./${module}${extension}`, import.meta.url))
  return fork(entry, [], {
    execArgv: extension === '.ts' ? ['--import', import.meta.resolve('tsx/esm')] : [],
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => passedOn.includes(name))),
    serialization: 'advanced',
    // A debugger or a heap dump that the server was started with must not reach the keys: flags are not inherited either.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
}
