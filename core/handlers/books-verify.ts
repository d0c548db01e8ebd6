import { blockAt, blockBefore, checkBook, finalBlock, requireHistory, sliceEnd } from '../books/check-book.ts'
import { firstKnown, lostState } from '../books/check-start.ts'
import type { WalletCheck } from '../books/verify-wallet.ts'
import type { Discrepancy } from '../books/wallet-ledger.ts'
import { addressKey } from '../base/addresses.ts'
import { formatRaw } from '../base/decimal.ts'
import { badFields, SluiceError } from '../base/errors.ts'
import { momentForms, readMoment } from '../base/moments.ts'
import type { At, PastBlock, Token, WalletHistory } from '../contracts/index.ts'
import { dayMs } from '../transactions/archiver.ts'
import type { BooksVerifyRequest } from '../api/index.ts'
import type { Handler, Handlers, NetworkContext } from './context.ts'
import { createLongReadings } from './long-readings.ts'
import { badCursor } from './pages.ts'
import type { NetworkEntry } from '../plugins/index.ts'
import { readAddress } from './wallets.ts'

/** Each reads a few thousand entries, and asks the nodes. */
const verifying = createLongReadings('Books are being verified', 2)

const booksVerify: Handler<'BooksVerify'> = (request, context) => verifying.of(context.caller.id, () => verify(request, context))

async function verify(request: BooksVerifyRequest, { network, services, signal }: NetworkContext) {
  const at = { signal }
  const history = requireHistory(network)
  const wallet = readAddress(network, request.address)
  const held = request.tokens?.map((token, index) => readAddress(network, token, `tokens[${index}]`)) ?? []
  const asked = await readRange(request, network, history, at)
  const { first, last } = asked
  const of = { chain: network.chain, network: network.network, wallet }
  const kept = await services.checkpoints.between(of, asked.after.number, last.number)
  const parts = { history, wallet, kept }
  const known =
    request.cursor === undefined ? await firstKnown(parts, { after: first, upTo: last.number }, at) : { block: asked.after.number }
  if (known.block >= last.number) throw lostState(last.number)
  const after = known.block === asked.after.number ? asked.after : await blockAt(history, known.block, at)
  const upTo = await sliceEnd(parts, after, last, at)
  const { rebasingTokens: rebasing } = services.settings.books
  const check = await checkBook({ on: network, wallet, source: services.transactions, rebasing, held, kept }, { after, upTo }, at)
  const start = check.startBlock === after.number ? after : await blockAt(history, check.startBlock, at)
  const lost = known.lost ?? check.lost
  return {
    chain: network.chain,
    address: wallet,
    start: shownBlock(start),
    end: shownBlock(upTo),
    range: { first, last: last.number },
    ...(await showCheck(check, network, at)),
    ...(lost && { lost: { ...lost } }),
    ...(upTo.number < last.number && { nextCursor: `${first}-${upTo.number}-${last.number}` }),
  }
}

const shownBlock = ({ number, timestamp }: PastBlock) => ({ blockNumber: number, timestamp: timestamp * 1000 })

interface CheckedRange {
  /** Of the first answer. */
  readonly first: number
  readonly after: PastBlock
  readonly last: PastBlock
}

async function readRange(
  { since, until, cursor }: Pick<BooksVerifyRequest, 'since' | 'until' | 'cursor'>,
  network: NetworkEntry,
  history: WalletHistory,
  at: At,
): Promise<CheckedRange> {
  const newest = await finalBlock(network, history, at)
  if (cursor !== undefined) {
    const [first, after, last] = (/^(\d{1,15})-(\d{1,15})-(\d{1,15})$/.exec(cursor) ?? []).slice(1).map(Number)
    if (first === undefined || after === undefined || last === undefined || !(first <= after && after < last && last <= newest.number))
      throw badCursor()
    return { first, after: await blockAt(history, after, at), last: await blockAt(history, last, at) }
  }
  const untilMs = readField('until', until)
  const last = untilMs === undefined ? newest : await blockBefore(history, untilMs, newest, at)
  const sinceMs = readField('since', since) ?? last.timestamp * 1000 - dayMs
  const after = await blockBefore(history, sinceMs, newest, at)
  if (after.number >= last.number)
    throw badFields([
      { field: since === undefined ? 'until' : 'since', problem: 'leaves no final block in between: nothing can be verified yet' },
    ])
  return { first: after.number, after, last }
}

/** @throws SluiceError INCOMPLETE_PARAMS */
function readField(field: string, text: string | undefined): number | undefined {
  const moment = text === undefined ? undefined : readMoment(text)
  if (text !== undefined && moment === undefined) throw badFields([{ field, problem: `is "${text}", but must be ${momentForms}` }])
  return moment
}

/**
 * Undefined: it has no decimals, and its amounts are told in smallest units.
 * @throws that of a node in trouble: who adds up several answers would take smallest units in one of them for tokens
 */
async function unlistedToken(token: string, { tokens }: NetworkEntry, at: At): Promise<Token | undefined> {
  try {
    return await tokens.resolve(token, 'token', at)
  } catch (error) {
    if (error instanceof SluiceError && error.name === 'TOKEN_NOT_SUPPORTED') return undefined
    throw error
  }
}

async function showCheck(check: WalletCheck, network: NetworkEntry, at: At) {
  const { tokens, unexplained, ownTransactions, foreignTransactions, unlistedTokens } = check
  const known = new Map<string, Token>()
  for (const { token } of tokens) {
    const found = network.tokens.listedAt(network.impl.address(token) ?? token) ?? (await unlistedToken(token, network, at))
    if (found) known.set(token, found)
  }
  const namesOf = (token: string) => {
    const found = known.get(token)
    return { token: found?.address ?? network.impl.address(token) ?? token, ...(found && { symbol: found.symbol }) }
  }
  const amountOf = (token: string, raw: bigint) => formatRaw(raw, known.get(addressKey(token))?.decimals ?? 0)
  return {
    tokens: tokens.map(({ token, startRaw, ownRaw, feesRaw, foreignRaw, unexplainedRaw, endRaw }) => ({
      ...namesOf(token),
      start: amountOf(token, startRaw),
      own: amountOf(token, ownRaw),
      fees: amountOf(token, feesRaw),
      foreign: amountOf(token, foreignRaw),
      unexplained: amountOf(token, unexplainedRaw),
      end: amountOf(token, endRaw),
    })),
    unexplained: unexplained.map(({ token, kind, amountRaw, firstBlock, lastBlock, ...more }: Discrepancy) => ({
      ...namesOf(token),
      kind,
      amount: amountOf(token, amountRaw),
      firstBlock,
      lastBlock,
      ...more,
    })),
    transactions: { own: ownTransactions, foreign: foreignTransactions },
    unlistedTokens,
  }
}

export const booksVerifyHandlers = { BooksVerify: booksVerify } satisfies Partial<Handlers>
