import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { AbiCoder, JsonRpcProvider, ContractFactory, NonceManager, Wallet, toQuantity } from 'ethers'
import testToken from '../../plugins/ethereum/artifacts/TestToken.json' with { type: 'json' }
import { startServer, type TestServer } from '../../testkit/server.ts'
import type { Answer } from '../../testkit/client.ts'
import { local, oneChain, outcome } from './shared-server.ts'
import { rpcTo, type Rpc } from '../../core/devnet/anvil.ts'

const missing = '0x000000000000000000000000000000000000dEaD'

describe('tokens at run time', function () {
  this.timeout(300_000)
  let server: TestServer
  let rpc: Rpc
  let deployer: NonceManager
  const show = (address: string): Promise<Answer> => server.client.get('/network/token', { ...local, token: address })
  const add = (fields: object): Promise<Answer> => server.client.post('/network/tokens/add', { ...local, ...fields })
  const file = () => path.join(server.settings.data.dir, 'tokens', 'ethereum', 'local.json')
  /** A token of this symbol, by real bytecode. */
  async function deploy(symbol: string, decimals = 18): Promise<string> {
    const contract = await new ContractFactory(testToken.abi, testToken.bytecode, deployer).deploy('A token', symbol, decimals)
    return (await contract.waitForDeployment()).getAddress()
  }
  /** A contract that answers each call with these words. */
  async function answering(address: string, ...words: bigint[]): Promise<string> {
    const data = AbiCoder.defaultAbiCoder()
      .encode(
        words.map(() => 'uint256'),
        words,
      )
      .slice(2)
    const size = (data.length / 2).toString(16).padStart(4, '0')
    await rpc('anvil_setCode', address, `0x61${size}600e60003961${size}6000f3${data}`)
    return address
  }

  before(async () => {
    server = await startServer(oneChain)
    rpc = rpcTo(server.rpcUrl)
    const provider = new JsonRpcProvider(server.rpcUrl, undefined, { staticNetwork: true, cacheTimeout: -1 })
    const wallet = Wallet.createRandom()
    await rpc('anvil_setBalance', wallet.address, toQuantity(10n ** 20n))
    deployer = new NonceManager(wallet.connect(provider))
  })
  after(() => server?.stop())

  it('appear by their address, listed or not', async () => {
    const [usdc] = (await server.client.get('/network/tokens', { ...local, tokenSymbols: 'USDC' })).body
    expect((await show(usdc.address)).body).to.deep.include({ symbol: 'USDC', decimals: 6, listed: true, warnings: [] })
    const fresh = await deploy('FRESH', 9)
    const { body } = await show(fresh.toLowerCase())
    expect(body).to.deep.include({ symbol: 'FRESH', address: fresh, decimals: 9, listed: false, warnings: [] })
    expect((await show(`0x${'0'.repeat(40)}`)).body).to.include({ symbol: 'ETH', listed: true })
  })

  for (const symbol of ['USDC', 'usdc', 'UЅDС', 'USDC\u200b', 'ՍSDC'.replace('Ս', 'U'), 'WΕΤΗ', 'DA1', 'ꓴꓢꓓꓚ', 'ＵＳＤＣ'])
    it(`say of whom ${JSON.stringify(symbol)} is an impostor, which cannot be added under that symbol`, async () => {
      const fake = await deploy(symbol)
      const { body } = await show(fake)
      expect(body.impostorOf).to.match(/^0x/)
      expect(body.warnings[0]).to.contain(body.impostorOf)
      const refused = await add({ token: fake })
      expect(outcome(refused), refused.text).to.equal('400 INCOMPLETE_PARAMS')
      expect(refused.body.details[0]).to.include({ field: 'symbol' })
    })

  it('have their symbol as soon as they were added, and after a restart', async () => {
    const address = await deploy('GEM', 4)
    expect(outcome(await server.client.get('/network/tokens', { ...local, tokenSymbols: 'GEM' }))).to.equal('404 TOKEN_NOT_SUPPORTED')
    const added = await add({ token: address, decimals: 4 })
    expect(added.body, added.text).to.include({ symbol: 'GEM', address, decimals: 4, listed: true, added: true })
    expect((await add({ token: address })).body).to.include({ symbol: 'GEM', added: false })
    expect((await server.client.get('/network/tokens', { ...local, tokenSymbols: 'gem' })).body[0]).to.include({ address, decimals: 4 })
    const { tokens } = JSON.parse(await readFile(file(), 'utf8'))
    expect(tokens).to.deep.equal([{ chainId: 31337, symbol: 'GEM', address, decimals: 4, name: 'GEM' }])
    // What the file has is read at the start, by the loader of all lists.
    const { loadTokens } = await import('../../core/config/token-list.ts')
    const { home, data } = server.settings
    const where = { chain: 'ethereum', network: 'local', chainId: 31337, home, dataDir: data.dir, tokenLists: [] }
    const again = await loadTokens({ ...where, pluginFolder: '/nowhere', confDir: path.join(home, 'conf') })
    expect(again).to.deep.equal([{ symbol: 'GEM', address, decimals: 4 }])
  })

  it('all enter the list where several come at once, each of them once', async () => {
    const addresses = [await deploy('ONE'), await deploy('TWO'), await deploy('THREE')]
    const answers = await Promise.all([...addresses, ...addresses].map((address) => add({ token: address })))
    for (const { status, text } of answers) expect(status, text).to.equal(200)
    const { tokens } = JSON.parse(await readFile(file(), 'utf8'))
    for (const address of addresses) expect(tokens.filter((each: { address: string }) => each.address === address)).to.have.length(1)
  })

  it('take the symbol of the request where their own is of no use', async () => {
    const nameless = await answering('0x00000000000000000000000000000000000A11cE'.toLowerCase(), 7n)
    const shown = (await show(nameless)).body
    expect(shown.warnings[0]).to.contain('no symbol')
    expect(outcome(await add({ token: nameless }))).to.equal('400 INCOMPLETE_PARAMS')
    for (const symbol of ['a:b', 'a,b', ' a', '\u0007', '0xabc', 'USDC'])
      expect(outcome(await add({ token: nameless, symbol })), symbol).to.equal('400 INCOMPLETE_PARAMS')
    expect((await add({ token: nameless, symbol: 'SEVEN' })).body).to.include({ symbol: 'SEVEN', decimals: 7 })
    expect(outcome(await add({ token: nameless, symbol: 'EIGHT' }))).to.equal('400 INCOMPLETE_PARAMS')
  })

  it('get an answer where one among them is dead, which it names', async () => {
    const gone = await deploy('GONE')
    await add({ token: gone })
    await rpc('anvil_setCode', gone, '0x')
    const [wallet, tokenSymbols] = [missing, ['ETH', 'GONE', 'USDC', 'NOPE']]
    const shown = await server.client.get('/network/balances', { ...local, address: wallet, tokenSymbols })
    expect(shown.status, shown.text).to.equal(200)
    expect(Object.keys(shown.body.balances)).to.deep.equal(['ETH', 'USDC'])
    expect(shown.body.unavailable.map(({ token }: { token: string }) => token)).to.deep.equal(['NOPE', 'GONE'])
    const allowed = await server.client.get('/evm/allowances', { ...local, address: wallet, spender: missing, tokenSymbols })
    expect(allowed.body.unavailable).to.deep.equal(shown.body.unavailable)
    expect(Object.keys(allowed.body.approvals)).to.deep.equal(['ETH', 'USDC'])
    const alone = await server.client.get('/network/balances', { ...local, address: wallet, tokenSymbols: 'GONE' })
    expect(outcome(alone)).to.equal('404 TOKEN_NOT_SUPPORTED')
  })

  it('say what is odd about them', async () => {
    expect((await show(await deploy('ZERO', 0))).body.warnings[0]).to.contain('no decimals')
    expect((await show(await deploy('MANY', 60))).body.warnings[0]).to.contain('60 decimals')
    expect((await show(await deploy('ÑANDÚ'))).body.warnings[0]).to.contain('ASCII')
  })

  for (const [what, address, says] of [
    ['an address without a contract', missing, '404 TOKEN_NOT_SUPPORTED'],
    ['a wrong checksum', missing.replace('dEaD', 'deAd'), '400 INCOMPLETE_PARAMS'],
    ['no address', 'USDC', '400 INCOMPLETE_PARAMS'],
    ['Multicall3, which is no token', '0xcA11bde05977b3631167028862bE2a173976CA11', '404 TOKEN_NOT_SUPPORTED'],
  ] as const)
    it(`refuse ${what}`, async () => {
      expect(outcome(await show(address))).to.equal(says)
      expect(outcome(await add({ token: address }))).to.equal(says)
    })

  it('refuse other decimals than the contract’s, and a contract with more than amounts can have', async () => {
    const address = await deploy('SIX', 6)
    const refused = await add({ token: address, decimals: 18 })
    expect(outcome(refused)).to.equal('400 INCOMPLETE_PARAMS')
    expect(refused.body.message).to.contain('has 6')
    const huge = await answering('0x00000000000000000000000000000000000b16B1'.toLowerCase(), 255n)
    expect(outcome(await add({ token: huge, symbol: 'HUGE' }))).to.equal('404 TOKEN_NOT_SUPPORTED')
  })

  it('change nothing where the list is damaged', async () => {
    const before = await readFile(file(), 'utf8')
    const address = await deploy('LATE')
    await writeFile(file(), before.slice(0, -5))
    const refused = await add({ token: address })
    expect(outcome(refused), refused.text).to.equal('501 UNSUPPORTED')
    expect(refused.body.message).to.not.contain(server.settings.data.dir)
    expect(await readFile(file(), 'utf8')).to.equal(before.slice(0, -5))
    expect(outcome(await server.client.get('/network/tokens', { ...local, tokenSymbols: 'LATE' }))).to.equal('404 TOKEN_NOT_SUPPORTED')
    await writeFile(file(), before)
    expect((await add({ token: address })).body).to.include({ added: true })
  })

  it('compete for one symbol where two come at once: one gets it', async () => {
    const twins = [await deploy('TWIN'), await deploy('TWIN')]
    const answers = await Promise.all(twins.map((token) => add({ token })))
    expect(answers.map((each) => outcome(each)).toSorted()).to.deep.equal(['200', '400 INCOMPLETE_PARAMS'])
    expect((await server.client.get('/network/tokens', { ...local, tokenSymbols: 'TWIN' })).body).to.have.length(1)
  })
})
