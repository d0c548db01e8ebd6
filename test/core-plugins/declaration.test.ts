import { expect } from 'chai'
import { readExamination, recordOf, type KnownOfRecord } from '../../core/plugins/consent/declaration.ts'
import { PluginFault } from '../../core/plugins/refusal.ts'

const sha256 = 'a'.repeat(64)
const contained: KnownOfRecord = { sha256, tier: 'contained', hosts: ['api.example.org'] }
const trusted: KnownOfRecord = { ...contained, tier: 'trusted' }
const [router, stranger] = ['0x24aea0F351852FaeCDcE735E04cd16a80207cfA4', '0x9999999999999999999999999999999999999999']
const on = { 'ethereum/mainnet': { contracts: { router }, spenders: [router] } }
const connector = { version: '1.0.0', kind: 'connector', networks: on, signs: [], deposits: [] }
const onChain = { contracts: {}, spenders: [], chainId: 77, feeCapRaw: '500', local: true }
const chain = { version: '1.0.0', kind: 'chain', keys: 'ed25519', networks: { 'acme/mainnet': onChain }, signs: [] }
const shopFront = { version: '1.0.0', kind: 'interface', networks: {}, signs: [] }

/** As it comes out of the process. */
const recorded = (what: unknown, known = contained) => recordOf('acme', JSON.parse(JSON.stringify(what)), known)

function refusal(what: unknown, known = contained): string {
  try {
    recorded(what, known)
  } catch (thrown) {
    if (thrown instanceof PluginFault) return `${thrown.step}: ${thrown.message}`
    throw thrown
  }
  return 'recorded'
}

describe('what a plugin declares before it is allowed', () => {
  it('becomes its record with the tier, the hash and the hosts that the command knows by itself', () => {
    expect(recorded(connector)).to.deep.equal({
      version: '1.0.0',
      sha256,
      tier: 'contained',
      kind: 'connector',
      networks: on,
      signs: [],
      deposits: [],
      hosts: ['api.example.org'],
    })
    expect(recorded(chain, trusted)).to.deep.include({ tier: 'trusted', kind: 'chain', keys: 'ed25519', networks: chain.networks })
    expect(recorded(shopFront)).to.deep.include({ tier: 'contained', kind: 'interface', networks: {} })
  })

  for (const [field, value] of [
    ['tier', 'trusted'],
    ['sha256', 'b'.repeat(64)],
    ['hosts', ['thief.example.org']],
    ['source', 'npm:@sluice/official'],
    ['since', '2020-01-01T00:00:00.000Z'],
    ['allowedAt', '2099-01-01T00:00:00.000Z'],
    ['seal', 'c'.repeat(64)],
    ['allowedBy', 'release'],
    ['builtIn', true],
    ['name', 'uniswap'],
  ] as const)
    for (const each of [connector, chain, shopFront])
      it(`is refused where a plugin of the kind ${each.kind} says its own ${field}`, () => {
        expect(refusal({ ...each, [field]: value }, trusted)).to.equal(
          `manifest: What it declares is wrong: ${field} is not something that a plugin of the kind ${each.kind} declares`,
        )
      })

  for (const [what, said, reason] of [
    ['a chain that is to be contained', chain, /^consent: It cannot be contained.*a chain decides/],
    [
      'typed data of a plugin that is to be contained',
      { ...connector, signs: [{ domain: 'V', primaryType: 'O' }] },
      /^consent: .*signed actions/,
    ],
    ['another kind', { ...connector, kind: 'module' }, /its kind is not chain, connector or interface/],
    ['no kind', { ...connector, kind: undefined }, /its kind is not chain, connector or interface/],
    ['a list', [connector], /its kind is not/],
    [
      'a curve of keys of a connector',
      { ...connector, keys: 'ed25519' },
      /keys is not something that a plugin of the kind connector declares/,
    ],
    [
      'the facts of a chain on a network of a connector',
      { ...connector, networks: { 'base/mainnet': { ...on['ethereum/mainnet'], chainId: 8453, local: true, feeCapRaw: '1' } } },
      /networks\.base\/mainnet\.\w+ is not something that a plugin of the kind connector declares/,
    ],
    [
      'a spender that its contracts do not show',
      { ...connector, networks: { 'ethereum/mainnet': { contracts: { router }, spenders: [router, stranger] } } },
      new RegExp(`networks\\.ethereum/mainnet\\.spenders: ${stranger} is not one of its contracts there`),
    ],
    [
      'a contract of a chain',
      { ...chain, networks: { 'acme/mainnet': { ...onChain, contracts: { router } } } },
      /consent|too many entries/,
    ],
    ['a network of an interface', { ...shopFront, networks: on }, /networks has too many entries: at most 0/],
    ['a deposit of an interface', { ...shopFront, deposits: [] }, /deposits is not something/],
    [
      'a name of a network that is none',
      { ...connector, networks: { 'base mainnet\n': on['ethereum/mainnet'] } },
      /is not something that a plugin/,
    ],
    [
      'two lines as an address',
      { ...connector, networks: { 'ethereum/mainnet': { contracts: { router: `${router}\nAllowed: all` }, spenders: [] } } },
      /networks\.ethereum\/mainnet\.contracts\.router must match/,
    ],
    [
      '17,600 addresses',
      {
        ...connector,
        networks: {
          'ethereum/mainnet': { contracts: Object.fromEntries(Array.from({ length: 17_600 }, (_, i) => [`c${i}`, router])), spenders: [] },
        },
      },
      /contracts has too many entries: at most 1000 are recorded/,
    ],
    [
      'as many on many networks',
      {
        ...connector,
        networks: Object.fromEntries(
          Array.from({ length: 40 }, (_, n) => [
            `ethereum/n${n}`,
            { contracts: Object.fromEntries(Array.from({ length: 440 }, (_x, i) => [`c${i}`, router])), spenders: [] },
          ]),
        ),
      },
      /^manifest: What it may touch has \d+ bytes as JSON: at most 100000 are recorded$/,
    ],
  ] as const)
    it(`is refused with ${what}`, () => {
      expect(refusal(said)).to.match(reason)
    })

  it('is never mixed with what the prototype of an object has', () => {
    const said = JSON.parse(`{"__proto__":{"tier":"trusted"},"kind":"interface","networks":{},"signs":[]}`)
    expect(() => recordOf('acme', said, contained)).to.throw(/is not something that a plugin/)
  })

  it('is read of an answer of its two forms alone', () => {
    const refused = { is: 'refused', step: 'create', reason: 'It failed', remedy: 'Correct it.' }
    expect(readExamination(JSON.stringify({ is: 'examined', what: connector }))).to.deep.equal({ is: 'examined', what: connector })
    expect(readExamination(JSON.stringify(refused))).to.deep.equal(refused)
    for (const other of [
      '',
      'null',
      '[]',
      '{}',
      '{"is":"examined"',
      '{"is":"allowed","what":{}}',
      JSON.stringify({ is: 'examined', what: connector, tier: 'trusted' }),
      JSON.stringify({ ...refused, step: 'trust' }),
      JSON.stringify({ ...refused, reason: { toString: 'x' } }),
      JSON.stringify({ ...refused, tier: 'trusted' }),
    ])
      expect(readExamination(other), other).to.equal(undefined)
  })
})
