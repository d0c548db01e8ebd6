import { expect } from 'chai'
import { id, Interface } from 'ethers'
import type { Json } from '../../../core/contracts/index.ts'
import { decodeLogs, jsonOfNode, paidFees, readReceipt } from '../../../kits/evm/receipts.ts'

const owner = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const pool = '0x0d4a11d5EEaaC28EC3F61d100daF4d40471f1852'
const transfer = new Interface(['event Transfer(address indexed from, address indexed to, uint256 value)'])

function raw(logs: readonly object[] = []): Record<string, unknown> {
  return {
    transactionHash: `0x${'11'.repeat(32)}`,
    blockHash: `0x${'22'.repeat(32)}`,
    blockNumber: '0x10',
    from: owner,
    to: null,
    status: '0x1',
    type: '0x2',
    gasUsed: '0x5208',
    cumulativeGasUsed: '0xffffffffffffff',
    effectiveGasPrice: '0x3b9aca00',
    logsBloom: '0x00',
    logs,
  }
}

function log(signature: string, values: readonly unknown[]): object {
  const codec = new Interface([signature])
  const fragment = codec.fragments[0]
  if (fragment?.type !== 'event') throw new Error('No event.')
  return {
    address: pool,
    logIndex: '0x3',
    ...codec.encodeEventLog(fragment.format('full').slice('event '.length).split('(')[0] ?? '', [...values]),
  }
}

describe('a receipt', () => {
  it('has small quantities as numbers and the others as decimal strings', () => {
    expect(readReceipt(raw())).to.deep.include({
      status: 1,
      type: 2,
      blockNumber: 16,
      gasUsed: '21000',
      effectiveGasPrice: '1000000000',
      cumulativeGasUsed: '72057594037927935',
      to: null,
    })
    expect(readReceipt(raw())).to.not.have.property('logsBloom')
  })

  it('counts as successful without a status, as from an old node, and as failed for status 0', () => {
    expect(readReceipt({ ...raw(), status: undefined })?.status).to.equal(1)
    expect(readReceipt({ ...raw(), status: '0x0' })?.status).to.equal(0)
  })

  it('says nothing of success by a status that is none', () => {
    for (const status of [0, '0', '', '0x', false, '0x2', {}])
      expect(readReceipt({ ...raw(), status }), JSON.stringify(status)).to.equal(undefined)
  })

  it('needs all its fields, each with the right type', () => {
    for (const key of ['transactionHash', 'blockHash', 'blockNumber', 'from', 'gasUsed', 'logs']) {
      expect(readReceipt({ ...raw(), [key]: 7 }), key).to.equal(undefined)
    }
    expect(readReceipt(raw([{ address: pool, topics: [1], data: '0x' }]))).to.equal(undefined)
    expect(readReceipt(null)).to.equal(undefined)
  })

  it('decodes the logs of tokens and of the given events, and leaves the others as they are', () => {
    const swap = 'event Swap(address indexed sender, uint256 amount0In, uint256[] steps)'
    const unknown = { address: pool, topics: [`0x${'99'.repeat(32)}`], data: '0x1234' }
    const receipt = readReceipt(
      raw([
        log('event Transfer(address indexed from, address indexed to, uint256 value)', [owner, pool, 5n]),
        log(swap, [owner, 7n, [1n, 2n]]),
        unknown,
      ]),
    )
    if (!receipt) throw new Error('No receipt.')
    const decoded = decodeLogs(receipt, [swap])
    expect(decoded).to.have.deep.nested.property('logs[0].events', [
      { name: 'from', value: owner },
      { name: 'to', value: pool },
      { name: 'value', value: '5' },
    ])
    expect(decoded).to.have.nested.property('logs[1].name', 'Swap')
    expect(decoded).to.have.deep.nested.property('logs[1].events[2]', { name: 'steps', value: ['1', '2'] })
    expect(decoded).to.have.deep.nested.property('logs[2]', unknown)
    expect(JSON.parse(JSON.stringify(decoded))).to.deep.equal(decoded)
  })

  it('distinguishes the transfer of an amount from that of an NFT, which have the same signature', () => {
    const ofNft = log('event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)', [owner, pool, 42n])
    // Data that could be taken for an amount.
    const receipt = readReceipt(raw([{ ...ofNft, data: `0x${'09'.padStart(64, '0')}` }]))
    if (!receipt) throw new Error('No receipt.')
    expect(decodeLogs(receipt, [])).to.have.deep.nested.property('logs[0].events[2]', { name: 'tokenId', value: '42' })
  })

  it('leaves a log as it is if its data does not fit its event', () => {
    const lie = {
      address: pool,
      topics: [transfer.getEvent('Transfer')?.topicHash, `0x${'01'.repeat(32)}`, `0x${'02'.repeat(32)}`],
      data: '0x12',
    }
    const receipt = readReceipt(raw([lie]))
    if (!receipt) throw new Error('No receipt.')
    expect(decodeLogs(receipt, [])).to.have.deep.nested.property('logs[0]', lie)
  })

  it('refuses events that a short log could make endless, and reads no more than 2,048 words of a receipt', () => {
    const receipt = readReceipt(raw()) ?? expect.fail()
    for (const event of ['uint256[][] x', 'string[] x', '(uint256 a, bytes b) x', '(uint8[] a)[2] x', Array(18).fill('uint256[]').join()])
      expect(() => decodeLogs(receipt, [`event Boom(${event})`]), event).to.throw(/a short log could take minutes/)
    expect(() => decodeLogs(receipt, ['event Fine(uint256[] a, (uint8 b, int256 c)[] d, string e, uint256[3][2] f)'])).to.not.throw()
    const words = (size: number) => `${size.toString(16).padStart(64, '0')}${'0'.repeat(64 * size)}`
    const long = { address: '0x1', topics: [id('Long(uint256[])')], data: `0x${words(32).slice(0, 64)}${words(900)}` }
    const decoded = decodeLogs({ ...receipt, logs: [long, long, long] }, ['event Long(uint256[] x)'])
    const names = (decoded as { logs: readonly { name?: string }[] }).logs.map(({ name }) => name)
    expect(names).to.deep.equal(['Long', 'Long', undefined])
  })

  it('decodes transfers and short logs after logs that are too long to read', () => {
    const receipt = readReceipt(raw([log('event Transfer(address indexed from, address indexed to, uint256 value)', [owner, pool, 5n])]))
    const [moved] = receipt?.logs ?? []
    if (!receipt || !moved) throw new Error('No receipt.')
    const logOf = (words: number) => ({ address: pool, topics: [id('Note(bytes)')], data: `0x${encodeNote(words)}` })
    const decoded = decodeLogs({ ...receipt, logs: [logOf(2_100), moved, logOf(2_000), logOf(100), moved, logOf(1)] }, [
      'event Note(bytes text)',
    ])
    const names = (decoded as { logs: readonly { name?: string }[] }).logs.map(({ name }) => name)
    expect(names).to.deep.equal([undefined, 'Transfer', 'Note', undefined, 'Transfer', 'Note'])
  })

  it('refuses an invalid event signature and shows a valid one', () => {
    const receipt = readReceipt(raw())
    if (!receipt) throw new Error('No receipt.')
    expect(() => decodeLogs(receipt, ['function transfer()'])).to.throw(/write it like "event Transfer/)
  })
})

describe('the fees of a receipt', () => {
  const gasRaw = 21_000n * 10n ** 9n
  const feesOf = (more: object, isRollup: boolean) => paidFees(readReceipt({ ...raw(), ...more }) ?? null, isRollup)

  it('are its gas where no layer is beneath', () => {
    expect(feesOf({}, false)).to.deep.equal({ feeRaw: gasRaw, gasUsed: 21_000n })
  })

  it('have the parts of layer 1 and of the operator', () => {
    expect(feesOf({ l1Fee: '0x64' }, true)).to.deep.equal({ feeRaw: gasRaw + 100n, gasUsed: 21_000n, layer1FeeRaw: 100n })
    const operator = { operatorFeeScalar: '0x2', operatorFeeConstant: '0x7', daFootprintGasScalar: '0x190' }
    expect(feesOf({ l1Fee: '0x0', ...operator }, true)?.feeRaw).to.equal(gasRaw + 21_000n * 200n + 7n)
  })

  it('stay unknown where the operator takes a part and the receipt is not known to be of Jovian', () => {
    const operator = { l1Fee: '0x0', operatorFeeScalar: '0x1e8480', operatorFeeConstant: '0x7' }
    for (const daFootprintGasScalar of [undefined, null, '0x0'])
      expect(feesOf({ ...operator, daFootprintGasScalar }, true), String(daFootprintGasScalar)).to.equal(undefined)
    expect(feesOf({ ...operator, operatorFeeScalar: '0x0' }, true)?.feeRaw).to.equal(gasRaw + 7n)
  })

  it('stay unknown where a rollup does not say its part, or any part is no number', () => {
    for (const l1Fee of [undefined, null, '', '0x', 'much']) expect(feesOf({ l1Fee }, true), String(l1Fee)).to.equal(undefined)
    expect(feesOf({ l1Fee: 'much' }, false)).to.equal(undefined)
    expect(feesOf({ l1Fee: '0x1', operatorFeeScalar: 'much' }, true)).to.equal(undefined)
    expect(feesOf({ effectiveGasPrice: undefined }, false)).to.equal(undefined)
    const odd: readonly Json[] = [null, 7, {}, { gasUsed: -1, effectiveGasPrice: '1' }]
    for (const receipt of odd) expect(paidFees(receipt, false)).to.equal(undefined)
  })
})

describe('a transaction as JSON', () => {
  it('has its nonce and type as numbers, its value as a decimal string, and its data untouched', () => {
    const tx = {
      nonce: '0x5',
      type: '0x2',
      value: '0xde0b6b3a7640000',
      input: '0x12',
      blockNumber: null,
      accessList: [{ address: pool, storageKeys: [] }],
    }
    expect(jsonOfNode(tx)).to.deep.equal({
      nonce: 5,
      type: 2,
      value: '1000000000000000000',
      input: '0x12',
      blockNumber: null,
      accessList: [{ address: pool, storageKeys: [] }],
    })
  })
})

/** The data of an event with one argument of so many words. */
function encodeNote(words: number): string {
  const word = (value: number) => value.toString(16).padStart(64, '0')
  return `${word(32)}${word(words * 32)}${'00'.repeat(words * 32)}`
}
