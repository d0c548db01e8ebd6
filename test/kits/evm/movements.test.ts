import { expect } from 'chai'
import { id, toBeHex, zeroPadValue } from 'ethers'
import { gainsIn, movedIn, unwrappedBy } from '../../../kits/evm/movements.ts'
import type { EvmLog } from '../../../kits/evm/types.ts'

const [wallet, router, token, wrapped, coin] = [
  '0x00000000000000000000000000000000000000A1',
  '0x00000000000000000000000000000000000000B2',
  '0x00000000000000000000000000000000000000C3',
  '0x00000000000000000000000000000000000000D4',
  '0x0000000000000000000000000000000000000000',
]
const topic = (address: string) => zeroPadValue(address, 32)
const log = (address: string, event: string, parties: readonly string[], amountRaw: bigint): EvmLog => ({
  address,
  topics: [id(event), ...parties.map(topic)],
  data: zeroPadValue(toBeHex(amountRaw), 32),
})
const transfer = (from: string, to: string, amountRaw: bigint, of = token) =>
  log(of, 'Transfer(address,address,uint256)', [from, to], amountRaw)
const deposit = (to: string, amountRaw: bigint, of = wrapped) => log(of, 'Deposit(address,uint256)', [to], amountRaw)

function moved(
  logs: readonly EvmLog[],
  sentRaw = 0n,
  { status = 1, tokens = { coin, wrapped } }: { status?: 0 | 1; tokens?: { coin: string; wrapped: string } } = {},
) {
  const receipt = {
    status,
    logs,
    transactionHash: '',
    blockNumber: 1,
    blockHash: '',
    from: wallet,
    to: router,
    gasUsed: '0',
    effectiveGasPrice: '0',
  }
  const result = movedIn(receipt, sentRaw, wallet, tokens)
  return result && Object.fromEntries(result)
}

describe('what events say that a transaction moved', () => {
  it('sums up what went into and out of the wallet, and leaves out what others moved', () => {
    const logs = [
      transfer(wallet, router, 7n),
      transfer(router, wallet, 2n),
      transfer(router, token, 50n),
      transfer(router, wallet, 9n, wrapped),
    ]
    expect(moved(logs)).to.deep.equal({ [token]: -5n, [wrapped]: 9n })
  })

  it('has the native coin only where all that was sent was wrapped', () => {
    expect(moved([deposit(router, 6n), deposit(router, 4n)], 10n)).to.deep.equal({ [coin]: -10n })
    expect(moved([deposit(router, 6n)], 10n)).to.deep.equal({})
    expect(moved([deposit(router, 10n, token)], 10n)).to.deep.equal({})
    expect(moved([log(wrapped, 'Withdrawal(address,uint256)', [router], 10n)])).to.deep.equal({})
  })

  it('does not have the wrapped coin where the wallet wraps or unwraps itself', () => {
    expect(moved([transfer(wallet, router, 3n, wrapped), deposit(wallet, 10n)], 10n)).to.deep.equal({ [coin]: -10n })
  })

  it('does not have a coin that is a token itself, and was sent as the value', () => {
    const tokens = { coin: wrapped, wrapped }
    expect(moved([transfer(wallet, router, 3n, wrapped)], 0n, { tokens })).to.deep.equal({ [wrapped]: -3n })
    expect(moved([transfer(wallet, router, 3n, wrapped)], 4n, { tokens })).to.deep.equal({})
  })

  it('stays undefined for a failed transaction, or where an event of the wallet cannot be read', () => {
    expect(moved([transfer(wallet, router, 7n)], 0n, { status: 0 })).to.equal(undefined)
    expect(moved([{ ...transfer(wallet, router, 7n), data: '0x' }])).to.equal(undefined)
  })
})

describe('what a mined transaction did to a wallet, by its events', () => {
  const gained = (...logs: readonly EvmLog[]) => Object.fromEntries(gainsIn({ logs }, wallet, { coin, wrapped }))

  it('sums up all transfers that name the wallet, of tokens that are counted and of those that are not', () => {
    const nft = { ...transfer(wallet, router, 0n), topics: [...transfer(wallet, router, 0n).topics, zeroPadValue('0x07', 32)], data: '0x' }
    expect(gained(transfer(wallet, router, 7n), transfer(router, wallet, 2n), transfer(router, token, 50n), nft)).to.deep.equal({
      [token]: -5n,
      [`${token}/7`]: -1n,
    })
  })

  it('stays complete beside an event that cannot be read', () => {
    const garbage = { ...transfer(wallet, router, 0n, router), data: '0x' }
    expect(gained(garbage, transfer(wallet, router, 7n))).to.deep.equal({ [token]: -7n })
  })

  it('has the wrapped coin that the wallet itself wraps, once where a transfer tells it too', () => {
    const withdrawal = log(wrapped, 'Withdrawal(address,uint256)', [wallet], 4n)
    expect(gained(deposit(wallet, 9n))).to.deep.equal({ [wrapped]: 9n })
    expect(gained(withdrawal, transfer(router, wallet, 1n, wrapped))).to.deep.equal({ [wrapped]: -3n })
    expect(gained(deposit(wallet, 9n), transfer(coin, wallet, 9n, wrapped))).to.deep.equal({ [wrapped]: 9n })
    expect(gained(withdrawal, transfer(wallet, coin, 4n, wrapped))).to.deep.equal({ [wrapped]: -4n })
    expect(gained(deposit(router, 9n), deposit(wallet, 9n, token))).to.deep.equal({})
  })

  it('has no native coin, whatever a contract says in its name', () => {
    expect(gained(transfer(wallet, router, 7n, coin))).to.deep.equal({})
  })
})

describe('what a contract unwrapped of the coin', () => {
  const withdrawal = (owner: string, amountRaw: bigint, of = wrapped) => log(of, 'Withdrawal(address,uint256)', [owner], amountRaw)
  const unwrapped = (logs: readonly EvmLog[], status: 0 | 1 = 1) => unwrappedBy({ status, logs }, router, wrapped)

  it('is told by the only event of the wrapped coin', () => {
    expect(unwrapped([transfer(wallet, router, 5n), withdrawal(router, 7n)])).to.equal(7n)
    expect(unwrapped([withdrawal(router, 7n), transfer(router, coin, 7n, wrapped)])).to.equal(7n)
    expect(unwrapped([transfer(router, coin, 7n, wrapped)])).to.equal(7n)
  })

  it('is not known where it unwrapped twice, another contract or token says so, or the transaction failed', () => {
    expect(unwrapped([withdrawal(router, 7n), withdrawal(router, 1n)])).to.equal(undefined)
    expect(unwrapped([transfer(router, coin, 7n, wrapped), transfer(router, coin, 1n, wrapped)])).to.equal(undefined)
    expect(unwrapped([withdrawal(wallet, 7n)])).to.equal(undefined)
    expect(unwrapped([withdrawal(router, 7n, token)])).to.equal(undefined)
    expect(unwrapped([transfer(router, wallet, 7n, wrapped)])).to.equal(undefined)
    expect(unwrapped([withdrawal(router, 7n)], 0)).to.equal(undefined)
    expect(unwrapped([])).to.equal(undefined)
  })
})
