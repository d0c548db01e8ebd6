import { spawn } from 'node:child_process'

/** What a program prints, once it has ended. Throws when it fails or takes too long. */
export async function run(
  command: string,
  args: readonly string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<string> {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'], timeout: 300_000 })
  let [out, errors] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => void (out += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => void (errors += chunk))
  const code = await new Promise<number | null>((resolve, reject) => child.once('close', resolve).once('error', reject))
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${errors}${out}`)
  return out
}
