import { createHash } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { writeWholeFile } from '../base/whole-file.ts'
import { fetchProgram, type FetchedProgram } from '../devnet/fetch-program.ts'
import { judgeProgram, type Judgement } from '../devnet/judge-program.ts'
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
      .description('take them from a node, and compare what they do with the arithmetic of quotes')
      .argument('<url>', 'a node of the network that has them')
      .option('--to <folder>', 'where to keep them', 'solana-programs')
      .option('--only <name>', 'one of them')
      .option('--swaps <number>', 'how many swaps are compared with the arithmetic of quotes; 0 compares nothing', readSwaps, 300)
      .addHelpText(
        'after',
        `\n${list}\n\nTheir licences are their authors'. Tests find them where SLUICE_SOLANA_PROGRAMS names the folder.`,
      )
      .addHelpText('after', examples('devnet programs fetch https://api.mainnet-beta.solana.com --to ~/solana-programs'))
      .action(async (url: string, { to, only, swaps }: { to: string; only?: string; swaps: number }) =>
        printResult(async () => fetchAll(url, to, only, swaps)),
      ),
  )
}

const mostSwaps = 100_000

function readSwaps(text: string): number {
  const swaps = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN
  if (!(swaps <= mostSwaps)) throw new InvalidArgumentError(`It is a whole number from 0 to ${mostSwaps}.`)
  return swaps
}

async function fetchAll(url: string, folder: string, only: string | undefined, swaps: number): Promise<string> {
  const wanted = Object.entries<PinnedProgram>(programs).filter(([name]) => only === undefined || name === only)
  if (wanted.length === 0) throw new Error(`"${only}" is none of ${Object.keys(programs).join(', ')}.`)
  // All before any is written: a node that fails leaves the folder as it was.
  const fetched: { readonly name: string; readonly pinned: PinnedProgram; readonly program: FetchedProgram }[] = []
  for (const [name, pinned] of wanted) fetched.push({ name, pinned, program: await fetchProgram(url, pinned.id) })
  await mkdir(folder, { recursive: true })
  const lines: string[] = []
  for (const { name, pinned, program } of fetched) {
    const { chain, sha256, builds, connector, judgedBy } = pinned
    const isPinned = program.sha256 === sha256
    const usual = path.join(folder, `${name}.so`)
    const isKept = !isPinned && (await hashOf(usual)) === sha256
    const file = isKept ? path.join(folder, `${name}.${program.sha256.slice(0, 8)}.so`) : usual
    await writeWholeFile(file, program.bytes)
    const build = builds.find((each) => each.sha256 === program.sha256)
    const is = isPinned
      ? `the pinned one, judged by ${judgedBy}`
      : build
        ? `a known build (${build.what}), judged by ${build.judgedBy}`
        : `not the pinned one (${sha256})`
    const kept = isKept ? `; ${usual} is the pinned one, and stays` : ''
    lines.push(`${file}: ${program.bytes.length} bytes, sha256 ${program.sha256}, ${is}${kept}`)
    if (swaps === 0) continue
    const found = await judgeProgram({ chain, name, file }, swaps).catch((error: unknown) =>
      error instanceof Error ? error.message : String(error),
    )
    lines.push(`  ${compared(found, { sha256: program.sha256, connector, isKnown: isPinned || build !== undefined })}`)
  }
  return lines.join('\n')
}

interface ComparedProgram {
  readonly sha256: string
  readonly connector: string
  /** The connector quotes by these bytes as it is installed. */
  readonly isKnown: boolean
}

/** What the comparison came to, and what the operator may write then. @param found why there is none, where it is a text */
export function compared(found: readonly Judgement[] | string, { sha256, connector, isKnown }: ComparedProgram): string {
  if (typeof found === 'string') return `not compared with the arithmetic: ${found}`
  const kinds = ['equal', 'different', 'not compared'] as const
  const best = kinds.flatMap((kind) => found.filter((each) => each.is === kind)).at(0)
  const { is, version, swaps = 0, refused = 0, after = 0, why = '' } = best ?? { is: 'not compared', version: '' }
  const remedy = isKnown ? '' : `. To quote by them, write "programs: { ${sha256}: ${version} }" in conf/connectors/${connector}.yml`
  if (is === 'equal')
    return `equal: ${swaps} of ${swaps} swaps moved what the arithmetic ${version} says, and it refused the ${refused} that this refuses${why === '' ? '' : ` (${why})`}${remedy}`
  if (is !== 'different') return `not compared with the arithmetic: ${why}`
  return `different from the arithmetic ${version}, after ${after} equal steps: ${why}. Do not quote by them`
}

/** Undefined where there is no file. */
async function hashOf(file: string): Promise<string | undefined> {
  const bytes = await readFile(file).catch(() => undefined)
  return bytes && createHash('sha256').update(bytes).digest('hex')
}
