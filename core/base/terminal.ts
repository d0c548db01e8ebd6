// Questions to whoever sits at the terminal.
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

interface Terminal {
  readonly input: NodeJS.ReadableStream & { isTTY?: boolean }
  readonly output: NodeJS.WritableStream
}

// Questions go to stderr: the output of a command may be piped on.
const terminal: Terminal = { input: process.stdin, output: process.stderr }

export const hasTerminal = ({ input }: Terminal = terminal): boolean => input.isTTY === true

/** Asks a question at the terminal. @throws Error on Ctrl-C and Ctrl-D */
export const ask = (question: string, at: Terminal = terminal): Promise<string> => readLine(question, at, at.output)

/** As `ask`, but the answer is not shown. */
export async function askHidden(question: string, at: Terminal = terminal): Promise<string> {
  at.output.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  try {
    return await readLine('', at, silent)
  } finally {
    at.output.write('\n')
  }
}

function readLine(question: string, { input }: Terminal, output: NodeJS.WritableStream): Promise<string> {
  // With `terminal: true` readline writes the echo to `output`. No history: an answer may be a secret.
  const lines = createInterface({ input, output, terminal: true, historySize: 0 })
  return new Promise<string>((resolve, reject) => {
    lines.question(question, resolve)
    lines.once('SIGINT', () => lines.close())
    lines.once('close', () => reject(new Error('Cancelled; nothing was changed.')))
  }).finally(() => lines.close())
}
