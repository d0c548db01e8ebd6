import { expect } from 'chai'
import { SluiceError, type Head, type Quote, type Swap, type Token } from '../../../core/contracts/index.ts'
import { feeOnTransferCheck } from '../../../kits/amm/fee-on-transfer.ts'
import type { PoolProtocol, Router } from '../../../kits/amm/index.ts'
import { followedPricing, routerChecks } from '../../../kits/amm/pool-amm.ts'
import { v2Protocol } from '../../../kits/amm/v2/pools.ts'
import type { EvmReader } from '../../../kits/evm/index.ts'

const tokenOf = (end: string): Token => ({ symbol: end, address: `0x${end.padStart(40, '0')}`, decimals: 18 })
const [a, b, wrapped] = [tokenOf('1'), tokenOf('2'), tokenOf('3')]
const swap: Swap = { tokenIn: a, tokenOut: b, exact: 'in', amountRaw: 10n ** 18n }
const head: Head = { number: 1n, timestamp: 1 }
const at = { signal: new AbortController().signal }
const origin = { factory: tokenOf('7').address, initCodeHash: `0x${'00'.repeat(32)}` }

/** Contracts that tell by one word whether they are right. */
const routerOf = (name: string, version: string): Router => ({
  address: tokenOf(name).address,
  name,
  carries: (versions) => versions.every((each) => each === version),
  plan: () => {
    throw new Error('Nothing is traded here.')
  },
  fill: () => undefined,
  check: {
    calls: [{ to: tokenOf(name).address, data: '0x' }],
    verify([answer]) {
      if (answer?.data !== '0x01') throw new SluiceError('SERVICE_UNINITIALIZED', `${name} is another's.`)
    },
  },
})

/** An exchange of two versions, each with a pool and a router, of which some are right. */
function pricingOf(right: readonly string[], trusted: readonly Token[]) {
  const routers = [routerOf('8', 'v2'), routerOf('9', 'v3')]
  const read: string[] = []
  const reader: EvmReader = {
    chainId: 1,
    nativeCurrency: wrapped,
    wrapped,
    intermediates: [],
    async read(calls) {
      const results = calls.map((call) => {
        const to = 'to' in call ? call.to : ''
        read.push(to)
        return { ok: true, data: right.some((name) => tokenOf(name).address === to) ? '0x01' : '0x00' }
      })
      return { head, results }
    },
    call: () => Promise.reject(new Error('Nothing is tried.')),
    logs: () => Promise.reject(new Error('There are no logs.')),
    gasPriceRaw: () => 0n,
  }
  const protocols = ['v2', 'v3'].map((version): PoolProtocol => v2Protocol(version, [3n, 1000n], origin))
  const pricing = followedPricing({
    exchange: { protocols, routers },
    reader,
    checks: routerChecks(),
    requireExactTransfers: feeOnTransferCheck(reader),
    trusted: new Set(trusted.map(({ address }) => address)),
  })
  if (!pricing?.bound) throw new Error('It has a bound.')
  // The pool of v2 holds more.
  const states = protocols.map((protocol, index) => {
    const heldRaw = 10n ** 22n / BigInt(1 + index)
    const state = { reserve0Raw: heldRaw, reserve1Raw: heldRaw }
    return { protocol, pool: { address: tokenOf(String(4 + index)).address, tokens: [a.address, b.address], state } }
  })
  const { bound, quote, vet } = pricing
  return {
    read,
    bound: (version?: string) => bound(swap, version === undefined ? {} : { version }, states, head),
    async vet(version?: string): Promise<Quote> {
      const given = quote(swap, version === undefined ? {} : { version }, states, head, 0)
      if ('missing' in given) throw new Error('Nothing is missing.')
      await vet(given, states, at)
      return given
    },
  }
}

describe('the bound of an exchange', () => {
  it('is absent until each contract was checked that a quote may name, and the first quote checks all', async () => {
    const { bound, vet, read } = pricingOf(['8', '9'], [a, b])
    expect([bound(), bound('v2'), bound('v3')]).to.deep.equal([undefined, undefined, undefined])
    expect((await vet()).spender).to.equal(tokenOf('8').address)
    expect(read).to.have.members([tokenOf('8').address, tokenOf('9').address])
    for (const version of [undefined, 'v2', 'v3']) expect(bound(version), version).to.have.property('amountRaw')
    await vet('v3')
    expect(read).to.have.length(2)
  })

  it('is absent where a quote may name a contract that is wrong, and no other quote fails by that', async () => {
    const { bound, vet } = pricingOf(['8'], [a, b])
    expect((await vet()).spender).to.equal(tokenOf('8').address)
    expect([bound(), bound('v3')]).to.deep.equal([undefined, undefined])
    expect(bound('v2')).to.have.property('amountRaw')
    const failed = await vet('v3').catch((error: unknown) => error)
    expect(failed).to.be.an.instanceOf(SluiceError).with.property('name', 'SERVICE_UNINITIALIZED')
  })

  it('is absent where nobody knows yet whether transfers of a token are exact', async () => {
    const { bound, vet } = pricingOf(['8', '9'], [a])
    await vet('v2').catch(() => {})
    expect(bound()).to.equal(undefined)
  })
})
