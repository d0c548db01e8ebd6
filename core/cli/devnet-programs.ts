import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { Command } from 'commander'
import { writeWholeFile } from '../base/whole-file.ts'
import { fetchProgram } from '../devnet/fetch-program.ts'
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
  await mkdir(folder, { recursive: true })
  const lines: string[] = []
  for (const [name, { id, sha256 }] of wanted) {
    const fetched = await fetchProgram(url, id)
    const file = path.join(folder, `${name}.so`)
    await writeWholeFile(file, fetched.bytes)
    const is = fetched.sha256 === sha256 ? 'the pinned one' : `not the pinned one (${sha256}): walks leave it out`
    lines.push(`${file}: ${fetched.bytes.length} bytes, sha256 ${fetched.sha256}, ${is}`)
  }
  return lines.join('\n')
}
