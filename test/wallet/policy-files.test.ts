import { readdir, readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { getAddress } from 'ethers'
import { loadSettings } from '../../core/config/settings.ts'
import { readLock, writeLock, type LockedPlugin, type PluginLock } from '../../core/config/lock.ts'
import { codeRoot } from '../../core/base/layout.ts'
import { allowedPlugins } from '../../core/plugins/consent/consent.ts'
import { tryPlugins } from '../../core/plugins/load.ts'
import { outlineOf } from '../../core/plugins/discover/outline.ts'
import { signerFiles } from '../../core/wallet/signing.ts'
import { isOutdated, namedVariables, policyFromFiles } from '../../core/wallet/policy-files.ts'
import { releasedNow } from '../../tools/signing.ts'
import { eachWithHome } from '../config/home.ts'
import { book } from './example-files.ts'

const own = '0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D'

describe('what the signer reads of files', function () {
  this.timeout(120_000)
  const home = eachWithHome()
  const settingsOf = (env: Record<string, string> = {}) => loadSettings({ confDir: home.confDir, env })

  it("matches what the release's plugins declare: signing.json is up to date (else: npm run signing)", async () => {
    const written: unknown = JSON.parse(await readFile(new URL('signing.json', codeRoot), 'utf8'))
    expect(written).to.deep.equal(await releasedNow())
  })

  it('has the right checksum in every address of the files of the release, which the signer does not hash', async () => {
    const files = (await readdir(new URL('plugins/', codeRoot), { recursive: true })).filter((file) =>
      /^[^/\\]+[/\\](tokens\.json|defaults\.yml)$/.test(file),
    )
    const texts = await Promise.all(files.map((file) => readFile(new URL(`plugins/${file}`, codeRoot), 'utf8')))
    const addresses = [...new Set(texts.flatMap((text) => text.match(/\b0x[0-9a-fA-F]{40}\b/g) ?? []))]
    expect(addresses).to.have.lengthOf.above(400)
    const wrong = addresses.filter((each) => each !== each.toLowerCase() && each !== getAddress(each.toLowerCase()))
    expect(wrong).to.deep.equal([])
  })

  it('matches what the plugins declare that a start loads, to the address, with what conf changes', async () => {
    await home.write('conf/server.yml', `devnet: { enabled: true }\nwallet: { allowedSpenders: ["${own.toLowerCase()}"] }\n`)
    await home.write('conf/chains/ethereum.yml', 'mainnet: { feeCap: 70 }\nlocal: { feeCap: "1.5" }\n')
    await home.write(
      'conf/connectors/uniswap.yml',
      `contractAddresses: { ethereum_mainnet: { v2RouterAddress: "${own.toLowerCase()}" } }\n`,
    )
    const settings = settingsOf()
    const allowed = await allowedPlugins(settings)
    const { loaded, refused } = await tryPlugins(settings, allowed)
    expect(refused).to.deep.equal([])
    const policy = policyFromFiles(signerFiles(settings, allowed), {})
    expect(policy.allowedSpenders).to.deep.equal([own])

    const networks = new Map(policy.networks.map((each) => [`${each.chain}/${each.network}`, each]))
    const outlines = loaded.map((plugin) => outlineOf(plugin))
    const declared = [...networks.keys()].map((on) => {
      const here = outlines.flatMap(({ networks: all, ...each }) => (all[on] === undefined ? [] : [{ ...each, ...all[on] }]))
      return { on, here, chain: here.find(({ kind }) => kind === 'chain') }
    })
    let compared = 0
    for (const { on, here, chain } of declared) {
      const network = networks.get(on)
      if (chain === undefined || network === undefined) continue
      compared += 1
      expect(network.feeCapRaw, on).to.equal(chain.feeCapRaw)
      expect(network.local, on).to.equal(chain.local === true)
      expect(new Set(network.contracts), on).to.deep.equal(new Set(here.flatMap(({ contracts }) => Object.values(contracts))))
      if (network.keys === 'ed25519') continue
      expect(network.chainId, on).to.equal(chain.chainId)
      expect(new Set(network.spenders), on).to.deep.equal(new Set(here.flatMap(({ spenders }) => spenders)))
      expect(network.exactSpenders, on).to.deep.equal([])
      expect(network.typedData, on).to.deep.equal(here.flatMap(({ signs }) => signs))
      const deposits = outlines.flatMap((each) => (each.deposits ?? []).filter((one) => `${one.chain}/${one.network}` === on))
      expect(network.deposits, on).to.deep.equal(deposits.map(({ token, recipient }) => ({ token, recipient })))
    }
    expect(compared).to.be.greaterThan(30)
    expect(networks.get('ethereum/mainnet')?.contracts).to.include(own)
    expect(networks.get('ethereum/mainnet')?.feeCapRaw).to.equal('70000000000')
  })

  it('has the tip of a network of Solana as the operator wrote it, and none of one that is malformed', async () => {
    const account = 'GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ'
    await home.write(
      'conf/chains/solana.yml',
      [
        `mainnet: { privateTip: { lamports: 20000, accounts: ["\${TIP_ACCOUNT}"] } }`,
        `devnet: { privateTip: { lamports: 20000, accounts: [${account}, nobody] } }`,
        `testnet: { privateTip: { lamports: -1, accounts: [${account}] } }\n`,
      ].join('\n'),
    )
    const settings = settingsOf()
    const environment = namedVariables(home.confDir, { TIP_ACCOUNT: account, OTHER: 'a secret' })
    expect(environment).to.deep.equal({ TIP_ACCOUNT: account })
    const { networks } = policyFromFiles({ ...signerFiles(settings, await allowedPlugins(settings)), environment }, {})
    const tipOn = (name: string) => {
      const found = networks.find(({ chain, network }) => chain === 'solana' && network === name)
      return found?.keys === 'ed25519' ? found.tip : 'no such network'
    }
    expect(tipOn('mainnet')).to.deep.equal({ mostRaw: '20000', accounts: [account] })
    expect([tipOn('devnet'), tipOn('testnet')]).to.deep.equal([undefined, undefined])
  })

  it('has nothing of plugins that are disabled, or that sluice.lock does not have', async () => {
    await home.write('conf/server.yml', 'plugins: { disabled: [uniswap] }\n')
    await writeLock(home.confDir, { book })
    const settings = settingsOf()
    const files = signerFiles(settings, await allowedPlugins(settings))
    const mainnet = () =>
      policyFromFiles(files, { book }).networks.find(({ chain, network }) => chain === 'ethereum' && network === 'mainnet')
    // The folder of the plugin is not there.
    expect(mainnet()?.contracts).not.to.include(book.networks['ethereum/mainnet']?.contracts['router'])
    expect(mainnet()?.contracts).not.to.include('0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D')
  })

  it("takes conf's addresses for those of a record, and the values of variables that conf names", async () => {
    await home.write('conf/connectors/book.yml', 'contractAddresses: { mainnet: { router: "${ROUTER}" } }\n')
    process.env['ROUTER'] = own
    try {
      const settings = settingsOf()
      const files = { ...signerFiles(settings, await allowedPlugins(settings)), plugins: ['ethereum', 'book'] }
      expect(files.environment).to.deep.equal({ ROUTER: own })
      const [mainnet] = policyFromFiles(files, { book }).networks.filter(({ network }) => network === 'mainnet')
      expect(mainnet).to.deep.include({ spenders: [own], contracts: [own, book.networks['ethereum/mainnet']?.contracts['wrapper']] })
    } finally {
      delete process.env['ROUTER']
    }
  })

  it("has the tokens of the release's lists and of conf/tokens for their network alone, none of a list that cannot be read, and the good ones of a list with bad entries", async () => {
    const inList = (chainId: number, address: string) => JSON.stringify({ tokens: [{ chainId, address, symbol: 'X', decimals: 18 }] })
    const [other, third] = ['0x1111111111111111111111111111111111111111', '0x2222222222222222222222222222222222222222']
    await home.write('conf/tokens/ethereum/mainnet.json', inList(1, own.toLowerCase()))
    await home.write('conf/tokens/ethereum/sepolia.json', inList(1, other))
    await home.write('conf/tokens/polygon/mainnet.json', '{')
    const bad = [null, { chainId: 7 }, { chainId: 7, address: 7 }, { address: other }, { chainId: 7, address: third.slice(1) }]
    await home.write('conf/tokens/far/mainnet.json', JSON.stringify({ tokens: [...bad, ...JSON.parse(inList(7, third)).tokens, ...bad] }))
    const far = {
      ...book,
      kind: 'chain' as const,
      keys: 'secp256k1' as const,
      networks: { 'far/mainnet': { contracts: {}, spenders: [], chainId: 7, feeCapRaw: '1' } },
    }
    const files = { confDir: home.confDir, plugins: ['ethereum', 'polygon', 'far'], allowedSpenders: [], environment: {}, tries: false }
    const policy = policyFromFiles(files, { far })
    const tokensOn = (chain: string, network: string) => {
      const found = policy.networks.find((each) => each.chain === chain && each.network === network)
      return found?.keys === 'secp256k1' ? found.tokens : undefined
    }
    const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
    expect(tokensOn('ethereum', 'mainnet')).to.include(own).and.include(usdc)
    expect(tokensOn('ethereum', 'local')).to.have.length.above(2).and.not.include(own).and.not.include(usdc)
    expect(tokensOn('ethereum', 'sepolia')).not.to.include(other)
    expect(tokensOn('polygon', 'mainnet')).to.have.length.above(2)
    expect(tokensOn('far', 'mainnet')).to.deep.equal([third])
  })

  it('has programs of contained plugins apart, and those apart from them that a trusted one declares too', () => {
    const [own, shared] = ['675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8', 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C']
    const record = (tier: 'contained' | 'trusted', contracts: Record<string, string>) => ({
      ...book,
      tier,
      deposits: [],
      networks: { 'solana/mainnet': { contracts, spenders: [] } },
    })
    const lock = { strange: record('contained', { own, shared }), known: record('trusted', { shared }) }
    const files = { confDir: home.confDir, plugins: ['solana', 'strange', 'known'], allowedSpenders: [], environment: {}, tries: false }
    const networkOf = (plugins: readonly string[]) =>
      policyFromFiles({ ...files, plugins: [...plugins] }, lock).networks.find(
        (each) => each.chain === 'solana' && each.network === 'mainnet',
      )
    expect(networkOf(files.plugins)).to.deep.include({ contracts: [own, shared], contained: [own], shared: [shared] })
    expect(networkOf(['solana', 'known'])).to.not.have.any.keys('contained', 'shared')
  })

  const aDeposit = { token: own, recipient: '0x5555555555555555555555555555555555555555' }
  const depositsOn = (records: PluginLock) => {
    const files = {
      confDir: home.confDir,
      plugins: ['ethereum', ...Object.keys(records)],
      allowedSpenders: [],
      environment: {},
      tries: false,
    }
    const { networks } = policyFromFiles(files, records)
    const local = networks.find(({ chain, network }) => chain === 'ethereum' && network === 'local')
    return local?.keys === 'secp256k1' ? local.deposits : undefined
  }

  it('gives no deposit to plugins that are contained or data alone, also by a record of 0.2.0 that has some or by conf', async () => {
    // As `sluice plugin allow` of 0.2.0 wrote it for a plugin whose bridges lead to a stranger.
    await home.write(
      'sluice.lock',
      `lockVersion: 1
plugins:
  book:
    version: 0.1.0
    sha256: ${book.sha256}
    tier: contained
    kind: connector
    networks:
      base/mainnet:
        contracts: {}
        spenders: []
    signs: []
    deposits:
      - chain: ethereum
        network: local
        token: "${aDeposit.token}"
        recipient: "${aDeposit.recipient}"
    hosts: []
    allowedAt: 2026-11-22T15:00:00.000Z
`,
    )
    const { book: yesterdays } = readLock(home.confDir)
    if (yesterdays === undefined) throw new Error('the lock was not read')
    expect(yesterdays.deposits).to.have.length(1)
    const of = (tier: LockedPlugin['tier']) => depositsOn({ book: { ...yesterdays, tier } })
    expect([of('contained'), of('data')]).to.deep.equal([[], []])
    expect(of('trusted')).to.deep.equal([{ ...aDeposit, plugin: book.sha256 }])
    const bridges = { mainnet: { ethereum: { network: 'local', ...aDeposit } } }
    await home.write('conf/connectors/book.yml', JSON.stringify({ bridges }))
    expect([of('contained'), of('data')]).to.deep.equal([[], []])
    expect(of('trusted')).to.deep.equal([{ ...aDeposit, plugin: book.sha256 }])
    // The record holds as it is: nothing has to be allowed again for what is given nothing.
    for (const before of [yesterdays, { ...yesterdays, deposits: [] }])
      expect(isOutdated(before, { defaults: { bridges }, conf: {} })).to.equal(false)
  })

  it('says what a record lacks of files that are in force: another address or deposit, or a network', () => {
    const on = (text: string) => ({
      contractAddresses: { mainnet: { router: text, wrapper: '0x2222222222222222222222222222222222222222' } },
    })
    const { networks } = book
    const record = {
      ...book,
      networks: { 'ethereum/mainnet': networks['ethereum/mainnet'] ?? { contracts: {}, spenders: [] } },
      deposits: [],
    }
    const defaults = on('0x1111111111111111111111111111111111111111')
    expect(isOutdated(record, { defaults, conf: {} })).to.equal(false)
    expect(isOutdated(record, { defaults: on(own), conf: defaults })).to.equal(false)
    expect(isOutdated(record, { defaults, conf: { ttl: 1, contractAddresses: { ethereum_mainnet: { router: own } } } })).to.equal(true)
    expect(isOutdated(record, { defaults: on(own), conf: {} }), 'conf does not have it any more').to.equal(true)
    expect(isOutdated(record, { defaults, conf: { contractAddresses: { sepolia: { router: own } } } })).to.equal(true)
    const bridges = { mainnet: { other: { network: 'main', token: own, recipient: own } } }
    expect(isOutdated(record, { defaults, conf: { bridges } })).to.equal(true)
    const deposits = [{ chain: 'other', network: 'main', token: own.toLowerCase(), recipient: own }]
    expect(isOutdated({ ...record, deposits }, { defaults, conf: { bridges } })).to.equal(false)
    // Letters of base58 are another address in another case.
    const program = 'KbP52UpUBVxDWUam3g5h5uUtKxQyNvyGtV894iyazGe'
    const ofSolana = { ...record, networks: { 'solana/mainnet': { contracts: { program }, spenders: [] } } }
    const named = (text: string) => ({ defaults: { contractAddresses: { mainnet: { program: text } } }, conf: {} })
    expect([program, program.toLowerCase()].map((each) => isOutdated(ofSolana, named(each)))).to.deep.equal([false, true])
    const chain = { ...record, kind: 'chain' as const }
    expect(isOutdated(chain, { defaults: {}, conf: { mainnet: { feeCap: 1 }, test: { enabled: false } } })).to.equal(false)
    expect(isOutdated(chain, { defaults: {}, conf: { test: {} } })).to.equal(true)
  })

  it('has no more of a chain whose record is of an older version, without chain ids, than that it must be trusted again', () => {
    const old = {
      ...book,
      kind: 'chain' as const,
      keys: 'secp256k1' as const,
      networks: { 'other/mainnet': { contracts: {}, spenders: [] } },
    }
    const policy = policyFromFiles(
      { confDir: home.confDir, plugins: ['other'], allowedSpenders: [], environment: {}, tries: false },
      { other: old },
    )
    expect(policy.networks).to.deep.equal([])
  })
})
