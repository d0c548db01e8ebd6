import { program } from '../../core/cli/program.ts'
import type { TestServer } from '../../testkit/server.ts'

/** A command as it is typed on the server's machine, in this process. */
export async function runCommand(server: TestServer, args: readonly string[], port = new URL(server.url).port): Promise<string> {
  const { confDir, ssl, data } = server.settings
  const set = [`server.port=${port}`, `ssl.certsDir=${ssl.certsDir}`, `data.dir=${data.dir}`].flatMap((each) => ['--set', each])
  const given = ['--conf', confDir, ...set, ...args]
  const streams = [process.stdout, process.stderr]
  const writes = streams.map((stream) => stream.write.bind(stream))
  let said = ''
  for (const stream of streams) stream.write = (chunk: string | Uint8Array) => Boolean((said += String(chunk)))
  try {
    await (await program(given)).parseAsync(['node', 'sluice', ...given])
  } finally {
    for (const [index, stream] of streams.entries()) stream.write = writes[index] ?? stream.write
  }
  said += Number(process.exitCode ?? 0) === 0 ? '' : ' (failed)'
  process.exitCode = 0
  return said
}
