// What others may do to tokens that a wallet has: whoever a mint names, and whoever the wallet's own account of it names.
import { AccountState, getTokenDecoder, getTokenSize } from '@solana-program/token'
import type { At, Log, Token, TokenRisk, TokenWarnings } from '../../core/contracts/index.ts'
import { formatRaw } from '../../core/base/decimal.ts'
import { isTrouble, reasonOf } from '../../core/base/errors.ts'
import { dropOldest } from '../../core/base/oldest.ts'
import type { Rpc } from '../nodes/rpc.ts'
import { accountsCalls, readAccounts, tryDecode } from './accounts.ts'
import { addressFrom, tokenAccountOf } from './addresses.ts'
import { isKnownExtension, readMintParts, readTransferFees, type MintParts } from './mint-extensions.ts'
import { wrappedMint } from './swap-accounts.ts'
import { tokenOptions, tokenPrograms, tokenProgram } from './tokens.ts'
import type { SolanaAccount } from './types.ts'
import type { AccountCode, MintCode } from './warning-codes.ts'

type Notes<Code> = readonly { readonly code: Code; readonly what: string }[]

/** An address that may be absent: then it is zeros. token-2022, OptionalNonZeroPubkey. */
function authorityAt(content: Uint8Array, at: number): string | undefined {
  const bytes = content.subarray(at, at + 32)
  return bytes.some((byte) => byte !== 0) ? addressFrom(bytes) : undefined
}

/** What an extension of a mint lets somebody do. Layouts: token-2022, program/src/extension. */
function ofExtension(type: number, content: Uint8Array): Notes<MintCode>[number] | undefined {
  switch (type) {
    case 1:
      return transferFeeIn(content)
    case 3: {
      const who = authorityAt(content, 0)
      return who === undefined
        ? undefined
        : { code: 'mint-close-authority', what: `${who} may close it while nobody holds any, and another token may come to its address` }
    }
    case 4:
    case 16:
    case 24:
      return { code: 'confidential', what: 'amounts of its transfers may be hidden' }
    case 6:
      return content[0] === AccountState.Frozen
        ? { code: 'frozen-accounts', what: 'new accounts of it are frozen until its freeze authority thaws them' }
        : undefined
    case 9:
      return { code: 'non-transferable', what: 'it cannot be transferred' }
    case 10:
      return { code: 'interest-bearing', what: 'wallets show amounts with interest that are not held' }
    case 12: {
      const who = authorityAt(content, 0)
      return who === undefined
        ? undefined
        : { code: 'permanent-delegate', what: `${who} may move or burn it out of every account (permanent delegate)` }
    }
    case 14:
      return transferHookIn(content)
    case 25:
      return { code: 'scaled-amount', what: 'wallets show amounts that are scaled' }
    case 26: {
      if (content[32] !== 0) return { code: 'paused', what: 'its transfers are paused' }
      const who = authorityAt(content, 0)
      return who === undefined ? undefined : { code: 'pausable', what: `${who} may pause all of its transfers` }
    }
  }
  return isKnownExtension(type)
    ? undefined
    : { code: 'unknown-extension', what: `it has an extension that is not known here (${type}): what that lets others do is not known` }
}

function transferHookIn(content: Uint8Array): Notes<MintCode>[number] | undefined {
  const [who, program] = [authorityAt(content, 0), authorityAt(content, 32)]
  if (program !== undefined) return { code: 'transfer-hook', what: `each transfer calls the program ${program}, which may refuse it` }
  return who === undefined
    ? undefined
    : { code: 'transfer-hook', what: `${who} may have each transfer call a program, which may refuse it` }
}

/** Who changes the fee comes first: token-2022 `extension/transfer_fee/mod.rs`, TransferFeeConfig. */
function transferFeeIn(content: Uint8Array): Notes<MintCode>[number] | undefined {
  const { older, newer } = readTransferFees(content)
  const most = Math.max(older.basisPoints, newer.basisPoints)
  const who = authorityAt(content, 0)
  if (most === 0 && who === undefined) return undefined
  const changes = who === undefined ? '' : `${most === 0 ? '' : ', and '}${who} may change its fee`
  return { code: 'transfer-fee', what: `${most === 0 ? '' : `up to ${most} basis points of each transfer are withheld`}${changes}` }
}

function ofMint(parts: MintParts): Notes<MintCode> {
  const { freezeAuthority, extensions } = parts
  // Three extensions are of confidential transfers.
  const byCode = new Map([...extensions].flatMap(([type, content]) => ofExtension(type, content) ?? []).map((each) => [each.code, each]))
  const found = [...byCode.values()]
  return freezeAuthority === undefined
    ? found
    : [{ code: 'freeze-authority', what: `${freezeAuthority} may freeze accounts of it, out of which nothing moves then` }, ...found]
}

/** @param wallet whose associated account it is */
function ofAccount(place: string, account: SolanaAccount | undefined, wallet: string, decimals: number): Notes<AccountCode> {
  // Nobody has made it, or the address has lamports alone.
  if (!account || !tokenPrograms.includes(account.owner) || account.data.length < getTokenSize()) return []
  const held = tryDecode(getTokenDecoder(), account.data.subarray(0, getTokenSize()))
  if (!held || held.state === AccountState.Uninitialized) return []
  const { delegate, delegatedAmount, closeAuthority, isNative, owner } = held
  const found: Notes<AccountCode>[number][] = []
  if (owner !== wallet)
    return [
      { code: 'account-owner', what: `the wallet's account ${place} was given to ${owner}: what is paid into it is not the wallet's` },
    ]
  if (delegate.__option === 'Some' && delegatedAmount > 0n)
    found.push({
      code: 'account-delegate',
      what: `${delegate.value} may take up to ${formatRaw(delegatedAmount, decimals)} out of the wallet's account ${place} (its delegate)`,
    })
  if (closeAuthority.__option === 'Some' && closeAuthority.value !== wallet) {
    const gets = isNative.__option === 'Some' ? 'and gets all SOL that is in it' : 'and gets its rent'
    found.push({
      code: 'account-close-authority',
      what: `${closeAuthority.value}, and not the wallet, may close the wallet's account ${place}, ${gets}`,
    })
  }
  if (held.state === AccountState.Frozen) found.push({ code: 'account-frozen', what: `the wallet's account ${place} is frozen` })
  return found
}

const unreadable: Notes<MintCode> = [{ code: 'malformed-mint', what: 'its extensions cannot be read, nor what they let others do' }]

interface KnownMint {
  readonly program: string
  readonly found: Notes<MintCode>
  readonly readAt: number
}

/** So long a mint is not read again; and so long, while it is read again, what it said before counts. It cannot get further extensions. */
const [freshMs, keptMs] = [60_000, 600_000]
const mostKept = 10_000

interface TokenWarningsOptions {
  readonly rpc: Rpc
  readonly log: Log
  /** The codes that the operator refuses. */
  readonly refused: readonly string[]
}

/** The warnings of a network of Solana. */
export function createTokenWarnings({ rpc, log, refused }: TokenWarningsOptions): TokenWarnings {
  const known = new Map<string, KnownMint>()
  const reading = new Set<string>()

  const keep = (mint: string, account: SolanaAccount | undefined): KnownMint | undefined => {
    // Longer ones have been cut.
    const parts = readMintParts(account, account !== undefined && account.data.length >= tokenOptions.dataSlice.length)
    known.delete(mint)
    if ('refused' in parts && parts.refused === 'no-mint') return undefined
    const found = 'refused' in parts ? unreadable : ofMint(parts)
    const read: KnownMint = { program: account?.owner ?? tokenProgram, found, readAt: performance.now() }
    known.set(mint, read)
    dropOldest(known, mostKept)
    return read
  }

  function readBehind(mint: string): void {
    if (reading.has(mint)) return
    reading.add(mint)
    const read = async () => {
      const answers = await rpc.batch(accountsCalls([mint], tokenOptions), { signal: AbortSignal.timeout(freshMs) })
      keep(mint, readAccounts(rpc, answers).accounts[0])
    }
    read()
      .catch((error: unknown) => {
        // The next request tries again.
        if (!isTrouble(error)) log.warn({ token: mint, reason: reasonOf(error) }, 'the warnings of a token were not read again')
      })
      .finally(() => reading.delete(mint))
  }

  function remembered(mint: string): KnownMint | undefined {
    const found = known.get(mint)
    const age = found ? performance.now() - found.readAt : keptMs
    if (!found || age >= keptMs) return undefined
    if (age >= freshMs) readBehind(mint)
    return found
  }

  /** The warnings of mints and of the wallet's accounts of them, in one round trip. */
  async function read(tokens: readonly Token[], wallet: string | undefined, at: At): Promise<readonly TokenRisk[]> {
    const mints = tokens.map(({ native, address }) => (native ? wrappedMint : address))
    const places = mints.map((mint) => (wallet === undefined ? [] : tokenPrograms.map((program) => tokenAccountOf(wallet, mint, program))))
    const answers = await rpc.batch(accountsCalls([...mints, ...places.flat()], tokenOptions), at)
    const { accounts } = readAccounts(rpc, answers)
    let next = mints.length
    return tokens.flatMap((token, index) => {
      const mint = keep(mints[index] ?? '', accounts[index])
      const own = accounts.slice(next, (next += places[index]?.length ?? 0))
      const which = tokenPrograms.indexOf(mint?.program ?? tokenProgram)
      const ofWallet = wallet === undefined ? [] : ofAccount(places[index]?.[which] ?? '', own[which], wallet, token.decimals)
      return [...shown(token, token.native ? [] : (mint?.found ?? [])), ...shown(token, ofWallet)]
    })
  }

  return {
    refused,
    of({ tokens, wallet, isNow }, at) {
      const minted = tokens.filter(({ native }) => !native)
      if (wallet !== undefined || isNow) return read(tokens, wallet, at)
      const each = minted.map((token) => remembered(token.address))
      if (each.includes(undefined)) return read(minted, undefined, at)
      return minted.flatMap((token, index) => shown(token, each[index]?.found ?? []))
    },
  }
}

const shown = ({ symbol, address }: Token, found: Notes<MintCode | AccountCode>): readonly TokenRisk[] =>
  found.map(({ code, what }) => ({ code, token: address, text: `${symbol === address ? '' : `${symbol} at `}${address}: ${what}` }))
