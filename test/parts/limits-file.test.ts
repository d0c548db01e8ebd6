import { expect } from 'chai'
import { stringify } from 'yaml'
import { wellKnownAddresses } from '../../core/keys/curves.ts'
import { doubtfulWalletLimits } from '../../core/parts/start-log.ts'
import type { ServerParts } from '../../core/parts/server-parts.ts'
import { beginCount } from '../../core/wallet/limits/count-file.ts'
import { eachWithHome } from '../config/home.ts'

const [wallet = ''] = wellKnownAddresses
const token = '0x1111111111111111111111111111111111111111'

describe('what a start says of conf/limits.yml', () => {
  const home = eachWithHome()
  const partsOf = (decimals: number, socket?: string) =>
    ({
      settings: { confDir: home.confDir, data: { dir: home.folder }, signer: { socket } },
      registry: {
        networks: [{ chain: 'ethereum', network: 'mainnet', tokens: { listed: [{ address: token, symbol: 'OWN', decimals }] } }],
      },
      signer: { wallets: () => [{ chain: 'ethereum', address: wallet }], locked: () => [] },
    }) as unknown as ServerParts

  it('is that decimals differ from those of a list that the server alone knows, that there is no count, and no key', async () => {
    expect(doubtfulWalletLimits(partsOf(6))).to.deep.equal([])
    const tokens = { [token]: { decimals: 18, perDay: '1' } }
    const row = { 'ethereum/mainnet': { gasCost: { perDay: '1' }, tokens } }
    await home.write('conf/limits.yml', stringify({ wallets: { [wallet]: row } }))
    const [noCount, decimals, ...more] = doubtfulWalletLimits(partsOf(6))
    expect(noCount).to.match(/Nothing is signed for the wallet of conf\/limits\.yml: there is no count.*limits reset-count/)
    expect(decimals).to.match(/tokens\.0x1111\w+\.decimals in conf\/limits\.yml is 18, and OWN .* has 6 .*10\^12 times too high/)
    expect(more).to.deep.equal([])
    await beginCount(home.folder)
    expect(doubtfulWalletLimits(partsOf(18))).to.deep.equal([])
    const [unbound] = doubtfulWalletLimits({ ...partsOf(18), signer: { wallets: () => [], locked: () => [] } } as unknown as ServerParts)
    expect(unbound).to.match(/bound nothing: no key here is of that address/)
    expect(doubtfulWalletLimits(partsOf(6, '/run/socket'))).to.deep.equal([])
  })
})
