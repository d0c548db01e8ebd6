// How far long work is, for who waits for it: a bar on a terminal, elsewhere a line every few seconds.
import { forTerminal, oneLine } from '../base/printable.ts'

/** What is known of the work now. */
interface WorkState {
  /** E.g. "1200 transactions, back to 2026-08-03". */
  readonly text: string
  /** From 0 to 1; absent where nobody knows how much there is. */
  readonly part?: number
}

export interface Progress {
  /** To be called as often as the work likes: it is shown from time to time. */
  update(state: WorkState): void
  /** A line of its own, such as a warning. */
  say(line: string): void
  /** Takes the bar away. What came of the work is for the command to say. */
  end(): void
}

/** What it is written to: the standard error, since the standard output is the command's own. */
interface ProgressStream {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

const barMs = 100
const lineMs = 5_000
const barWidth = 24
const usualColumns = 80
/** Goes to the beginning of the line, and clears it. */
const clear = '\r\u001b[K'

/** @param what e.g. "Exporting" */
export function showProgress(what: string, stream: ProgressStream = process.stderr, isDumb = process.env.TERM === 'dumb'): Progress {
  const isBar = stream.isTTY === true && !isDumb
  const startedAt = performance.now()
  let state: WorkState | undefined
  let isShown = false

  function show(): void {
    if (!state) return
    const columns = stream.columns ?? usualColumns
    const line = forTerminal(oneLine(lineOf(what, state, (performance.now() - startedAt) / 1000, isBar)))
    // A line that the terminal breaks could not be taken away.
    stream.write(isBar ? `${clear}${line.slice(0, columns - 1)}` : `${line}\n`)
    isShown = isBar
  }

  function hide(): void {
    if (isShown) stream.write(clear)
    isShown = false
  }

  const timer = setInterval(show, isBar ? barMs : lineMs).unref()
  return {
    update: (now) => void (state = now),
    say(line) {
      hide()
      stream.write(`${forTerminal(line)}\n`)
    },
    end() {
      clearInterval(timer)
      hide()
    },
  }
}

function lineOf(what: string, { text, part }: WorkState, seconds: number, isBar: boolean): string {
  if (part === undefined) return `${what}: ${text}`
  const done = Math.min(1, Math.max(0, part))
  const left = done > 0 && done < 1 && seconds >= 2 ? `, about ${duration((seconds * (1 - done)) / done)} left` : ''
  const full = Math.floor(done * barWidth)
  const bar = isBar ? ` ${'█'.repeat(full)}${'░'.repeat(barWidth - full)}` : ''
  // Only what is done is 100 %.
  return `${what}:${bar} ${Math.floor(done * 100)} %, ${text}${left}`
}

function duration(seconds: number): string {
  if (seconds < 100) return `${Math.ceil(seconds)} s`
  return seconds < 6_000 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3_600)} h`
}
