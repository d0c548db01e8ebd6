// A token by its address: what the chain says of it, what is odd about it, and the list that it can be added to while the server runs.
import type { FoundTokens } from '../live-state/token-book.ts'
import { addToken, canNameToken } from '../config/token-list.ts'
import { ConfigError } from '../config/problems.ts'
import type { At, Token } from '../contracts/index.ts'
import { badFields, SluiceError } from '../base/errors.ts'
import type { Handler, Handlers } from './context.ts'
import { isPlain, originalOf } from '../live-state/looks.ts'
import type { NetworkEntry } from '../plugins/index.ts'
import { shownWarning } from './amm/token-warnings.ts'
import { readAddress } from './wallets.ts'

const networkToken: Handler<'NetworkToken'> = async (request, { network, signal }) => {
  const { token, isListed } = await readToken(request.token, network, { signal })
  const original = originalOf(token, network.tokens.listed)
  const { symbol, address, decimals } = token
  return {
    symbol,
    address,
    decimals,
    listed: isListed,
    ...(original && { impostorOf: original.address }),
    warnings: [
      ...(original ? [`it has the symbol of ${original.symbol}, which is at ${original.address}, or one that looks like it`] : []),
      ...oddities(token),
      ...((await network.impl.warnings?.of({ tokens: [token], isNow: true }, { signal })) ?? []).map(shownWarning),
    ],
  }
}

/** By network: of two requests that would give one symbol to two tokens, the second has to see the first, and both write one file. */
const underWay = new Map<string, Promise<unknown>>()

const networkTokensAdd: Handler<'NetworkTokensAdd'> = (request, context) => {
  const name = `${context.network.chain}/${context.network.network}`
  const add = () => addToList(request, context)
  const added = (underWay.get(name) ?? Promise.resolve()).then(add, add)
  underWay.set(name, added)
  return added
}

const addToList: Handler<'NetworkTokensAdd'> = async (request, { network, services, signal }) => {
  const { token, isListed } = await readToken(request.token, network, { signal })
  requireDecimals(request.decimals, token)
  if (isListed) {
    requireSymbol(request.symbol, token)
    return { ...shown(token), listed: true, added: false }
  }
  const symbol = readSymbol(request.symbol, token)
  const original = originalOf({ symbol, address: token.address }, network.tokens.listed)
  if (original)
    throw badFields([
      {
        field: 'symbol',
        problem: `"${symbol}" is that of ${original.symbol} at ${original.address}, or looks like it: give this token another one`,
      },
    ])
  const listed: Token = { symbol, address: token.address, decimals: token.decimals }
  const { chain, network: name, impl } = network
  try {
    await addToken({ dataDir: services.settings.data.dir, chain, network: name, chainId: impl.chainId }, listed)
  } catch (error) {
    throw notWritten(error)
  }
  network.tokens.add(listed)
  return { ...shown(listed), listed: true, added: true }
}

const shown = ({ symbol, address, decimals }: Token) => ({ symbol, address, decimals })

/** For a token whose contract does not answer as one. */
export const notAToken = ({ symbol, address }: Token): SluiceError =>
  new SluiceError('TOKEN_NOT_SUPPORTED', `${symbol} at ${address} does not answer as a token on this network: check its address.`)

/**
 * What an answer about tokens lacks: names that are none's, and tokens whose contract does not answer.
 * @param answerOf what the chain said of one @throws SluiceError TOKEN_NOT_SUPPORTED where nothing is left
 */
export function unavailableTokens({ found, missing }: FoundTokens, answerOf: (index: number) => unknown) {
  const silent = found.filter((_, index) => answerOf(index) === undefined)
  if (silent[0] && silent.length === found.length) throw notAToken(silent[0].token)
  const unavailable = [...missing, ...silent.map(({ name, token }) => ({ token: name, reason: notAToken(token).message }))]
  return unavailable.length === 0 ? {} : { unavailable }
}

/** @throws SluiceError TOKEN_NOT_SUPPORTED, INCOMPLETE_PARAMS */
async function readToken(text: string, network: NetworkEntry, at: At): Promise<{ token: Token; isListed: boolean }> {
  const address = readAddress(network, text, 'token')
  const listed = network.tokens.listedAt(address)
  return { token: listed ?? (await network.tokens.resolve(address, 'token', at)), isListed: listed !== undefined }
}

/** @throws SluiceError INCOMPLETE_PARAMS */
function requireDecimals(decimals: number | undefined, token: Token): void {
  if (decimals === undefined || decimals === token.decimals) return
  throw badFields([
    { field: 'decimals', problem: `is ${decimals}, and ${token.address} has ${token.decimals}: look whether it is the right token` },
  ])
}

/** @throws SluiceError INCOMPLETE_PARAMS */
function requireSymbol(symbol: string | undefined, token: Token): void {
  if (symbol === undefined || symbol === token.symbol) return
  throw badFields([
    { field: 'symbol', problem: `${token.address} is on the list as ${token.symbol}: an operator changes that in conf/tokens` },
  ])
}

/** @throws SluiceError INCOMPLETE_PARAMS */
function readSymbol(given: string | undefined, token: Token): string {
  const symbol = given ?? token.symbol
  if (given === undefined && symbol === token.address)
    throw badFields([{ field: 'symbol', problem: `is required: the contract at ${token.address} says none that can be shown` }])
  if (!canNameToken(symbol))
    throw badFields([{ field: 'symbol', problem: 'must be up to 64 visible characters without colon and comma, and no address' }])
  return symbol
}

/** Above it amounts do not fit into what most programs count with. */
const usualDecimals = 36

function oddities({ symbol, address, decimals, native }: Token): string[] {
  return [
    ...(symbol === address && !native ? ['its contract says no symbol that can be shown'] : []),
    ...(decimals === 0 ? ['it has no decimals: only whole units can be moved'] : []),
    ...(decimals > usualDecimals ? [`it has ${decimals} decimals`] : []),
    ...(!isPlain(symbol) ? ['its symbol has other characters than those of ASCII'] : []),
  ]
}

function notWritten(error: unknown): SluiceError {
  const reason =
    error instanceof ConfigError ? error.problems[0]?.problem : error instanceof Error && 'code' in error ? String(error.code) : undefined
  return new SluiceError(
    'UNSUPPORTED',
    `The list of added tokens in the data folder cannot be ${error instanceof ConfigError ? 'read' : 'written'}, so nothing was added${reason === undefined ? '' : `: ${reason}`}. An operator looks at data/tokens.`,
    { cause: error },
  )
}

export const tokenHandlers = { NetworkToken: networkToken, NetworkTokensAdd: networkTokensAdd } satisfies Partial<Handlers>
