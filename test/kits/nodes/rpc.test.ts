import type { ServerResponse } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { evmRpc } from '../../../kits/evm/rpc.ts'
import { RpcError } from '../../../kits/nodes/dialect.ts'
import type { Rpc } from '../../../kits/nodes/rpc.ts'
import { SluiceError } from '../../../core/contracts/index.ts'
import {
  answering,
  checked,
  error,
  fakeBlock,
  hangUp,
  healthy,
  json,
  silent,
  startFakeNode,
  status,
  text,
  type NodeRequest,
  type Behaviour,
  type FakeNode,
} from '../evm/fake-node.ts'
import { nodeErrorRows, type NodeErrorRow } from '../../fixtures/node-errors.ts'

const at = { signal: new AbortController().signal }
const key = 'c0ffee0123456789c0ffee'

async function failureOf(work: Promise<unknown>): Promise<SluiceError> {
  try {
    await work
  } catch (failure) {
    if (failure instanceof SluiceError) return failure
    throw failure
  }
  throw new Error('It worked.')
}

/** Asks until it works; the test's own limit ends it. */
async function recovered(rpc: Rpc): Promise<unknown> {
  for (;;) {
    try {
      return await rpc.request('eth_blockNumber', [], at)
    } catch {
      await new Promise((resolve) => {
        setTimeout(resolve, 10)
      })
    }
  }
}

describe('an RPC client', () => {
  let open: { close(): Promise<void> }[] = []
  let said: string[] = []
  let metered: string[] = []

  const hear = (fields: object, message?: string) => void said.push(`${JSON.stringify(fields)} ${message}`)

  async function node(behaviour: Behaviour = healthy()): Promise<FakeNode> {
    const started = await startFakeNode(behaviour)
    open.push(started)
    return started
  }

  /** Every URL carries a key in user info, path and query. */
  function client(
    nodes: readonly FakeNode[],
    { chainId = 1, timeoutMs = 5_000, firstBackoffMs = 60, sendUrls = [] as readonly string[], privateUrls = [] as readonly string[] } = {},
  ): Rpc {
    const rpc = evmRpc({
      rpcUrls: nodes.map(({ url }) => `${url.replace('//', `//bot:${key}@`)}/v3/${key}?apikey=${key}`),
      sendUrls,
      privateUrls,
      chainId,
      timeoutMs,
      health: { firstBackoffMs },
      network: 'ethereum/mainnet',
      log: { info: hear, warn: hear },
      meter: { rpc: (method, outcome) => void metered.push(`${method} ${outcome}`) },
    })
    open.push({ close: () => rpc.stop() })
    return rpc
  }

  afterEach(async () => {
    for (const each of open.toReversed()) await each.close()
    expect(JSON.stringify(said)).to.not.contain(key)
    open = []
    said = []
    metered = []
  })

  it('returns the result of a call, and asks for the chain id once', async () => {
    const healthyNode = await node(healthy({ result: '0x10' }))
    const rpc = client([healthyNode])
    expect(await rpc.request('eth_blockNumber', [], at)).to.equal('0x10')
    expect(await rpc.request('eth_blockNumber', [], at)).to.equal('0x10')
    expect(healthyNode.asked).to.deep.equal(['eth_chainId', 'eth_blockNumber', 'eth_blockNumber'])
    expect(metered).to.deep.equal(['eth_chainId ok', 'eth_blockNumber ok', 'eth_blockNumber ok'])
  })

  it('returns a batch in the order of its calls, in one HTTP request, for any order of the answers', async () => {
    const shuffling = await node(
      checked(({ calls }, response) =>
        json(response, calls.map(({ id, params }) => ({ jsonrpc: '2.0', id, result: params[0] })).toReversed()),
      ),
    )
    const rpc = client([shuffling])
    const answers = await rpc.batch(
      ['0xaa', '0xbb', '0xcc'].map((param) => ({ method: 'eth_call', params: [param] })),
      at,
    )
    expect(answers.map(({ result }) => result)).to.deep.equal(['0xaa', '0xbb', '0xcc'])
    expect(shuffling.requests).to.equal(2)
  })

  const logs: Behaviour = ({ calls }, response) =>
    json(
      response,
      calls.map(({ id }) => ({ jsonrpc: '2.0', id, result: ['x'.repeat(9 * 2 ** 20)] })),
    )

  for (const [what, behaviour] of Object.entries({
    'an answer that is too long': logs,
    'no answer': silent,
    'no JSON': text('<html>'),
    'a limit': status(429),
    'a failure': status(503),
    'a closed connection': hangUp,
  }))
    it(`leaves its nodes as they are when a question of strangers gets ${what}`, async () => {
      const works = healthy({ result: '0x10' })
      const nodes = await Promise.all(
        [0, 1, 2].map(() =>
          node((asked, response) => (asked.calls.some(({ method }) => method === 'eth_getLogs') ? behaviour : works)(asked, response)),
        ),
      )
      const rpc = client(nodes, { timeoutMs: 4_000 })
      expect(await rpc.request('eth_blockNumber', [], at)).to.equal('0x10')
      await rpc.onEveryNode((ask) => ask([{ method: 'eth_blockNumber', params: [] }]), at)
      const known = () => rpc.nodes().map(({ errorRate, trouble }) => ({ errorRate, trouble }))
      const before = known()
      const taken: number[] = []
      const strangers = rpc.isolated((calls) => void taken.push(calls))
      const call = { method: 'eth_getLogs', params: [] }
      expect((await failureOf(strangers.batch([call, call], at))).name).to.match(/^(NETWORK|RATE_LIMIT)$/)
      strangers.markUnhealthy('answered nonsense')
      expect(taken).to.deep.equal([2, 2])
      expect(nodes.filter(({ asked }) => asked.includes('eth_getLogs'))).to.have.length(2)
      expect(known()).to.deep.equal(before)
      expect(await strangers.request('eth_blockNumber', [], at)).to.equal('0x10')
      expect(said.join()).to.not.contain('put aside')
    })

  it('closes the connections of one stranger, and no others', async () => {
    const only = await node(healthy({ result: '0x10' }))
    const rpc = client([only])
    const strangers = [rpc.isolated(() => {}), rpc.isolated(() => {})]
    for (const each of [rpc, ...strangers]) expect(await each.request('eth_blockNumber', [], at)).to.equal('0x10')
    const open = await only.connections()
    await strangers[0]?.close()
    while ((await only.connections()) === open) await new Promise((done) => setTimeout(done, 5))
    expect(await only.connections()).to.be.at.least(2)
    for (const each of [rpc, strangers[1]]) expect(await each?.request('eth_blockNumber', [], at)).to.equal('0x10')
    expect(await failureOf(strangers[0]?.request('eth_blockNumber', [], at) ?? rpc.stop())).to.have.property('name', 'NETWORK')
  })

  it('asks a node of another network no question of strangers', async () => {
    const only = await node(healthy({ result: '0x1' }))
    const rpc = client([only])
    expect(await rpc.request('eth_blockNumber', [], at)).to.equal('0x1')
    only.behave(healthy({ chainId: 5, result: '0x666' }))
    expect((await failureOf(rpc.isolated(() => {}).request('eth_blockNumber', [], at))).message).to.match(/serves chain id 5, not 1/)
    expect(only.asked.filter((method) => method === 'eth_blockNumber')).to.have.length(1)
  })

  it('distinguishes a revert from a failing node', async () => {
    const reverting = await node(checked(error(3, 'execution reverted')))
    const spare = await node()
    const rpc = client([reverting, spare])
    const refused = await rpc.request('eth_call', [], at).catch((failure: unknown) => failure)
    expect(refused).to.be.instanceOf(RpcError).with.property('code', 3)
    expect(spare.asked).to.not.include('eth_call')
    expect(metered).to.include('eth_call ok')
  })

  it('hides the key that a node quotes in its error', async () => {
    const rpc = client([await node(checked(error(-32602, `bad key ${key}`)))])
    const refused = await rpc.request('eth_call', [], at).catch((failure: unknown) => failure)
    expect(refused).to.be.instanceOf(RpcError).with.property('message', 'bad key ***')
  })

  it('checks the chain id again before it repeats a call that a closed connection has lost', async () => {
    const only = await node(healthy({ result: '0x1' }))
    const rpc = client([only])
    expect(await rpc.request('eth_blockNumber', [], at)).to.equal('0x1')
    let asked = 0
    only.behave((call, response) => ((asked += 1) === 1 ? hangUp : healthy({ chainId: 5, result: '0x666' }))(call, response))
    const error = await rpc.request('eth_blockNumber', [], at).catch((thrown: unknown) => thrown)
    expect(error)
      .to.be.instanceOf(SluiceError)
      .and.to.have.property('message')
      .that.matches(/serves chain id 5, not 1/)
  })

  /** The same to a single call as to each of a batch. */
  const each = (answerTo: (call: { id: number }) => unknown): Behaviour =>
    checked(({ calls, batched }, response) => json(response, batched ? calls.map(answerTo) : answerTo(calls[0] ?? { id: 0 })))
  const truncated = '{"jsonrpc":"2.0","id":1,"res'
  /** Of each: what the node does, what is said of it, and how long it may take where that is not as usual. */
  const faults: Record<string, [Behaviour, RegExp, number?]> = {
    'is silent': [checked(silent), /did not answer within 3 s/, 3_000],
    'hangs up': [checked(hangUp), /cannot be reached \(ECONNRESET\)/],
    'fails with 500': [checked(status(500)), /failed \(HTTP 500\)/],
    'fails with 503': [checked(status(503)), /failed \(HTTP 503\)/],
    'refuses the key': [checked(status(401)), /refuses the key in its URL \(HTTP 401\)/],
    redirects: [checked(status(307, { location: 'http://127.0.0.1:1/' })), /redirects \(HTTP 307\), which is not followed/],
    'answers with HTML': [checked(text('<html>moved</html>')), /not JSON/],
    'answers with truncated JSON': [checked(text(truncated)), /not JSON/],
    'answers with nothing': [checked(text('')), /not JSON/],
    'answers with null': [each(() => null), /left a call without an answer/],
    'answers another call': [each(() => ({ jsonrpc: '2.0', id: 'other', result: '0x1' })), /another call|left a call without an answer/],
    'answers with neither result nor error': [each(({ id }) => ({ jsonrpc: '2.0', id })), /neither result nor error/],
    'gives a call an impossible result': [
      each(({ id }) => ({ jsonrpc: '2.0', id, result: { moon: 'full' } })),
      /gave an impossible answer to eth_(blockNumber|getBlockByNumber)/,
    ],
    'answers without an end': [
      checked((_asked, response) => {
        response.writeHead(200)
        const dripping = setInterval(() => response.write(' '), 20)
        response.on('close', () => clearInterval(dripping))
      }),
      /did not answer within 3 s/,
      3_000,
    ],
    'cuts the answer off': [
      checked((_asked, response) => {
        response.writeHead(200, { 'content-length': '1000' }).write(truncated)
        setTimeout(() => response.destroy(), 20)
      }),
      /cannot be reached/,
    ],
    'serves another chain': [healthy({ chainId: 5 }), /serves chain id 5, not 1/],
    'gives garbage for its chain id': [healthy({ chainId: Number.NaN }), /serves chain id NaN, not 1/],
  }
  for (const [fault, [behaviour, reason, timeoutMs = 5_000]] of Object.entries(faults)) {
    it(`asks the next node within the same call when the first ${fault}, and returns to it when it is healthy`, async () => {
      const first = await node(behaviour)
      const second = await node(healthy({ result: '0x2' }))
      const rpc = client([first, second], { timeoutMs })
      expect(await rpc.request('eth_blockNumber', [], at)).to.equal('0x2')
      expect(said.join()).to.match(reason)
      first.behave(healthy({ result: '0x1' }))
      while ((await rpc.request('eth_blockNumber', [], at)) !== '0x1')
        await new Promise((resolve) => {
          setTimeout(resolve, 10)
        })
      expect(rpc.url()).to.equal(`${first.url}/v3/***`)
    })

    it(`names the reason, without the key, when its only node ${fault}, and recovers`, async () => {
      const only = await node(behaviour)
      const rpc = client([only], { timeoutMs })
      const failure = await failureOf(rpc.request('eth_blockNumber', [], at))
      expect(failure.name).to.equal('NETWORK')
      expect(failure.message).to.match(reason).and.contain('ethereum/mainnet').and.contain(`${only.url}/v3/***`).and.not.contain(key)
      expect(failure.retryAfterSeconds).to.be.greaterThan(0)
      only.behave(healthy({ result: '0x9' }))
      expect(await recovered(rpc)).to.equal('0x9')
    })
  }

  describe('with a node that gives a longer answer than is read', () => {
    const long = 'x'.repeat(33 * 2 ** 20)
    /** The calls of blocks, of 300 of which the logs are too long, and of code, which always is. */
    const tells: Behaviour = ({ calls, batched }, response) => {
      const answers = calls.map(({ id, method, params: [asked] }) => {
        const { from = 0, to = 0 } = Object(asked) as { from?: number; to?: number }
        const isLong = method === 'eth_getCode' || to - from >= 300
        const result = { eth_chainId: '0x1', eth_getBlockByNumber: fakeBlock(1) }[method] ?? (isLong ? long : method)
        return { jsonrpc: '2.0', id, result }
      })
      json(response, batched ? answers : answers[0])
    }
    // So much takes its time on a busy machine.
    const timeoutMs = 120_000

    it('leaves it as it is, and asks the next one', async () => {
      const nodes = [await node(tells), await node(healthy({ result: '0x22' }))]
      const rpc = client(nodes, { timeoutMs })
      expect(await rpc.request('eth_getCode', [], at)).to.equal('0x22')
      expect(rpc.nodes().map(({ trouble }) => trouble)).to.deep.equal([undefined, undefined])
      expect(await rpc.request('test_name', [], at)).to.equal('test_name')
      expect(said.join()).to.not.contain('put aside')
    })

    it('says so, and leaves the others of a batch their answers', async () => {
      const rpc = client([await node(tells)], { timeoutMs })
      expect((await failureOf(rpc.request('eth_getCode', [], at))).message).to.match(/eth_getCode: sent an answer of more than 32 MB/)
      const calls = ['test_one', 'eth_getCode', 'test_two', 'test_three'].map((method) => ({ method, params: [] }))
      const answers = await rpc.batch(calls, at)
      expect(answers.map(({ result }) => result)).to.deep.equal(['test_one', undefined, 'test_two', 'test_three'])
      expect(answers[1]?.error?.fault).to.deep.equal({ is: 'trouble', kind: 'unreachable' })
      expect(rpc.nodes()[0]?.limits).to.equal(undefined)
      expect(said.join()).to.not.contain('put aside')
    })

    it('puts it aside where all that it answers is too long', async () => {
      const rpc = client([await node(checked(text(`"${long}"`)))], { timeoutMs })
      const calls = Array.from({ length: 40 }, () => ({ method: 'test_name', params: [] }))
      expect((await failureOf(rpc.batch(calls, at))).message).to.match(/sent an answer of more than 32 MB/)
      expect(said.join()).to.contain('put aside')
    })

    it('says that less may be asked for where that is so', async () => {
      const rpc = client([await node(tells)], { timeoutMs })
      const [answer] = await rpc.batch([{ method: 'eth_getLogs', params: [{ from: 0, to: 300 }], size: 300 }], at)
      expect(answer?.error?.fault).to.deep.equal({ is: 'too-large', of: 'call' })
      expect(answer?.error?.max).to.equal(150)
    })
  })

  for (const [method, params, possible] of [
    ['eth_getTransactionCount', ['0x', 'latest'], '0x5'],
    ['eth_blockNumber', [], '0x5'],
    ['eth_getBlockByNumber', ['latest', false], fakeBlock(5)],
  ] as const)
    it(`asks the next node where one answers ${method} with a number that is none of a chain`, async () => {
      const huge = `0x${'f'.repeat(64)}`
      const impossible = { ...fakeBlock(5), number: huge }
      const answersWith = (answer: unknown) => answering({ eth_chainId: '0x1', eth_getBlockByNumber: fakeBlock(5), [method]: answer })
      const rpc = client([await node(answersWith(typeof possible === 'string' ? huge : impossible)), await node(answersWith(possible))])
      expect(await rpc.request(method, params, at)).to.deep.equal(possible)
      expect(said.join()).to.contain(`gave an impossible answer to ${method}`)
    })

  it('refuses a batch that is answered by a single object', async () => {
    const rpc = client([
      await node(
        checked((_asked, response) => json(response, { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'too large' } })),
      ),
    ])
    const failure = await failureOf(rpc.batch([{ method: 'eth_call', params: [] }], at))
    expect(failure.message).to.match(/refused eth_call: too large \(code -32600\)/)
  })

  it('refuses a batch in which an answer is missing', async () => {
    const rpc = client([
      await node(
        checked(({ calls }, response) =>
          json(
            response,
            calls.slice(1).map(({ id }) => ({ jsonrpc: '2.0', id, result: '0x1' })),
          ),
        ),
      ),
    ])
    const failure = await failureOf(
      rpc.batch(
        [
          { method: 'eth_call', params: [] },
          { method: 'eth_call', params: [] },
        ],
        at,
      ),
    )
    expect(failure.message).to.match(/left a call without an answer/)
  })

  it('refuses a batch in which a call is answered twice', async () => {
    const twice: Behaviour = ({ calls }, response) =>
      json(
        response,
        calls.flatMap(({ id }) => ['0x1', '0x2'].map((result) => ({ jsonrpc: '2.0', id, result }))),
      )
    const call = { method: 'eth_call', params: [] }
    const failure = await failureOf(client([await node(checked(twice))]).batch([call, call], at))
    expect(failure.message).to.match(/answered a call twice/)
  })

  it('recognizes the refusal of a whole batch, alone or in a list', async () => {
    const refusal = { jsonrpc: '2.0', id: null, error: { code: -32005, message: 'too many' } }
    for (const answer of [refusal, [refusal]]) {
      const rpc = client([await node(checked((_asked, response) => json(response, answer)))])
      expect(await failureOf(rpc.batch([{ method: 'eth_call', params: [] }], at))).to.have.property('name', 'RATE_LIMIT')
    }
  })

  describe('reads', () => {
    /** What a healthy node answers, in another form. */
    const inForm = (
      write: (answers: readonly object[] | object, response: ServerResponse) => void,
      idOf: (id: number) => unknown,
    ): Behaviour =>
      checked(({ calls, batched }, response) => {
        const answers = calls.map(({ id }) => ({ jsonrpc: '2.0', id: idOf(id), result: '0x10' }))
        write(batched ? answers : (answers[0] ?? {}), response)
      })
    const compressed = (encoding: string, compress: (text: string) => Buffer) =>
      inForm(
        (answers, response) =>
          void response
            .writeHead(200, { 'content-type': 'application/json', 'content-encoding': encoding })
            .end(compress(JSON.stringify(answers))),
        (id) => id,
      )
    const forms: Record<string, Behaviour> = {
      'an answer that is compressed with gzip though nobody asked': compressed('gzip', gzipSync),
      'an answer that is compressed with deflate': compressed('deflate', deflateSync),
      'an answer that is compressed with Brotli': compressed('br', brotliCompressSync),
      'ids that are answered as text': inForm((answers, response) => json(response, answers), String),
      'an answer behind a byte order mark': inForm(
        (answers, response) => void response.writeHead(200).end(`\uFEFF${JSON.stringify(answers)}`),
        (id) => id,
      ),
      'a result that comes with a bad status': inForm(
        (answers, response) => void response.writeHead(500).end(JSON.stringify(answers)),
        (id) => id,
      ),
    }
    for (const [form, behaviour] of Object.entries(forms))
      it(form, async () => {
        const rpc = client([await node(behaviour)])
        expect(await rpc.request('eth_blockNumber', [], at)).to.equal('0x10')
        const answers = await rpc.batch(
          [1, 2].map((number) => ({ method: 'eth_getCode', params: [number] })),
          at,
        )
        expect(answers).to.deep.equal([{ result: '0x10' }, { result: '0x10' }])
      })

    it('no answer that is compressed and longer than it may be', async () => {
      const bomb = checked(
        (_asked, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(40 * 2 ** 20))),
      )
      const failure = await failureOf(client([await node(bomb)]).request('eth_blockNumber', [], at))
      expect(failure.message).to.match(/sent an answer of more than 32 MB/)
    })
  })

  describe('with a node that answers an error', () => {
    /** The rows of the table to the call, as the node gives them: each alone, in a batch, and of a batch as a whole. */
    const answers = ({ code, message, data, status: http = 200 }: NodeErrorRow): Behaviour =>
      checked(({ calls, batched }, response) => {
        const error = { ...(!Number.isNaN(code) && { code }), message, ...(data !== undefined && { data }) }
        const all = calls.map(({ id }) => ({ jsonrpc: '2.0', id, error }))
        response.writeHead(http, { 'content-type': 'application/json' }).end(JSON.stringify(batched ? all : all[0]))
      })
    const call = { method: 'eth_estimateGas', params: [] }
    const rowsOf = (is: NodeErrorRow['is']) => nodeErrorRows.filter((row) => row.is === is && row.to === undefined)

    for (const row of rowsOf('trouble'))
      it(`asks the next one in the same call after "${row.message}" (${row.code}) of ${row.from}, and alone says whose trouble it is`, async () => {
        const troubled = await node(answers(row))
        const rpc = client([troubled, await node(healthy({ result: '0x5208' }))])
        expect(await rpc.request(call.method, call.params, at)).to.equal('0x5208')
        const again = client([troubled, await node(healthy({ result: '0x5208' }))])
        expect(await again.batch([call, call], at)).to.deep.equal([{ result: '0x5208' }, { result: '0x5208' }])
        const alone = client([troubled])
        for (const failure of [
          await failureOf(alone.request(call.method, call.params, at)),
          await failureOf(client([troubled]).batch([call], at)),
        ]) {
          expect(failure.name, failure.message).to.equal(row.isLimit ? 'RATE_LIMIT' : 'NETWORK')
          expect(failure.retryAfterSeconds).to.be.at.least(1)
        }
      })

    it('passes the word of the chain on, in every form and with every status, and asks no other', async () => {
      const only = await node()
      const spare = await node()
      const rpc = client([only, spare])
      for (const row of rowsOf('verdict')) {
        only.behave(answers(row))
        const [answer] = await rpc.batch([call], at)
        expect(answer?.error?.fault, row.message).to.deep.equal({ is: 'verdict' })
        const single = await rpc.request(call.method, call.params, at).catch((failure: unknown) => failure)
        expect(single).to.be.instanceOf(RpcError)
      }
      expect(spare.asked).to.not.include('eth_estimateGas')
    })

    it('keeps what a node in trouble answered of a batch, where no other can tell more', async () => {
      const some: Behaviour = checked(({ calls }, response) =>
        json(
          response,
          calls.map(({ id }, index) =>
            index === 0
              ? { jsonrpc: '2.0', id, result: '0x1' }
              : { jsonrpc: '2.0', id, error: { code: -32603, message: 'internal error' } },
          ),
        ),
      )
      const rpc = client([await node(some), await node(some)])
      const [first, second] = await rpc.batch([call, call], at)
      expect(first?.result).to.equal('0x1')
      expect(second?.error?.fault).to.include({ is: 'trouble' })
    })
  })

  describe('with a node that takes small requests only', () => {
    const batch = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ method: 'eth_getCode', params: [`0x${index.toString(16).padStart(2, '0')}`] }))
    /** Refuses a batch of more calls, as a whole. */
    const takes = (max: number, refuse: (response: ServerResponse, calls: NodeRequest['calls']) => void): Behaviour =>
      checked(({ calls, batched }, response) => {
        if (batched && calls.length > max) return refuse(response, calls)
        const all = calls.map(({ id, method, params }) => ({
          jsonrpc: '2.0',
          id,
          result: method === 'eth_getCode' ? params[0] : fakeBlock(5),
        }))
        json(response, batched ? all : all[0])
      })
    const asObject = (code: number, message: string) => (response: ServerResponse) =>
      json(response, { jsonrpc: '2.0', id: null, error: { code, message } })
    const refusals: Record<string, [max: number, learned: number, (response: ServerResponse, calls: NodeRequest['calls']) => void]> = {
      'three calls': [3, 3, asObject(31, 'Batch of more than 3 requests are not allowed on free tier')],
      'ten calls': [10, 10, asObject(-32005, 'batch size limit is 10')],
      'no batches': [0, 1, asObject(-32600, 'batch requests are not allowed')],
      'four calls, and says too large': [4, 2, asObject(-32600, 'too large')],
      'five calls, and answers each with the refusal': [
        5,
        5,
        (response, calls) =>
          json(
            response,
            calls.map(({ id }) => ({
              jsonrpc: '2.0',
              id,
              error: { code: -32000, message: 'batch limit 5 exceeded. Requested batch of size: 20' },
            })),
          ),
      ],
      'bodies of a few calls, by the status': [
        5,
        5,
        (response) => void response.writeHead(413).end('<html>413 Request Entity Too Large</html>'),
      ],
    }
    /** Refused by their shape alone: in words that nobody has listed, or in none. Each batch is at most as long as half of a refused one. */
    const shapes: Readonly<Record<string, (response: ServerResponse, calls: NodeRequest['calls']) => void>> = {
      'one error': asObject(-32603, 'Internal error'),
      'one error without a code': (response) => json(response, { error: 'nope' }),
      'one error that speaks of the method': asObject(-32601, 'the method does not exist'),
      'one error that speaks of a revert': asObject(3, 'execution reverted'),
      'one error with the id of the first call': (response, calls) =>
        json(response, { jsonrpc: '2.0', id: calls[0]?.id, error: { code: -32600, message: 'Invalid Request' } }),
      'a list of one error': (response, calls) =>
        json(response, [{ jsonrpc: '2.0', id: calls[0]?.id, error: { code: -32600, message: 'Invalid Request' } }]),
      'the answer to the first call alone': (response, calls) => json(response, { jsonrpc: '2.0', id: calls[0]?.id, result: '0x' }),
      'no body': (response) => void response.end(),
      'an empty list': (response) => json(response, []),
      null: (response) => json(response, null),
      'status 400 and no JSON': (response) => void response.writeHead(400).end('Bad Request'),
      'status 405': (response) => void response.writeHead(405).end(),
      'status 500 and no JSON': (response) => void response.writeHead(500).end('<html>Internal Server Error</html>'),
      'status 500 and one error': (response) =>
        void response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":{"code":-32000,"message":"unexpected"}}'),
      'a closed connection': (response) => void response.socket?.destroy(),
    }
    for (const [what, refuse] of Object.entries(shapes))
      it(`answers a batch of twenty by one that answers more than six calls by ${what}, and remembers`, async () => {
        const small = await node(takes(6, refuse))
        const rpc = client([small])
        const asked = batch(20)
        expect((await rpc.batch(asked, at)).map(({ result }) => result)).to.deep.equal(asked.map(({ params }) => params[0]))
        expect(rpc.nodes()[0]?.limits).to.deep.equal({ batch: 5 })
        const before = small.requests
        await rpc.batch(asked, at)
        expect(small.requests - before).to.equal(4)
      })

    for (const [what, refuse] of Object.entries(shapes))
      it(`learns nothing of a list that was answered by ${what} once`, async () => {
        let isDown = true
        const works = takes(100, refuse)
        const rpc = client([
          await node((asked, response) => {
            if (!asked.batched || !isDown) return works(asked, response)
            isDown = false
            refuse(response, asked.calls)
          }),
        ])
        const asked = batch(30)
        expect((await rpc.batch(asked, at)).map(({ result }) => result)).to.deep.equal(asked.map(({ params }) => params[0]))
        expect(rpc.nodes()[0]?.limits).to.equal(undefined)
      })

    it('learns nothing of a node that fails, and asks the next', async () => {
      for (const [what, refuse] of Object.entries(shapes)) {
        // A node may know no method, and works.
        if (what.includes('method')) continue
        let fails = false
        const failing = await node((asked, response) => {
          if (fails) return refuse(response, asked.calls)
          takes(100, refuse)(asked, response)
        })
        const rpc = client([failing, await node(takes(100, refuse))])
        const asked = batch(20)
        await rpc.batch(asked, at)
        fails = true
        expect((await rpc.batch(asked, at)).map(({ result }) => result)).to.deep.equal(asked.map(({ params }) => params[0]))
        expect(rpc.nodes()[0]?.limits).to.equal(undefined)
      }
    })

    it('does not repeat a batch that is refused for its rate or its key', async () => {
      const refusals: ((response: ServerResponse) => void)[] = [
        asObject(-32005, 'request rate limit exceeded'),
        (response) => void response.writeHead(429).end('slow down'),
        (response) => void response.writeHead(401).end('no key'),
        (response) => void response.writeHead(503).end('no backend'),
      ]
      for (const refuse of refusals) {
        const limited = await node(takes(0, refuse))
        const rpc = client([limited])
        await failureOf(rpc.batch(batch(20), at))
        // One for its identity.
        expect(limited.requests).to.equal(2)
      }
    })

    for (const [what, [max, learned, refuse]] of Object.entries(refusals))
      it(`answers a batch of twenty by one that takes ${what}, and remembers`, async () => {
        const small = await node(takes(max, refuse))
        const rpc = client([small])
        const asked = batch(20)
        expect((await rpc.batch(asked, at)).map(({ result }) => result)).to.deep.equal(asked.map(({ params }) => params[0]))
        expect(rpc.nodes()[0]?.limits).to.deep.equal({ batch: learned })
        const before = small.requests
        await rpc.batch(asked, at)
        expect(small.requests - before).to.equal(Math.ceil(20 / learned))
      })
  })

  it('throws RATE_LIMIT with the shortest wait when every node is over its limit, and does not ask them meanwhile', async () => {
    const first = await node(checked(status(429, { 'retry-after': '7' })))
    const second = await node(checked(error(-32005, 'limit exceeded')))
    const rpc = client([first, second])
    expect(await failureOf(rpc.request('eth_blockNumber', [], at))).to.have.property('name', 'RATE_LIMIT')
    const requests = first.requests
    expect((await failureOf(rpc.request('eth_blockNumber', [], at))).name).to.equal('RATE_LIMIT')
    expect(first.requests).to.equal(requests)

    const alone = client([await node(checked(status(429, { 'retry-after': '7' })))])
    expect(await failureOf(alone.request('eth_blockNumber', [], at))).to.include({ name: 'RATE_LIMIT', http: 429, retryAfterSeconds: 7 })
  })

  it('throws NETWORK when one node is over its limit and the other is down', async () => {
    const rpc = client([await node(status(429)), await node(hangUp)])
    expect(await failureOf(rpc.request('eth_blockNumber', [], at))).to.have.property('name', 'NETWORK')
  })

  it('passes "too many results" for logs to the caller, who can ask for fewer', async () => {
    const rpc = client([await node(checked(error(-32005, 'query returned more than 10000 results')))])
    const refused = await rpc.request('eth_getLogs', [], at).catch((failure: unknown) => failure)
    expect(refused).to.be.instanceOf(RpcError)
  })

  it('fails at once while its only node is down, and checks it once for any number of calls', async () => {
    const only = await node(silent)
    const rpc = client([only], { timeoutMs: 3_000, firstBackoffMs: 60_000 })
    await Promise.allSettled(Array.from({ length: 50 }, () => rpc.request('eth_blockNumber', [], at)))
    expect(only.asked).to.deep.equal(['eth_chainId'])
    await failureOf(rpc.request('eth_blockNumber', [], at))
    expect(only.requests).to.equal(1)
  })

  it('checks the chain id again after all connections were lost', async () => {
    const first = await node()
    const rpc = client([first])
    await rpc.request('eth_blockNumber', [], at)
    first.behave(healthy({ chainId: 5 }))
    await first.dropConnections()
    const failure = await failureOf(rpc.request('eth_blockNumber', [], at))
    expect(failure.message).to.match(/serves chain id 5, not 1/)
  })

  it("aborts with the caller's reason, without a failure of the node", async () => {
    const slow = await node(checked(silent))
    const rpc = client([slow], { timeoutMs: 5000 })
    const stop = new AbortController()
    const asked = rpc.request('eth_blockNumber', [], { signal: stop.signal })
    setTimeout(() => stop.abort(new Error('enough')), 50)
    expect(await asked.catch((failure: unknown) => failure)).to.have.property('message', 'enough')
    slow.behave(healthy({ result: '0x3' }))
    expect(await rpc.request('eth_blockNumber', [], at)).to.equal('0x3')
  })

  it('throws NETWORK when a network has no node', async () => {
    const failure = await failureOf(client([]).request('eth_blockNumber', [], at))
    expect(failure).to.have.property('name', 'NETWORK')
    expect(failure.message).to.match(/ethereum\/mainnet has no RPC node: set rpcUrls/)
  })

  describe('broadcasting', () => {
    const signed = { id: '0xhash', raw: '0xraw' }
    const takes = healthy({ result: '0xhash' })

    it('sends the same bytes to every node and returns an answer of each', async () => {
      const late: Behaviour = (asked, response) => void setTimeout(() => healthy({ result: '0xhash' })(asked, response), 2_000)
      const nodes = [await node(checked(late)), await node(checked(error(-32000, 'nonce too low'))), await node(hangUp)]
      const answers = await client(nodes).broadcast(signed, at)
      expect(answers[0]).to.include({ result: '0xhash' })
      // The node that took it is named as it is everywhere, without its key.
      expect(answers[0]).to.have.property('node').that.includes('***').and.not.contains(key)
      expect(answers[1]).to.have.nested.property('error.message', 'nonce too low')
      expect(answers[2])
        .to.have.property('unreachable')
        .that.matches(/cannot be reached/)
        .and.not.contains(key)
    })

    it('does not wait for a silent node once another has the transaction', async () => {
      const rpc = client([await node(takes), await node(silent)], { timeoutMs: 60_000 })
      const answers = await rpc.broadcast(signed, at)
      expect(answers[0]).to.include({ result: '0xhash' })
      expect(answers[1])
        .to.have.property('unreachable')
        .that.matches(/did not answer in time/)
    })

    it('sends to sendUrls only, when there are any, and never to a node of another chain', async () => {
      const reading = await node()
      const sending = await node()
      const wrong = await node(healthy({ chainId: 5 }))
      // The wrong node is not asked again before its backoff is over.
      const rpc = client([reading], { sendUrls: [sending.url, wrong.url], firstBackoffMs: 60_000 })
      await rpc.request('eth_blockNumber', [], at)
      const answers = await rpc.broadcast(signed, at)
      await rpc.broadcast(signed, at)
      expect(answers).to.have.length(2)
      expect(answers[1])
        .to.have.property('unreachable')
        .that.matches(/serves chain id 5/)
      expect(reading.asked).to.not.include('eth_sendRawTransaction')
      expect(wrong.asked).to.deep.equal(['eth_chainId'])
      expect(sending.asked.filter((method) => method === 'eth_sendRawTransaction')).to.have.length(2)
    })

    it('sends to a node that served the chain before and answers null in place of its id', async () => {
      const only = await node()
      const rpc = client([only])
      await rpc.request('eth_blockNumber', [], at)
      only.behave(answering({ eth_chainId: null, eth_sendRawTransaction: '0xhash' }))
      await only.dropConnections()
      expect((await failureOf(rpc.request('eth_blockNumber', [], at))).message).to.match(/serves chain id NaN, not 1/)
      expect(await rpc.broadcast(signed, at)).to.deep.equal([{ node: rpc.url(), result: '0xhash' }])
    })

    it('sends what is private to relays only, to nobody where there is none, and asks relays nothing', async () => {
      const [reading, sending, relay] = [await node(), await node(), await node(takes)]
      const rpc = client([reading], { sendUrls: [sending.url], privateUrls: [relay.url] })
      await rpc.request('eth_blockNumber', [], at)
      expect(await rpc.broadcast({ ...signed, privateOnly: true }, at)).to.deep.equal([{ node: relay.url, result: '0xhash' }])
      for (const { asked } of [reading, sending]) expect(asked).to.not.include('eth_sendRawTransaction')
      expect(relay.asked).to.deep.equal(['eth_chainId', 'eth_sendRawTransaction'])
      const without = client([reading], { sendUrls: [sending.url] })
      const refused = await without.broadcast({ ...signed, privateOnly: true }, at).catch((error: Error) => error)
      expect(refused).to.include({ name: 'NETWORK' })
      for (const { asked } of [reading, sending]) expect(asked).to.not.include('eth_sendRawTransaction')
    })

    it("passes on besu's refusal of a transaction with too much gas, though its code means a rate limit elsewhere", async () => {
      const [answer] = await client([await node(checked(error(-32005, 'Transaction gas limit exceeds block gas limit')))]).broadcast(
        signed,
        at,
      )
      expect(answer).to.have.nested.property('error.code', -32005)
    })

    it('accepts an endpoint that knows only the method for sending', async () => {
      const relay = await node(({ calls, batched }, response) =>
        (calls[0]?.method === 'eth_chainId' ? error(-32601) : healthy())({ calls, batched }, response),
      )
      const answers = await client([], { sendUrls: [relay.url] }).broadcast(signed, at)
      expect(answers).to.deep.equal([{ node: relay.url, result: '0x1' }])
    })
  })
})
