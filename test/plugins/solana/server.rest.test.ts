import { expect } from 'chai'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { address, generateKeyPairSigner, lamports } from '@solana/kit'
import { associatedAddress, tokenProgram } from '../../../kits/solana/tokens.ts'
import { dropsAll, takesAll } from '../../../tools/solana-node/ledger/leaders.ts'
import { startSolana, type Solana as Cluster } from '../../../tools/solana-node/start-solana.ts'
import { makeHome, outcome, pollUntil, startRealServer, type Home, type RealServer } from './real-server.ts'

const here = { chain: 'solana', network: 'local' }
const unknownSignature = '5'.repeat(87)

describe('a server on Solana', function () {
  this.timeout(300_000)
  let cluster: Cluster
  let home: Home
  let server: RealServer
  before(async () => {
    cluster = await startSolana({ slotMs: 40, skipped: 0.2 })
    home = await makeHome(cluster)
    await cluster.fund(home.wallet.address, 5_000_000_000n)
    server = await startRealServer(home)
  })
  after(async () => {
    await server?.stop()
    await cluster?.stop()
    await home?.remove()
  })
  const get = (path: string, query: Record<string, string> = {}) => server.client.get(path, { ...here, ...query })
  const create = (body: Record<string, unknown>, headers: Record<string, string> = {}) =>
    server.client.post('/altchain/create-token', { ...here, address: home.wallet.address, ...body }, { headers })
  /** A mint that nobody has an account for. */
  const freshMint = async (symbol: string) => (await cluster.createMint({ symbol, decimals: 3 })).address

  it('tells slots, the coin, the configuration and the tokens', async () => {
    const { body: status } = await get('/network/status')
    expect(status).to.have.length(1)
    expect(status[0]).to.include({ ...here, rpcUrl: cluster.url, nativeCurrency: 'SOL' })
    expect(status[0].currentBlockNumber).to.be.above(350_000_000)
    expect(status[0].currentBlockSeconds).to.be.below(10)
    const { body: config } = await server.client.get('/network/chain_config', { chain: 'solana' })
    expect(config.local).to.deep.include({ required: true, rpcUrls: [cluster.url] })
    const { body: tokens } = await get('/network/tokens')
    expect(tokens.map(({ symbol }: { symbol: string }) => symbol)).to.deep.equal(['SOL', 'USDC', 'BASE', 'FEES'])
    expect(tokens[0]).to.include({ address: '11111111111111111111111111111111', decimals: 9 })
  })

  it('reads balances by symbol and by mint', async () => {
    const owner = await generateKeyPairSigner()
    await cluster.fund(owner.address, 1_500_000_000n)
    await cluster.mintTo(owner.address, cluster.mints.USDC, 1_234_567n)
    await cluster.mintTo(owner.address, cluster.mints.FEES, 1n)
    cluster.blocks(1)
    const { body } = await get('/network/balances', { address: owner.address, tokenSymbols: `SOL,usdc,${cluster.mints.FEES.address}` })
    expect(body.balances).to.deep.equal({
      SOL: '1.500000000',
      USDC: '1.234567',
      [cluster.mints.FEES.address]: '0.000000001',
    })
  })

  it('reads the other balances where a mint and an account are not what they were', async () => {
    const owner = await generateKeyPairSigner()
    const nonsense = {
      data: new Uint8Array(165).fill(255),
      executable: false,
      lamports: lamports(10n ** 9n),
      programAddress: address('11111111111111111111111111111111'),
      space: 165n,
    }
    const dead = await freshMint('DEAD')
    const gone = address(await associatedAddress(owner.address, cluster.mints.FEES.address, tokenProgram))
    await cluster.mintTo(owner.address, cluster.mints.USDC, 1_234_567n)
    for (const programAddress of [nonsense.programAddress, TOKEN_PROGRAM_ADDRESS]) {
      cluster.svm.setAccount({ ...nonsense, programAddress, address: address(dead) })
      cluster.svm.setAccount({ ...nonsense, programAddress, address: gone })
      cluster.blocks(1)
      const tokenSymbols = `USDC,${dead},${cluster.mints.FEES.address},NOPE`
      const answer = await get('/network/balances', { address: owner.address, tokenSymbols })
      expect(outcome(answer)).to.equal('200')
      expect(answer.body.balances).to.deep.equal({ USDC: '1.234567', [cluster.mints.FEES.address]: '0.000000000' })
      expect(answer.body.unavailable.map(({ token }: { token: string }) => token)).to.have.members([dead, 'NOPE'])
    }
  })

  it('reads the other balances where the mint of the list is none any more', async () => {
    const mint = address(cluster.mints.BASE.address)
    const before = cluster.svm.getAccount(mint)
    if (!before.exists) throw new Error('no mint')
    cluster.svm.setAccount({ ...before, data: new Uint8Array(82), address: mint })
    cluster.blocks(1)
    const answer = await get('/network/balances', { address: home.wallet.address, tokenSymbols: 'SOL,BASE,USDC' })
    cluster.svm.setAccount(before)
    cluster.blocks(1)
    expect(outcome(answer)).to.equal('200')
    expect(Object.keys(answer.body.balances)).to.deep.equal(['SOL', 'USDC'])
    expect(answer.body.unavailable[0].token).to.equal('BASE')
  })

  it('creates an account once, whatever is asked beside it, and sees it to the end', async () => {
    const key = { 'idempotency-key': 'once' }
    const first = await create({ tokenSymbol: 'USDC' }, key)
    expect(outcome(first)).to.equal('200')
    expect(first.body).to.include.keys('txHash', 'tokenAccount', 'network', 'timestamp', 'latency')
    const { txHash, tokenAccount } = first.body
    const again = await create({ tokenSymbol: 'USDC' }, key)
    expect(again.text).to.equal(first.text)
    const polled = await pollUntil(server, txHash, { txState: 'CONFIRMED' })
    expect(polled).to.include({ txHash, txStatus: 1 })
    expect(polled.confirmations).to.be.at.least(32)
    expect(polled.txReceipt).to.include({ status: 1, signature: txHash, slot: polled.txBlock })
    expect(polled.txReceipt.logs.map(({ name }: { name?: string }) => name)).to.include('Associated Token Account')
    expect(polled.txData).to.have.property('message')
    const exists = await create({ tokenSymbol: cluster.mints.USDC.address })
    expect(exists.body).to.deep.include({ txHash: null, tokenAccount })
    const { body: listed } = await server.client.get('/transactions', { chain: 'solana', txHash })
    expect(listed.transactions).to.have.length(1)
    expect(listed.transactions[0]).to.include({ txState: 'CONFIRMED', address: home.wallet.address })
    expect(cluster.sent.filter(({ signature }) => signature === txHash)).to.not.have.length(0)
  })

  it('carries out many at once, each once', async () => {
    const mints = await Promise.all(Array.from({ length: 6 }, (_, index) => freshMint(`MANY${index}`)))
    cluster.blocks(1)
    const made = await Promise.all(mints.map((tokenSymbol) => create({ tokenSymbol })))
    expect(made.map(outcome)).to.deep.equal(mints.map(() => '200'))
    expect(new Set(made.map(({ body }) => body.txHash)).size).to.equal(mints.length)
    for (const { body } of made) await pollUntil(server, body.txHash, { txState: 'CONFIRMED' })
  })

  it('says EXPIRED of one that leaders dropped, and signs nothing in its place', async () => {
    const tokenSymbol = await freshMint('GONE')
    cluster.blocks(1)
    cluster.lead(dropsAll)
    const made = await create({ tokenSymbol }, { 'idempotency-key': 'gone' })
    const { txHash } = made.body
    await pollUntil(server, txHash, { txStatus: 2, txBlock: -1 })
    const polled = await pollUntil(server, txHash, { txState: 'EXPIRED' }, () => cluster.blocks(1))
    expect(polled).to.include({ txStatus: -1, txBlock: -1 })
    expect(polled.reason).to.contain('Its time passed')
    const wires = cluster.sent.filter(({ bytes }) => Buffer.from(bytes).length > 0)
    expect(
      new Set(wires.filter(({ signature }) => signature === txHash).map(({ bytes }) => Buffer.from(bytes).toString('hex'))).size,
    ).to.equal(1)
    cluster.lead(takesAll)
    // The key remembers what was signed; a new wish is a new transaction.
    expect((await create({ tokenSymbol }, { 'idempotency-key': 'gone' })).body.txHash).to.equal(txHash)
    const anew = await create({ tokenSymbol })
    expect(anew.body.txHash).to.not.equal(txHash)
    await pollUntil(server, anew.body.txHash, { txState: 'CONFIRMED' })
  })

  it('refuses what is wrong, each with its own error', async () => {
    const evm = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
    const { address: stranger } = await generateKeyPairSigner()
    const answers = {
      'a wallet of the other family': [create({ address: evm, tokenSymbol: 'USDC' }), '400 INCOMPLETE_PARAMS'],
      'half an address': [create({ address: stranger.slice(0, 20), tokenSymbol: 'USDC' }), '400 INCOMPLETE_PARAMS'],
      'an address in lower case': [
        create({ address: home.wallet.address.toLowerCase(), tokenSymbol: 'USDC' }),
        '(400 INCOMPLETE_PARAMS|404 LOAD_WALLET)',
      ],
      'a wallet without a key': [create({ address: stranger, tokenSymbol: 'USDC' }), '404 LOAD_WALLET'],
      'the coin': [create({ tokenSymbol: 'SOL' }), '400 INCOMPLETE_PARAMS'],
      'a symbol that nobody knows': [create({ tokenSymbol: 'NOPE' }), '404 TOKEN_NOT_SUPPORTED'],
      'an address that is no mint': [create({ tokenSymbol: stranger }), '404 TOKEN_NOT_SUPPORTED'],
      'a token account in place of a mint': [create({ tokenSymbol: home.wallet.address }), '404 TOKEN_NOT_SUPPORTED'],
      'a durable nonce where there is none': [create({ tokenSymbol: 'FEES', nonce: 0 }), '400 INCOMPLETE_PARAMS'],
      'a nonce that is no index': [create({ tokenSymbol: 'FEES', nonce: -1 }), '400 INCOMPLETE_PARAMS'],
      'fees of the other family': [create({ tokenSymbol: 'FEES', maxFeePerGas: '1' }), '400 INCOMPLETE_PARAMS'],
      'a network that is off': [create({ network: 'mainnet', tokenSymbol: 'USDC' }), '404 UNKNOWN_CHAIN_ERROR'],
      'a hash of the other family': [get('/network/poll', { txHash: `0x${'ab'.repeat(32)}` }), '400 INCOMPLETE_PARAMS'],
      allowances: [get('/evm/allowances', { address: home.wallet.address, spender: stranger, tokenSymbols: 'USDC' }), '501 UNSUPPORTED'],
      'a nonce of EVM': [get('/evm/nonce', { address: home.wallet.address }), '501 UNSUPPORTED'],
      'a cancel': [server.client.post('/evm/cancel', { ...here, address: home.wallet.address }), '501 UNSUPPORTED'],
      'an approval': [
        server.client.post('/evm/approve', { ...here, address: home.wallet.address, spender: stranger, token: 'USDC' }),
        '501 UNSUPPORTED',
      ],
    } as const
    for (const [what, [answer, expected]] of Object.entries(answers)) {
      const settled = await answer
      expect(outcome(settled), `${what}: ${settled.text}`).to.match(new RegExp(`^${expected}$`))
    }
  })

  it('answers for a signature that nobody knows', async () => {
    const { status, body } = await get('/network/poll', { txHash: unknownSignature })
    expect(status).to.equal(200)
    expect(body).to.include({ txStatus: -1, txBlock: -1, txData: null, txReceipt: null, confirmations: 0 })
  })

  it('takes no signature for one that differs in the case of letters', async () => {
    const { transactions } = (await server.client.get('/transactions', { chain: 'solana' })).body
    const { txHash }: { txHash: string } = transactions[0]
    // l is no letter of base58, and neither is O.
    const other = txHash.replaceAll(/[a-km-np-z]/g, (letter) => (letter === 'i' ? letter : letter.toUpperCase()))
    const { status, body } = await get('/network/poll', { txHash: other })
    expect(status === 400 || body.txStatus === -1, JSON.stringify(body)).to.equal(true)
    expect(body).to.not.have.property('txState')
    expect((await server.client.get('/transactions', { chain: 'solana', txHash: other })).body.transactions).to.deep.equal([])
    expect((await server.client.get('/transactions', { chain: 'solana', txHash })).body.transactions).to.have.length(1)
  })

  it('says what the wallet lacks before it signs', async () => {
    const poor = await startPoor()
    const { status, body } = poor
    expect(`${status} ${body.name}`).to.equal('422 INSUFFICIENT_BALANCE')
    expect(body.details).to.include({ token: 'SOL', needed: '0.002157600' })
  })

  /** Another server, whose wallet holds nothing. */
  async function startPoor() {
    const other = await makeHome(cluster)
    const beside = await startRealServer(other)
    try {
      return await beside.client.post('/altchain/create-token', { ...here, address: other.wallet.address, tokenSymbol: 'FEES' })
    } finally {
      await beside.stop()
      await other.remove()
    }
  }
})
