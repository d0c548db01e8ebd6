import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'

describe('the log', () => {
  let talker: ChildProcess
  beforeEach(() => {
    talker = fork(fileURLToPath(new URL('talker.ts', import.meta.url)), {
      execArgv: ['--import', import.meta.resolve('tsx/esm')],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
  })
  afterEach(() => talker.kill('SIGKILL'))

  it('does not block the server when its reader stops', async () => {
    talker.send('flood')
    expect(await once(talker, 'message')).to.include('still here')
  })

  it('does not keep the server from ending when its reader stops', async () => {
    talker.send('flood and end')
    expect(await once(talker, 'exit')).to.deep.equal([0, null])
  })

  it('is complete at the end of the process, has JSON lines, and shows no key of a URL', async () => {
    let text = ''
    talker.stderr?.on('data', (chunk) => {
      text += String(chunk)
    })
    talker.send('end')
    await once(talker, 'close')
    // What is being written as the process ends may be written once more, or after what follows it, rather than not at all.
    const lines = [...new Set(text.trimEnd().split('\n'))].map((line) => JSON.parse(line))
    const [error, last, ...more] = lines.toSorted((a, b) => a.level - b.level)
    expect(more).to.deep.equal([])
    expect(last.msg).to.equal('the last line')
    expect(error.err.message).to.equal('no answer (info={ "requestUrl": "https://node.example/v3/***" })')
    expect(error.err.stack).to.contain(new URL('talker.ts', import.meta.url).pathname)
    expect(error).to.include({
      url: 'wss://***@node.example/***',
      quoted: '"https://node.example/v3/***"',
      msg: 'tried https://node.example/v3/***',
    })
    expect(text).not.to.contain('0123456789abcdef').and.not.to.contain('word@')
  })
})
