import { expect } from 'chai'
import type { Answer, Client } from '../../testkit/client.ts'
import { admins, coldStore, local, mined, others, outcome, sharedServer, traders, type SharedServer } from './shared-server.ts'

const ofTraders = { ...local, address: traders }
const raw = (text: string) => BigInt(text.replace('.', ''))

describe('what a wallet does with its own coin and tokens', () => {
  let server: SharedServer
  let treasurer: Client
  const send = (fields: object, client = treasurer, options?: object): Promise<Answer> =>
    client.post('/evm/send', { ...ofTraders, to: coldStore, token: 'USDC', amount: '12.5', ...fields }, options)
  const balances = async (address: string): Promise<Record<string, string>> =>
    (await server.client.get('/network/balances', { ...local, address, tokenSymbols: ['ETH', 'WETH', 'USDC', 'USDT'] })).body.balances

  before(async () => {
    server = await sharedServer()
    treasurer = server.as.treasurer
  })

  describe('wrapping', () => {
    it('turns the coin into its wrapped form and back, to the unit', async () => {
      const start = await balances(traders)
      const wrapped = await server.as.trader.post('/evm/wrap', { ...ofTraders, amount: '1.000000000000000001' })
      expect(wrapped.status, wrapped.text).to.equal(200)
      expect(wrapped.body.amount).to.equal('1.000000000000000001')
      await mined(server.client, wrapped.body.txHash)
      const between = await balances(traders)
      expect(raw(between.WETH ?? '') - raw(start.WETH ?? '')).to.equal(10n ** 18n + 1n)
      const unwrapped = await server.as.trader.post('/evm/unwrap', { ...ofTraders, amount: '1.000000000000000001' })
      expect(unwrapped.status, unwrapped.text).to.equal(200)
      await mined(server.client, unwrapped.body.txHash)
      const end = await balances(traders)
      expect(end.WETH).to.equal(start.WETH)
      // Only gas is gone.
      expect(Number(start.ETH) - Number(end.ETH)).to.be.within(0, 0.01)
      const { body } = await server.as.trader.get('/transactions', { ...local, txHash: wrapped.body.txHash })
      expect(body.transactions[0].kind).to.equal('wrap')
    })

    for (const [fields, says] of [
      [{ amount: '99999999' }, '422 INSUFFICIENT_BALANCE'],
      [{ amount: '0' }, '400 INCOMPLETE_PARAMS'],
      [{ address: admins }, '403 FORBIDDEN'],
      [{ chain: 'solana' }, '404 UNKNOWN_CHAIN_ERROR'],
    ] as const)
      it(`answers ${says} to ${JSON.stringify(fields)}`, async () => {
        for (const how of ['wrap', 'unwrap'])
          expect(outcome(await server.as.trader.post(`/evm/${how}`, { ...ofTraders, amount: '1', ...fields }))).to.equal(says)
      })
  })

  describe('sending', () => {
    it('moves tokens to an address of the list, once for a key, and is in the journal', async () => {
      const [before, cold] = [await balances(traders), await balances(coldStore).catch(() => undefined)]
      const options = { headers: { 'Idempotency-Key': 'send-once' } }
      const { body, status, text } = await send({}, treasurer, options)
      expect(status, text).to.equal(200)
      expect(body).to.include({ to: coldStore, amount: '12.500000' })
      expect((await send({}, treasurer, options)).text).to.equal(text)
      await mined(server.client, body.txHash)
      expect(raw(before.USDC ?? '') - raw((await balances(traders)).USDC ?? '')).to.equal(12_500_000n)
      expect(raw((await balances(coldStore)).USDC ?? '') - raw(cold?.USDC ?? '0')).to.equal(12_500_000n)
      const journal = await treasurer.get('/transactions', { ...local, txHash: body.txHash })
      expect(journal.body.transactions[0]).to.include({ kind: 'send', address: traders })
    })

    it('moves the native coin, and tokens that return nothing', async () => {
      const before = await balances(coldStore)
      const coin = await send({ token: 'ETH', amount: '0.25' })
      expect(coin.status, coin.text).to.equal(200)
      expect((await send({ token: 'USDT', amount: '3' })).status).to.equal(200)
      await mined(server.client, (await send({ token: 'WETH', amount: '0.000000000000000001' })).body.txHash)
      const after = await balances(coldStore)
      expect(raw(after.ETH ?? '') - raw(before.ETH ?? '')).to.equal(25n * 10n ** 16n)
      expect(raw(after.USDT ?? '') - raw(before.USDT ?? '')).to.equal(3_000_000n)
      expect(raw(after.WETH ?? '') - raw(before.WETH ?? '')).to.equal(1n)
    })

    for (const [what, fields, says] of [
      ['an address that is not on the list', { to: admins }, '403 FORBIDDEN'],
      ['a wallet that is not the client’s', { address: admins }, '403 FORBIDDEN'],
      ['no address', { to: 'vault' }, '400 INCOMPLETE_PARAMS'],
      ['an address with a wrong checksum', { to: others.replace('3C44', '3c44') }, '400 INCOMPLETE_PARAMS'],
      ['a Solana address', { to: 'So11111111111111111111111111111111111111112' }, '400 INCOMPLETE_PARAMS'],
      ['more than there is', { amount: '999999999999' }, '422 INSUFFICIENT_BALANCE'],
      ['more of the coin than there is', { token: 'ETH', amount: '99999999' }, '422 INSUFFICIENT_BALANCE'],
      ['nothing', { amount: '0.000000' }, '400 INCOMPLETE_PARAMS'],
      ['less than the smallest unit', { amount: '0.0000001' }, '400 INCOMPLETE_PARAMS'],
      ['an unknown token', { token: 'USDCC' }, '404 TOKEN_NOT_SUPPORTED'],
    ] as const)
      it(`refuses ${what}: ${says}`, async () => {
        const answer = await send(fields)
        expect(outcome(answer), answer.text).to.equal(says)
      })

    it('refuses a token that answers no and does not fail', async () => {
      const liar = '0x00000000000000000000000000000000000F415E'.toLowerCase()
      // Answers 0 to transfer(address,uint256) and 1 to all else, so that it has one decimal and everybody has one unit.
      await server.rpc('anvil_setCode', liar, '0x5f3560e01c63a9059cbb14155f5260205ff3')
      const unlisted = await send({ token: liar, amount: '0.1' })
      expect(outcome(unlisted), unlisted.text).to.equal('404 TOKEN_NOT_SUPPORTED')
      expect(unlisted.body.message).to.contain('takes listed tokens only')
      // Also where the server has learnt of it by another request.
      expect((await server.client.get('/network/token', { ...local, token: liar })).status).to.equal(200)
      expect(outcome(await send({ token: liar, amount: '0.1' }))).to.equal('404 TOKEN_NOT_SUPPORTED')
      const added = await server.client.post('/network/tokens/add', { ...local, token: liar, symbol: 'LIAR' })
      expect(added.status, added.text).to.equal(200)
      const answer = await send({ token: liar, amount: '0.1' })
      expect(outcome(answer), answer.text).to.equal('422 TRADE_FAILED')
      expect(answer.body.message).to.contain('would not move anything')
    })

    it('signs no approval of a token, and no transfer to a recipient, whose code burns gas', async () => {
      const burner = '0x00000000000000000000000000000000000b0a11'
      // Answers 1 to each call; to transfer(address,uint256) and approve(address,uint256) after 60,000 rounds of a loop: 1.5 million gas.
      const code = '0x5f3560e01c8063a9059cbb149063095ea7b31417601f5760015f5260205ff35b6200ea605b600190038060245760015f5260205ff3'
      await server.rpc('anvil_setCode', burner, code)
      const added = await server.client.post('/network/tokens/add', { ...local, token: burner, symbol: 'BURN' })
      expect(added.status, added.text).to.equal(200)
      const before = (await balances(traders)).ETH
      // The loop alone.
      await server.rpc('anvil_setCode', coldStore, '0x6200ea605b600190038060045700')
      const sent = await send({ token: 'ETH', amount: '0.1' })
      await server.rpc('anvil_setCode', coldStore, '0x')
      expect(outcome(sent), sent.text).to.equal('422 OUT_OF_GAS')
      expect(sent.body.message).to.contain('500000 at most')
      const approved = await server.as.trader.post('/evm/approve', { ...ofTraders, spender: 'uniswap', token: burner, amount: '1' })
      expect(outcome(approved), approved.text).to.equal('422 OUT_OF_GAS')
      expect((await balances(traders)).ETH).to.equal(before)
    })

    it('reads nothing of a query, and says so', async () => {
      const query = new URLSearchParams({ to: admins, amount: '1' }).toString()
      for (const path of [`/evm/send?${query}`, `/network/balances?${query}`]) {
        const answer = await treasurer.post(path, { ...ofTraders, token: 'ETH', amount: '0.1', to: coldStore })
        expect(outcome(answer), answer.text).to.equal('400 INCOMPLETE_PARAMS')
        expect(answer.body.message).to.contain('query').and.contain('JSON body')
      }
    })

    it('needs its own permission, and each client has its own list', async () => {
      expect(outcome(await send({}, server.as.trader))).to.equal('403 FORBIDDEN')
      // It may use all wallets, and send from another.
      expect(outcome(await send({}, server.client))).to.equal('403 FORBIDDEN')
      expect(outcome(await treasurer.post('/evm/wrap', { ...ofTraders, amount: '1' }))).to.equal('403 FORBIDDEN')
    })

    it('gives the signer the list, so that it signs for the list alone', async () => {
      const { settings } = server.kernel.services
      expect(settings.clients.find(({ name }) => name === 'treasurer')?.sendTo?.get(traders)).to.deep.equal([others, coldStore])
    })
  })

  describe('prices for gas', () => {
    it('rise with the speed, and a trade takes them', async () => {
      const { body, status, text } = await server.as.visitor.get('/evm/gas', local)
      expect(status, text).to.equal(200)
      expect(body.gasPriceToken).to.equal('ETH')
      const prices = ['slow', 'normal', 'fast'].map((speed) => body[speed])
      const tips = prices.map((each) => Number(each.maxPriorityFeePerGas))
      expect(tips).to.deep.equal(tips.toSorted((one, other) => one - other))
      for (const each of prices) expect(Number(each.maxFeePerGas)).to.be.at.least(Number(each.gasPrice))
      const { maxFeePerGas, maxPriorityFeePerGas } = body.fast
      const wrapped = await server.as.trader.post('/evm/wrap', { ...ofTraders, amount: '0.1', maxFeePerGas, maxPriorityFeePerGas })
      expect(wrapped.status, wrapped.text).to.equal(200)
      await mined(server.client, wrapped.body.txHash)
    })
  })
})
