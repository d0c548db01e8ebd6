// How a plan of a contained plugin is signed for: its programs get the signature of a new account in the place of the wallet's, and that may take what
// the plan needs, to the unit, within the same transaction. The signer checks the same from the bytes.
import { getApproveCheckedInstruction, getRevokeInstruction } from '@solana-program/token'
import { address, createNoopSigner } from '@solana/kit'
import { SluiceError, type At, type Plan } from '../../core/contracts/index.ts'
import { createBoundedCache } from '../nodes/rails.ts'
import { tokenAccountOf } from './addresses.ts'
import { isOfOwnAccounts, lamportsOf } from './outline.ts'
import { wrappedMint } from './swap-accounts.ts'
import { readMint, tokenProgram, tokenPrograms, type Mint } from './tokens.ts'
import {
  canonicalAddress,
  fromKit,
  nativeAddress,
  type Solana,
  type SolanaInstruction,
  type SolanaIntent,
  type SolanaReader,
} from './types.ts'

type KnownMint = Pick<Mint, 'program' | 'decimals'>

/** What the new account may take of one account of the wallet. */
interface Release {
  readonly account: string
  readonly mint: string
  readonly amountRaw: bigint
}

interface Parties {
  readonly wallet: string
  /** The new account, whose key the server's signer makes. */
  readonly delegate: string
}

export function createContain(reader: SolanaReader) {
  const known = createBoundedCache<KnownMint>()

  return async function contain(plan: Plan<Solana>, parties: Parties, at: At): Promise<Plan<Solana>> {
    const [step, ...others] = plan.steps
    if (!step || others.length > 0) throw refused('has several steps, and instructions that belong together are one')
    const needs = neededOf(plan, step)
    const mints = await readMints([...needs.keys()], at)
    const releases = [...needs].map(([mint, amountRaw]) => {
      const of = mints.get(mint)
      if (!of) throw refused(`needs the token ${mint}, which is not the mint of a token`)
      return { mint, amountRaw, ...of, account: tokenAccountOf(parties.wallet, mint, of.program) }
    })
    return { ...plan, steps: [delegated(step, releases, parties)] }
  }

  async function readMints(mints: readonly string[], at: At): Promise<ReadonlyMap<string, KnownMint>> {
    // A node is put aside that refuses what is no address, or answers with several of the largest accounts.
    const unknown = mints.filter((mint) => mint !== wrappedMint && canonicalAddress(mint) !== undefined && !known.get(mint))
    const accounts = await Promise.all(unknown.map((mint) => reader.start(mint, mintBytes, at)))
    for (const [index, mint] of unknown.entries()) {
      const read = readMint(accounts[index])
      if (read) known.set(mint, { program: read.program, decimals: read.decimals })
    }
    return new Map(mints.flatMap((mint) => entryOf(mint, mint === wrappedMint ? ofWrapped : known.get(mint))))
  }
}

/** What says that an account is a mint, and its decimals, stands in less. */
const mintBytes = 256
const ofWrapped: KnownMint = { program: tokenProgram, decimals: 9 }
const entryOf = (mint: string, of: KnownMint | undefined): readonly (readonly [string, KnownMint])[] => (of ? [[mint, of]] : [])

/** By mint, what the plan takes: what it needs, and what it wraps. */
function neededOf({ needs }: Pick<Plan<Solana>, 'needs'>, step: SolanaIntent): ReadonlyMap<string, bigint> {
  const needed = new Map<string, bigint>()
  const add = (mint: string, raw: bigint) => {
    if (raw > 0n) needed.set(mint, (needed.get(mint) ?? 0n) + raw)
  }
  for (const need of needs) if (need.is === 'balance' && need.token !== nativeAddress) add(need.token, need.amountRaw)
  add(wrappedMint, lamportsOf(step).valueRaw)
  return needed
}

/** Around the plugin's own instructions: what wraps SOL stands before, and what closes its account behind them. */
function delegated(step: SolanaIntent, releases: readonly (Release & KnownMint)[], { wallet, delegate }: Parties): SolanaIntent {
  const { instructions, signers = [] } = step
  if (signers.length > 0) throw refused('has new accounts of its own, which no contained plugin has on Solana')
  const foreign = instructions.map((each) => !isOfOwnAccounts(each, wallet))
  const [first, last] = [foreign.indexOf(true), foreign.lastIndexOf(true)]
  if (first < 0) throw refused('calls no program')
  const called = instructions.slice(first, last + 1)
  const between = called.find((each) => tokenPrograms.includes(each.program))
  if (between)
    throw refused('has an instruction of the Token program: a plan moves no tokens and gives no rights by itself, name what it needs')
  const owner = createNoopSigner(address(wallet))
  const of = ({ account, program }: Release & KnownMint) =>
    [{ source: address(account), owner }, { programAddress: address(program) }] as const
  return {
    ...step,
    instructions: [
      ...instructions.slice(0, first),
      ...releases.map((release) => {
        const [own, config] = of(release)
        const { mint, amountRaw: amount, decimals } = release
        return fromKit(getApproveCheckedInstruction({ ...own, mint: address(mint), delegate: address(delegate), amount, decimals }, config))
      }),
      ...called.map((each) => withDelegate(each, wallet, delegate)),
      ...releases.map((release) => fromKit(getRevokeInstruction(...of(release)))),
      ...instructions.slice(last + 1),
    ],
    signers: [delegate],
    ...(step.own && { own: [...step.own, ...releases.map(({ account }) => account)] }),
  }
}

/** Wherever it names the wallet: what a transaction signs once, all its instructions have signed. */
const withDelegate = (instruction: SolanaInstruction, wallet: string, delegate: string): SolanaInstruction => ({
  ...instruction,
  accounts: instruction.accounts.map((each) => (each.address === wallet ? { ...each, address: delegate, signer: true } : each)),
})

const refused = (what: string) =>
  new SluiceError('UNKNOWN_ERROR', `The plan of a contained plugin ${what}: nothing was signed. This is a defect of the plugin.`)
