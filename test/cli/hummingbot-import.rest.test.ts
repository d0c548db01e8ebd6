import { createCipheriv, generateKeyPairSync, pbkdf2Sync, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { Wallet } from 'ethers'
import { parse } from 'yaml'
import { loadSettings } from '../../core/config/settings.ts'
import { curves, encodeBase58 } from '../../core/keys/curves.ts'
import { keyFile } from '../../core/keys/keystore-files.ts'
import { decryptKey, listWallets } from '../../core/keys/keystore.ts'
import { temporaryFolder } from '../devnet/test-devnet.ts'
import { commandsInOneProcess } from '../start/command.ts'

const [gatewayPassphrase, ownPassphrase] = ['of the gateway', 'of the keystore here']
const aero = { symbol: 'AERO', address: '0x940181a94A35A4569E4529A3CDfB74e38FD98631', decimals: 18, name: 'Aerodrome', chainId: 8453 }
const mine = { symbol: 'MINE', address: '0x00000000000000000000000000000000000000A1', decimals: 9, name: 'Mine', chainId: 8453 }

describe('sluice hummingbot import', function () {
  this.timeout(300_000)
  const evmWallet = new Wallet(Wallet.createRandom().privateKey)
  const seed = generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32)
  const solanaAddress = curves.ed25519.addressOf(`0x${seed.toString('hex')}`)
  let place: Awaited<ReturnType<typeof temporaryFolder>>
  let evmKey: string

  before(async () => {
    evmKey = await evmWallet.encrypt(gatewayPassphrase, { scrypt: { N: 1024 } } as never)
  })
  beforeEach(async () => (place = await temporaryFolder()))
  afterEach(async () => place.remove())

  const at = (...parts: readonly string[]) => path.join(place.folder, ...parts)
  function write(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(at(name)), { recursive: true })
      writeFileSync(at(name), text)
    }
  }
  const read = (...parts: readonly string[]) => readFileSync(at(...parts), 'utf8')

  const type = commandsInOneProcess()
  async function run(...args: readonly string[]): Promise<{ said: string; failed: boolean }> {
    write({ passphrase: `${ownPassphrase}\n`, 'gateway-passphrase': `${gatewayPassphrase}\n` })
    const { code, said } = await type(
      { SLUICE_WALLET_PASSPHRASE_FILE: at('passphrase') },
      place.folder,
      '--home',
      at('home'),
      'hummingbot',
      'import',
      ...args,
    )
    for (const secret of [evmWallet.privateKey.slice(2), seed.toString('hex'), gatewayPassphrase, ownPassphrase])
      expect(said).not.to.include(secret)
    return { said, failed: code !== 0 }
  }
  const importAll = () => run(at('gateway'), '--passphrase-file', at('gateway-passphrase'), '--yes')

  /** As `encrypt` of the Gateway's chains/solana writes it. */
  function solanaKeyFile(): string {
    const [iv, salt] = [randomBytes(16), randomBytes(32)]
    const cipher = createCipheriv('aes-256-ctr', pbkdf2Sync(gatewayPassphrase, salt, 5000, 32, 'sha512'), iv)
    const secret = encodeBase58(Buffer.concat([seed, curves.ed25519.address(solanaAddress) ? publicKey() : Buffer.alloc(0)]))
    const encrypted = Buffer.concat([cipher.update(Buffer.from(secret)), cipher.final()])
    return JSON.stringify({ algorithm: 'aes-256-ctr', iv, salt, encrypted })
  }
  const publicKey = () => {
    const digits = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
    let number = 0n
    for (const letter of solanaAddress) number = number * 58n + BigInt(digits.indexOf(letter))
    return Buffer.from(number.toString(16).padStart(64, '0'), 'hex')
  }

  const newLayout = () => ({
    'gateway/conf/root.yml': 'version: 2\n',
    'gateway/conf/chains/ethereum.yml':
      'defaultNetwork: base\ndefaultNetworks:\n  - base\n  - mainnet\ndefaultWallet: <ethereum-wallet-address>\nrpcProvider: infura\n',
    'gateway/conf/chains/ethereum/base.yml':
      'chainID: 8453\nnodeURL: https://base.node.example/v2/secret-key-of-a-provider-0123456789\nbaseFee:\n',
    'gateway/conf/chains/ethereum/mainnet.yml': 'chainID: 1\nnodeURL: https://own.node.example/\n',
    'gateway/conf/chains/ethereum/nowhere.yml': 'chainID: 424242\nnodeURL: https://nowhere.example/\n',
    'gateway/conf/chains/solana.yml': 'defaultNetwork: mainnet-beta\ndefaultWallet: <solana-wallet-address>\n',
    'gateway/conf/chains/solana/mainnet-beta.yml':
      'chainID: 101\nnodeURL: https://api.mainnet-beta.solana.com\nswapProvider: jupiter/router\n',
    'gateway/conf/pools/orca.json': '[]',
    'gateway/conf/tokens/ethereum/base.json': JSON.stringify([
      mine,
      { symbol: 'USDTB', address: '0xfde4c96c8593536e31f229ea8f37b2ada2699bb2', decimals: 6 },
      { ...mine, address: '0x00000000000000000000000000000000000000A2' },
      { ...aero, symbol: 'USDC' },
      { ...aero, symbol: 'bad\u202esymbol', address: '0x00000000000000000000000000000000000000A3' },
      { symbol: 'HALF', decimals: 1.5, address: '0x00000000000000000000000000000000000000A4' },
    ]),
    'gateway/conf/tokens/ethereum/mainnet.json': '{ broken',
    'gateway/conf/pools/uniswap.json': '[{}, {}]',
    'gateway/conf/connectors/uniswap.yml': 'slippagePct: 2\n',
    [`gateway/conf/wallets/ethereum/${evmWallet.address}.json`]: evmKey,
    [`gateway/conf/wallets/solana/${solanaAddress}.json`]: solanaKeyFile(),
    'gateway/conf/wallets/ethereum/hardware-wallets.json':
      '{ "wallets": [{ "address": "0x00000000000000000000000000000000000000b1", "derivationPath": "m/44" }, {}] }',
    'home/conf/chains/ethereum.yml': '# mine\nmainnet:\n  rpcUrls:\n    - https://mine.example/\n',
  })

  it('takes over nodes, tokens, default networks and keys, tells what differs and what it leaves, and does nothing a second time', async () => {
    write(newLayout())
    const { said, failed } = await importAll()
    expect(failed, said).to.equal(false)
    for (const told of [
      'conf/chains/base.yml: mainnet asks https://base.node.example',
      'conf/tokens/base/mainnet.json: MINE 0x00000000000000000000000000000000000000A1 (9 decimals)',
      'the default network of ethereum is base',
      `the key of ${evmWallet.address} for base, ethereum`,
      `the key of ${solanaAddress} for solana`,
      'MINE is 0x00000000000000000000000000000000000000A1 (9 decimals) here, and 0x00000000000000000000000000000000000000A2 (9 decimals) there.',
      'ethereum-nowhere: this server has no such network.',
      'conf/chains/ethereum.yml has nodes of its own for mainnet',
      'tokens/ethereum/mainnet.json is not JSON',
      'The hardware wallet 0x00000000000000000000000000000000000000b1',
      'wallets/ethereum/hardware-wallets.json does not name the address of each hardware wallet',
      'The exchanges jupiter, orca: this server has none of that name.',
      'The swapProvider of solana-mainnet-beta (jupiter/router): here it is sluice/router.',
      '2 saved pools',
      'The slippage (uniswap 2)',
      'The nodes of infura for ethereum',
    ])
      expect(said).to.include(told)
    expect(said).not.to.include('secret-key-of-a-provider')
    expect(read('home', 'conf', 'chains', 'base.yml')).to.equal(
      'mainnet:\n  rpcUrls:\n    - https://base.node.example/v2/secret-key-of-a-provider-0123456789\n',
    )
    expect(statSync(at('home', 'conf', 'chains', 'base.yml')).mode & 0o077).to.equal(0)
    expect(read('home', 'conf', 'chains', 'ethereum.yml')).to.equal('# mine\nmainnet:\n  rpcUrls:\n    - https://mine.example/\n')
    expect(JSON.parse(read('home', 'conf', 'tokens', 'base', 'mainnet.json')).tokens).to.deep.equal([
      { ...mine, name: 'MINE' },
      { chainId: 8453, symbol: 'USDTB', address: '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2', decimals: 6, name: 'USDTB' },
    ])
    expect(read('home', 'conf', 'interfaces', 'hummingbot.yml')).to.equal('defaultNetworks:\n  ethereum: base\n')
    const { data } = loadSettings({ home: at('home') })
    for (const [chain, address] of [
      ['base', evmWallet.address],
      ['solana', solanaAddress],
    ] as const)
      expect((await decryptKey(readFileSync(keyFile(data.dir, chain, address), 'utf8'), ownPassphrase, chain)).address).to.equal(address)
    // One derivation opens a key for all its chains.
    const [first, second] = ['base', 'ethereum'].map((chain) => readFileSync(keyFile(data.dir, chain, evmWallet.address), 'utf8'))
    expect(first).to.equal(second)

    const again = await importAll()
    expect(again.said).to.include('Nothing was written.').and.include(`The wallet ${evmWallet.address}: the keystore has it.`)
    expect(again.said).not.to.include('New here')
  })

  it('adds no token whose address or symbol is on any list of the network: named in tokenLists, added while the server ran, or in conf/tokens', async () => {
    const token = (symbol: string, last: string, decimals = 18) => ({
      chainId: 8453,
      symbol,
      address: `0x00000000000000000000000000000000000000${last}`,
      decimals,
      name: symbol,
    })
    const list = (...tokens: readonly object[]) => JSON.stringify({ name: 'a list', tokens })
    write({
      ...newLayout(),
      'home/conf/chains/base.yml': 'mainnet:\n  tokenLists:\n    - lists/mine.json\n',
      'home/lists/mine.json': list(token('NAMED', 'C1'), token('TWICE', 'C2', 6), token('TWICE', 'C2', 8)),
      'home/data/tokens/base/mainnet.json': list(token('ADDED', 'C3')),
      'home/conf/tokens/base/mainnet.json': list(token('OWN', 'C4')),
      'gateway/conf/tokens/ethereum/base.json': JSON.stringify([
        token('NAMED', 'C1', 6),
        token('TWICE', 'C2', 6),
        token('ADDED', 'C3', 8),
        token('OWN', 'C4', 9),
        token('added', 'C5', 6),
        token('UNSURE', 'C6', 6),
        token('UNSURE', 'C6', 18),
        { ...token('ELSEWHERE', 'C7'), chainId: 1 },
        // The address of a token that is listed, and what would be two names in a request.
        token('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 'C9', 6),
        token('A,B', 'CA', 6),
        token('MANY', 'CB', 300),
        token('NEW', 'C8', 6),
      ]),
    })
    const { said, failed } = await run(at('gateway'), '--no-keys', '--yes')
    expect(failed, said).to.equal(false)
    for (const told of [
      'NAMED 0x00000000000000000000000000000000000000C1 has 18 decimals here, and 6 there.',
      'TWICE 0x00000000000000000000000000000000000000c2 is on a list here that has it wrong',
      'ADDED 0x00000000000000000000000000000000000000C3 has 18 decimals here, and 8 there.',
      'OWN 0x00000000000000000000000000000000000000C4 has 18 decimals here, and 9 there.',
      'added is ADDED 0x00000000000000000000000000000000000000C3 (18 decimals) here, and 0x00000000000000000000000000000000000000c5 (6 decimals) there.',
      'UNSURE 0x00000000000000000000000000000000000000c6 has 6 and 18 decimals there',
      '0x00000000000000000000000000000000000000C9 and its symbol are no entry that a list takes.',
      'conf/tokens/base/mainnet.json: NEW 0x00000000000000000000000000000000000000C8 (6 decimals)',
    ])
      expect(said, said).to.include(told)
    const tokens: readonly { symbol: string }[] = JSON.parse(read('home', 'conf', 'tokens', 'base', 'mainnet.json')).tokens
    expect(tokens.map(({ symbol }) => symbol)).to.deep.equal(['OWN', 'NEW'])
  })

  it('leaves the tokens of a network whose lists cannot be read, and a network whose chain is another one there', async () => {
    write({
      ...newLayout(),
      'home/conf/chains/base.yml': 'mainnet:\n  tokenLists:\n    - lists/absent.json\n',
      'gateway/conf/chains/ethereum/mainnet.yml': 'chainID: 11155111\nnodeURL: https://other.node.example/\n',
    })
    const { said, failed } = await run(at('gateway'), '--no-keys', '--yes')
    expect(failed, said).to.equal(false)
    expect(said).to.include(
      'The 5 tokens of ethereum-base: they are not compared with those of base/mainnet, as lists/absent.json does not exist, but tokenLists names it.',
    )
    expect(said).to.include('ethereum-mainnet: the chain is 11155111 there, and 1 here.')
    expect(existsSync(at('home', 'conf', 'tokens'))).to.equal(false)
  })

  it('fills sections that are empty, keeps comments and modes of files, and writes no key where a file cannot be changed', async () => {
    write({
      ...newLayout(),
      'home/conf/chains/base.yml': '# own\nmainnet: # none yet\nsepolia:\n  required: true # for tests\n',
      'home/conf/interfaces/hummingbot.yml': 'port: "many\n',
    })
    chmodSync(at('home', 'conf', 'chains', 'base.yml'), 0o640)
    const refused = await importAll()
    expect(refused).to.include({ failed: true })
    expect(refused.said).to.match(/hummingbot\.yml is not valid YAML.* Nothing was written\./)
    expect(listWallets(loadSettings({ home: at('home') }).data.dir)).to.deep.equal([])
    expect(existsSync(at('home', 'conf', 'tokens'))).to.equal(false)

    write({ 'home/conf/interfaces/hummingbot.yml': 'port: 15889\ndefaultNetworks:\n' })
    const { said, failed } = await importAll()
    expect(failed, said).to.equal(false)
    const written = read('home', 'conf', 'chains', 'base.yml')
    expect(parse(written)).to.deep.equal({
      mainnet: { rpcUrls: ['https://base.node.example/v2/secret-key-of-a-provider-0123456789'] },
      sepolia: { required: true },
    })
    for (const comment of ['# own', '# none yet', '# for tests']) expect(written).to.include(comment)
    expect(statSync(at('home', 'conf', 'chains', 'base.yml')).mode & 0o777).to.equal(0o640)
    expect(parse(read('home', 'conf', 'interfaces', 'hummingbot.yml'))).to.deep.equal({
      port: 15889,
      defaultNetworks: { ethereum: 'base' },
    })
  })

  it('takes over the keys that the passphrase opens, tells of the others, and takes those over the next time', async () => {
    const other = new Wallet(Wallet.createRandom().privateKey)
    const [otherFile, brokenFile] = [other.address, mine.address].map((address) => `gateway/conf/wallets/ethereum/${address}.json`)
    write({
      ...newLayout(),
      [String(otherFile)]: await other.encrypt('another passphrase', { scrypt: { N: 1024 } } as never),
      [String(brokenFile)]: '{}',
      'another-passphrase': 'another passphrase',
    })
    const { said, failed } = await importAll()
    expect(failed, said).to.equal(false)
    expect(said).to.include('All of it was written, but for these keys:')
    expect(said).to.match(new RegExp(`${other.address}: The passphrase does not open .*${other.address}.json`))
    expect(said).to.match(new RegExp(`${mine.address}: .*${mine.address}.json is not a usable key file`))
    const addresses = () => new Set(listWallets(loadSettings({ home: at('home') }).data.dir).map(({ address }) => address))
    expect(addresses()).to.deep.equal(new Set([evmWallet.address, solanaAddress]))
    const more = await run(at('gateway'), '--passphrase-file', at('another-passphrase'), '--yes')
    expect(more.failed, more.said).to.equal(false)
    expect(addresses()).to.deep.equal(new Set([evmWallet.address, solanaAddress, other.address]))
  })

  it('writes nothing without consent, by a dry run, and with a wrong passphrase', async () => {
    write(newLayout())
    expect(await run(at('gateway', 'conf')))
      .to.include({ failed: true })
      .and.to.have.property('said')
      .that.includes('say --yes to write this')
    expect((await run(at('gateway'), '--dry-run')).said).to.include('Nothing was written.')
    write({ wrong: 'not the passphrase' })
    for (const files of [{}, { [`gateway/conf/wallets/ethereum/${evmWallet.address}.json`]: undefined }]) {
      for (const name of Object.keys(files)) writeFileSync(at(name), '{}')
      expect((await run(at('gateway'), '--passphrase-file', at('wrong'), '--yes')).failed).to.equal(true)
    }
    expect(existsSync(at('home', 'conf', 'chains', 'base.yml'))).to.equal(false)
    expect(readdirSync(at('home', 'conf'))).to.deep.equal(['chains'])
    expect(listWallets(loadSettings({ home: at('home') }).data.dir)).to.deep.equal([])
  })

  it('reads the layout of the versions before 2.8, and of the first generation', async () => {
    write({
      'gateway/conf/root.yml': 'version: 3\n',
      'gateway/conf/ethereum.yml':
        'defaultNetwork: arbitrum_one\nnetworks:\n  arbitrum_one:\n    chainID: 42161\n    nodeURL: https://arbitrum.node.example\n    tokenListType: FILE\n    tokenListSource: /home/gateway/conf/lists/arbitrum.json\n',
      'gateway/conf/polygon.yml':
        'defaultNetwork: mainnet\nnetworks:\n  mainnet:\n    chainID: 137\n    nodeURL: https://polygon.node.example\n',
      'gateway/conf/uniswap.yml': 'allowedSlippage: 2/100\n',
      'gateway/conf/lists/arbitrum.json': JSON.stringify({ tokens: [{ ...mine, chainId: 42161 }] }),
      [`gateway/conf/wallets/polygon/${evmWallet.address}.json`]: evmKey,
    })
    const { said, failed } = await importAll()
    expect(failed, said).to.equal(false)
    expect(read('home', 'conf', 'chains', 'arbitrum.yml')).to.include('https://arbitrum.node.example')
    expect(read('home', 'conf', 'chains', 'polygon.yml')).to.include('https://polygon.node.example')
    expect(JSON.parse(read('home', 'conf', 'tokens', 'arbitrum', 'mainnet.json')).tokens).to.have.length(1)
    expect(listWallets(loadSettings({ home: at('home') }).data.dir).map(({ chain }) => chain)).to.deep.equal(['polygon'])
  })

  it('reads the layout of 2.3 to 2.7, whose chains have no default network, and leaves the nodes that it comes with', async () => {
    const networks = (...of: readonly (readonly [string, number, string])[]) =>
      of.map(([name, chainId, url]) => `  ${name}:\n    chainID: ${chainId}\n    nodeURL: ${url}\n`).join('')
    const own = 'https://rpc.ankr.com/polygon/a-key-of-the-operator'
    const shipped = networks(
      ['mainnet', 1, 'https://rpc.ankr.com/eth'],
      ['bsc', 56, 'https://binance.llamarpc.com/'],
      ['polygon', 137, own],
    )
    write({
      'gateway/conf/root.yml': 'version: 3\n',
      'gateway/conf/ethereum.yml': `networks:\n${shipped}`,
      'gateway/conf/solana.yml': `networks:\n${networks(['mainnet-beta', 101, 'https://api.mainnet-beta.solana.com'])}`,
      'gateway/conf/uniswap.yml':
        "allowedSlippage: '2/100'\nnetworks:\n  base:\n    clmm:\n      WETH-USDC: '0xd0b53d9277642d899df5c87a3966a349a798f224'\n",
      [`gateway/conf/wallets/ethereum/${evmWallet.address}.json`]: evmKey,
      [`gateway/conf/wallets/solana/${solanaAddress}.json`]: solanaKeyFile(),
    })
    const { said, failed } = await importAll()
    expect(failed, said).to.equal(false)
    for (const told of [
      'The nodes that a Gateway comes with (ethereum-mainnet, ethereum-bsc)',
      'The slippage (uniswap 2/100)',
      'so name their chains, such as --chain base.',
      `the key of ${evmWallet.address} for ethereum\n`,
      `the key of ${solanaAddress} for solana\n`,
    ])
      expect(said).to.include(told)
    expect(said).not.to.include('uniswap-base')
    expect(readdirSync(at('home', 'conf', 'chains'))).to.deep.equal(['polygon.yml'])
    expect(parse(read('home', 'conf', 'chains', 'polygon.yml'))).to.deep.equal({ mainnet: { rpcUrls: [own] } })
    const chains = () => listWallets(loadSettings({ home: at('home') }).data.dir).map(({ chain }) => chain)
    expect(chains()).to.deep.equal(['ethereum', 'solana'])
    const more = await run(at('gateway'), '--passphrase-file', at('gateway-passphrase'), '--yes', '--chain', 'base')
    expect(more.said).to.include(`the key of ${evmWallet.address} for base\n`).and.not.to.include('such as --chain base')
    expect(chains()).to.deep.equal(['base', 'ethereum', 'solana'])
  })

  it('offers keys for no other chain where the default network of a Gateway is none of this server, and says so', async () => {
    const layout = newLayout()
    write({ ...layout, 'gateway/conf/chains/ethereum.yml': 'defaultNetwork: nowhere\n' })
    const { said, failed } = await importAll()
    expect(failed, said).to.equal(false)
    expect(said).to.include('its default network (ethereum-nowhere) is none of this server, so name their chains, such as --chain base.')
    expect(said).not.to.include(`the key of ${evmWallet.address}`).and.not.to.include('no chain of this server has such keys')
    expect(listWallets(loadSettings({ home: at('home') }).data.dir).map(({ chain }) => chain)).to.deep.equal(['solana'])
    const more = await run(at('gateway'), '--passphrase-file', at('gateway-passphrase'), '--yes', '--chain', 'base')
    expect(more.said).to.include(`the key of ${evmWallet.address} for base\n`)
  })

  it('refuses a folder that is no Gateway’s and a chain that there is not, by name', async () => {
    write({ 'other/readme': 'x' })
    expect((await run(at('other'))).said).to.include('is no folder of Hummingbot’s Gateway'.replace('’', "'"))
    write(newLayout())
    expect((await run(at('gateway'), '--chain', 'nochain', '--dry-run')).said).to.include('There is no chain "nochain"')
  })
})
