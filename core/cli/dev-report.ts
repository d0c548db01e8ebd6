// What `sluice plugin dev` shows of a run of the cards.
import path from 'node:path'
import { styleText } from 'node:util'
import { isObject, parseJson } from '../base/json.ts'
import { printable } from '../base/printable.ts'
import { weaklyContained } from '../plugins/index.ts'

/** What the process tells that holds the devnet and the server. */
export type DevNews =
  | {
      readonly is: 'ready'
      readonly url: string
      /** Of an interface that was loaded: where that listens. */
      readonly interfaceUrl?: string
      readonly certsDir: string
      /** Why the plugin's code is not contained here, where it should be. */
      readonly notContained?: string
    }
  /** The plugin was not loaded; the version before goes on where there was one. */
  | { readonly is: 'refused'; readonly step: string; readonly reason: string; readonly remedy: string }
  /** It is neither blocked nor gone. */
  | { readonly is: 'alive' }
  /** A quick one sends no transaction. */
  | { readonly is: 'begins'; readonly title: string; readonly isQuick: boolean }
  | {
      readonly is: 'card'
      readonly title: string
      readonly state: 'passed' | 'failed' | 'not run'
      readonly ms: number
      readonly error?: string
    }
  /** The run is over. */
  | {
      readonly is: 'done'
      readonly example?: string
      readonly processorMs: number
      /** The cards left the devnet such that they cannot run on it again. */
      readonly isUsedUp: boolean
    }
  | { readonly is: 'devnet ended' }
  /** It is an interface, and was none when the server started, or was refused then. */
  | { readonly is: 'needs a start' }
  | { readonly is: 'failed'; readonly why: string }

type News<Is extends DevNews['is']> = Extract<DevNews, { is: Is }>

/** A process that does not even tell that it is alive is blocked by a loop. Hooks and cards have deadlines of their own. */
export const silentMs = 75_000

export function createRunReport(folder: string, name: string) {
  let began = performance.now()
  let card = ''
  let counts = { passed: 0, failed: 0, 'not run': 0 }
  let isQuickSaid = false
  let isContainmentSaid = false
  /** Lines of the log in this run: a plugin may fail at each block. */
  const said = new Set<string>()

  const say = (text: string): void => console.log(text)
  const seconds = (): string => `${((performance.now() - began) / 1000).toFixed(1)} s`
  const result = (): string =>
    `${counts.passed} passed, ${counts.failed > 0 ? bad(`${counts.failed} failed`) : '0 failed'}${counts['not run'] > 0 ? `, ${counts['not run']} not run` : ''}`

  return {
    /** Its clock begins. */
    start(): void {
      began = performance.now()
    },
    /** Another run of the cards begins. */
    reset(): void {
      counts = { passed: 0, failed: 0, 'not run': 0 }
      isQuickSaid = false
      card = ''
      said.clear()
    },
    /** What the server logs of the plugin, and what its code prints. */
    line(line: string): void {
      const text = logText(line, name)
      if (text === undefined || said.has(text)) return
      said.add(text)
      say(`    ${styleText('dim', printable(text))}`)
    },
    notContained(why: string | undefined): void {
      if (why === undefined || isContainmentSaid) return
      isContainmentSaid = true
      say(`${styleText('yellow', `Nothing contains ${name} here`)}: ${weaklyContained}. ${printable(why)}`)
    },
    refused({ step, reason, remedy }: News<'refused'>): void {
      counts.failed += 1
      say(`  ${bad('✗')} ${name} is refused (${step}): ${printable(reason)}\n    ${printable(remedy)}`)
    },
    begins({ title, isQuick }: News<'begins'>): void {
      card = title
      if (isQuick || isQuickSaid) return
      isQuickSaid = true
      say(`  quick cards, which send no transaction: ${result()} after ${seconds()}`)
    },
    card({ title, state, ms, error }: News<'card'>): void {
      counts[state] += 1
      const mark = { passed: styleText('green', '✓'), failed: bad('✗'), 'not run': styleText('dim', '-') }[state]
      say(`  ${mark} ${title} ${styleText('dim', `(${ms} ms)`)}`)
      if (error !== undefined) say(printable(error).replaceAll(/^/gm, '      '))
    },
    blocked(): void {
      say(
        `${card || 'The first card'} has blocked the server for ${silentMs / 1000} s: the server is started anew. Look for a loop that does not end.`,
      )
    },
    /** @param isDone whether the cards were over */
    ended(how: NodeJS.Signals | number | null, isDone: boolean): void {
      const during = isDone ? '' : ` during: ${card || 'the start'}`
      say(`  ${bad('✗')} The server's process has ended (${how})${during}. It is started anew after the next save.`)
    },
    /** @param server where the example of a request goes */
    done({ example, processorMs }: News<'done'>, server: { readonly url: string; readonly certsDir: string }): void {
      say(`  all: ${result()} after ${seconds()} (${(processorMs / 1000).toFixed(1)} s of processor time in the server)`)
      if (example !== undefined) say(curlOf(example, server))
      say(`\nWaiting for a save in ${folder}; Ctrl-C ends it.`)
    },
  }
}

function curlOf(example: string, { url, certsDir }: { readonly url: string; readonly certsDir: string }): string {
  const certs = ['--cacert', 'ca_cert.pem', '--cert', 'client_cert.pem', '--key', 'client_key.pem']
  const curl = ['curl', ...certs.map((each) => (each.startsWith('--') ? each : path.join(certsDir, each)))].join(' ')
  return `\n${curl} '${url}${example}'`
}

export const bad = (text: string): string => styleText('red', text)

/** The words of a line of the server's log about the plugin, with the author's line; other lines are what its code printed. */
function logText(line: string, name: string): string | undefined {
  const entry = parseJson(line)
  if (!isObject(entry) || typeof entry['msg'] !== 'string') return line
  if (entry['plugin'] !== name || entry['msg'].endsWith(weaklyContained)) return undefined
  // What a host says of itself is text within the server's own line.
  const said = typeof entry['said'] === 'string' ? parseJson(entry['said']) : undefined
  const { at, err } = isObject(said) ? said : entry
  const thrown = isObject(err) ? err['message'] : err
  return [at, thrown, entry['msg'], entry['reason']].filter((each) => typeof each === 'string').join(': ')
}
