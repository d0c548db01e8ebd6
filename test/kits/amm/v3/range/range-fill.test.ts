import { expect } from 'chai'
import { AbiCoder, id, toBeHex, zeroPadValue } from 'ethers'
import type { Json } from '../../../../../core/contracts/index.ts'
import type { EvmLog, EvmReceipt } from '../../../../../kits/evm/index.ts'
import { rangeFill } from '../../../../../kits/amm/v3/range-plans.ts'

const addressOf = (digits: string) => `0x${digits.repeat(20)}`
const [positionManager, pool, owner, stranger] = [addressOf('a1'), addressOf('b2'), addressOf('c3'), addressOf('d4')]
const nobody = `0x${'0'.repeat(40)}`
const word = (value: bigint | string) => zeroPadValue(typeof value === 'string' ? value : toBeHex(BigInt.asUintN(256, value)), 32)
const log = (address: string, event: string, topics: readonly (bigint | string)[], data: readonly bigint[]): EvmLog => ({
  address,
  topics: [id(event), ...topics.map(word)],
  data: AbiCoder.defaultAbiCoder().encode(
    data.map(() => 'uint256'),
    data,
  ),
})
const increase = (tokenId: bigint, amounts: readonly bigint[], by = positionManager) =>
  log(by, 'IncreaseLiquidity(uint256,uint128,uint256,uint256)', [tokenId], amounts)
const decrease = (tokenId: bigint, amounts: readonly bigint[]) =>
  log(positionManager, 'DecreaseLiquidity(uint256,uint128,uint256,uint256)', [tokenId], amounts)
const give = (from: string, to: string, tokenId: bigint, by = positionManager) =>
  log(by, 'Transfer(address,address,uint256)', [from, to, tokenId], [])
const pay = (amounts: readonly bigint[], [lower, upper] = [-60n, 120n], by = pool) =>
  log(by, 'Collect(address,address,int24,int24,uint128,uint128)', [positionManager, lower ?? 0n, upper ?? 0n], [BigInt(owner), ...amounts])
const collect = (tokenId: bigint, amounts: readonly bigint[]) =>
  log(positionManager, 'Collect(uint256,address,uint256,uint256)', [tokenId], [BigInt(owner), ...amounts])

const receipt = (logs: readonly EvmLog[], status: 0 | 1 = 1): EvmReceipt => ({
  status,
  transactionHash: '0x',
  blockNumber: 1,
  blockHash: '0x',
  from: owner,
  to: positionManager,
  gasUsed: '1',
  effectiveGasPrice: '1',
  logs,
})
const place = { positionManager, pool, owner, tickLower: -60, tickUpper: 120 }
const mint: Json = { is: 'mint', tokenId: null, ...place }
const of = (is: string, tokenId = '7'): Json => ({ is, tokenId, ...place })

describe('the fill of a position', () => {
  it('belongs to the new position, not to one that a token minted in between or for somebody else', () => {
    const logs = [
      give(nobody, owner, 5n),
      increase(5n, [1n, 1n, 1n]),
      give(nobody, owner, 6n),
      increase(6n, [10n, 11n, 12n]),
      give(nobody, stranger, 8n),
      give(owner, stranger, 9n),
      increase(6n, [99n, 99n, 99n], stranger),
    ]
    expect(rangeFill(receipt(logs), mint)).to.deep.equal({ tokenId: '6', liquidity: 10n, amount0Raw: 11n, amount1Raw: 12n })
  })

  it('has what the pool paid for that range, not what the manager asked for', () => {
    const logs = [
      pay([1n, 1n]),
      collect(7n, [1n, 1n]),
      decrease(7n, [50n, 3n, 4n]),
      pay([8n, 9n]),
      pay([2n, 2n], [-60n, 180n]),
      pay([2n, 2n], [0n, 120n]),
      pay([2n, 2n], [-60n, 120n], stranger),
      collect(7n, [9n, 9n]),
      pay([3n, 3n]),
    ]
    expect(rangeFill(receipt(logs), of('decrease'))).to.deep.equal({
      tokenId: '7',
      liquidity: 50n,
      amount0Raw: 8n,
      amount1Raw: 9n,
      fees: { amount0Raw: 5n, amount1Raw: 5n },
    })
    expect(rangeFill(receipt(logs), of('collect'))).to.deep.equal({
      tokenId: '7',
      liquidity: 0n,
      amount0Raw: 8n,
      amount1Raw: 9n,
      fees: { amount0Raw: 8n, amount1Raw: 9n },
    })
  })

  it('stays undefined where the receipt shows no such action', () => {
    const logs = [give(nobody, owner, 7n), increase(7n, [1n, 1n, 1n]), decrease(7n, [1n, 1n, 1n]), pay([1n, 1n]), collect(7n, [1n, 1n])]
    for (const memo of [mint, of('increase'), of('decrease'), of('collect')]) {
      expect(rangeFill(receipt(logs), memo)).to.not.equal(undefined)
      expect(rangeFill(receipt(logs, 0), memo)).to.equal(undefined)
      expect(rangeFill(receipt([]), memo)).to.equal(undefined)
    }
    for (const is of ['increase', 'decrease', 'collect']) expect(rangeFill(receipt(logs), of(is, '8'))).to.equal(undefined)
    expect(rangeFill(receipt(logs.filter((_, index) => index !== 2)), of('decrease'))).to.equal(undefined)
    expect(rangeFill(receipt(logs.filter((_, index) => index !== 3)), of('collect'))).to.equal(undefined)
  })

  it('stays undefined for another kind of memo', () => {
    const logs = [increase(7n, [1n, 1n, 1n])]
    const memos: readonly Json[] = [
      null,
      'increase',
      [],
      {},
      { ...place, is: 'increase' },
      of('swap'),
      of('increase', '0x7'),
      { is: 'mint', tokenId: '7', ...place },
    ]
    for (const memo of memos) expect(rangeFill(receipt(logs), memo)).to.equal(undefined)
  })
})
