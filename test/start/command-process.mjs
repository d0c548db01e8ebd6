// Commands of dist/ one after another in one process, as each runs in one of its own: to load the program takes longer than most commands do.
// A message is { args, cwd, env }; the answer { code, said }. For command.ts.
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildWhenStale } from '../../tools/build.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))
const main = path.join(root, 'dist', 'core', 'main.js')
await buildWhenStale()

let said = ''
for (const stream of [process.stdout, process.stderr])
  stream.write = (chunk) => {
    said += chunk
    return true
  }

/** Thrown where a command ends its process. */
const ended = new Error('The command ended.')
let end = () => {}
process.exit = (code = process.exitCode) => {
  end(code)
  throw ended
}

let count = 0
async function run({ args, cwd, env }) {
  said = ''
  process.exitCode = undefined
  process.chdir(cwd)
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
  Object.assign(process.env, env)
  process.argv = [process.argv[0], main, ...args]
  const code = await new Promise((resolve, reject) => {
    end = resolve
    // What main.js imports is there already; it itself runs again.
    import(`${main}?${(count += 1)}`).then(
      () => resolve(process.exitCode),
      (error) => (error === ended ? undefined : reject(error)),
    )
  })
  // What it would do at its end, such as to end what it has started.
  process.emit('exit', code)
  for (const event of ['exit', 'SIGUSR1']) process.removeAllListeners(event)
  process.chdir(root)
  return { code: code ?? 0, said }
}

process.on('message', (command) => void run(command).then((answer) => process.send(answer)))
process.once('disconnect', () => process.reallyExit(0))
process.send('ready')
