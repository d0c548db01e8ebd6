import { expect } from 'chai'
import {
  AbiCoder,
  concat,
  decodeRlp,
  encodeRlp,
  getBytes,
  id,
  Interface,
  MaxUint256,
  Signature,
  type RlpStructuredData,
  Wallet,
  type TransactionLike,
} from 'ethers'
import { checkTransaction } from '../../core/wallet/policy-evm.ts'
import { Refusal, type SignerPolicy } from '../../core/wallet/policy.ts'
import { tokenRights } from '../../core/wallet/token-rights.ts'
import {
  allowedSpender,
  bridge,
  bytesOf,
  dollar,
  examplePolicy,
  feeCapRaw,
  listed,
  localRules,
  otherBridge,
  router,
  rulesOn,
  stranger,
  token,
  transaction,
  trustedSha256,
  wrapper,
} from './example-policy.ts'

const from = '0x6666666666666666666666666666666666666666'
const rights = new Interface([
  'function approve(address,uint256)',
  'function increaseAllowance(address,uint256)',
  'function setApprovalForAll(address,bool)',
  'function transfer(address,uint256)',
  'function transferFrom(address,address,uint256)',
])
const several = new Interface(['function multicall(bytes[])', 'function multicall(uint256,bytes[])'])
const approve = (spender: string, amountRaw = MaxUint256): string => rights.encodeFunctionData('approve', [spender, amountRaw])

const forAll = (spender: string, isAllowed: boolean): string => rights.encodeFunctionData('setApprovalForAll', [spender, isAllowed])
const nobody = `0x${'0'.repeat(40)}`
const permit2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3'
const byPermit2 = (spender: string, amountRaw: bigint): string =>
  `0x87517c45${AbiCoder.defaultAbiCoder().encode(['address', 'address', 'uint160', 'uint48'], [token, spender, amountRaw, 0]).slice(2)}`

const transfer = (recipient: string): string => rights.encodeFunctionData('transfer', [recipient, 5_000_000n])
const transferFrom = (owner: string, recipient: string): string => rights.encodeFunctionData('transferFrom', [owner, recipient, 1n])

/** What a plugin of a third party planned: on a devnet a caller may approve anybody, and a plugin may not. */
const plugin = trustedSha256.slice(0, 16)
const check = (bytes: Uint8Array): string => checkTransaction({ bytes, from, rules: localRules(), plugin })

describe('the policy for EVM transactions that replace one', () => {
  const wallet = new Wallet(`0x${'a1'.repeat(32)}`)
  const call = { to: stranger, data: '0x12345678', value: 5n, nonce: 7, maxFeePerGas: 10n }
  const signedOne = async (changes: TransactionLike = {}, by = wallet) =>
    getBytes(await by.signTransaction(transaction({ ...call, ...changes })))
  const again = (changes: TransactionLike, replaces: Uint8Array, owner = wallet.address) =>
    checkTransaction({
      bytes: bytesOf(transaction({ ...call, maxFeePerGas: 20n, ...changes })),
      replaces,
      from: owner,
      rules: localRules(),
    })

  it('sign again at other fees what the same key signed before, also where no connector declares it any more', async () => {
    expect(again({}, await signedOne())).to.match(/^0x/)
    expect(
      again({ to: token, data: approve(stranger), value: 0n }, await signedOne({ to: token, data: approve(stranger), value: 0n })),
    ).to.match(/^0x/)
  })

  it('refuse anything else than that transaction, and fees above the cap', async () => {
    const changes: TransactionLike[] = [
      { to: token },
      { data: '0x12345679' },
      { value: 6n },
      { nonce: 8 },
      { gasLimit: 200_001n },
      { accessList: [{ address: token, storageKeys: [] }] },
    ]
    const first = await signedOne()
    for (const change of changes) expect(() => again(change, first), Object.keys(change).join()).to.throw(Refusal, 'no connector declares')
    expect(() => again({ maxFeePerGas: feeCapRaw + 1n }, first)).to.throw(Refusal, 'fee cap')
    expect(() => again({ chainId: 1 }, first)).to.throw(Refusal, 'chain id')
  })

  it('refuse what another key signed, what nobody signed, and the creation of a contract', async () => {
    const other = new Wallet(`0x${'b2'.repeat(32)}`)
    expect(() => again({}, getBytes('0x1234'))).to.throw(Refusal, 'no connector declares')
    expect(() => again({}, bytesOf(transaction(call)))).to.throw(Refusal, 'no connector declares')
    const strange = await signedOne({}, other)
    expect(() => again({}, strange)).to.throw(Refusal, 'no connector declares')
    const created = await signedOne({ to: null })
    expect(() => again({ to: null }, created)).to.throw(Refusal, 'creating a contract')
  })
})

describe('the policy for EVM transactions', () => {
  const signed: [string, TransactionLike][] = [
    ['a call of a declared contract, with value', {}],
    ['a legacy transaction', { type: 0, maxFeePerGas: undefined, maxPriorityFeePerGas: undefined, gasPrice: feeCapRaw }],
    ['an allowance of any token for a connector', { to: token, value: 0n, data: approve(router) }],
    ['an allowance of a declared token for a connector', { to: wrapper, value: 0n, data: approve(router) }],
    ['an allowance for an allowed spender', { to: token, value: 0n, data: approve(allowedSpender) }],
    ['an allowance of 0 for a stranger, on a token of the lists', { to: listed, value: 0n, data: approve(stranger, 0n) }],
    [
      'calls of a declared contract to itself that give nobody anything',
      { to: wrapper, value: 0n, data: several.encodeFunctionData('multicall(bytes[])', [['0x12345678', approve(router, 5n)]]) },
    ],
    ['the end of a right over all tokens of a declared contract', { to: wrapper, value: 0n, data: forAll(stranger, false) }],
    ['the end of a right over one token of a declared contract', { to: wrapper, value: 0n, data: approve(nobody, 7n) }],
    ['the end of a right by Permit2, whoever has it', { to: permit2, value: 0n, data: byPermit2(stranger, 0n) }],
    ['an empty transfer to oneself', { to: from, value: 0n, data: '0x' }],
    ['an empty transfer to oneself that relays take for no withdrawal', { to: from, value: 0n, data: '0x00000000' }],
    ['value to a declared contract without data', { to: wrapper, value: 5n, data: '0x' }],
    ['a deposit over a declared bridge', { to: dollar, value: 0n, data: transfer(bridge) }],
    ['a deposit of a token that is also declared', { to: wrapper, value: 0n, data: transfer(otherBridge) }],
  ]
  for (const [what, changes] of signed) {
    it(`signs ${what}`, () => {
      const tx = transaction(changes)
      expect(check(bytesOf(tx))).to.equal(tx.unsignedHash)
    })
  }

  const refused: [string, TransactionLike, RegExp][] = [
    ...[
      { to: token, value: 0n, data: approve(router) },
      { to: listed, value: 0n, data: approve(stranger, 0n) },
      { to: dollar, value: 0n, data: transfer(bridge) },
      { to: from, value: 0n, data: '0x' },
    ].map((each, index): [string, TransactionLike, RegExp] => [
      `gas without bound for code that no connector declares (${index})`,
      { ...each, gasLimit: 5_000_001n },
      /may use 5000000 gas at most, and this transaction allows 5000001/,
    ]),
    [
      'the end of a right where no connector declares the contract',
      { to: token, value: 0n, data: forAll(stranger, false) },
      /only approve is/,
    ],
    ['the end of a right over one token of such a contract', { to: token, value: 0n, data: approve(nobody, 7n) }, /not a spender/],
    ['a right over all tokens for a stranger', { to: wrapper, value: 0n, data: forAll(stranger, true) }, /not a spender/],
    ['the end of a right with value', { to: wrapper, value: 1n, data: forAll(stranger, false) }, /not a spender/],
    ['a right by Permit2 for a stranger', { to: permit2, value: 0n, data: byPermit2(stranger, 1n) }, /only approve is/],
    ['another chain id', { chainId: 1 }, /for chain id 1, and the chain id of ethereum\/local is 31337/],
    [
      'a legacy transaction without a chain id',
      { type: 0, chainId: 0, maxFeePerGas: undefined, maxPriorityFeePerGas: undefined, gasPrice: 1n },
      /for chain id 0/,
    ],
    ['a fee above the cap', { maxFeePerGas: feeCapRaw + 1n }, /the fee cap of ethereum\/local is 100000000000 wei/],
    [
      'a gas price above the cap',
      { type: 0, maxFeePerGas: undefined, maxPriorityFeePerGas: undefined, gasPrice: feeCapRaw + 1n },
      /fee cap/,
    ],
    ['a contract that no connector declares', { to: stranger }, /no connector declares the contract/],
    ['value to an undeclared address', { to: stranger, data: '0x', value: 1n }, /no connector declares the contract/],
    [
      'an allowance for a stranger among calls of a declared contract to itself',
      { to: wrapper, value: 0n, data: several.encodeFunctionData('multicall(bytes[])', [['0x12345678', approve(stranger)]]) },
      /approve\(address,uint256\) goes to 0x5555/,
    ],
    [
      'a transfer of somebody in such calls within such calls',
      {
        to: wrapper,
        value: 0n,
        data: several.encodeFunctionData('multicall(uint256,bytes[])', [
          1n,
          [several.encodeFunctionData('multicall(bytes[])', [[transferFrom(from, stranger)]])],
        ]),
      },
      /transferFrom\(address,address,uint256\) goes to 0x5555/,
    ],
    ['such calls that cannot be read', { to: wrapper, value: 0n, data: '0xac9650d8ff' }, /the calls inside of 0xac9650d8 cannot be read/],
    ['the creation of a contract', { to: null }, /creating a contract/],
    ['an access list transaction', { type: 1, maxFeePerGas: undefined, maxPriorityFeePerGas: undefined, gasPrice: 1n }, /type 1/],
    ['an allowance for a stranger', { to: token, value: 0n, data: approve(stranger) }, /goes to 0x5555.*allowedSpenders/],
    ['an allowance for a stranger on a declared token', { to: wrapper, value: 0n, data: approve(stranger) }, /goes to 0x5555/],
    // An ERC-721 contract reads it as a right to its token 0.
    [
      'an allowance of 0 for a stranger, on what is in no list',
      { to: token, value: 0n, data: approve(stranger, 0n) },
      /goes to 0x5555.*or the token to conf\/tokens/,
    ],
    ['an allowance of 0 for a stranger, on a declared contract', { to: wrapper, value: 0n, data: approve(stranger, 0n) }, /goes to 0x5555/],
    ['an allowance of 0 for a stranger, with value', { to: listed, value: 1n, data: approve(stranger, 0n) }, /goes to 0x5555/],
    [
      'an allowance of 0 for a stranger, with additional bytes',
      { to: listed, value: 0n, data: `${approve(stranger, 0n)}00` },
      /wrong length/,
    ],
    ['an allowance of 0 that ends early', { to: listed, value: 0n, data: approve(stranger, 0n).slice(0, -2) }, /wrong length/],
    [
      'an allowance of 0 for what is no address',
      { to: listed, value: 0n, data: approve(stranger, 0n).replace('0x095ea7b300', '0x095ea7b301') },
      /argument 1 is not an address/,
    ],
    ['an allowance of 1 for a stranger, on a token of the lists', { to: listed, value: 0n, data: approve(stranger, 1n) }, /goes to 0x5555/],
    [
      'another right of 0 for a stranger, on a token of the lists',
      { to: listed, value: 0n, data: rights.encodeFunctionData('setApprovalForAll', [stranger, false]) },
      /setApprovalForAll.* is not signed/,
    ],
    ['an allowance with value', { to: token, value: 1n, data: approve(router) }, /must have no value/],
    ['an allowance with missing bytes', { to: token, value: 0n, data: approve(router).slice(0, -2) }, /wrong length/],
    ['an allowance with additional bytes', { to: token, value: 0n, data: `${approve(router)}00` }, /wrong length/],
    [
      'an allowance with non-zero bytes before the address',
      { to: token, value: 0n, data: approve(router).replace('0x095ea7b300', '0x095ea7b301') },
      /not an address/,
    ],
    ['a transfer of a token', { to: token, value: 0n, data: rights.encodeFunctionData('transfer', [router, 1n]) }, /only approve is/],
    [
      'a transfer of a declared token to a stranger',
      { to: wrapper, value: 0n, data: rights.encodeFunctionData('transfer', [stranger, 1n]) },
      /goes to 0x5555/,
    ],
    [
      'transferFrom of a declared token',
      { to: wrapper, value: 0n, data: rights.encodeFunctionData('transferFrom', [from, stranger, 1n]) },
      /goes to 0x5555/,
    ],
    [
      'increaseAllowance of a declared token',
      { to: wrapper, value: 0n, data: rights.encodeFunctionData('increaseAllowance', [stranger, 1n]) },
      /goes to 0x5555/,
    ],
    [
      'setApprovalForAll on a declared contract',
      { to: wrapper, value: 0n, data: rights.encodeFunctionData('setApprovalForAll', [stranger, true]) },
      /goes to 0x5555/,
    ],
    ['a deposit to anybody else', { to: dollar, value: 0n, data: transfer(stranger) }, /only approve is/],
    ['a deposit to the wallet itself', { to: dollar, value: 0n, data: transfer(from) }, /only approve is/],
    ['a deposit by the bridge of another token', { to: dollar, value: 0n, data: transfer(otherBridge) }, /only approve is/],
    ['a deposit of another token', { to: token, value: 0n, data: transfer(bridge) }, /only approve is/],
    ['a deposit of a declared token by the bridge of another', { to: wrapper, value: 0n, data: transfer(bridge) }, /goes to 0x8888/],
    ['a deposit with value', { to: dollar, value: 1n, data: transfer(bridge) }, /only approve is/],
    ['a deposit with missing bytes', { to: dollar, value: 0n, data: transfer(bridge).slice(0, -2) }, /only approve is/],
    ['a deposit with additional bytes', { to: dollar, value: 0n, data: `${transfer(bridge)}00` }, /only approve is/],
    [
      'a deposit with non-zero bytes before the address',
      { to: dollar, value: 0n, data: transfer(bridge).replace('0xa9059cbb00', '0xa9059cbb01') },
      /only approve is/,
    ],
    ['a deposit out of another wallet', { to: dollar, value: 0n, data: transferFrom(stranger, bridge) }, /only approve is/],
    ['a deposit by transferFrom', { to: dollar, value: 0n, data: transferFrom(from, bridge) }, /only approve is/],
    ['an allowance for a bridge', { to: dollar, value: 0n, data: approve(bridge) }, /goes to 0x8888/],
    ['any other call of a token that is deposited', { to: dollar, value: 0n }, /no connector declares the contract/],
    ['a call of the bridge itself', { to: bridge, value: 0n, data: transfer(bridge) }, /only approve is/],
    ['value to the bridge', { to: bridge, value: 1n, data: '0x' }, /no connector declares the contract/],
    ['value to oneself', { to: from, value: 1n, data: '0x' }, /to oneself/],
    ['data to oneself', { to: from, value: 0n, data: '0x12345678' }, /to oneself/],
    ['value and zero bytes to oneself', { to: from, value: 1n, data: '0x00000000' }, /to oneself/],
    ['more zero bytes to oneself', { to: from, value: 0n, data: '0x0000000000' }, /to oneself/],
  ]
  for (const [what, changes, reason] of refused) {
    it(`refuses ${what}`, () => {
      expect(() => check(bytesOf(transaction(changes)))).to.throw(Refusal, reason)
    })
  }

  for (const [selector, { call, holderArgument }] of tokenRights) {
    it(`refuses ${call} of a declared contract to a stranger, and signs it to a registered spender`, () => {
      const to = (holder: string) =>
        bytesOf(
          transaction({
            to: wrapper,
            value: 0n,
            data: `${selector}${'0'.repeat(64).repeat(holderArgument)}${holder.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`,
          }),
        )
      expect(id(call).slice(0, 10)).to.equal(selector)
      expect(() => check(to(stranger))).to.throw(Refusal, /goes to 0x5555/)
      expect(() => check(to(router))).not.to.throw()
    })
  }

  for (const call of [
    'transferShares(address,uint256)',
    'increaseApproval(address,uint256)',
    'push(address,uint256)',
    'approve(address)',
    'setOperator(address,bool)',
    'transfer(address,uint256,uint256)',
    'approveDelegation(address,uint256)',
    'allow(address,bool)',
    'withdrawTo(address,uint256)',
  ]) {
    it(`refuses ${call} of a declared token to a stranger`, () => {
      const data = concat([
        id(call).slice(0, 10),
        `0x${stranger.slice(2).padStart(64, '0')}`,
        `0x${'1'.padStart(64, '0')}`,
        '0x'.padEnd(66, '0'),
      ])
      expect(() => check(bytesOf(transaction({ to: wrapper, value: 0n, data })))).to.throw(Refusal, /goes to 0x5555/)
    })
  }

  describe('for a caller, on a devnet', () => {
    const approval = (changes: TransactionLike = {}) => bytesOf(transaction({ to: token, value: 0n, data: approve(stranger), ...changes }))
    const checkAsked = (bytes: Uint8Array, rules = localRules()) => checkTransaction({ bytes, from, rules })

    it('signs an allowance for anybody, where a public network has it refused with the line to write', () => {
      for (const amount of [0n, 1n, MaxUint256]) expect(() => checkAsked(approval({ data: approve(stranger, amount) }))).not.to.throw()
      expect(() => checkAsked(approval({ chainId: 1 }), rulesOn('ethereum/mainnet'))).to.throw(
        Refusal,
        `adds "${stranger}" to the list allowedSpenders below wallet: in conf/server.yml and restarts the server`,
      )
    })

    it('signs no other right, and nothing beside the allowance', () => {
      for (const [changes, says] of [
        [{ value: 1n }, /goes to 0x5555/],
        [{ data: `${approve(stranger)}00` }, /wrong length/],
        [{ data: rights.encodeFunctionData('increaseAllowance', [stranger, 1n]) }, /only approve is/],
        [{ to: wrapper, data: several.encodeFunctionData('multicall(bytes[])', [[approve(stranger)]]) }, /goes to 0x5555/],
      ] as const)
        expect(() => checkAsked(approval(changes))).to.throw(Refusal, says)
    })

    it('refuses it where a public network has the chain id', () => {
      const [local, mainnet] = examplePolicy.networks
      const networks = [{ ...local, chainId: 1 }, mainnet] as SignerPolicy['networks']
      expect(() => checkAsked(approval({ chainId: 1 }), localRules({ ...examplePolicy, networks }))).to.throw(Refusal, /goes to 0x5555/)
    })
  })

  describe('for the spender of a contained plugin', () => {
    const [local] = examplePolicy.networks
    if (local?.keys !== 'secp256k1') throw new Error('It is the devnet.')
    const contained = { ...local, spenders: [router, stranger], exactSpenders: [stranger] }
    const checkWith = (policy: Partial<typeof contained>, data: string, more: Partial<SignerPolicy> = {}) =>
      checkTransaction({
        bytes: bytesOf(transaction({ to: wrapper, value: 0n, data })),
        from,
        rules: localRules({ ...examplePolicy, networks: [{ ...contained, ...policy }], ...more }),
      })
    const approval = (spender: string, amount: bigint) => rights.encodeFunctionData('approve(address,uint256)', [spender, amount])
    const unlimited = [2n ** 256n - 1n, 2n ** 255n, 2n ** 160n - 1n, 2n ** 128n, 2n ** 96n - 1n]

    it('signs an allowance of an exact amount, and its revocation', () => {
      for (const amount of [0n, 1n, 10n ** 33n]) expect(() => checkWith({}, approval(stranger, amount))).not.to.throw()
    })

    it('refuses an unlimited allowance, and every right without an amount', () => {
      for (const amount of unlimited) expect(() => checkWith({}, approval(stranger, amount))).to.throw(Refusal, /unlimited.*exact amount/)
      for (const data of [
        rights.encodeFunctionData('setApprovalForAll', [stranger, true]),
        rights.encodeFunctionData('increaseAllowance', [stranger, 1n]),
      ])
        expect(() => checkWith({}, data)).to.throw(Refusal, /contained plugin/)
    })

    it('signs an unlimited allowance for all other spenders, and where the settings list the spender', () => {
      for (const amount of unlimited) {
        expect(() => checkWith({}, approval(router, amount))).not.to.throw()
        expect(() => checkWith({}, approval(stranger, amount), { allowedSpenders: [stranger] })).not.to.throw()
      }
    })
  })

  it('refuses a deposit on a network where no bridge is declared', () => {
    const bytes = bytesOf(transaction({ chainId: 1, to: dollar, value: 0n, data: transfer(bridge) }))
    const rules = rulesOn('ethereum/mainnet')
    expect(() => checkTransaction({ bytes, from, rules })).to.throw(Refusal, /only approve is/)
  })

  it('signs a deposit over a bridge for the plugin alone whose bridge it is', () => {
    const [local, ...others] = examplePolicy.networks
    if (local?.keys !== 'secp256k1') throw new Error('the policy has no devnet')
    const ofRelease = localRules({
      ...examplePolicy,
      networks: [{ ...local, deposits: [{ token: dollar, recipient: bridge }] }, ...others],
    })
    const signs = (rules = localRules(), by?: string) => {
      const bytes = bytesOf(transaction({ to: dollar, value: 0n, data: transfer(bridge) }))
      return checkTransaction({ bytes, from, rules, ...(by !== undefined && { plugin: by }) })
    }
    expect(() => signs(localRules(), plugin)).not.to.throw()
    expect(() => signs(ofRelease)).not.to.throw()
    for (const [rules, by] of [
      [localRules(), undefined],
      [localRules(), 'cd'.repeat(8)],
      [ofRelease, plugin],
    ] as const)
      expect(() => signs(rules, by), `${by}`).to.throw(Refusal, /only approve is/)
  })

  it('refuses the delegation of the account (EIP-7702)', () => {
    const signature = Signature.from({ r: `0x${'11'.repeat(32)}`, s: `0x${'22'.repeat(32)}`, yParity: 0 })
    const tx = transaction({ type: 4, authorizationList: [{ address: router, nonce: 0n, chainId: 31337n, signature }] })
    expect(() => check(bytesOf(tx))).to.throw(Refusal, /type 4/)
  })

  it('refuses long lists of addresses and storage keys, and signs short ones and long data', () => {
    const listing = (count: number) => ({ address: router, storageKeys: Array.from({ length: count }, () => `0x${'11'.repeat(32)}`) })
    expect(() => check(bytesOf(transaction({ accessList: [listing(300)] })))).not.to.throw()
    expect(() => check(bytesOf(transaction({ accessList: [listing(600)] })))).to.throw(Refusal, /lists more than 500 addresses/)
    expect(() => check(bytesOf(transaction({ data: `0x${'12'.repeat(100_000)}` })))).not.to.throw()
  })

  it('refuses a priority fee above the maximum fee', () => {
    expect(() => check(rewritten((fields) => fields.with(2, '0xff').with(3, '0x05')))).to.throw(Refusal, /the priority fee \(255 wei\)/)
  })

  it('refuses a signed transaction', () => {
    const tx = transaction()
    tx.signature = Signature.from({ r: `0x${'11'.repeat(32)}`, s: `0x${'22'.repeat(32)}`, yParity: 0 })
    expect(() => check(Buffer.from(tx.serialized.slice(2), 'hex'))).to.throw(Refusal, /already has a signature/)
  })

  it('refuses bytes that are not a transaction', () => {
    expect(() => check(new Uint8Array())).to.throw(Refusal, /not a transaction/)
    expect(() => check(getBytes(AbiCoder.defaultAbiCoder().encode(['uint256'], [1])))).to.throw(Refusal, /not a transaction/)
    expect(() => check(getBytes(concat([bytesOf(transaction()), '0x00'])))).to.throw(Refusal, /not a transaction/)
  })

  it('refuses a second encoding of the same transaction', () => {
    expect(() => check(rewritten((fields) => fields.with(1, '0x0001')))).to.throw(Refusal, /canonical/)
  })
})

/** The example with its RLP fields changed, past what ethers would write. */
function rewritten(change: (fields: RlpStructuredData[]) => RlpStructuredData[]): Uint8Array {
  const fields = decodeRlp(bytesOf(transaction()).subarray(1))
  if (typeof fields === 'string') throw new Error('a transaction is a list')
  return getBytes(concat(['0x02', encodeRlp(change(fields))]))
}

describe('the policy for a wallet that wraps and sends', () => {
  const coin = '0x4200000000000000000000000000000000000006'
  const cold = '0xC01d570000000000000000000000000000000001'.toLowerCase()
  const [network, ...others] = examplePolicy.networks
  const policy = { ...examplePolicy, networks: [{ ...network, wrapped: coin }, ...others], recipients: { [from]: [cold] } } as SignerPolicy
  const checkIn = (changes: TransactionLike, by = from) =>
    checkTransaction({ bytes: bytesOf(transaction({ value: 0n, data: '0x', ...changes })), from: by, rules: localRules(policy), plugin })
  const withdraw = `0x2e1a7d4d${'0'.repeat(63)}5`
  const send = (recipient: string) => transfer(recipient)

  for (const [what, changes] of [
    ['a deposit of the coin', { to: coin, data: '0xd0e30db0', value: 5n }],
    ['its withdrawal', { to: coin, data: withdraw }],
    ['the coin to a listed address', { to: cold, value: 10n ** 18n }],
    ['nothing to a listed address', { to: cold }],
    ['a token to a listed address', { to: token, data: send(cold) }],
    ['the wrapped coin to a listed address', { to: coin, data: send(cold) }],
  ] as const)
    it(`signs ${what}`, () => {
      expect(checkIn(changes)).to.match(/^0x/)
    })

  for (const [what, changes, says] of [
    ['the coin to anybody else', { to: stranger, value: 1n }, /may not send to it.*sendTo/],
    ['a token to anybody else', { to: token, data: send(stranger) }, /only approve is/],
    ['a token with coins beside it', { to: token, data: send(cold), value: 1n }, /only approve is/],
    ['a token with data behind it', { to: token, data: `${send(cold)}00` }, /only approve is/],
    ['a transfer from somebody', { to: token, data: transferFrom(from, cold) }, /only approve is/],
    ['coins with data to a listed address', { to: cold, data: '0x12345678', value: 1n }, /no connector declares/],
    ['an allowance for a listed address', { to: token, data: approve(cold) }, /not a spender/],
    ['a withdrawal with coins beside it', { to: coin, data: withdraw, value: 1n }, /no connector declares/],
    ['a withdrawal to somebody', { to: coin, data: `0x205c2878${'0'.repeat(24)}${cold.slice(2)}${'0'.repeat(64)}` }, /not signed/],
    ['the fallback of the wrapped coin', { to: coin, value: 1n }, /may not send to it/],
    ['a wrapped coin of another chain', { to: wrapper, data: '0xd0e30db0', value: 1n, chainId: 1 }, /chain id/],
  ] as const)
    it(`refuses ${what}`, () => {
      expect(() => checkIn(changes)).to.throw(Refusal, says)
    })

  it('refuses what is on the list of another wallet', () => {
    expect(() => checkIn({ to: cold, value: 1n }, stranger)).to.throw(Refusal, /sendTo/)
    expect(() => checkIn({ to: token, data: send(cold) }, stranger)).to.throw(Refusal)
  })
})
