// `sluice stop`, `reduce-only` and `resume`: by a running server, and where none answers by the file in the data folder that is always looked at.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { Command } from 'commander'
import type { Static } from 'typebox'
import { fits } from '../base/schema-check.ts'
import { isSameAddress } from '../base/addresses.ts'
import { parseJson } from '../base/json.ts'
import { writeWholeFile } from '../base/whole-file.ts'
import { StopsDeleteResponse, StopsPostResponse, StopsResponse, type StopMode } from '../api/limits.ts'
import type { Settings } from '../config/settings.ts'
import { stopFileNames } from '../config/stop-files.ts'
import { command } from '../base/layout.ts'
import { complain, printResult } from './output.ts'
import { readResponse, RefusedByServer, type ServerClient } from './server-client.ts'
import { addServerOptions, serverOf, type ServerOptions } from './server-options.ts'
import { reasonOf } from '../base/errors.ts'

interface StopOptions extends ServerOptions {
  readonly wallet?: string
  readonly client?: string
  readonly reason?: string
  readonly file?: true
}

const whatGoesOn: Readonly<Record<StopMode, string>> = {
  stop: 'Only cancels go through.',
  'reduce-only': 'Only what cancels, closes, removes, repays or revokes goes through.',
}

/** Commands that wait for a server wait no longer: what is to be stopped does not. */
const timeoutMs = 5_000

export function stopCommand(mode: StopMode, settingsOf: () => Settings): Command {
  const what = mode === 'stop' ? 'all but cancels' : 'all but what cancels, closes, removes, repays or revokes'
  return withOptions(new Command(mode).description(`stop ${what}: for all, for one wallet or for one client`))
    .option('--reason <text>', 'shown to whoever is refused')
    .option('--file', 'write the file in the data folder, and ask no server')
    .addHelpText('after', `\nWhere no server answers, the file ${stopFileNames[mode][0]} in the data folder says it.`)
    .action((options: StopOptions) => printResult(() => stop(mode, options, settingsOf())))
}

export const resumeCommand = (settingsOf: () => Settings): Command =>
  withOptions(new Command('resume').description('lift what was stopped: for all, for one wallet or for one client; each by itself'))
    .option('--file', 'change the files in the data folder, and ask no server')
    .action((options: StopOptions) => printResult(() => resume(options, settingsOf())))

const withOptions = (to: Command): Command =>
  addServerOptions(to.option('--wallet <address>', 'one wallet').option('--client <id>', 'one client, by its key in conf/clients.yml'))

async function stop(mode: StopMode, options: StopOptions, settings: Settings): Promise<string> {
  const subject = subjectOf(options)
  if (!options.file) {
    try {
      const { reason } = options
      const server = clientOf(options, settings)
      const { setBy, since } = readResponse(
        StopsPostResponse,
        await server.post('/stops', { mode, ...fieldsOf(options), ...(reason !== undefined && { reason }) }),
      )
      return `${mode} is set for ${subject ?? 'all'} by "${setBy}" since ${new Date(since).toISOString()}. ${whatIsLeft(mode, options, await strictestOf(server, options))}`
    } catch (error) {
      // A server elsewhere does not look at files here; and the name of a wallet or client that the server does not know would stop nothing.
      const isUnknown = error instanceof RefusedByServer && error.refusal === 'INCOMPLETE_PARAMS'
      if (options.url !== undefined || isUnknown) throw error
      complain(`${reasonOf(error)}\nSo the file is written.`)
    }
  }
  const file = path.join(settings.data.dir, stopFileNames[mode][0])
  const before = existsSync(file) ? linesOf(file) : undefined
  // An empty one is for all already.
  const lines = subject === undefined || before?.length === 0 ? [] : [...(before ?? []), subject]
  await writeWholeFile(file, lines.map((line) => `${line}\n`).join(''), 0o644)
  const held = stopsByFile(settings.data.dir, subject)
  return `${mode} is set for ${lines.length === 0 ? 'all' : lines.join(', ')} by ${file}. ${whoLooks(settings)} ${whatIsLeft(mode, options, held)}`
}

/** Whom `stop` holds beside, of those that a mode was set for. */
interface StopBeside {
  readonly of: string
  /** Of `resume`. */
  readonly arguments: string
}

function whatIsLeft(mode: StopMode, options: StopOptions, stop: StopBeside | undefined): string {
  const own = argumentsOf(options)
  if (mode === 'stop' || !stop) return `${whatGoesOn[mode]} To lift it: ${command} resume${own}`
  // What is lifted for the same ones is lifted in both modes.
  const again = stop.arguments === own ? `, then ${command} ${mode}${own}` : ''
  return `But stop is in force for ${stop.of}, too, so only cancels go through. For ${mode} alone: ${command} resume${stop.arguments}${again}`
}

/** By what the server says; undefined where it does not say. */
async function strictestOf(server: ServerClient, options: StopOptions): Promise<StopBeside | undefined> {
  const answer = parseJson((await server.get('/stops')).text)
  const stops = fits(StopsResponse, answer) ? answer.stops.filter(({ mode }) => mode === 'stop') : []
  if (stops.some(({ of }) => of === 'all')) return { of: 'all', arguments: '' }
  const subject = subjectOf(options)
  const isHeld = subject !== undefined && stops.some(({ address, client }) => isSameAddress(address ?? client ?? '', subject))
  return isHeld ? { of: subject, arguments: argumentsOf(options) } : undefined
}

function stopsByFile(dataDir: string, subject: string | undefined): StopBeside | undefined {
  const files = stopFileNames.stop.map((name) => path.join(dataDir, name)).filter((file) => existsSync(file))
  const all = files.map(linesOf)
  if (all.some((lines) => lines.length === 0)) return { of: 'all', arguments: '' }
  const line = all.flat().find((each) => subject !== undefined && isSameAddress(each, subject))
  return line === undefined ? undefined : { of: line, arguments: resumeArguments(line) }
}

const whoLooks = ({ signer: { socket } }: Settings): string =>
  socket === undefined
    ? 'The server and the signer of this folder look at it at each transaction.'
    : `The server of this folder looks at it at each transaction. The signer service at ${socket} looks into its own: there, as its user, it holds also against a server that was taken over.`

async function resume(options: StopOptions, settings: Settings): Promise<string> {
  const changed = options.url === undefined ? await liftFiles(settings.data.dir, subjectOf(options)) : []
  const files = changed.length === 0 ? '' : `${changed.join(' and ')} ${changed.length === 1 ? 'does' : 'do'} not say it any more. `
  const of = subjectOf(options) ?? 'all'
  const left = options.url === undefined && subjectOf(options) === undefined ? linesLeft(settings.data.dir) : ''
  if (options.file) {
    if (changed.length > 0) return `${files}${left}`.trim()
    return left === '' ? `No file in ${settings.data.dir} stops ${of}.` : `Nothing was lifted for ${of}. ${left}`
  }
  let lifted: Static<typeof StopsDeleteResponse>['lifted']
  try {
    ;({ lifted } = readResponse(StopsDeleteResponse, await clientOf(options, settings).delete('/stops', fieldsOf(options))))
  } catch (error) {
    throw new Error(`${files}What the store says is lifted by a running server only: ${reasonOf(error)}`, {
      cause: error,
    })
  }
  if (lifted.length === 0 && changed.length === 0)
    return left === '' ? `Nothing was stopped for ${of}. GET /stops shows what is.` : `Nothing was lifted for ${of}. ${left}`
  const words = lifted.map(({ mode, setBy, since }) => `${mode}, set by "${setBy}" at ${new Date(since).toISOString()}`)
  return `${files}${lifted.length === 0 ? '' : `Lifted for ${of}: ${words.join('; ')}. `}${left}`.trim()
}

/** What files still say after all was lifted that is for all, and how to lift it: which lines count for all the server knows alone. */
function linesLeft(dataDir: string): string {
  const left = Object.values(stopFileNames)
    .flat()
    .map((name) => path.join(dataDir, name))
    .flatMap((file) => (existsSync(file) ? [{ file, lines: linesOf(file) }] : []))
    .filter(({ lines }) => lines.length > 0)
  if (left.length === 0) return ''
  const shown = left.map(({ file, lines }) => `${file} still stops: ${lines.join(', ')}.`)
  const how = [...new Set(left.flatMap(({ lines }) => lines))].map((line) => `${command} resume${resumeArguments(line)}`)
  return `${shown.join(' ')} A line that names neither a wallet nor a client counts as stop for all. To lift it: ${how.join('; ')}`
}

const resumeArguments = (line: string): string => {
  const quoted = /^[\w.:-]+$/.test(line) ? line : `'${line.replaceAll("'", String.raw`'\''`)}'`
  return ` --${/^0x/i.test(line) ? 'wallet' : 'client'} ${quoted}`
}

/** @returns the files that said it */
async function liftFiles(dataDir: string, subject: string | undefined): Promise<readonly string[]> {
  const changed: string[] = []
  for (const file of Object.values(stopFileNames).flatMap((names) => names.map((name) => path.join(dataDir, name)))) {
    if (!existsSync(file)) continue
    const lines = linesOf(file)
    const rest = subject === undefined ? lines : lines.filter((line) => !isSameAddress(line, subject))
    // What is for all is not lifted for one, and what is for some not with what is for all.
    if (subject === undefined ? lines.length > 0 : rest.length === lines.length) continue
    if (rest.length === 0) rmSync(file)
    else await writeWholeFile(file, rest.map((line) => `${line}\n`).join(''), 0o644)
    changed.push(file)
  }
  return [...new Set(changed)]
}

const linesOf = (file: string): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter((line) => line !== '')

function subjectOf({ wallet, client }: StopOptions): string | undefined {
  if (wallet !== undefined && client !== undefined) throw new Error('Name a wallet or a client: stop each by itself.')
  return wallet ?? client
}

const fieldsOf = ({ wallet, client }: StopOptions) => ({
  ...(wallet !== undefined && { address: wallet }),
  ...(client !== undefined && { client }),
})

const argumentsOf = ({ wallet, client }: StopOptions): string =>
  wallet !== undefined ? ` --wallet ${wallet}` : client !== undefined ? ` --client ${client}` : ''

const clientOf = (options: StopOptions, settings: Settings): ServerClient => serverOf(settings, options, { timeoutMs })
