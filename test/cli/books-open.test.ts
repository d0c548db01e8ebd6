import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { writeOpening } from '../../core/cli/books-open.ts'
import { readOpening } from '../../core/config/openings.ts'

describe('sluice books open', () => {
  const given = {
    at: '2026-01-01',
    network: 'ethereum/mainnet',
    wallet: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    held: ' 2  WETH ',
    cost: '6000.5 USDC',
  }
  const line = '2026-01-01 ethereum/mainnet 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 2 WETH 6000.5 USDC'
  const refusalOf = (fields: object, opening: string[] = []) =>
    writeOpening({ ...given, ...fields }, { confDir: '/nowhere', books: { opening } }).then(
      () => 'written',
      (error: unknown) => String(error),
    )

  it('writes it beside those that are there, and leaves the comments', async () => {
    const confDir = mkdtempSync(path.join(tmpdir(), 'sluice-open-'))
    const file = path.join(confDir, 'server.yml')
    writeFileSync(file, '# mine\nbooks:\n  # daily\n  verifyDaily: false\n')
    expect(await writeOpening(given, { confDir, books: { opening: ['before'] } })).to.include(line)
    const text = readFileSync(file, 'utf8')
    expect(text).to.include('# mine').and.to.include('# daily')
    expect(parse(text)).to.deep.equal({ books: { verifyDaily: false, opening: ['before', line] } })
    expect(readOpening(line)).to.include({ atMs: Date.UTC(2026, 0, 1), amount: '2', base: 'WETH', cost: '6000.5', quote: 'USDC' })
  })

  it('refuses what is no opening balance, or is there already', async () => {
    for (const fields of [
      { at: 'soon' },
      { at: '2026-13-01' },
      { network: 'mainnet' },
      { held: '0 WETH' },
      { held: '-2 WETH' },
      { held: 'WETH' },
      { cost: '1e3 USDC' },
      { wallet: '' },
    ])
      expect(await refusalOf(fields), JSON.stringify(fields)).to.match(/is no opening balance.*Nothing was written/)
    expect(await refusalOf({}, [line])).to.match(/already/)
  })
})
