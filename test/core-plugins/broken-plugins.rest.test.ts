import { expect } from 'chai'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import type { LoadResult } from '../../core/plugins/load.ts'
import { brokenPlugins, goodPlugins, load } from './fixtures.ts'

/** Folder → the step that refuses it, and a part of the reason. */
const expected: Record<string, [string, RegExp]> = {
  'aborts-while-loading': ['import', /process\.abort\(\) is not supported/],
  'address-malformed': ['configuration', /routerAddress 'router\.eth' is not an address on fixture-chain mainnet/],
  'address-of-unknown-network': ['configuration', /contractAddresses has mainet/],
  'another-plugin': ['import', /leads out of the plugin's folder/],
  'another-plugin-by-absolute-path': ['import', /leads out of the plugin's folder/],
  'base-keys-missing': ['configuration', /ttl: must have required property.*allowedSlippage: must match pattern/],
  'bigint-in-manifest': ['manifest', /BigInt/],
  'bridge-without-recipient': ['configuration', /bridges\.mainnet\.elsewhere\.recipient: must have required property/],
  'chain-of-others': ['manifest', /A chain lists only its own networks/],
  'chain-without-verbs': ['create', /the chain has no rpcUrl, address, head/],
  commonjs: ['import', /index\.js is CommonJS/],
  'commonjs-by-name': ['import', /index\.cjs is CommonJS/],
  'configuration-mismatch': ['configuration', /defaults\.yml:4 routerAdress.*defaults\.yml:1 allowedSlippage/],
  'core-by-path': ['import', /leads out of the plugin's folder to .*core\/wallet\/signer\.ts/],
  'create-returns-nothing': ['create', /did not return an object/],
  'create-returns-promise': ['create', /returned a promise/],
  'default-export-no-plugin': ['import', /default export that is not a plugin/],
  'exits-in-create': ['create', /ended the process in create\(\): process\.exit\(3\)/],
  'exits-while-loading': ['import', /ended the process while it was loaded/],
  'file-not-there': ['import', /'\.\/missing\.ts' does not exist, and index\.ts imports it/],
  'future-major': ['manifest', /plugin interface 2\.0, this server has 1\.0/],
  'future-minor': ['manifest', /plugin interface 1\.1, this server has 1\.0/],
  'keys-of-no-curve': ['manifest', /family 'fixture' does not say which curve/],
  'kit-by-path': ['import', /leads out of the plugin's folder to .*kits\/evm\/index\.ts/],
  'manifest-changes': ['import', /description changes each time/],
  'manifest-tells-threads-apart': ['import', /description changes each time/],
  'name-differs': ['manifest', /'another-name' is not the folder's, 'name-differs'/],
  'name-leaves-folder': ['manifest', /name: must match pattern/],
  'networks-missing': ['manifest', /available_networks/],
  'no-api-version': ['manifest', /apiVersion undefined is not 'major\.minor'/],
  'no-default-export': ['import', /no default export/],
  'no-entry': ['find', /neither index\.ts nor index\.js/],
  'no-trading-type': ['manifest', /trading_type is empty/],
  'package-not-there': ['import', /Cannot find package 'a-package-that-nobody-has-written'/],
  'past-major': ['manifest', /plugin interface 0\.9, this server has 1\.0/],
  'private-entry-point': ['import', /'sluice\/wallet' is not one of the public entry points: sluice\/plugin/],
  'rejects-in-background': ['import', /in the background while it was loaded: nobody waits for me/],
  'rejects-in-background-of-create': ['create', /in the background in create\(\): nobody waits for me/],
  'same-chain-twice': ['manifest', /'fixture-chain' twice/],
  'schema-invalid': ['manifest', /not a valid JSON Schema/],
  'slippage-upside-down': ['configuration', /allowedSlippage 100\/1 is not below 1/],
  'spender-malformed': ['create', /spenders\.v1 'router\.eth' is not an address on fixture-chain mainnet/],
  'spender-not-its-own': ['create', /spenders\.v1 '0xAA99' is not one of its contractAddresses on fixture-chain mainnet/],
  'start-no-function': ['create', /start is not a function/],
  'syntax-error': ['import', /index\.ts:2:\d+: Expected identifier/],
  'syntax-error-in-javascript': ['import', /index\.js:2:\d+: Expected identifier/],
  'takes-all-memory': ['import', /took more than \d+ MB while it was loaded/],
  'testkit-by-path': ['import', /leads out of the plugin's folder to .*testkit\/index\.ts/],
  'throws-in-create': ['create', /no factory is known for this network/],
  'throws-no-error': ['import', /threw null/],
  'throws-while-loading': ['import', /the moon is in the wrong phase/],
  'type-not-implemented': ['create', /AMM is declared but not implemented/],
  'unknown-chain': ['networks', /no chain 'atlantis'/],
  'unknown-manifest-key': ['manifest', /unknown key "chains"/],
  'unknown-network': ['networks', /does not serve the network 'moon'/],
  'unknown-trading-type': ['manifest', /trading_type\.1: must be one of AMM/],
  'verb-missing': ['create', /AMM has no fill/],
  'wrong-family': ['networks', /family 'evm', but fixture-chain is of 'fixture'/],
}

/** These are refused for lack of time only: each is tried by itself, with a small budget. */
const endless: Record<string, [string, RegExp]> = {
  'await-never-settles': ['import', /Loading was not done after 20 s/],
  'loads-in-threads-only': ['import', /did not finish loading within 20 s, though it did on trial/],
  'loop-at-import': ['import', /Loading was not done after 1 s of processor time/],
  'loop-in-create': ['create', /create\(\) was not done after 1 s of processor time/],
}

describe('a broken plugin', function () {
  // As with hostile ones: their processes give way to all others.
  this.timeout(1_800_000)

  describe('beside good ones', () => {
    let result: LoadResult
    before(async () => {
      result = await load([goodPlugins, brokenPlugins], { disabled: Object.keys(endless) })
    })

    it('does not affect the good ones', () => {
      expect(result.loaded.map(({ name }) => name)).to.deep.equal(['fixture-chain', 'fixture-compiled', 'fixture-swap'])
    })

    for (const [name, [step, reason]] of Object.entries(expected)) {
      it(`fails with step, reason and remedy: ${name}`, () => {
        const refusal = result.refused.find((one) => one.name === name)
        expect(refusal?.step).to.equal(step)
        expect(refusal?.reason).to.match(reason)
        expect(refusal?.remedy).to.match(/^[A-Z].+\.$/s)
      })
    }
  })

  for (const [name, [step, reason]] of Object.entries(endless)) {
    it(`fails when its time is over: ${name}`, async () => {
      const { loaded, refused } = await load([path.join(goodPlugins, 'fixture-chain'), path.join(brokenPlugins, name)], {
        // A loop ends by its processor time: on a busy machine that takes minutes. The good plugin beside it has to load meanwhile.
        budget: { processorMs: 1_000, clockMs: name.startsWith('loop') ? 120_000 : 20_000 },
      })

      expect(loaded.map((plugin) => plugin.name)).to.deep.equal(['fixture-chain'])
      expect(refused.map((refusal) => refusal.name)).to.deep.equal([name])
      expect(refused[0]?.step).to.equal(step)
      expect(refused[0]?.reason).to.match(reason)
      expect(refused[0]?.temporary).to.equal(true)
    })
  }

  it('has an expectation for each fixture', () => {
    expect(readdirSync(brokenPlugins).toSorted()).to.deep.equal([...Object.keys(expected), ...Object.keys(endless)].toSorted())
  })
})
