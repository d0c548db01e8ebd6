import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { Interface } from 'ethers'
import { stringify } from 'yaml'
import { tradingWallets } from '../../core/devnet/anvil.ts'
import { beginCount } from '../../core/wallet/limits/count-file.ts'
import { ensureCertificates } from '../../core/tls/ensure-certificates.ts'
import { openAuthority, issueCertificate } from '../../core/tls/authority.ts'
import { trustPlugins } from '../../testkit/server.ts'
import { answering, json, startFakeNode, type FakeNode } from '../kits/evm/fake-node.ts'
import { commandsInOneProcess, makeHome, root } from '../start/command.ts'

const dayMs = 86_400_000
const off = { enabled: false }
const devnetOnly = { mainnet: off, sepolia: off, local: { required: true } }

describe('sluice doctor', function () {
  this.timeout(300_000)
  const nodes: FakeNode[] = []
  const removals: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.close()
    for (const remove of removals.splice(0)) await remove()
  })

  async function newHome(chain: object, server: Record<string, unknown> = {}): Promise<string> {
    const { home, remove } = await makeHome(server)
    removals.push(remove)
    await writeFile(path.join(home, 'conf', 'chains', 'ethereum.yml'), stringify(chain))
    return home
  }

  const type = commandsInOneProcess()
  const doctor = (home: string, ...args: string[]) => type({}, home, ...args, 'doctor')

  /** A node whose clock is that many seconds ahead. */
  async function nodeAhead(chainId: string, seconds: number): Promise<string> {
    const node = await startFakeNode((asked, response) => {
      const timestamp = `0x${(Math.floor(Date.now() / 1000) + seconds).toString(16)}`
      const block = { number: '0x9', hash: `0x${'ab'.repeat(32)}`, timestamp, baseFeePerGas: '0x1', gasUsed: '0x0', gasLimit: '0x1c9c380' }
      answering({ eth_chainId: chainId, eth_getBlockByNumber: block, eth_maxPriorityFeePerGas: '0x0' })(asked, response)
    })
    nodes.push(node)
    return node.url
  }

  it('finds no problem in a fresh checkout, and checks every part', async () => {
    const { code, said } = await doctor(await newHome(devnetOnly))
    expect(code, said).to.equal(0)
    expect(said, 'networks that are switched off').not.to.contain('does not serve')
    expect(said, 'networks that nobody chose')
      .not.to.match(/^[!✗] nodes/m)
      .and.not.to.match(/(base|solana)\/mainnet/)
    for (const line of [
      /^✓ configuration .+ is in order\.$/m,
      /^! certificates +There are none in .+ yet\.\n +→ The first start makes them/m,
      /^✓ disk +[\d.]+ GB free in /m,
      /^✓ keystore +No keys of your own/m,
      /^✓ plugins +uniswap loads\.$/m,
      /^✓ nodes +ethereum\/local is the devnet/m,
      /^✓ nodes +\d\d more networks have the defaults, and no node of them was asked: `bin\/sluice doctor --all` does\.$/m,
      /^Nothing stops the server from starting\.$/m,
    ])
      expect(said).to.match(line)
  })

  it('says what is wrong in conf/limits.yml, then what is doubtful, and which wallets it bounds where', async () => {
    const home = await newHome(devnetOnly)
    const [wallet = ''] = tradingWallets
    const stranger = wallet.toLowerCase().replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    const gasCost = { perDay: '1' }
    const write = (network: string, tokens: object) => {
      const row = { [network]: { gasCost, tokens } }
      return writeFile(path.join(home, 'conf', 'limits.yml'), stringify({ wallets: { [wallet]: row, [stranger]: row } }))
    }
    const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
    await write('ethereum/mainnet', { [usdc]: { decimals: 18, perDay: '1' }, USDT: { decimals: 6, perDay: '1' } })
    const wrong = await doctor(home)
    expect(wrong.code).to.equal(1)
    expect(wrong.said.match(/^✗ limits /gm)).to.have.length(4)
    expect(wrong.said)
      .to.match(
        /limits\.yml:\d+ {2}wallets\.0x\w+\.ethereum\/mainnet\.tokens\.0x\w+\.decimals: is 18, and USDC .* has 6[^\n]*\n +→ Write decimals: 6/,
      )
      .and.match(/tokens\.USDT: is no address[^\n]*\n +→ Write "0x/)
    await write('ethereum/local', { [usdc]: { decimals: 6, perDay: '1' } })
    expect((await doctor(home)).said).to.match(/^✗ limits +Nothing is signed for the 2 wallets of conf\/limits\.yml: there is no count/m)
    await beginCount(path.join(home, 'data'))
    const { said } = await doctor(home)
    expect(said)
      .to.contain(`The signer bounds by conf/limits.yml: ${wallet} on ethereum/local; ${stranger} on ethereum/local.`)
      .and.match(new RegExp(`^! limits +The limits of the wallet ${stranger} .*\\(did you mean "${wallet}"\\?\\)\\.$`, 'm'))
      .and.match(/^! limits +tokens\.0xA0b\w+ .* is in no token list that was read/m)
  })

  it('reports each problem with its remedy, and exits with 1', async () => {
    const home = await newHome(
      {
        ...devnetOnly,
        mainnet: { required: true, rpcUrls: [await nodeAhead('0x1', 3600)] },
        sepolia: { required: true, rpcUrls: ['http://127.0.0.1:1'] },
      },
      { plugins: { folders: [path.join(root, 'plugins'), path.join(root, 'test/fixtures/plugins/broken/no-default-export')] } },
    )
    await trustPlugins({
      plugins: { folders: [path.join(root, 'test/fixtures/plugins/broken/no-default-export')], disabled: [] },
      confDir: path.join(home, 'conf'),
    })
    await writeFile(path.join(home, 'conf', 'servre.yml'), 'server: {}\n')
    const certsDir = path.join(home, 'certs')
    await ensureCertificates({ certsDir })
    const expired = await issueCertificate(await openAuthority(certsDir), {
      commonName: 'localhost',
      usage: 'server',
      hostnames: ['localhost'],
      notBefore: new Date(Date.now() - 2 * dayMs),
      notAfter: new Date(Date.now() - dayMs),
    })
    await writeFile(path.join(certsDir, 'server_cert.pem'), expired.certPem)
    await writeFile(path.join(certsDir, 'server_key.pem'), expired.keyPem)
    const keys = path.join(home, 'data', 'keystore', 'ethereum')
    await mkdir(keys, { recursive: true })
    await writeFile(path.join(keys, '0x70997970C51812dc3A010C7d01b50e0d17dc79C8.json'), '{"version":3')

    const { code, said } = await doctor(home)
    expect(code, said).to.equal(1)
    for (const line of [
      /^! configuration .*servre\.yml/m,
      /^✗ certificates +The server certificate expired on .+\n +→ Run `bin\/sluice certs renew server`\.$/m,
      /^✗ keystore .*0x70997970C51812dc3A010C7d01b50e0d17dc79C8\.json/m,
      /^✗ plugins +no-default-export is refused \(consent\): It is trusted, and is not run here: its record has no seal.+\n +→ .+plugin trust no-default-export/m,
      /^✗ clock +This machine's clock is 3\d\d\d s behind ethereum\/mainnet\.\n +→ .+NTP/m,
      /^✗ nodes +ethereum\/sepolia: .+127\.0\.0\.1:1 .+\n +→ Its node is on this machine, at http:\/\/127\.0\.0\.1:1: start that, or correct rpcUrls in conf\/chains\/ethereum\.yml/m,
      /^✗ plugins +The signer does not sign for no-default-export: .+\n +→ .+plugin trust no-default-export/m,
      /^6 things to mend\.$/m,
    ])
      expect(said).to.match(line)
  })

  it('finds misspelt names, and does not warn of the file of a refused plugin', async () => {
    const plugins = { folders: [path.join(root, 'plugins')], disabled: ['sushi-swap'] }
    const home = await newHome(devnetOnly, { plugins })
    const nobody = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92267'
    await writeFile(path.join(home, 'conf', 'connectors', 'uniswap.yml'), 'allowedSlippage: 0.01\n')
    const tokens = { 'ethereum/local': { ETH: { perHour: '1' }, WET: { perHour: '1' } } }
    const bot = { permissions: ['read'], wallets: [nobody], limits: { maxDailyGas: '1', tokens } }
    await writeFile(path.join(home, 'conf', 'clients.yml'), stringify({ clients: { bot } }))

    const { code, said } = await doctor(home)
    expect(code, said).to.equal(1)
    for (const line of [
      /^! configuration plugins\.disabled names "sushi-swap", but there is no such plugin\. Did you mean sushiswap\?/m,
      /^! clients +bot may use 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92267, but the server holds no such wallet\.\n +→ .+wallet add/m,
      /^! clients +limits\.tokens\["ethereum\/local"\]\.WET of the client "bot" .+ \(did you mean "WETH"\?\)/m,
      /^✗ plugins +uniswap is refused \(configuration\): conf\/connectors\/uniswap\.yml:1 allowedSlippage: .+\n +→ .+such as 1\/100/m,
    ])
      expect(said).to.match(line)
    expect(said).not.to.contain('uniswap.yml is not read')
    expect(said, 'the coin').not.to.contain('.ETH of the client')
  })

  it('says from when an entry of a client with an error closes it, and that a server that runs keeps its clients', async () => {
    const home = await newHome(devnetOnly)
    const bot = { permissions: ['read', 'trade'], wallets: 'all', limits: { maxDailyLoss: 'much' } }
    await writeFile(path.join(home, 'conf', 'clients.yml'), stringify({ clients: { bot } }))

    const { code, said } = await doctor(home)
    expect(code, said).to.equal(1)
    expect(said).to.match(
      /^✗ rights +conf\/clients\.yml:\d+ clients\.bot\.limits\.maxDailyLoss .+, so from the next start on the client "bot" has no permission\. A server that runs keeps all clients as they were before the file had an error\.\n +→ /m,
    )
  })

  it('warns of a node whose newest block is old: it is behind, or this clock is ahead', async () => {
    const { code, said } = await doctor(await newHome({ ...devnetOnly, sepolia: { rpcUrls: [await nodeAhead('0xaa36a7', -3600)] } }))
    expect(code, said).to.equal(0)
    expect(said).to.match(/^! clock +The newest block of ethereum\/sepolia is 36\d\d s old.+\n +→ .+NTP/m)
  })

  it('tells what a node takes less than is usual', async () => {
    const now = `0x${Math.floor(Date.now() / 1000).toString(16)}`
    const multicall = new Interface(['function aggregate3((address,bool,bytes)[]) returns ((bool,bytes)[])'])
    const words = [20_000n, BigInt(now), 1n].map((word) => [true, `0x${word.toString(16).padStart(64, '0')}`])
    const results: Record<string, unknown> = {
      eth_chainId: '0xaa36a7',
      eth_getBlockByNumber: {
        number: '0x4e20',
        hash: `0x${'ab'.repeat(32)}`,
        timestamp: now,
        baseFeePerGas: '0x1',
        gasUsed: '0x0',
        gasLimit: '0x1c9c380',
      },
      eth_maxPriorityFeePerGas: '0x0',
      eth_call: multicall.encodeFunctionResult('aggregate3', [words]),
    }
    const node = await startFakeNode(({ calls, batched }, response) => {
      const answers = calls.map(({ id, method, params: [filter] }) => {
        const { fromBlock = '0x0', toBlock = 'latest' } = Object(filter) as { fromBlock?: string; toBlock?: string }
        const blocks = (toBlock === 'latest' ? 20_000 : Number(toBlock)) - Number(fromBlock) + 1
        if (method !== 'eth_getLogs') return { jsonrpc: '2.0', id, result: results[method] ?? null }
        const error = { code: -32600, message: 'You can make eth_getLogs requests with up to a 500 block range.' }
        return { jsonrpc: '2.0', id, ...(blocks > 500 ? { error } : { result: [] }) }
      })
      if (batched && calls.length > 2)
        json(response, { jsonrpc: '2.0', id: null, error: { code: 31, message: 'Batch of more than 2 requests are not allowed' } })
      else json(response, batched ? answers : answers[0])
    })
    nodes.push(node)
    const { code, said } = await doctor(await newHome({ ...devnetOnly, sepolia: { rpcUrls: [node.url] } }))
    expect(code, said).to.equal(0)
    expect(said).to.match(
      /^! nodes +ethereum\/sepolia: http:.+ takes (batches of 1 calls|eth_getLogs of 500 blocks) and (batches of 1 calls|eth_getLogs of 500 blocks) at most/m,
    )
  })

  it('reports a data folder that it cannot write', async () => {
    const home = await newHome(devnetOnly)
    await writeFile(path.join(home, 'taken'), '')
    const { code, said } = await doctor(home, '--set', `data.dir=${path.join(home, 'taken', 'data')}`)
    expect(code, said).to.equal(1)
    expect(said).to.match(/^✗ disk +.+taken\/data cannot be written: .+\n +→ .+data\.dir/m)
  })
})
