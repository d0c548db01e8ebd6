import { createHash } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { Command } from 'commander'
import { writeWholeFile } from '../base/whole-file.ts'
import { fetchProgram, type FetchedProgram } from '../devnet/fetch-program.ts'
import programs from '../devnet/solana-programs.json' with { type: 'json' }
import { examples, printResult } from './output.ts'

type PinnedProgram = (typeof programs)[keyof typeof programs]

/** `sluice devnet programs`: the programs of exchanges of Solana, which no release has. */
export function programsCommand(): Command {
  const list = Object.entries<PinnedProgram>(programs)
    .map(([name, { id, what, license }]) => `  ${name}: ${what}, ${id}, ${license}`)
    .join('\n')
  return new Command('programs').description('programs of exchanges of Solana for tests and solana/local').addCommand(
    new Command('fetch')
      .description('take them from a node, and say whether they are the bytes that quotes were held against')
      .argument('<url>', 'a node of the network that has them')
      .option('--to <folder>', 'where to keep them', 'solana-programs')
      .option('--only <name>', 'one of them')
      .addHelpText(
        'after',
        `\n${list}\n\nTheir licences are their authors'. Tests find them where SLUICE_SOLANA_PROGRAMS names the folder.`,
      )
      .addHelpText('after', examples('devnet programs fetch https://api.mainnet-beta.solana.com --to ~/solana-programs'))
      .action(async (url: string, { to, only }: { to: string; only?: string }) => printResult(async () => fetchAll(url, to, only))),
  )
}

async function fetchAll(url: string, folder: string, only: string | undefined): Promise<string> {
  const wanted = Object.entries<PinnedProgram>(programs).filter(([name]) => only === undefined || name === only)
  if (wanted.length === 0) throw new Error(`"${only}" is none of ${Object.keys(programs).join(', ')}.`)
  // All before any is written: a node that fails leaves the folder as it was.
  const fetched: { readonly name: string; readonly sha256: string; readonly program: FetchedProgram }[] = []
  for (const [name, { id, sha256 }] of wanted) fetched.push({ name, sha256, program: await fetchProgram(url, id) })
  await mkdir(folder, { recursive: true })
  const lines: string[] = []
  for (const { name, sha256, program } of fetched) {
    const isPinned = program.sha256 === sha256
    const usual = path.join(folder, `${name}.so`)
    const isKept = !isPinned && (await hashOf(usual)) === sha256
    const file = isKept ? path.join(folder, `${name}.${program.sha256.slice(0, 8)}.so`) : usual
    await writeWholeFile(file, program.bytes)
    const is = isPinned ? 'the pinned one' : `not the pinned one (${sha256}): walks leave it out`
    const kept = isKept ? `; ${usual} is the pinned one, and stays` : ''
    lines.push(`${file}: ${program.bytes.length} bytes, sha256 ${program.sha256}, ${is}${kept}`)
  }
  return lines.join('\n')
}

/** Undefined where there is no file. */
async function hashOf(file: string): Promise<string | undefined> {
  const bytes = await readFile(file).catch(() => undefined)
  return bytes && createHash('sha256').update(bytes).digest('hex')
}
