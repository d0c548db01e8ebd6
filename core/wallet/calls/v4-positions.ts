// PositionManager of Uniswap v4: it takes from its caller alone, by Permit2.
import {
  amount,
  argumentsOf,
  codesIn,
  createTally,
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

const methodOf = methodsOf(['function modifyLiquidities(bytes unlockData, uint256 deadline)'])

// ActionConstants, and the library Actions of @uniswap/v4-periphery@1.0.3.
export const caller = '0x0000000000000000000000000000000000000001'
export const self = '0x0000000000000000000000000000000000000002'
export const openDelta = 0n
const actionsIn = argumentsOf(['bytes', 'bytes[]'])
const key = '(address currency0, address currency1, uint24 fee, int24 tickSpacing, address hooks)'
const actions: ReadonlyMap<number, { readonly name: string; readonly argsIn: ReturnType<typeof argumentsOf> }> = new Map([
  [0x00, { name: 'increase', argsIn: argumentsOf(['uint256', 'uint256', 'uint128', 'uint128', 'bytes']) }],
  [0x01, { name: 'decrease', argsIn: argumentsOf(['uint256', 'uint256', 'uint128', 'uint128', 'bytes']) }],
  [0x02, { name: 'mint', argsIn: argumentsOf([key, 'int24', 'int24', 'uint256', 'uint128', 'uint128', 'address', 'bytes']) }],
  [0x03, { name: 'burn', argsIn: argumentsOf(['uint256', 'uint128', 'uint128', 'bytes']) }],
  [0x0d, { name: 'settlePair', argsIn: argumentsOf(['address', 'address']) }],
  [0x0e, { name: 'take', argsIn: argumentsOf(['address', 'address', 'uint256']) }],
  [0x11, { name: 'takePair', argsIn: argumentsOf(['address', 'address', 'address']) }],
  [0x14, { name: 'sweep', argsIn: argumentsOf(['address', 'address']) }],
  [0x15, { name: 'wrap', argsIn: argumentsOf(['uint256']) }],
  [0x16, { name: 'unwrap', argsIn: argumentsOf(['uint256']) }],
])

/** What a new position takes is enforced by the manager, pools with hooks included: `validateMaxIn`. */
export const readV4Positions: CallReader = (call) => {
  const [unlockData] = methodOf(call.data).args
  const [codes, inputs] = actionsIn(unlockData)
  const params = parts(inputs)
  const names = codesIn(codes)
  if (names.length !== params.length) throw new Unreadable('its actions and their inputs differ in number')
  const read = names.map((code, index) => {
    const action = actions.get(code)
    if (!action) throw new Unreadable(`the action ${code} has no reader`)
    return { name: action.name, args: action.argsIn(params[index]) }
  })
  const has = (...some: readonly string[]) => read.some(({ name }) => some.includes(name))
  // Then what is owed is that of new positions alone.
  if (has('settlePair') && has('decrease', 'burn', 'take', 'takePair'))
    throw new Unreadable('it settles what other positions than new ones may owe')
  const tally = createTally({ call, self: [self, call.contract], caller })
  for (const { name, args } of read) readAction(name, args, call, tally)
  return tally.finish()
}

function readAction(name: string, args: readonly unknown[], { wrapped }: ContractCall, tally: Tally): void {
  switch (name) {
    case 'increase':
      throw new Unreadable('it adds to a position, whose tokens it does not name')
    case 'mint': {
      const [pool, , , , most0, most1, owner] = args
      const [currency0, currency1] = list(pool)
      // The coin itself came with the call.
      if (text(currency0) !== zeroAddress) tally.take(text(currency0), amount(most0))
      tally.take(text(currency1), amount(most1))
      return tally.payOut('the position', text(owner))
    }
    case 'take':
      if (amount(args[2]) !== openDelta) throw new Unreadable('it takes an amount out of the pools that it may owe then')
      return tally.give(text(args[0]), text(args[1]))
    case 'takePair':
      tally.give(text(args[0]), text(args[2]))
      return tally.give(text(args[1]), text(args[2]))
    case 'sweep':
      return tally.payOut(text(args[0]), text(args[1]))
    case 'wrap':
    case 'unwrap': {
      if (wrapped === undefined) throw new Unreadable('the network has no wrapped coin')
      const [from, to] = name === 'wrap' ? [zeroAddress, wrapped] : [wrapped, zeroAddress]
      tally.use(from)
      return tally.give(to, self)
    }
  }
}
