// A server whose clients' certificates are stolen, and a thief with means of its own on the devnet's chain.
import { readdirSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Contract, ContractFactory, JsonRpcProvider, MaxUint256, hexlify, parseUnits, randomBytes, toQuantity, Wallet } from 'ethers'
import { builtInPlugins } from '../../core/base/layout.ts'
import { readArtifact } from '../../core/devnet/build-state.ts'
import { rpcTo, type Rpc } from '../../core/devnet/anvil.ts'
import { startKernel, type Kernel } from '../../core/kernel.ts'
import { saveKey } from '../../core/keys/keystore.ts'
import { openMarket } from '../../core/parts/trading.ts'
import { beginCount } from '../../core/wallet/limits/count-file.ts'
import { newClients } from '../../core/tls/certificates.ts'
import { createClient, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { callOf, callTogether, sendFrom, takeAccount } from '../devnet/accounts.ts'
import { addresses } from '../devnet/addresses.ts'
import { local, mined, oneChain, uniswap } from '../http/shared-server.ts'

const passphrase = 'only for tests'
/** `Wallet.createRandom` derives it from words, which takes long. */
const newWallet = (): Wallet => new Wallet(hexlify(randomBytes(32)))
/** Of dollars, as the devnet's pools say. */
const prices = { ETH: 3000, WETH: 3000, USDC: 1, DAI: 1, USDT: 1, WBTC: 60_000 } as const
type Symbol = keyof typeof prices
type Token = keyof typeof addresses.tokens
/** What each wallet is given. */
const funds = { WETH: '300', USDC: '300000', DAI: '100000', WBTC: '5' } as const
const etherRaw = parseUnits('300', 18)
/** The longest time between two readings of the market that counts as a whole. */
const readingSeconds = 60
const decimalsOf = (symbol: Symbol): number => (symbol === 'ETH' ? 18 : addresses.tokens[symbol].decimals)

/** Who takes which tokens of the wallets. */
const all = ['WETH', 'USDC', 'WBTC', 'DAI'] as const
const spenders = {
  uniswap: all,
  'uniswap/v2': all,
  'uniswap/v3': all,
  'uniswap/positions': all,
  oasis: all,
  perp: ['USDC'],
  balancer: ['WETH'],
} as const

/** An address, or the data of a call, with another token in place of one. */
function withToken(bytes: string, token: Token, other: Token): string {
  const bare = (of: Token) => addresses.tokens[of].address.slice(2).toLowerCase()
  return bytes.toLowerCase().replaceAll(bare(token), bare(other))
}

export const pools = { v2Router: addresses.exchanges.uniswap.router, ...addresses.rangeExchanges.uniswap }

/** What is stolen: a certificate with the permissions read and trade, and the wallet that it may use. */
export interface Stolen {
  readonly client: Client
  readonly address: string
  /** The same certificate, at the other server of the database. */
  readonly elsewhere?: Client
}

type KernelParts = NonNullable<Parameters<typeof startKernel>[2]>

/** A second server with the same keys, on the same database, and with the one connector that is asked there. */
async function startOther({ settings, kernel: { devnet } }: TestServer, home: string, parts: KernelParts): Promise<Kernel> {
  const connectors = readdirSync(builtInPlugins).filter((name) => !['ethereum', 'uniswap'].includes(name))
  const plugins = { ...settings.plugins, folders: [builtInPlugins], disabled: connectors }
  const own = { ...settings, plugins, data: { ...settings.data, dir: path.join(home, 'other') } }
  await cp(settings.data.dir, own.data.dir, { recursive: true })
  const other = await startKernel(own, { print: () => {}, ...(devnet && { devnet }) }, parts)
  await other.pluginsLoaded
  return other
}

export interface RobbedWallets {
  readonly server: TestServer
  readonly owner: Client
  readonly rpc: Rpc
  /** The thief's own wallet, with as much as it likes: the node sends for it. */
  readonly thief: string
  readonly provider: JsonRpcProvider
  readonly stolen: readonly Stolen[]
  /** The wallet of somebody who helps the thief, by the owner's certificate: no limits hold it. */
  readonly friend: string
  /** The thief sends a transaction of its own, such as `deposit()`. */
  send(to: string, signature: string, args: readonly unknown[], value?: bigint): Promise<void>
  /** A new token of the thief's, which has all of it. */
  newToken(symbol: string): Promise<string>
  /** What the wallet itself has, in dollars at the prices of the start. */
  held(address: string): Promise<number>
  /** The same with what it has elsewhere, once its positions are closed and its orders are cancelled. */
  worth(address: string): Promise<number>
  /** All that the server has signed for the wallet is in a block then: it may answer before the node has it. */
  mineAll(address: string): Promise<void>
  /** Seconds of the market's time. */
  pass(seconds: number): Promise<void>
  /** Hours of the store's time, in which nothing happens. */
  age(hours: number): Promise<void>
  /** The second server ends, and with it what it has under way. */
  stopOther(): Promise<void>
  stop(): Promise<void>
}

interface Options {
  /** The operator lets wallets approve the thief. */
  readonly allowsThief?: true
  /** A folder of plugins that the operator has allowed. */
  readonly plugins?: string
  /** A database that two servers share. */
  readonly storeUrl?: string
  /** Of `limits.marketMinutes`. Absent: its default. */
  readonly marketMinutes?: number
  readonly settings?: Readonly<Record<string, unknown>>
  /** Of the network: where trades that are to be private go. */
  readonly privateUrls?: readonly string[]
  /** Of a wallet, in place of `limits`; and what else is configured, by the addresses of all. */
  limitsOf?(index: number): object | undefined
  more?(wallets: readonly string[]): { readonly clients: Readonly<Record<string, object>>; readonly conf: Readonly<Record<string, object>> }
}

/** @param limits of each client; undefined: those of everybody */
export async function startRobbedWallets(
  count: number,
  limits: object | undefined,
  { allowsThief, plugins, storeUrl, marketMinutes = 20, settings, privateUrls, limitsOf = () => limits, more }: Options = {},
): Promise<RobbedWallets> {
  const home = await mkdtemp(path.join(tmpdir(), 'sluice-thief-'))
  const keys = Array.from({ length: count }, newWallet)
  const friend = newWallet()
  const dataDir = path.join(home, 'data')
  await mkdir(dataDir, { mode: 0o700, recursive: true })
  const passphraseFile = path.join(home, 'passphrase')
  await writeFile(passphraseFile, passphrase, { mode: 0o600 })
  for (const { privateKey } of [...keys, friend]) await saveKey({ dataDir, chain: 'ethereum', privateKey, passphrase, scryptN: 2 })
  const named = keys.map(({ address }, index) => [`bot-${index}`, address] as const)
  const further = more?.(keys.map(({ address }) => address))
  if (further?.conf['limits.yml']) await beginCount(dataDir)
  const bots = named.map(([name, address], index) => {
    const own = limitsOf(index)
    return [name, { permissions: ['read', 'trade'], wallets: [address], ...(own && { limits: own }) }] as const
  })
  const clients = {
    client: { permissions: ['read', 'trade', 'thin', 'admin', 'stop', 'resume', 'approve'], wallets: 'all' },
    ...Object.fromEntries(bots),
    ...further?.clients,
  }
  const ofChain = oneChain.conf['chains/ethereum.yml']
  const chainConf = { ...ofChain, local: { ...ofChain.local, ...(privateUrls && { privateUrls }) } }
  let nowMs = 0
  let store: Parameters<typeof openMarket>[0]['store'] | undefined
  const parts: KernelParts = {
    market: {
      open(open) {
        store = open.store
        return openMarket(open, () => nowMs)
      },
      stop: (market) => market.stop(),
    },
  }
  const thief = newWallet().address
  const server = await startServer(
    {
      trusted: plugins ? ['sly'] : [],
      settings: {
        ...oneChain.settings,
        'limits.onLocalNetworks': true,
        'limits.marketMinutes': marketMinutes,
        'limits.marketDepth': 80_000,
        ...(allowsThief && { 'wallet.allowedSpenders': [thief] }),
        ...(plugins && { 'plugins.folders': [fileURLToPath(new URL('../../plugins', import.meta.url)), plugins] }),
        ...(storeUrl && { 'store.url': storeUrl }),
        ...settings,
      },
      conf: { ...oneChain.conf, 'chains/ethereum.yml': chainConf, 'clients.yml': { clients }, ...further?.conf },
      env: { SLUICE_WALLET_PASSPHRASE_FILE: passphraseFile },
    },
    home,
    parts,
  )
  let other = storeUrl === undefined ? undefined : await startOther(server, home, parts)
  const rpc = rpcTo(server.rpcUrl)
  const provider = new JsonRpcProvider(server.rpcUrl, undefined, { staticNetwork: true, cacheTimeout: -1, pollingInterval: 50 })
  await takeAccount(rpc, thief, parseUnits('1000000', 18))

  const send = async (to: string, signature: string, args: readonly unknown[], value?: bigint): Promise<void> =>
    void (await sendFrom(rpc, thief, callOf(to, signature, args, value)))
  const approvalsOf = (token: string) =>
    [pools.v2Router, pools.router, pools.positionManager].map((spender) => callOf(token, 'approve(address,uint256)', [spender, MaxUint256]))
  const { WETH, ...others } = addresses.tokens
  await callTogether(
    rpc,
    thief,
    [thief],
    [
      callOf(WETH.address, 'deposit()', [], parseUnits('200000', 18)),
      ...Object.values(others).map(({ address, decimals }) =>
        callOf(address, 'mint(address,uint256)', [thief, parseUnits('100000000', decimals)]),
      ),
      ...Object.values(addresses.tokens).flatMap(({ address }) => approvalsOf(address)),
      ...[...keys, friend].flatMap(({ address }) =>
        (Object.entries(funds) as [keyof typeof funds, string][]).map(([symbol, amount]) =>
          callOf(addresses.tokens[symbol].address, 'transfer(address,uint256)', [address, parseUnits(amount, decimalsOf(symbol))]),
        ),
      ),
    ],
  )
  for (const { address } of [...keys, friend]) await rpc('anvil_setBalance', address, toQuantity(etherRaw))

  const stolen: Stolen[] = []
  await newClients(server.certsDir, [...named.map(([name]) => name), ...Object.keys(further?.clients ?? {})])
  for (const [name, address] of named) {
    const elsewhere = other && createClient(other.url, server.certsDir, name)
    stolen.push({ client: createClient(server.url, server.certsDir, name), address, ...(elsewhere && { elsewhere }) })
  }
  // Sluice approves one token of the friend's. All make the same calls, of the other tokens too: approvals of the owner's are not what is tried.
  const calls = []
  let last = ''
  for (const [spender, approvedTokens] of Object.entries(spenders)) {
    const [token, ...same] = approvedTokens
    const approved = await server.client.post('/evm/approve', { ...local, address: friend.address, spender, token })
    if (approved.status !== 200) throw new Error(`${spender} ${token}: ${approved.text}`)
    // By some names several spenders are approved: by `uniswap` Permit2 for the token, and its router for Permit2.
    for (const { txHash } of approved.body.transactions ?? [approved.body]) {
      const { to, input } = Object(await rpc('eth_getTransactionByHash', txHash))
      calls.push(...[token, ...same].map((of) => ({ to: withToken(to, token, of), data: withToken(input, token, of) })))
      last = txHash
    }
  }
  await mined(server.client, last)
  await callTogether(
    rpc,
    thief,
    [...keys, friend].map(({ address }) => address),
    calls,
  )
  for (const { address } of [...keys, friend]) await rpc('anvil_setBalance', address, toQuantity(etherRaw))

  /** Ends all that holds something of the wallet. The owner may do what the thief may not. */
  async function close(address: string): Promise<void> {
    await rpc('anvil_mine', '0x2')
    const act = async (target: string, body: object) => {
      const { status, body: answer } = await server.client.post(target, { ...local, address, ...body })
      if (status === 200 && typeof answer.txHash === 'string') await mined(server.client, answer.txHash)
    }
    const { body } = await server.client.get('/amm/liquidity/positions', { ...uniswap, address })
    for (const { tokenId } of body.positions) await act('/amm/liquidity/remove', { connector: 'uniswap', tokenId })
    for (const market of ['WETH-USDC', 'WETH-DAI', 'WBTC-USDC']) {
      const open = await server.client.get('/clob/orders', { ...local, connector: 'oasis', address, market })
      const cancel = open.body.orders.map(({ orderId }: { orderId: string }) => ({ market, orderId }))
      if (cancel.length === 0) continue
      const { body: batch } = await server.client.post('/clob/batchOrders', { ...local, connector: 'oasis', address, cancel })
      for (const { txHash } of batch.cancelled) if (txHash) await mined(server.client, txHash)
    }
  }

  const balances = Object.entries(addresses.tokens).map(([symbol, { address, decimals }]) => ({
    balanceOf: new Contract(address, ['function balanceOf(address) view returns (uint256)'], provider).getFunction('balanceOf'),
    unit: prices[symbol as Symbol] / 10 ** decimals,
  }))
  async function held(address: string): Promise<number> {
    const dollars = balances.map(async ({ balanceOf, unit }) => Number(await balanceOf(address)) * unit)
    const ether = Number(await provider.getBalance(address)) / 1e18
    return (await Promise.all(dollars)).reduce((sum, each) => sum + each, ether * prices.ETH)
  }

  async function worth(address: string): Promise<number> {
    await close(address)
    let sum = await held(address)
    for (const token of ['USDC', 'WBTC', 'DAI'] as const) {
      const { body } = await server.client.get('/amm/shares/position', { ...uniswap, address, tokens: ['WETH', token] })
      const [ethers = '0', others = '0'] = body.amounts ?? []
      sum += Number(ethers) * prices.WETH + Number(others) * prices[token]
    }
    const { margin } = (await server.client.get('/perp/margin', { ...local, connector: 'perp', wallet_address: address })).body
    return sum + Number(margin.accountValue)
  }

  return {
    server,
    owner: server.client,
    rpc,
    thief,
    provider,
    stolen,
    friend: friend.address,
    send,
    async newToken(symbol) {
      const { abi, bytecode } = await readArtifact('TestToken', new URL('../../plugins/ethereum/index.ts', import.meta.url).href)
      const { data } = await new ContractFactory(abi, bytecode).getDeployTransaction(symbol, symbol, 18)
      const address = String((await sendFrom(rpc, thief, { data })).contractAddress)
      await callTogether(
        rpc,
        thief,
        [thief],
        [callOf(address, 'mint(address,uint256)', [thief, parseUnits('1000000', 18)]), ...approvalsOf(address)],
      )
      return address
    },
    held,
    worth,
    async mineAll(address) {
      const { nonce } = (await server.client.get('/evm/nonce', { ...local, address })).body
      for (const until = Date.now() + 180_000; Number(await rpc('eth_getTransactionCount', address, 'latest')) < nonce; await sleep(50)) {
        if (Date.now() > until) throw new Error(`Not all of ${nonce} transactions of ${address} are mined.`)
        await rpc('evm_mine')
      }
    },
    async pass(seconds) {
      for (let left = seconds; left > 0; left -= readingSeconds) {
        nowMs += Math.min(left, readingSeconds) * 1000
        for (const each of [server.kernel, other]) await each?.services.market.read()
      }
    },
    async age(hours) {
      await store?.write((tx) =>
        tx
          .updateTable('store_time')
          .set((eb) => ({ elapsed: eb('elapsed', '+', hours * 3_600_000) }))
          .execute(),
      )
    },
    async stopOther() {
      await other?.stop()
      other = undefined
    },
    async stop() {
      for (const { client, elsewhere } of stolen) for (const each of [client, elsewhere]) each?.close()
      provider.destroy()
      await other?.stop()
      await server.stop()
      await rm(home, { recursive: true, force: true })
    },
  }
}
