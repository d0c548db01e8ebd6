import { expect } from 'chai'
import type { Head } from '../../../core/contracts/index.ts'
import { evm } from '../../../kits/evm/family.ts'
import type { EvmReader } from '../../../kits/evm/types.ts'

const token = (symbol: string) => ({ symbol, address: `0x${symbol.charCodeAt(0).toString(16).padStart(40, '0')}`, decimals: 18 })
const head: Head = { number: 7n, timestamp: 70, hash: `0x${'ab'.repeat(32)}`, baseFeeRaw: 100n }
const at = { signal: new AbortController().signal }
const address = `0x${'11'.repeat(20)}`

/** A reader that knows no network: it notes what it is asked. */
function notingReader() {
  const asked: string[] = []
  const reader: EvmReader = {
    chainId: 31337,
    nativeCurrency: token('E'),
    wrapped: token('W'),
    intermediates: [token('W'), token('D')],
    read: async (calls, _, after) => {
      asked.push(`read ${calls.length}`)
      return { head: after ?? head, results: calls.map(() => ({ ok: true, data: '0x01' })) }
    },
    call: async () => ({ ok: false, data: asked.push('call') > 0 ? '0x' : '' }),
    logs: async () => [],
    gasPriceRaw: ({ baseFeeRaw = 50n }) => baseFeeRaw + 3n,
  }
  return { reader, asked }
}

describe('the reader of an EVM chain from another process', () => {
  it('reads what the reader of the server reads, and knows what that knows', async () => {
    const { reader, asked } = notingReader()
    const { remote } = evm
    if (!remote) throw new Error('no remote reading')
    const facts = remote.facts(reader, head)
    const far = remote.connect(
      () => facts,
      (request, when) => remote.answer(reader, request, when),
    )
    expect(far).to.deep.include({ chainId: 31337, wrapped: token('W'), intermediates: [token('W'), token('D')] })
    expect(await far.read([{ to: address, data: '0x' }], at)).to.deep.equal({ head, results: [{ ok: true, data: '0x01' }] })
    expect(await far.read([{ code: '0x60', args: '0x' }], at, head)).to.deep.equal({ head, results: [{ ok: true, data: '0x01' }] })
    expect(await far.call({ data: '0x00' }, at)).to.deep.equal({ ok: false, data: '0x' })
    expect(asked).to.deep.equal(['read 1', 'read 1', 'call'])
    for (const each of [head, { number: 8n, timestamp: 80 }]) expect(far.gasPriceRaw(each)).to.equal(reader.gasPriceRaw(each))
  })

  it('does not tell what the connector says of a block as the network’s', async () => {
    const { reader } = notingReader()
    const after = { ...head, baseFeeRaw: 1n }
    expect(await evm.remote?.answer(reader, { do: 'read', calls: [], after }, at)).to.deep.equal({ results: [] })
  })

  it('calls with bounded gas, whatever gas and value the connector names', async () => {
    const { reader } = notingReader()
    const calls: object[] = []
    const call: EvmReader['call'] = async (request) => {
      calls.push(request)
      return { ok: true, data: '0x' }
    }
    const caps: bigint[] = []
    const isolated: EvmReader['isolated'] = ({ gasUnits }) => {
      caps.push(gasUnits)
      return { reader: { ...reader, call }, changes: async () => [] }
    }
    const request = { do: 'call', call: { to: address, data: '0x', gas: '0xffffffff', value: '0x1' } }
    await evm.remote?.answer({ ...reader, isolated }, request, at)
    expect(caps).to.deep.equal([50_000_000n])
    expect(calls).to.deep.equal([{ to: address, data: '0x' }])
  })

  it('reads many calls in parts at one block, which count as more calls to a node, and not without end', async () => {
    const { reader, asked } = notingReader()
    const taken: number[] = []
    const own = evm.remote?.isolated?.(
      { ...reader, isolated: () => ({ reader, changes: async () => [] }) },
      (calls) => void taken.push(calls),
    )
    const calls = (count: number) => ({ do: 'read', calls: Array.from({ length: count }, () => ({ to: address, data: '0x' })) })
    const answered = await evm.remote?.answer(own?.reader ?? reader, calls(1_100), at)
    expect(answered).to.have.property('results').with.length(1_100)
    expect(asked).to.deep.equal(['read 500', 'read 500', 'read 100'])
    expect(taken).to.deep.equal([55])
    const refused = await evm.remote?.answer(own?.reader ?? reader, calls(19_000), at).catch((error: unknown) => error)
    expect(refused).to.have.property('name', 'UNSUPPORTED')
  })

  it('follows topics of 32 bytes, and no wallets', async () => {
    const { reader } = notingReader()
    const own = evm.remote?.isolated?.({ ...reader, isolated: () => ({ reader, changes: async () => [] }) }, () => {})
    const follow = (...topics: readonly string[]) =>
      own?.changes?.(head, head, { follow: topics }, at).catch((error: unknown) => Reflect.get(Object(error), 'name'))
    expect(await follow(`0x${'ab'.repeat(32)}`)).to.deep.equal([])
    for (const topic of ['0xab', `wallet:${address}`, '']) expect(await follow(topic), topic).to.equal('UNSUPPORTED')
    expect(await own?.changes?.(head, head, { follow: [], from: () => ['x'] }, at).catch((error: unknown) => error)).to.have.property(
      'name',
      'UNSUPPORTED',
    )
  })

  for (const [what, request] of Object.entries({
    'another method': { do: 'eth_sendRawTransaction', params: ['0x'] },
    'no request': undefined,
    'a call to no address': { do: 'read', calls: [{ to: 'x', data: '0x' }] },
    'a call with no data': { do: 'call', call: { to: address } },
    'a filter of all contracts': { do: 'logs', filter: { topics: [], fromBlock: 0 } },
    'a block that is none': { do: 'read', calls: [], after: { number: 'latest' } },
  }))
    it(`refuses ${what}, and asks the network nothing`, async () => {
      const { reader, asked } = notingReader()
      const refused = await evm.remote?.answer(reader, request, at).catch((error: unknown) => error)
      expect(refused).to.have.property('name', 'UNSUPPORTED')
      expect(asked).to.deep.equal([])
    })
})
