import { expect } from 'chai'
import { expectNothingElseLeft, expectOnly } from '../../testkit/cards/wallet-changes.ts'
import type { WalletChanges } from '../../testkit/cards/venue.ts'

const [usdc, weth, other] = ['0xAa00000000000000000000000000000000000001', '0xbb00000000000000000000000000000000000002', '0xcc03']
const position = '0xdd04/7'
const changes = (gains: Record<string, bigint>, more: Partial<WalletChanges> = {}): WalletChanges => ({
  status: 1,
  block: 1,
  gasUsed: 21_000n,
  gains: new Map(Object.entries(gains).map(([token, raw]) => [token.toLowerCase(), raw])),
  nativeRaw: 0n,
  grants: [],
  ...more,
})
const swap = { [usdc]: -5n, [weth]: 2n }
const grants = ['0xthief may move 1 more of 0xaa']
const said = (check: () => void): string => {
  try {
    check()
    return 'nothing'
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
}

describe('what a card says of a wallet after a trade that states both amounts', () => {
  const cases: readonly [string, WalletChanges, RegExp][] = [
    ['just these moved', changes(swap), /^nothing$/],
    ['a unit more was taken', changes({ ...swap, [usdc]: -6n }), /The trade took 6 from the wallet of 0xaa\w+, and states -5 /],
    ['a unit less came', changes({ ...swap, [weth]: 1n }), /gave the wallet 1 of 0xbb\w+, and states 2 /],
    ['nothing came', changes({ [usdc]: -5n }), /gave the wallet 0 of 0xbb\w+, and states 2 /],
    ['another token left', changes({ ...swap, [other]: -1n }), /took 1 from the wallet of 0xcc03, and states 0 /],
    ['another token came', changes({ ...swap, [other]: 1n }), /gave the wallet 1 of 0xcc03, and states 0 /],
    ['the native coin left', changes(swap, { nativeRaw: -3n }), /took 3 from the wallet of the native coin besides its gas/],
    ['somebody got a right', changes(swap, { grants }), /gave rights over the wallet's tokens: 0xthief may move/],
  ]
  for (const [what, is, says] of cases)
    it(`tells where ${what}`, () => expect(said(() => expectOnly(is, swap, 'The trade', 'Look at swap.'))).to.match(says))
})

describe('what a card says of a wallet after a request that names its tokens', () => {
  const cases: readonly [string, WalletChanges, RegExp][] = [
    ['just these left, and others came', changes({ [usdc]: -5n, [position]: 1n, [other]: 1n }), /^nothing$/],
    ['another token left', changes({ [other]: -1n }), /add took 1 of 0xcc03 from the wallet, which the request does not name/],
    ['a position left', changes({ [position]: -1n }), /add took 1 of 0xdd04\/7 from the wallet/],
    ['the native coin left', changes({}, { nativeRaw: -3n }), /add took 3 of the native coin from the wallet besides its gas/],
    ['somebody got a right', changes({}, { grants }), /add gave rights over the wallet's tokens/],
  ]
  for (const [what, is, says] of cases)
    it(`tells where ${what}`, () => expect(said(() => expectNothingElseLeft(is, [usdc, weth], 'add'))).to.match(says))
})
