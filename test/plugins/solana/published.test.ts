import { expect } from 'chai'
import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { discriminatorOf } from '../../../kits/solana/amm/anchor.ts'
import { dammAuthority, dammProgram } from '../../../kits/solana/amm/damm/accounts.ts'
import { networks } from '../../../plugins/solana/index.ts'
import list from '../../../plugins/solana/tokens.json' with { type: 'json' }
import circle from '../../fixtures/published/circle-bridge-kit-solana.json' with { type: 'json' }
import drift from '../../fixtures/published/drift-sdk.json' with { type: 'json' }
import meteora from '../../fixtures/published/meteora-cp-amm-sdk.json' with { type: 'json' }
import metamask from '../../fixtures/published/metamask-keyring-api.json' with { type: 'json' }

/** Ours → the exchange's, which trades the coin in its wrapped form by the coin's own symbol. */
const renamed: Readonly<Record<string, string>> = { WSOL: 'SOL' }

// test/fixtures/published/ is what the projects publish on npm; tools/facts/published-facts.mjs takes it from there.
describe('what projects publish about Solana', () => {
  it('agrees with ours on the hash of each cluster', () => {
    const published: Readonly<Record<string, string>> = metamask.facts.genesis
    const ours = Object.entries(networks).flatMap(([name, table]) =>
      'genesisHash' in table ? [[name, table.genesisHash.slice(0, 32)]] : [],
    )
    expect(Object.fromEntries(ours)).to.deep.equal(published)
  })

  it('agrees with ours on every token', () => {
    const line = ({ chainId, symbol, address, decimals }: (typeof list.tokens)[number] | (typeof drift.facts.tokens)[number]) =>
      `${chainId} ${renamed[symbol] ?? symbol} ${address} ${decimals}`
    const published = new Set([...drift.facts.tokens, ...circle.facts.tokens].map(line))
    // Those of solana/local are made with it.
    const ofClusters = list.tokens.filter(({ chainId }) => chainId !== networks.local.chainId)
    expect(ofClusters.map(line).filter((each) => !published.has(each))).to.deep.equal([])
  })

  it("agrees with ours on Meteora's program, its accounts, its swap and its errors", async () => {
    const { program, authority, instructions, accounts, errors } = meteora.facts
    const { contractAddresses } = parse(await readFile(new URL('../../../plugins/meteora/defaults.yml', import.meta.url), 'utf8'))
    for (const network of ['mainnet', 'local']) expect(contractAddresses[network].programAddress, network).to.equal(program)
    expect([dammProgram, dammAuthority]).to.deep.equal([program, authority])
    expect([...discriminatorOf('account', 'Pool')]).to.deep.equal(accounts.Pool)
    expect([...discriminatorOf('global', 'swap2')]).to.deep.equal(instructions.swap2)
    expect(errors).to.deep.equal({ 6002: 'ExceededSlippage', 6003: 'PoolDisabled' })
    // The words of the connector are our own, its numbers are these.
    const source = await readFile(new URL('../../../plugins/meteora/index.ts', import.meta.url), 'utf8')
    expect([...source.matchAll(/^  (6\d{3}): /gm)].map(([, code]) => code)).to.deep.equal(Object.keys(errors))
  })

  it("agrees with ours on USDC and EURC, by Circle's word", () => {
    for (const { chainId, symbol, address } of circle.facts.tokens)
      expect(list.tokens.find((each) => each.chainId === chainId && each.symbol === symbol)?.address).to.equal(address)
  })
})
