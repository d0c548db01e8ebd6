import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startChild, type Child } from '../child.ts'
import type { ClientsProcess, Use } from '../processes/clients.ts'
import type { SluiceProcess } from '../processes/sluice.ts'
import { micros, times, median, type Row } from '../measuring.ts'

const [rounds, warmUp, quotes] = [7, 1_000, 1_000]
const python = '/usr/bin/python3'

/** What the clients add to a quote from memory, one after the other on one connection. */
export async function clientsBesideBare(sluice: Child<SluiceProcess>): Promise<{ rows: Row[]; note?: string }> {
  const { url, certsDir } = await sluice.ask('where')
  const rows = rowsOf('TypeScript', await inTypeScript(url, certsDir))
  try {
    return { rows: [...rows, ...rowsOf('Python', await inPython(url, certsDir))] }
  } catch (error) {
    const why = error instanceof Error ? error.message.trim().split('\n').at(-1) : String(error)
    return { rows, note: `Python is left out: it needs ${python} with httpx (Debian: python3-httpx). ${why}` }
  }
}

type Uses = Readonly<Record<'bare' | 'client', readonly Use[]>>

async function inTypeScript(url: string, certsDir: string): Promise<Uses> {
  const bot = await startChild<ClientsProcess>('clients', [url, certsDir])
  try {
    const uses = { bare: [] as Use[], client: [] as Use[] }
    for (const way of ['bare', 'client'] as const) await bot.ask('run', { way, count: warmUp })
    for (let round = 0; round < rounds; round += 1)
      for (const way of ['bare', 'client'] as const) uses[way].push(await bot.ask('run', { way, count: quotes }))
    return uses
  } finally {
    await bot.end()
  }
}

async function inPython(url: string, certsDir: string): Promise<Uses> {
  const [script = '', source = ''] = ['../clients.py', '../../../clients/python/src'].map((each) =>
    fileURLToPath(new URL(each, import.meta.url)),
  )
  const { stdout } = await promisify(execFile)(python, [script, source, url, certsDir, String(quotes), String(rounds)])
  const read: (Use & { way: string })[] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  return { bare: read.filter(({ way }) => way === 'bare'), client: read.filter(({ way }) => way === 'client') }
}

function rowsOf(language: string, { bare, client }: Uses): Row[] {
  const row = (what: string, of: (use: Use) => number): Row => {
    const [ours, theirs] = [median(client.map(of)), median(bare.map(of))]
    const more = ours - theirs
    return {
      name: `${language}: ${what}`,
      value: micros(ours),
      reference: micros(theirs),
      ratio: `${times(ours, theirs)}, ${more < 0 ? '' : '+'}${micros(more)}`,
    }
  }
  return [row('from the question to the parsed answer', (use) => use.micros), row("the bot's processor time", (use) => use.cpuMicros)]
}
