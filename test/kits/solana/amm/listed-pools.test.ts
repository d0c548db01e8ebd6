import { expect } from 'chai'
import { listedPoolsOf, programsOf, requireProgram } from '../../../../kits/solana/amm/index.ts'
import { program, own as pool, third } from './two-vaults.ts'

describe('pools that a configuration lists', () => {
  it('are those of a network by its short name, and by that with the chain', () => {
    expect(listedPoolsOf({ pools: { local: [pool] } }, 'local')).to.deep.equal([pool])
    expect(listedPoolsOf({ pools: { solana_local: [pool] } }, 'local')).to.deep.equal([pool])
    expect(listedPoolsOf({ pools: { local: [pool] } }, 'mainnet')).to.deep.equal([])
  })

  it('are refused under a name that no network of Solana has, and where one is no address', () => {
    for (const name of ['main', 'solana_main', 'ethereum_mainnet'])
      expect(() => listedPoolsOf({ pools: { [name]: [pool] } }, 'mainnet'), name).to.throw(`pools has the network ${name},`)
    expect(() => listedPoolsOf({ pools: { local: ['x'] } }, 'local')).to.throw('pools lists x on local')
  })
})

describe('the program of an exchange whose arithmetic is of one', () => {
  it('is the one that the configuration names: with another the exchange does not load', () => {
    requireProgram(program, { contracts: { programAddress: program }, network: 'local' })
    expect(() => requireProgram(program, { contracts: { programAddress: third }, network: 'local' })).to.throw(
      `contractAddresses of local has the program ${third}`,
    )
  })
})

describe('the bytes of programs that a configuration knows', () => {
  it('are of the versions that the exchange has arithmetic of', () => {
    const [one, other] = ['a'.repeat(64), 'b'.repeat(64)]
    expect(programsOf({ programs: { [one]: 'new', [other]: 'newer' } }, ['old', 'new'])).to.deep.equal({ [one]: 'new' })
    expect(programsOf({}, ['old'])).to.deep.equal({})
  })
})
