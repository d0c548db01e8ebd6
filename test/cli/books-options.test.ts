import { expect } from 'chai'
import { program } from '../../core/cli/program.ts'

/** What a subcommand of `sluice books` is given. */
async function given(name: string, ...args: string[]): Promise<object> {
  const root = await program(['books'])
  const [books] = root.commands
  const subcommand = books?.commands.find((each) => each.name() === name)
  let options: object = {}
  subcommand?.action((own: object) => void (options = own))
  await root.parseAsync(args, { from: 'user' })
  return options
}

describe('options of `sluice books` and its subcommands', () => {
  const [url, wallet] = ['https://sluice.example.org:15888', '0x70997970C51812dc3A010C7d01b50e0d17dc79C8']

  it('count behind `ledger`, also those that `books` has', async () => {
    const filters = {
      url,
      wallet,
      from: '2026-08-01',
      to: '2026-09-01',
      client: 'maker',
      connector: 'uniswap',
      chain: 'ethereum',
      network: 'mainnet',
    }
    const typed = Object.entries({ ...filters, kind: 'trade', out: 'a.csv' }).flatMap(([name, value]) => [`--${name}`, value])
    expect(await given('ledger', 'books', 'ledger', ...typed)).to.deep.equal({ ...filters, kind: 'trade', out: 'a.csv' })
  })

  it('count behind `open` and `verify`', async () => {
    const opening = { at: '2026-01-01', network: 'ethereum/mainnet', wallet, held: '2 WETH', cost: '6000 USDC' }
    const typed = Object.entries(opening).flatMap(([name, value]) => [`--${name}`, value])
    expect(await given('open', 'books', 'open', ...typed)).to.deep.equal(opening)
    expect(await given('verify', 'books', 'verify', '--json', '--wallet', wallet)).to.deep.equal({ json: true, wallet })
  })

  it('count before them, too', async () => {
    expect(await given('ledger', 'books', '--wallet', wallet, 'ledger')).to.deep.equal({ wallet })
  })
})
