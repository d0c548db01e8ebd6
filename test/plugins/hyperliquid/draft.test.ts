import { ExchangeClient } from '@nktkas/hyperliquid'
import { expect } from 'chai'
import { getBytes, Signature, Wallet } from 'ethers'
import * as fc from 'fast-check'
import {
  networks,
  draft,
  seal,
  loadLibrary,
  type L1Action,
  type UserSignedAction,
  type Step,
} from '../../../plugins/hyperliquid/actions.ts'

type On = 'mainnet' | 'testnet'

/** The request that the official client sends with a nonce. */
async function official(wallet: Wallet, on: On, nonce: number, call: (client: ExchangeClient) => Promise<unknown>): Promise<unknown> {
  const sent: unknown[] = []
  const transport = {
    isTestnet: on === 'testnet',
    async request<T>(_: string, body: unknown): Promise<T> {
      sent.push(JSON.parse(JSON.stringify(body)))
      throw new Error('it is not to be sent')
    },
  }
  const signatureChainId = on === 'testnet' ? '0x3e6' : '0x3e7'
  await call(new ExchangeClient({ transport, wallet, nonceManager: () => nonce, signatureChainId })).catch(() => {})
  return sent[0]
}

async function ours(wallet: Wallet, on: On, nonce: number, action: L1Action | UserSignedAction, expiresAfter?: number) {
  const network = networks[on]
  if (!network) throw new Error(`no network ${on}`)
  const step: Step = {
    user: wallet.address.toLowerCase(),
    action,
    trace: { of: 'nothing' },
    ...(expiresAfter !== undefined && { expiresAfter }),
  }
  const signable = draft(step, { nonce }, network, await loadLibrary())
  const { domain, types, message } = JSON.parse(new TextDecoder().decode(signable.bytes))
  const signature = Signature.from(await wallet.signTypedData(domain, types, message))
  const { id, raw } = seal(signable, getBytes(signature.serialized))
  return { id, request: JSON.parse(new TextDecoder().decode(raw)) }
}

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((each) => `0x${Buffer.from(each).toString('hex')}` as const)
const decimal = fc.tuple(fc.integer({ min: 1, max: 10 ** 9 }), fc.integer({ min: 0, max: 8 })).map(([digits, scale]) => {
  const padded = digits.toString().padStart(scale + 1, '0')
  const fraction = padded.slice(padded.length - scale).replace(/0+$/, '')
  return `${padded.slice(0, padded.length - scale)}${fraction === '' ? '' : `.${fraction}`}`
})
const order = fc.record({
  a: fc.nat(20_000),
  b: fc.boolean(),
  p: decimal,
  s: decimal,
  r: fc.boolean(),
  t: fc.constantFrom('Gtc' as const, 'Ioc' as const, 'Alo' as const).map((tif) => ({ limit: { tif } })),
  c: hex(16),
})
const cloid = '0x0123456789abcdef0123456789abcdef'

describe("Hyperliquid's signed requests", () => {
  it('for orders equal those of the official client', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('mainnet' as const, 'testnet' as const),
        fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 }),
        fc.array(order, { minLength: 1, maxLength: 5 }),
        async (on, nonce, orders) => {
          const wallet = Wallet.createRandom()
          const key = new Wallet(wallet.privateKey)
          const expected = await official(key, on, nonce, (client) =>
            client.order({ orders, grouping: 'na' }, { expiresAfter: nonce + 60_000 }),
          )
          const { request } = await ours(key, on, nonce, { type: 'order', orders, grouping: 'na' }, nonce + 60_000)
          expect(request).to.deep.equal(expected)
        },
      ),
      { numRuns: 30 },
    )
  })

  const actions: readonly { action: L1Action | UserSignedAction; call: (client: ExchangeClient) => Promise<unknown> }[] = [
    {
      action: { type: 'cancel', cancels: [{ a: 3, o: 77_738_308_123 }] },
      call: (client) => client.cancel({ cancels: [{ a: 3, o: 77_738_308_123 }] }),
    },
    {
      action: { type: 'cancelByCloid', cancels: [{ asset: 10_107, cloid }] },
      call: (client) => client.cancelByCloid({ cancels: [{ asset: 10_107, cloid }] }),
    },
    {
      action: { type: 'updateLeverage', asset: 1, isCross: false, leverage: 7 },
      call: (client) => client.updateLeverage({ asset: 1, isCross: false, leverage: 7 }),
    },
    {
      action: { type: 'borrowLend', operation: 'supply', token: 0, amount: '12.5' },
      call: (client) => client.borrowLend({ operation: 'supply', token: 0, amount: '12.5' }),
    },
    { action: { type: 'noop' }, call: (client) => client.noop() },
    {
      action: { type: 'withdraw3', destination: '0x00000000000000000000000000000000000000ab', amount: '5' },
      call: (client) => client.withdraw3({ destination: '0x00000000000000000000000000000000000000ab', amount: '5' }),
    },
    {
      action: { type: 'usdClassTransfer', amount: '5.25', toPerp: true },
      call: (client) => client.usdClassTransfer({ amount: '5.25', toPerp: true }),
    },
  ]
  for (const { action, call } of actions) {
    for (const on of ['mainnet', 'testnet'] as const) {
      it(`for ${action.type} on ${on} equal those of the official client`, async () => {
        const wallet = new Wallet(`0x${'17'.repeat(32)}`)
        const nonce = 1_763_668_800_123
        const { request } = await ours(wallet, on, nonce, action)
        expect(request).to.deep.equal(await official(wallet, on, nonce, call))
      })
    }
  }

  it('have different ids where two wallets do the same in the same millisecond', async () => {
    const wallets = ['17', '18'].map((byte) => new Wallet(`0x${byte.repeat(32)}`))
    const [one, other] = await Promise.all(wallets.map((wallet) => ours(wallet, 'mainnet', 1_763_668_800_123, { type: 'noop' })))
    expect(one?.id).to.match(/^0x[0-9a-f]{64}$/)
    expect(one?.id).to.not.equal(other?.id)
  })
})
