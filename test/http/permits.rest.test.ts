import { expect } from 'chai'
import { AbiCoder, Contract, Interface, JsonRpcProvider, Wallet, concat } from 'ethers'
import { rpcTo, type Rpc } from '../../core/devnet/anvil.ts'
import type { Answer } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { atNode, local, mined, oneChain, outcome, traders, uniswap } from './shared-server.ts'

const permit2Address = '0x000000000022D473030F116dDEE9F6B43aC78BA3'
const permit2 = new Interface([
  'function allowance(address owner, address token, address spender) view returns (uint160 amount, uint48 expiration, uint48 nonce)',
  'function approve(address token, address spender, uint160 amount, uint48 expiration)',
  'function invalidateNonces(address token, address spender, uint48 newNonce)',
  'function permit(address owner, ((address token, uint160 amount, uint48 expiration, uint48 nonce) details, address spender, uint256 sigDeadline) permitSingle, bytes signature)',
])
const execute = new Interface(['function execute(bytes commands, bytes[] inputs, uint256 deadline) payable'])
const permitTypes = ['((address,uint160,uint48,uint48),address,uint256)', 'bytes']
// Accounts 1 and 3 of anvil's well-known mnemonic.
const traderKey = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
const strangerKey = '0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6'

describe('Trades by permits of Permit2', function () {
  this.timeout(300_000)
  let server: TestServer
  let rpc: Rpc
  let provider: JsonRpcProvider
  let router = ''
  const addressOf = new Map<string, string>()
  const sale = { ...uniswap, base: 'USDC', quote: 'ETH', amount: '100', side: 'SELL', version: 'v4', address: traders }
  const trade = (fields: object = {}): Promise<Answer> => server.client.post('/amm/trade', { ...sale, ...fields })

  before(async () => {
    server = await startServer({
      ...oneChain,
      conf: {
        ...oneChain.conf,
        'chains/ethereum.yml': {
          ...oneChain.conf['chains/ethereum.yml'],
          local: { required: true, pollingSeconds: 0.05, confirmations: 2 },
        },
        'connectors/uniswap.yml': { signedPermits: true },
      },
    })
    rpc = rpcTo(server.rpcUrl)
    provider = new JsonRpcProvider(server.rpcUrl, 31337, { staticNetwork: true, cacheTimeout: -1 })
    router = server.kernel.services.registry.venue('uniswap', 'ethereum', 'local').impl.permit2?.spenders[0] ?? ''
    for (const { symbol, address } of server.kernel.services.registry.network('ethereum', 'local').tokens.listed)
      addressOf.set(symbol, address)
    for (const token of ['USDC', 'DAI', 'USDT', 'WBTC', 'WETH'])
      await send(
        traderKey,
        addressOf.get(token) ?? '',
        new Interface(['function approve(address,uint256)']).encodeFunctionData('approve', [permit2Address, 2n ** 255n]),
      )
  })
  after(async () => {
    provider?.destroy()
    await server?.stop()
  })
  afterEach(async () => {
    await rpc('evm_setAutomine', true)
    await rpc('evm_setIntervalMining', 1)
  })
  async function stopBlocks() {
    await rpc('evm_setIntervalMining', 0)
    await rpc('evm_setAutomine', false)
  }

  /** By other software. */
  async function send(key: string, to: string, data: string): Promise<void> {
    const wallet = new Wallet(key, provider)
    const { hash } = await wallet.sendTransaction({ to, data, gasLimit: 500_000n })
    for (;;) {
      const receipt = await provider.getTransactionReceipt(hash)
      if (receipt) return expect(receipt.status).to.equal(1) && undefined
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  async function allowance(token: string): Promise<{ amount: bigint; nonce: bigint }> {
    const [amount, , nonce] = await new Contract(permit2Address, permit2, provider).getFunction('allowance')(
      traders,
      addressOf.get(token),
      router,
    )
    return { amount, nonce }
  }
  const shown = async (txHash: string) => (await server.client.get('/transactions', { ...local, txHash })).body.transactions[0]
  /** What `/evm/allowances` says beside the allowances. */
  async function outstanding(tokenSymbols: readonly string[], spender = 'uniswap'): Promise<unknown> {
    const answer = await server.client.get('/evm/allowances', { ...local, address: traders, spender, tokenSymbols })
    expect(outcome(answer), answer.text).to.equal('200')
    return answer.body.permits
  }
  async function reaches(txHash: string, state: string) {
    for (let tries = 0; ; tries += 1) {
      const entry = await shown(txHash)
      if (entry.permits[0].state === state) return entry
      if (tries > 600) throw new Error(`Its permit did not become ${state}: ${JSON.stringify(entry)}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  /** As anybody sees it who has the transaction's calldata. */
  async function permitIn(txHash: string) {
    const tx = await rpc('eth_getTransactionByHash', txHash)
    const [commands, inputs] = execute.decodeFunctionData('execute', String(Reflect.get(Object(tx), 'input')))
    const [permit, signature] = AbiCoder.defaultAbiCoder().decode(permitTypes, inputs[0])
    return { commands: String(commands), permit, signature }
  }

  it('fill without an approval of the router, and leave no allowance', async () => {
    for (const [fields, amount] of [
      [{}, '100.000000'],
      [{ base: 'DAI', amount: '70' }, `70.${'0'.repeat(18)}`],
    ] as const) {
      const token = { base: 'USDC', ...fields }.base
      const { nonce } = await allowance(token)
      const answer = await trade(fields)
      expect(outcome(answer), answer.text).to.equal('200')
      const { txHash, deadline } = answer.body
      const permit = { token: addressOf.get(token), spender: router, amount, expires: deadline, nonce: Number(nonce) }
      expect((await shown(txHash)).permits).to.have.length(1)
      expect((await mined(server.client, txHash)).body.txReceipt.status).to.equal(1)
      expect(await allowance(token)).to.deep.equal({ amount: 0n, nonce: nonce + 1n })
      const entry = await reaches(txHash, 'used')
      expect(entry.permits).to.deep.equal([{ ...permit, state: 'used' }])
      const { commands } = await permitIn(txHash)
      // PERMIT2_PERMIT of Commands, which may fail.
      expect(commands.slice(0, 4)).to.equal('0x8a')
    }
  })

  it('take at most the bound of an exact output', async () => {
    const answer = await trade({ base: 'ETH', quote: 'USDT', side: 'BUY', amount: '0.05' })
    expect(outcome(answer), answer.text).to.equal('200')
    expect((await mined(server.client, answer.body.txHash)).body.txReceipt.status).to.equal(1)
    const [permit] = (await reaches(answer.body.txHash, 'used')).permits
    expect(Number(permit.amount)).to.be.closeTo(0.05 * Number(answer.body.limitPrice), 0.000_01)
  })

  it('wait while another permit of theirs is outstanding, and go on once it is used', async () => {
    await stopBlocks()
    const first = await trade()
    expect(outcome(first), first.text).to.equal('200')
    const second = await trade()
    expect(outcome(second)).to.equal('422 INSUFFICIENT_ALLOWANCE')
    const { deadline, txHash } = first.body
    const right = { spender: router, token: addressOf.get('USDC'), amount: '100.000000', expires: deadline, txHash }
    expect(await outstanding(['USDC', 'DAI'])).to.deep.equal([right])
    expect(await outstanding(['DAI'])).to.equal(undefined)
    expect(await outstanding(['USDC'], 'uniswap/v2')).to.equal(undefined)
    expect(second.body.details).to.deep.include({ spender: router, txHash: first.body.txHash })
    // Of another token there is none.
    const other = await trade({ base: 'WBTC', amount: '0.01' })
    expect(outcome(other), other.text).to.equal('200')
    await atNode(rpc, other.body.txHash)
    await rpc('evm_mine')
    await mined(server.client, first.body.txHash)
    const third = await trade()
    expect(outcome(third), third.text).to.equal('200')
    await atNode(rpc, third.body.txHash)
    await rpc('evm_mine')
    for (const { body } of [other, third]) expect((await mined(server.client, body.txHash)).body.txReceipt.status).to.equal(1)
  })

  it('get one signature where several come in one moment', async () => {
    await stopBlocks()
    const answers = await Promise.all([1, 2, 3, 4].map(() => trade({ base: 'DAI', amount: '10' })))
    expect(answers.map((each) => outcome(each)).toSorted()).to.deep.equal([
      '200',
      ...Array.from({ length: 3 }, () => '422 INSUFFICIENT_ALLOWANCE'),
    ])
    await rpc('evm_mine')
  })

  it('fill, though somebody had Permit2 take the permit first', async () => {
    await stopBlocks()
    const { body } = await trade({ base: 'USDT', amount: '30' })
    await atNode(rpc, body.txHash)
    const { permit, signature } = await permitIn(body.txHash)
    const stranger = new Wallet(strangerKey, provider)
    const data = permit2.encodeFunctionData('permit', [traders, permit.toArray(true), signature])
    const maxFeePerGas = 200n * 10n ** 9n
    await stranger.sendTransaction({ to: permit2Address, data, gasLimit: 200_000n, maxFeePerGas, maxPriorityFeePerGas: 100n * 10n ** 9n })
    const { nonce } = await allowance('USDT')
    await rpc('evm_mine')
    expect((await mined(server.client, body.txHash)).body.txReceipt.status).to.equal(1)
    expect(await allowance('USDT')).to.deep.equal({ amount: 0n, nonce: nonce + 1n })
    await rpc('evm_setAutomine', true)
    await rpc('evm_setIntervalMining', 1)
    await reaches(body.txHash, 'used')
  })

  it('take the nonce that the contract has, wherever earlier ones went', async () => {
    const { nonce } = await allowance('USDC')
    await send(traderKey, permit2Address, permit2.encodeFunctionData('invalidateNonces', [addressOf.get('USDC'), router, nonce + 5n]))
    const answer = await trade()
    expect(outcome(answer), answer.text).to.equal('200')
    expect((await shown(answer.body.txHash)).permits[0].nonce).to.equal(Number(nonce + 5n))
    expect((await mined(server.client, answer.body.txHash)).body.txReceipt.status).to.equal(1)
  })

  it('take no permit where an allowance suffices, and one where it ends too early', async () => {
    const approve = (expires: number) =>
      send(traderKey, permit2Address, permit2.encodeFunctionData('approve', [addressOf.get('WETH'), router, 10n ** 18n, expires]))
    const now = Math.floor(Date.now() / 1000)
    const weth = { base: 'WETH', quote: 'USDC', amount: '0.1' }
    await approve(now + 30)
    const early = await trade(weth)
    expect(outcome(early), early.text).to.equal('200')
    expect((await shown(early.body.txHash)).permits).to.have.length(1)
    await reaches(early.body.txHash, 'used')
    await approve(now + 3_000)
    const later = await trade(weth)
    expect(outcome(later), later.text).to.equal('200')
    expect(await shown(later.body.txHash)).not.to.have.property('permits')
    expect((await mined(server.client, later.body.txHash)).body.txReceipt.status).to.equal(1)
  })

  it('need the allowance of the token itself, and a wallet without code', async () => {
    const approve = (amount: bigint) =>
      send(
        traderKey,
        addressOf.get('DAI') ?? '',
        new Interface(['function approve(address,uint256)']).encodeFunctionData('approve', [permit2Address, amount]),
      )
    await approve(0n)
    const refused = await trade({ base: 'DAI', amount: '5' })
    expect(outcome(refused)).to.equal('422 INSUFFICIENT_ALLOWANCE')
    expect(refused.body.details).to.include({ spender: router, current: `0.${'0'.repeat(18)}` })
    await approve(2n ** 255n)
    // A delegation by EIP-7702.
    await rpc('anvil_setCode', traders, concat(['0xef0100', permit2Address]))
    const delegated = await trade({ base: 'DAI', amount: '5' })
    await rpc('anvil_setCode', traders, '0x')
    expect(outcome(delegated)).to.equal('422 INSUFFICIENT_ALLOWANCE')
    expect(delegated.text).to.contain('the wallet has code')
  })

  it('that are cancelled leave the right outstanding until it has expired, and the next one waits for that', async () => {
    const { nonce } = await allowance('DAI')
    await stopBlocks()
    const { body } = await trade({ base: 'DAI', amount: '5' })
    const cancel = await server.client.post('/evm/cancel', { ...local, address: traders, nonce: body.nonce })
    expect(outcome(cancel), cancel.text).to.equal('200')
    await atNode(rpc, cancel.body.txHash)
    await rpc('anvil_mine', '0x3')
    await rpc('evm_setAutomine', true)
    await rpc('evm_setIntervalMining', 1)
    for (let tries = 0; (await shown(body.txHash)).txState !== 'CANCELLED'; tries += 1) {
      expect(tries).to.be.below(600)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    expect((await shown(body.txHash)).permits[0]).to.deep.include({ state: 'outstanding', nonce: Number(nonce) })
    expect(outcome(await trade({ base: 'DAI', amount: '5' }))).to.equal('422 INSUFFICIENT_ALLOWANCE')
    expect(await outstanding(['DAI'])).to.have.length(1)
    await rpc('evm_increaseTime', '0x190')
    expect((await reaches(body.txHash, 'expired')).txState).to.equal('CANCELLED')
    expect(await outstanding(['DAI'])).to.equal(undefined)
  })
})
