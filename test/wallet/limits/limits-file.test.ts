import { expect } from 'chai'
import { stringify } from 'yaml'
import { readSigningLimits } from '../../../core/wallet/signing-networks.ts'
import { readOwnPolicy } from '../../../core/wallet/own-policy.ts'
import { wellKnownAddresses } from '../../../core/keys/curves.ts'
import { writeLock } from '../../../core/config/lock.ts'
import { book } from '../example-files.ts'
import { eachWithHome, problemsOf } from '../../config/home.ts'

const [wallet = ''] = wellKnownAddresses
const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const unlisted = '0x1111111111111111111111111111111111111111'
const solanaWallet = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const gasCost = { perDay: '1' }

describe('conf/limits.yml, held against what the signer knows', () => {
  const home = eachWithHome()
  const write = (wallets: object) => home.write('conf/limits.yml', stringify({ wallets }))
  const onMainnet = (tokens: object, name = 'ethereum/mainnet') => write({ [wallet]: { [name]: { gasCost, tokens } } })
  const wrong = async () =>
    (await problemsOf(() => readSigningLimits(home.confDir))).map(
      ({ line, path, problem, remedy }) => `${line} ${path} ${problem}. ${remedy}`,
    )

  it('is refused where decimals are not those of the token list, with the field, the token and both numbers', async () => {
    await onMainnet({ [usdc.toLowerCase()]: { decimals: 18, perDay: '100' } })
    const found = await wrong()
    expect(found).to.have.length(1)
    expect(found[0]).to.match(
      /^\d wallets\.0x\w+\.ethereum\/mainnet\.tokens\.0xa0b8\w+\.decimals is 18, and USDC \(0xA0b8\w+\) has 6 in the token list of ethereum\/mainnet: its limits would be 10\^12 times too high\. Write decimals: 6\./,
    )
    const files = { confDir: home.confDir, plugins: ['ethereum'], allowedSpenders: [], environment: {}, tries: false }
    const bySigner = readOwnPolicy({ files, dataDir: home.folder, keySources: [], sealKeys: undefined })
    expect(await problemsOf(() => bySigner)).to.have.length(1)
    await onMainnet({ [usdc]: { decimals: 6, perDay: '100' } })
    expect(readSigningLimits(home.confDir)).to.deep.include({ doubtful: [] })
    expect(readSigningLimits(home.confDir).symbols['ethereum/mainnet']?.[usdc.toLowerCase()]).to.equal('USDC')
  })

  it('goes by an entry of conf/tokens before that of the release, and by none of two that contradict each other', async () => {
    const entry = (decimals: number, address = usdc) => ({ chainId: 1, address, symbol: 'USDC', decimals })
    await home.write('conf/tokens/ethereum/mainnet.json', JSON.stringify({ tokens: [entry(8)] }))
    await onMainnet({ [usdc]: { decimals: 6, perDay: '100' } })
    expect((await wrong()).join('\n')).to.match(/is 6, and USDC .* has 8 .* 10\^2 times too low/)
    await home.write('conf/tokens/ethereum/mainnet.json', JSON.stringify({ tokens: [entry(8), entry(6)] }))
    expect(readSigningLimits(home.confDir).doubtful.join('\n')).to.match(/is in no token list that was read, so its decimals \(6\)/)
  })

  it('is refused where it names a symbol, with the address that was probably meant', async () => {
    await onMainnet({ USDC: { decimals: 6, perDay: '1' }, usdt: { decimals: 6, perDay: '1' }, NONE: { decimals: 6, perDay: '1' } })
    const found = await wrong()
    expect(found).to.have.length(3)
    expect(found[0]).to.contain(`.USDC is no address`).and.contain(`Write "${usdc}".`)
    expect(found[1]).to.match(/Write "0x\w+" if you mean USDT\.$/)
    expect(found[2]).to.contain('no list of ethereum/mainnet has such a symbol')
  })

  it('is refused where a network is not one that the signer signs on, or takes other wallets', async () => {
    await write({
      [wallet]: { 'ethereum/mainet': { gasCost }, 'solana/mainnet': { gasCost } },
      [solanaWallet]: { 'base/mainnet': { gasCost } },
    })
    const found = await wrong()
    expect(found).to.have.length(3)
    expect(found[0]).to.match(/ethereum\/mainet is no network that the signer signs on.*Did you mean "ethereum\/mainnet"\?/)
    expect(found.slice(1).join('\n')).to.match(/solana\/mainnet .* other addresses[^]*base\/mainnet .* other addresses/)
  })

  it('knows the networks of records in sluice.lock, and refuses none while the lock cannot be read', async () => {
    const far = {
      ...book,
      kind: 'chain' as const,
      networks: { 'far/mainnet': { contracts: {}, spenders: [], chainId: 7, feeCapRaw: '1' } },
    }
    await writeLock(home.confDir, { far })
    await write({ [wallet]: { 'far/mainnet': { gasCost } } })
    expect(readSigningLimits(home.confDir).limits).to.have.property(wallet)
    await home.write('sluice.lock', '{')
    expect(readSigningLimits(home.confDir).limits).to.have.property(wallet)
  })

  it('is refused where an address is none, mistyped or there twice', async () => {
    const mistyped = usdc.replace('A0b', 'a0b')
    await write({
      [wallet]: {
        'ethereum/mainnet': {
          gasCost,
          tokens: { [mistyped]: { decimals: 6, perDay: '1' }, [unlisted.slice(2)]: { decimals: 6, perDay: '1' } },
        },
      },
      [wallet.toLowerCase()]: { 'ethereum/mainnet': { gasCost } },
      '0xA1': { 'ethereum/mainnet': { gasCost } },
    })
    const found = await wrong()
    expect(found.join('\n')).to.match(
      /tokens\.0xa0b\w+ is no address: its letters do not have the right checksum, so it would bound no token/,
    )
    expect(found.join('\n')).to.contain(`is the wallet ${wallet} in another spelling`)
    expect(found.join('\n')).to.match(/0xA1 is no address, so it would bound no wallet/)
    expect(found).to.have.length(4)
  })

  it('says what no list has, what allows nothing and what never refuses anything', async () => {
    await onMainnet({
      [unlisted]: { decimals: 18, perDay: '1' },
      [usdc]: { decimals: 6, perTransaction: '0.0000001', perHour: 5, perDay: '4' },
    })
    const { doubtful } = readSigningLimits(home.confDir)
    expect(doubtful).to.have.length(3)
    expect(doubtful[0]).to.match(/^tokens\.0x1111\w+ of the wallet 0x\w+ on ethereum\/mainnet in conf\/limits\.yml is in no token list/)
    expect(doubtful[1]).to.match(/perTransaction .* less than the smallest unit of USDC: it allows nothing/)
    expect(doubtful[2]).to.match(/perHour .* is 5, which is above perDay \(4\): it never refuses anything/)
  })

  it('tells all that is wrong at once, a number that is not exact among it', async () => {
    const text = `
wallets:
  "${wallet}":
    ethereum/mainnet:
      native: { perTransaction: 0.1234567890123456789, perDay: 99999999999999999999 }
      gasCost: { perDy: "1" }
      tokens: { USDC: { decimals: 6, perDay: "x" } }
`
    await home.write('conf/limits.yml', text)
    const found = await wrong()
    expect(found.map((each) => each.replace(/^(\d).*mainnet\.(\S+ .*?)\. .*/, '$1 $2'))).to.deep.equal([
      '5 native.perDay is a number too large to be exact',
      '6 gasCost.perDay is missing',
      '6 gasCost.perDy is not a known key',
      '7 tokens.USDC.perDay has none of the possible forms',
      '5 native.perTransaction is a number of too many digits to be exact',
      '7 tokens.USDC is no address, and the signer goes by addresses alone: it would bound nothing',
    ])
  })
})
