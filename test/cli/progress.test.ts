import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { showProgress } from '../../core/cli/progress.ts'

/** What was written, and how the last line of a terminal looks after it. */
function screen(isTTY: boolean, columns?: number) {
  let written = ''
  return {
    isTTY,
    ...(columns !== undefined && { columns }),
    write: (text: string) => void (written += text),
    get written() {
      return written
    },
    shown: () => written.split('\n').at(-1)?.split('\r\u001b[K').at(-1),
  }
}

describe('progress of long work', () => {
  it('shows a bar on a terminal, and takes it away', async () => {
    const terminal = screen(true, 200)
    const progress = showProgress('Exporting', terminal, false)
    progress.update({ text: '1200 transactions', part: 0.5 })
    await pause(250)
    expect(terminal.shown()).to.equal(`Exporting: ${'█'.repeat(12)}${'░'.repeat(12)} 50 %, 1200 transactions`)
    progress.end()
    expect(terminal.shown()).to.equal('')
    const { written } = terminal
    await pause(250)
    expect(terminal.written).to.equal(written)
  })

  it('shows what is known where nobody knows how much there is', async () => {
    const terminal = screen(true)
    const progress = showProgress('Exporting', terminal, false)
    progress.update({ text: '7 transactions' })
    await pause(250)
    expect(terminal.shown()).to.equal('Exporting: 7 transactions')
    progress.end()
  })

  it('keeps a long line, and one with another line in it, in one line of the terminal', async () => {
    const terminal = screen(true, 20)
    const progress = showProgress('Exporting', terminal, false)
    progress.update({ text: `a\nb${'c'.repeat(50)}` })
    await pause(250)
    expect(terminal.shown()).to.have.lengthOf(19)
    expect(terminal.written).not.to.include('\n')
    progress.end()
  })

  it('says a warning above the bar', async () => {
    const terminal = screen(true)
    const progress = showProgress('Exporting', terminal, false)
    progress.update({ text: '7 transactions' })
    await pause(250)
    progress.say('warning: one is missing')
    expect(terminal.written.endsWith('\r\u001b[Kwarning: one is missing\n')).to.equal(true)
    progress.end()
  })

  it('writes nothing elsewhere for work that is done soon, and no control characters', async () => {
    for (const file of [screen(false), screen(true)]) {
      const progress = showProgress('Exporting', file, true)
      progress.update({ text: '7 transactions', part: 0.1 })
      await pause(250)
      progress.end()
      expect(file.written).to.equal('')
    }
  })

  it('writes a line every few seconds elsewhere', async function () {
    this.timeout(20_000)
    const file = screen(false)
    const began = performance.now()
    const progress = showProgress('Exporting', file, false)
    progress.update({ text: '7 transactions', part: 0.25 })
    await pause(5_500)
    progress.end()
    const [, left] = /^Exporting: 25 %, 7 transactions, about (\d+) s left\n$/.exec(file.written) ?? expect.fail(file.written)
    // Three times what a quarter took.
    expect(Number(left)).to.be.within(15, Math.ceil((3 * (performance.now() - began)) / 1_000))
  })
})
