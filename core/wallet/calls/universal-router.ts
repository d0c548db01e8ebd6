// Uniswap's Universal Router: it takes from its caller alone, by Permit2.
import {
  amount,
  argumentsOf,
  codesIn,
  createTally,
  first,
  last,
  list,
  methodsOf,
  parts,
  text,
  Unreadable,
  zeroAddress,
  type CallReader,
  type ContractCall,
  type Tally,
} from './reading.ts'
import { tokensIn } from './v3-router.ts'
import { caller, openDelta, self } from './v4-positions.ts'

const methodOf = methodsOf(['function execute(bytes commands, bytes[] inputs, uint256 deadline)'])

/** CONTRACT_BALANCE, of ActionConstants as well. */
const wholeBalance = 1n << 255n
/** `FLAG_ALLOW_REVERT` with PERMIT2_PERMIT: what it gives the wallet signed, and the router takes that by calls of the wallet alone. */
const permitThatMayFail = 0x8a

/** @param inputs after the receiver */
interface CommandReader {
  readonly argsIn: (input: unknown) => readonly unknown[]
  read(args: readonly unknown[], context: CommandContext): void
}

interface CommandContext {
  readonly call: ContractCall
  readonly tally: Tally
}

// Commands of @uniswap/universal-router@2.1.0. Swaps end with a list of lowest prices, which bound nothing that is taken.
const swapTypes = (path: string) => ['address', 'uint256', 'uint256', path, 'bool', 'uint256[]']
const commands: ReadonlyMap<number, CommandReader> = new Map([
  [
    0x00,
    { argsIn: argumentsOf(swapTypes('bytes')), read: (args, context) => readSwap(args, tokensIn(args[3], 3), amount(args[1]), context) },
  ],
  [
    0x01,
    {
      argsIn: argumentsOf(swapTypes('bytes')),
      read: (args, context) => readSwap(args, tokensIn(args[3], 3).toReversed(), amount(args[2]), context),
    },
  ],
  [0x02, { argsIn: argumentsOf(['address', 'address', 'uint160']), read: readTransferFrom }],
  [
    0x04,
    {
      argsIn: argumentsOf(['address', 'address', 'uint256']),
      read: ([token, receiver], { tally }) => tally.payOut(text(token), text(receiver)),
    },
  ],
  [
    0x08,
    {
      argsIn: argumentsOf(swapTypes('address[]')),
      read: (args, context) => readSwap(args, list(args[3]).map(text), amount(args[1]), context),
    },
  ],
  [
    0x0b,
    { argsIn: argumentsOf(['address', 'uint256']), read: (args, context) => exchangeCoin(args, zeroAddress, wrappedOf(context), context) },
  ],
  [
    0x0c,
    { argsIn: argumentsOf(['address', 'uint256']), read: (args, context) => exchangeCoin(args, wrappedOf(context), zeroAddress, context) },
  ],
  [0x10, { argsIn: argumentsOf(['bytes', 'bytes[]']), read: readV4Swap }],
])

export const readUniversalRouter: CallReader = (call) => {
  const [codes, inputs] = methodOf(call.data).args
  const list = parts(inputs)
  const names = codesIn(codes)
  if (names.length !== list.length) throw new Unreadable('its commands and their inputs differ in number')
  const tally = createTally({ call, self: [self, call.contract], caller })
  for (const [index, code] of names.entries()) {
    if (code === permitThatMayFail) continue
    const command = commands.get(code)
    if (!command) throw new Unreadable(`the command ${code} has no reader`)
    command.read(command.argsIn(list[index]), { call, tally })
  }
  return tally.finish()
}

function wrappedOf({ call: { wrapped } }: CommandContext): string {
  if (wrapped === undefined) throw new Unreadable('the network has no wrapped coin')
  return wrapped
}

/** Of v2 and v3. An input of the whole balance that the wallet pays is more than any limit. */
function readSwap(args: readonly unknown[], path: readonly string[], mostInRaw: bigint, { tally }: CommandContext): void {
  const [receiver, , , , isOfWallet] = args
  if (isOfWallet === true) tally.take(first(path), mostInRaw)
  else if (mostInRaw === wholeBalance) tally.use(first(path))
  tally.give(last(path), text(receiver))
}

function readTransferFrom([token, receiver, amountRaw]: readonly unknown[], { tally }: CommandContext): void {
  tally.take(text(token), amount(amountRaw))
  tally.give(text(token), text(receiver))
}

/** All that the router has of the one form of the coin, or a part of it that was sent with the call, becomes the other one. */
function exchangeCoin([receiver, amountRaw]: readonly unknown[], from: string, to: string, { tally }: CommandContext): void {
  if (from !== zeroAddress || amount(amountRaw) === wholeBalance) tally.use(from)
  tally.give(to, text(receiver))
}

// IV4Router, with the lowest prices for each hop, which it has since version 2.1.0 of the router.
const pathKey = '(address intermediateCurrency, uint24 fee, int24 tickSpacing, address hooks, bytes hookData)[]'
const swapIn = argumentsOf([`(address currency, ${pathKey} path, uint256[] minHopPrices, uint128 amount, uint128 bound)`])
const settlementIn = argumentsOf(['address', 'uint256', 'bool'])
const payoutIn = argumentsOf(['address', 'address', 'uint256'])
const [swapExactIn, swapExactOut, settle, take] = [0x07, 0x09, 0x0b, 0x0e]

/**
 * The pools pay one another within the PoolManager: only what its swaps owe there is settled, and swaps alone make debts. The router holds the input
 * of a swap to its bound, and nothing else: where a pool of an exact output fills a part, or has a hook, the swap owes any amount of the others.
 */
function readV4Swap([codes, inputs]: readonly unknown[], { tally }: CommandContext): void {
  const names = codesIn(codes)
  const list_ = parts(inputs)
  if (names.length !== list_.length) throw new Unreadable('its actions and their inputs differ in number')
  const isSwap = (code: number) => code === swapExactIn || code === swapExactOut
  const owed = new Map<string, bigint>()
  const unbounded = new Set<string>()
  for (const [index, code] of names.entries()) {
    if (!isSwap(code)) continue
    const { currency, mostRaw, others } = debtsOf(swapIn(list_[index])[0], code)
    owed.set(currency, (owed.get(currency) ?? 0n) + mostRaw)
    for (const other of others) unbounded.add(other)
  }
  const debtIn = (currency: string): bigint => {
    const mostRaw = owed.get(currency)
    if (mostRaw === undefined || unbounded.has(currency)) throw new Unreadable('it settles what its swaps may owe without a bound')
    return mostRaw
  }
  for (const [index, code] of names.entries()) {
    const input = list_[index]
    if (isSwap(code)) continue
    if (code === settle) {
      const [of, amountRaw, isOfWallet] = settlementIn(input)
      const [currency, exactRaw] = [text(of), amount(amountRaw)]
      if (isOfWallet !== true) {
        if (exactRaw === wholeBalance) tally.use(currency)
      } else if (exactRaw === wholeBalance) throw new Unreadable('it takes as much from the wallet as the router has')
      // The coin itself came with the call.
      else if (currency !== zeroAddress) tally.take(currency, exactRaw === openDelta ? debtIn(currency) : exactRaw)
    } else if (code === take) {
      const [of, receiver, amountRaw] = payoutIn(input)
      if (amount(amountRaw) !== openDelta) throw new Unreadable('it takes an amount out of the pools that it may owe then')
      tally.give(text(of), text(receiver))
    } else throw new Unreadable(`the action ${code} has no reader`)
  }
}

interface SwapDebts {
  /** Of the input. */
  readonly currency: string
  readonly mostRaw: bigint
  /** What else it may owe, in any amount. */
  readonly others: readonly string[]
}

function debtsOf(struct: unknown, code: number): SwapDebts {
  const [of, path, , amountRaw, boundRaw] = list(struct)
  const [currency, ...others] = [...parts(path).map((key) => text(list(key)[0])), text(of)]
  if (others.length === 0 || currency === undefined) throw new Unreadable('its path has no pools')
  // What the one pool gives is what the next one takes.
  if (code === swapExactIn) return { currency: text(of), mostRaw: amount(amountRaw), others: [] }
  return { currency, mostRaw: amount(boundRaw), others }
}
