import { expect } from 'chai'
import { endpoints } from '../../core/api/index.ts'
import { SluiceError } from '../../core/base/errors.ts'
import { checkDeclaredCalls, checkPathsDeclared, rightsOf, useOfEndpoint, type RightsOptions } from '../../core/plugins/interface-rights.ts'
import type { ServedCall } from '../../core/plugins/interface-paths.ts'
import type { AnswerQuestion, Host } from '../../core/plugins/isolate/host.ts'
import { remoteInterface } from '../../core/plugins/isolate/remote-interface.ts'
import { sentWords } from '../../core/plugins/isolate/sent-words.ts'

const get = { method: 'GET', path: '/price/:pair' } as const
const post = { method: 'POST', path: '/wrap' } as const

describe('what a path of an interface may call', () => {
  const mayCall = (path: typeof get | typeof post, more: Partial<RightsOptions> = {}) => {
    const { refusal } = rightsOf(path, { name: 'desk', listed: [], ...more })
    return endpoints.map(({ name }) => name).filter((name) => refusal(name) === undefined)
  }
  const used = (...uses: string[]) => endpoints.filter((each) => uses.includes(useOfEndpoint(each.name) ?? '')).map(({ name }) => name)

  it('is what reads for a GET, and what makes transactions beside it for another method, where nothing is declared', () => {
    expect(mayCall(get)).to.have.members(used('reads'))
    expect(mayCall(post)).to.have.members(used('reads', 'acts'))
  })

  it('is what the manifest declares of it, and nothing of another path', () => {
    const calls = { 'GET /price/:pair': ['AMMPrice'], 'POST /wrap': ['EVMWrap', 'ApprovalsApprove'] }
    expect(mayCall(get, { calls })).to.deep.equal(['AMMPrice'])
    expect(mayCall(post, { calls })).to.deep.equal(['EVMWrap'])
    expect(mayCall({ ...post, path: '/other' } as never, { calls })).to.deep.equal([])
  })

  it('is never a transaction for a GET, whatever was recorded', () => {
    const calls = { 'GET /price/:pair': ['AMMPrice', 'EVMWrap', 'PluginsLift', 'Approvals'] }
    expect(mayCall(get, { calls, listed: 'all' })).to.have.members(['AMMPrice', 'Approvals'])
  })

  it('is an endpoint for people where the operator lists it', () => {
    expect(mayCall(post, { listed: ['PluginsLift'] })).to.have.members([...used('reads', 'acts'), 'PluginsLift'])
  })

  it('is decided of every endpoint: those that need a permission of people, all of approvals, and stopping', () => {
    expect(used('governs')).to.have.members([
      'PluginsLift',
      'StopsPost',
      'StopsDelete',
      'Alerts',
      'AlertsSilencesPost',
      'AlertsSilencesDelete',
      'AlertsTest',
      'Approvals',
      'ApprovalsPreview',
      'ApprovalsApprove',
      'ApprovalsDeny',
      'ApprovalsWithdraw',
      'TransactionsPrune',
      'NetworkTokensAdd',
    ])
  })

  for (const [what, declared, why] of [
    ['an endpoint that there is not', { calls: { 'POST /wrap': ['EVMwrap'] } }, /calls.POST \/wrap: there is no endpoint EVMwrap/],
    ['a transaction of a GET', { calls: { 'GET /wrap': ['EVMWrap'] } }, /a GET only reads, and EVMWrap makes a transaction/],
    ['a path that decides and is not declared', { decides: ['POST /wrap'] }, /decides: calls has no POST \/wrap/],
  ] as const)
    it(`is not declared by ${what}`, () => expect(() => checkDeclaredCalls(declared)).to.throw(why))

  it('is declared of each path, and of no other', () => {
    expect(() => checkPathsDeclared([get, post], { 'POST /wrap': [] })).to.throw(/calls has no GET \/price\/:pair/)
    expect(() => checkPathsDeclared([post], { 'POST /wrap': [], 'POST /unwrap': [] })).to.throw(/calls has POST \/unwrap/)
    checkPathsDeclared([get, post], { 'POST /wrap': [], 'GET /price/:pair': ['AMMPrice'] })
    checkPathsDeclared([get, post], undefined)
  })
})

describe('the words of a caller', () => {
  const wallet = `0x${'aB'.repeat(20)}`
  const site = { chain: 'ethereum', network: 'local', connector: 'any', side: 'SELL', allowedSlippage: '1/100' }
  /** @returns the field that its caller did not send */
  const lacking = (sent: string | Readonly<Record<string, unknown>>, fields: object, key?: string): unknown => {
    try {
      sentWords('POST /swap', sent).begin('AMMTrade', { ...site, ...fields }, key)
      return undefined
    } catch (thrown) {
      return thrown instanceof SluiceError ? Object(thrown.details)['field'] : thrown
    }
  }

  it('are its values in any spelling, and the parts of a pair', () => {
    const sent = { pair: 'WETH-USDC', wallet, amount: '0.50', list: [{ deep: '1e-1' }], n: 7 }
    const fields = { base: 'WETH', quote: 'usdc', address: wallet.toLowerCase(), amount: '0.5' }
    expect(lacking(sent, fields)).to.equal(undefined)
    expect(lacking(sent, { ...fields, amount: '0.1', nonce: 7, privateOnly: true })).to.equal(undefined)
    expect(lacking(`pair=WETH-USDC&wallet=${wallet}&amount=.5&amount=0.5`, fields)).to.equal(undefined)
  })

  for (const [what, sent, fields, field] of [
    ['a number in an id', { id: 'order-5000', wallet }, { address: wallet, amount: '5000' }, 'amount'],
    ['a number in a long text', { id: '7e3.5e1', wallet }, { amount: '35' }, 'amount'],
    ['a part of an address', { wallet }, { address: wallet.slice(0, 20) }, 'address'],
    ['the name of a field', { WBTC: 'x' }, { base: 'WBTC' }, 'base'],
    ['a value of a list', { amount: '1' }, { amounts: ['1', '2'] }, 'amounts'],
    ['a value in an order of a list', { amount: '1' }, { create: [{ side: 'BUY', amount: '1', price: '9' }] }, 'price'],
    ['nothing', {}, { amount: '0' }, 'amount'],
  ] as const)
    it(`are not ${what}`, () => expect(lacking(sent, fields)).to.equal(field))

  it('have an amount where they give an allowance: without one it is unlimited', () => {
    const { begin } = sentWords('POST /swap', { wallet, token: 'WETH', exchange: 'uniswap', amount: '5' })
    const approval = { chain: 'ethereum', network: 'local', address: wallet, token: 'WETH', spender: 'uniswap' }
    for (const amount of [undefined, null, []])
      expect(() => begin('EVMApprove', { ...approval, amount }, undefined)).to.throw(/did not send the value of amount for EVMApprove/)
    begin('EVMApprove', { ...approval, amount: '5.0' }, undefined)
  })

  it('are for as many orders of one transaction as their caller sent, each amount as often', () => {
    const order = (amount: string, price = '3000') => ({ side: 'BUY', market: 'WETH-USDC', orderType: 'LIMIT', amount, price })
    const begins = (sent: object, ...create: readonly object[]) => {
      const { begin } = sentWords('POST /orders', sent as Readonly<Record<string, unknown>>)
      begin('CLOBBatchOrders', { ...site, address: wallet, create }, undefined)
    }
    const one = { wallet, ...order('1'), time: 1_790_000_000 }
    begins(one, order('1'))
    for (const create of [
      [order('1'), order('1')],
      [order('1'), order('3000')],
      [order('1'), order('1790000000')],
    ])
      expect(() => begins(one, ...create)).to.throw(/did not send the value of amount for CLOBBatchOrders/)
    const two = { wallet, orders: [order('1'), order('2', '2990')] }
    begins(two, order('1'), order('2', '2990'))
    for (const create of [
      [order('2'), order('2')],
      [order('1'), order('2'), order('3000')],
    ])
      expect(() => begins(two, ...create)).to.throw(/did not send the value of amount for CLOBBatchOrders/)
    begins({ wallet, orders: [order('1'), order('1.0')] }, order('1'), order('1'))
  })

  it('are for one transaction of an endpoint, again where it was refused, and again with its key', () => {
    const { begin } = sentWords('POST /swap', { wallet })
    const trade = (key?: string) => begin('AMMTrade', { ...site, address: wallet }, key)
    trade()(new SluiceError('LIMIT_EXCEEDED', 'refused'))
    const failed = trade('one')
    trade('one')(new SluiceError('LIMIT_EXCEEDED', 'of the second time'))
    expect(() => trade('two')).to.throw(/makes one transaction of AMMTrade/)
    failed(new SluiceError('TIMEOUT', 'nobody knows'))
    expect(() => trade()).to.throw(/makes one transaction of AMMTrade/)
    expect(() => begin('EVMWrap', { address: wallet }, undefined)).not.to.throw()
  })

  it('are for one transaction where an earlier call with its key is refused while it is made', () => {
    const { begin } = sentWords('POST /swap', { wallet })
    const trade = (key?: string) => begin('AMMTrade', { ...site, address: wallet }, key)
    const refused = new SluiceError('INCOMPLETE_PARAMS', 'wrong fields')
    const first = trade('one')
    const second = trade('one')
    first(refused)
    expect(() => trade('two')).to.throw(/makes one transaction of AMMTrade/)
    second(refused)
    trade('two')
    expect(() => trade('three')).to.throw(/makes one transaction of AMMTrade/)
  })
})

describe('what a contained interface changes by an endpoint for people that the operator lists', () => {
  const outline = { method: 'POST', path: '/approve', summary: '', request: { properties: {} }, response: {} }

  /** One request, whose handler makes these calls. @returns those that reached the server, and what each came to */
  async function asked(fields: object, ...calls: readonly (readonly [endpoint: string, fields: object])[]) {
    const [reached, outcomes]: [string[], string[]] = [[], []]
    let answer: AnswerQuestion = () => {
      throw new Error('nothing is served')
    }
    const host = {
      serve: async (_name: string, _config: object, given: AnswerQuestion) => {
        answer = given
        return [outline]
      },
      async ask(_method: string, [{ id } = { id: '' }]: readonly { id: string }[]) {
        for (const [index, call] of calls.entries())
          outcomes.push(
            await Promise.resolve(answer('endpoint', [id, index, ...call], new AbortController().signal)).then(
              () => 'done',
              (thrown: SluiceError) => thrown.name,
            ),
          )
        return { text: '{}' }
      },
      notReady: () => undefined,
      tell() {},
    } as unknown as Host
    const call = {
      requestId: 'one',
      rights: () => ({ id: 'approver', permissions: [], wallets: 'all' as const }),
      delivered: new Promise<boolean>(() => {}),
      signal: new AbortController().signal,
      isGone: false,
      call: async (endpoint: string) => reached.push(endpoint),
    } as unknown as ServedCall
    const { paths } = await remoteInterface('desk', host, { config: {}, decides: [] })
    await paths[0]?.answer(fields as Readonly<Record<string, unknown>>, call)
    return { reached, outcomes }
  }

  it('is in the words of its caller, once', async () => {
    const approve = ['ApprovalsApprove', { id: 'a-1' }] as const
    expect(await asked({ id: 'a-1' }, approve, approve)).to.deep.equal({ reached: ['ApprovalsApprove'], outcomes: ['done', 'FORBIDDEN'] })
    expect(await asked({ id: 'a-2' }, approve)).to.deep.equal({ reached: [], outcomes: ['FORBIDDEN'] })
    for (const fields of [{ scope: 'all' }, {}, { scope: null }])
      expect(await asked({}, ['StopsDelete', fields])).to.deep.equal({ reached: [], outcomes: ['FORBIDDEN'] })
  })

  it('is read in any words', async () => {
    const { outcomes } = await asked({}, ['Approvals', { state: 'open' }], ['Status', {}], ['Alerts', {}])
    expect(outcomes).to.deep.equal(['done', 'done', 'done'])
  })
})
