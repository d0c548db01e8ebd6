import { address } from '@solana/kit'
import { getCreateAssociatedTokenIdempotentInstruction } from '@solana-program/token'
import { expect } from 'chai'
import fc from 'fast-check'
import { fromKit } from '../../../kits/solana/types.ts'
import { draft } from '../../../kits/solana/message.ts'
import { priceFees } from '../../../kits/solana/fees.ts'
import { checkMessage } from '../../../core/wallet/policy-solana.ts'
import { feeCapLamports, mint, owner, solanaRules, trade, wallet } from './example-message.ts'

const somewhere = address('GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ')
const hash = '3FyNBMhTW3dFc4XScESUikqoJJaGiJXKJteXvM3DPNNa'
const instructions = [getCreateAssociatedTokenIdempotentInstruction({ payer: owner, owner: wallet, ata: somewhere, mint }), trade].map(
  fromKit,
)
const step = { payer: wallet, instructions, value: '0', rent: '0' }
const policy = { percentile: 50, minPrice: 0 }

describe('messages that the rail of Solana drafts', () => {
  it('pass the policy at any fee and for any lifetime', () => {
    const recent = fc.array(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { maxLength: 5 })
    const number = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_398_000 }), recent, number, fc.boolean(), (units, paid, slotNumber, durable) => {
        const fees = priceFees(units, paid, { policy, feeCapRaw: feeCapLamports })
        const slot = durable
          ? { number: slotNumber, since: 0, nonceAccount: somewhere, nonce: hash }
          : { number: slotNumber, blockhash: hash, lastValidBlockHeight: 1, since: 0 }
        const { scheme, bytes } = draft({ step, fees }, slot)
        expect(scheme).to.equal('solana-message')
        checkMessage(bytes, wallet, solanaRules())
      }),
      { numRuns: 200 },
    )
  })
})
