import { PassThrough } from 'node:stream'
import { expect } from 'chai'
import { ask, askHidden } from '../../core/base/terminal.ts'

function terminal(typed: string): { input: PassThrough; output: PassThrough; shown(): string } {
  const [input, output] = [new PassThrough(), new PassThrough()]
  setImmediate(() => input.write(typed))
  return { input, output, shown: () => String(output.read() ?? '') }
}

describe('a question at the terminal', () => {
  it('returns the answer and shows it', async () => {
    const at = terminal('yes\r')
    expect(await ask('Sure? ', at)).to.equal('yes')
    expect(at.shown()).to.include('Sure? ').and.include('yes')
  })

  it('returns a hidden answer and does not show it', async () => {
    const at = terminal('hunter3\u007f2 é\r')
    expect(await askHidden('Passphrase: ', at)).to.equal('hunter2 é')
    expect(at.shown()).to.equal('Passphrase: \n')
  })

  it('ends at Ctrl-C and Ctrl-D without a change', async () => {
    for (const typed of ['half\u0003', '\u0004']) {
      const error = await askHidden('Passphrase: ', terminal(typed)).catch((reason: unknown) => reason)
      expect(error).to.be.an('error').with.property('message', 'Cancelled; nothing was changed.')
    }
  })
})
