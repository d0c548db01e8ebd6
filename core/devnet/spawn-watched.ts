import { spawn, type ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'

export type WatchedProcess = ChildProcessByStdio<Writable, Readable, Readable>

// A program outlives a parent that is killed, so a shell between them waits for the end of its standard input, which
// the system closes whatever way the parent ends. `read` never gets a line; 3 is the parent's pipe, as what a shell
// puts in the background loses its standard input. The second `wait` is for a signal that came during the first.
const watchdog = `
exec 3<&0
"$@" </dev/null 3<&- & program=$!
{ read -r never <&3; kill "$program"; } >/dev/null 2>&1 & guard=$!
exec 3<&-
trap 'kill "$program" 2>/dev/null' TERM INT HUP
wait "$program"; code=$?
wait "$program" 2>/dev/null
kill "$guard" 2>/dev/null
exit "$code"
`

/** The server's own holds keys of nodes. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env
  return { PATH, HOME, TMPDIR }
}

/**
 * Runs a program that ends when this process does, in whatever way, kill -9 included. It is in a process group of its
 * own, so that a Ctrl-C at the terminal reaches it only through this process.
 */
export function spawnWatched(program: string, args: readonly string[]): WatchedProcess {
  return spawn('/bin/sh', ['-c', watchdog, 'sh', program, ...args], { stdio: ['pipe', 'pipe', 'pipe'], detached: true, env: environment() })
}

/** Ends it and waits until it is gone; by force when it does not go by itself. */
export async function endWatched(child: WatchedProcess, patienceMs = 3000): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const group = -child.pid
  const gone = new Promise<void>((resolve) => void child.once('exit', () => resolve()))
  child.stdin.end()
  const force = setTimeout(() => process.kill(group, 'SIGKILL'), patienceMs)
  await gone
  clearTimeout(force)
}
