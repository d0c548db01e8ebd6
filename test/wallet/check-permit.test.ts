import { expect } from 'chai'
import { TypedDataEncoder, Wallet, verifyTypedData, Signature } from 'ethers'
import { canonicalPermit2, permitTypedData } from '../../core/contracts/index.ts'
import { checkEvmRequest, checkPermit, checkTypedData } from '../../core/wallet/policy-evm.ts'
import { maxPermitSeconds } from '../../core/contracts/permit2.ts'
import { Refusal, type EvmRules } from '../../core/wallet/policy.ts'
import { isSignRequest, type PermitRequest } from '../../core/wallet/signer-messages.ts'
import { localRules, router, stranger, token } from './example-policy.ts'

const nowMs = 1_800_000_000_000
const permit: PermitRequest = {
  permit2: canonicalPermit2,
  token,
  spender: router,
  amountRaw: '100000000',
  expires: nowMs / 1000 + 300,
  nonce: 7,
  chainId: 31337,
}
const rules = (changes: Partial<EvmRules> = {}): EvmRules => ({ ...localRules(), permitSpenders: new Set([router]), ...changes })

describe('the policy for permits of Permit2', () => {
  it('signs the typed data of a PermitSingle, as ethers verifies it', async () => {
    const digest = checkPermit(permit, rules(), nowMs)
    const wallet = Wallet.createRandom()
    const signature = wallet.signingKey.sign(digest)
    const types = {
      PermitSingle: [
        { name: 'details', type: 'PermitDetails' },
        { name: 'spender', type: 'address' },
        { name: 'sigDeadline', type: 'uint256' },
      ],
      PermitDetails: [
        { name: 'token', type: 'address' },
        { name: 'amount', type: 'uint160' },
        { name: 'expiration', type: 'uint48' },
        { name: 'nonce', type: 'uint48' },
      ],
    }
    const domain = { name: 'Permit2', chainId: 31337, verifyingContract: canonicalPermit2 }
    const { amountRaw: amount, expires, nonce } = permit
    const message = { details: { token, amount, expiration: expires, nonce }, spender: router, sigDeadline: expires }
    expect(verifyTypedData(domain, types, message, Signature.from(signature))).to.equal(wallet.address)
  })

  it("signs what Uniswap's own library hashes", () => {
    // AllowanceTransfer.hash of @uniswap/permit2-sdk@1.4.0, for the same permit.
    expect(checkPermit(permit, rules(), nowMs)).to.equal('0x946f1be1eebc92a30b03098f7976a1f19df33ea6da394a231bddd610677d4586')
  })

  it('signs up to the longest time, and in any letter case', () => {
    for (const changes of [
      { expires: nowMs / 1000 + maxPermitSeconds },
      { expires: nowMs / 1000 },
      { permit2: canonicalPermit2.toLowerCase() },
    ])
      expect(checkPermit({ ...permit, ...changes }, rules(), nowMs)).to.match(/^0x[0-9a-f]{64}$/)
  })

  const refused: [string, Partial<PermitRequest>, RegExp][] = [
    ['for another contract than Permit2', { permit2: router }, /for the contract 0x1111/],
    ['for another chain', { chainId: 1 }, /for chain id 1/],
    ['for a spender that no setting names', { spender: stranger }, /no permit is signed for the spender 0x5555/],
    ['for Permit2 itself as the spender', { spender: canonicalPermit2 }, /no permit is signed for the spender/],
    ['for the largest amount', { amountRaw: (2n ** 160n - 1n).toString() }, /not for more/],
    ['for an amount that no token has', { amountRaw: (2n ** 128n).toString() }, /not for more/],
    ['for an amount that does not fit', { amountRaw: (2n ** 160n).toString() }, /not for more/],
    ['for nothing', { amountRaw: '0' }, /not for nothing/],
    ['that ends too late', { expires: nowMs / 1000 + maxPermitSeconds + 1 }, /ends 3601 s from now/],
    ['that never ends', { expires: 2 ** 48 - 1 }, /from now/],
    ['that has ended', { expires: nowMs / 1000 - 1 }, /ends -1 s from now/],
    ['for what is no token', { token: 'USDC' }, /does not match its own types/],
  ]
  for (const [what, changes, reason] of refused)
    it(`refuses one ${what}`, () => {
      expect(() => checkPermit({ ...permit, ...changes }, rules(), nowMs)).to.throw(Refusal, reason)
    })

  it('refuses all where no setting says that permits are signed, whatever else a spender may have', () => {
    const spenders = new Set([router])
    expect(() => checkPermit(permit, rules({ permitSpenders: new Set(), spenders }), nowMs)).to.throw(Refusal, /signedPermits: true/)
  })

  it('signs none with a key that everybody has, but on a devnet', () => {
    const address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
    const request = { chain: 'ethereum', network: 'mainnet', address, draft: { scheme: 'permit2' as const, permit } }
    expect(() => checkEvmRequest(request, rules({ local: false }))).to.throw(Refusal, /everybody has the key/)
  })

  it('signs none as typed data, which is what plugins draft, though the setting is on and a connector declares it', () => {
    const { domain, types, message } = permitTypedData({ ...permit, amountRaw: 100_000_000n }, permit.chainId)
    const text = (value: unknown) =>
      JSON.parse(JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? each.toString() : each)))
    const contracts = new Set([canonicalPermit2.toLowerCase()])
    for (const primaryType of [
      'PermitSingle',
      'PermitBatch',
      'PermitTransferFrom',
      'PermitBatchTransferFrom',
      'PermitWitnessTransferFrom',
    ]) {
      const typedData = [{ domain: 'Permit2', primaryType }]
      expect(() =>
        checkTypedData({ domain, types, primaryType, message: text(message) }, stranger, rules({ contracts, typedData })),
      ).to.throw(Refusal, /never signed/)
    }
    expect(TypedDataEncoder.from(types).primaryType).to.equal('PermitSingle')
  })

  it('takes no request with other fields', () => {
    const request = (changes: object) => ({
      chain: 'ethereum',
      network: 'local',
      address: stranger,
      draft: { scheme: 'permit2', permit: { ...permit, ...changes } },
    })
    expect(isSignRequest(request({}))).to.equal(true)
    for (const changes of [{ sigDeadline: 1 }, { nonce: -1 }, { nonce: 2 ** 48 }, { expires: 1.5 }, { amountRaw: '-1' }, { amountRaw: 1 }])
      expect(isSignRequest(request(changes)), JSON.stringify(changes)).to.equal(false)
  })
})
