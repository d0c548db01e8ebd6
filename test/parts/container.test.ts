import { expect } from 'chai'
import { openParts, type PartsOf } from '../../core/parts/container.ts'

interface Parts {
  first: { name: string }
  second: { name: string; of: string }
  third: number
}

describe('parts of the server', () => {
  function recorded(fails?: 'open' | 'stop') {
    const said: string[] = []
    const parts: PartsOf<Parts> = {
      first: { open: () => ({ name: 'one' }), stop: ({ name }) => void said.push(`stop ${name}`) },
      second: {
        async open({ first }) {
          await Promise.resolve()
          return { name: 'two', of: first.name }
        },
        async stop({ name, of }, { first }) {
          await new Promise((resolve) => setTimeout(resolve, 5))
          said.push(`stop ${name} of ${of} with ${first.name}`)
          if (fails === 'stop') throw new Error('does not stop')
        },
      },
      third: {
        open({ second }) {
          if (fails === 'open') throw new Error(`no third of ${second.name}`)
          return second.of.length
        },
        stop: (three) => void said.push(`stop ${three}`),
      },
    }
    return { said, parts }
  }

  it('get those before them, opened, and stop one after the other in the opposite order', async () => {
    const { said, parts } = recorded()
    const container = await openParts(parts)
    expect(container.cradle.second).to.deep.equal({ name: 'two', of: 'one' })
    expect(container.cradle.third).to.equal(3)
    await container.dispose()
    expect(said).to.deep.equal(['stop 3', 'stop two of one with one', 'stop one'])
    await container.dispose()
    expect(said).to.have.length(3)
  })

  it('that were opened stop where a later one fails', async () => {
    const { said, parts } = recorded('open')
    const failed = await openParts(parts).catch((error: Error) => error.message)
    expect(failed).to.equal('no third of two')
    expect(said).to.deep.equal(['stop two of one with one', 'stop one'])
  })

  it('stop, also where a later one fails to stop', async () => {
    const { said, parts } = recorded('stop')
    const container = await openParts(parts)
    const failed = await container.dispose().catch((error: Error) => error.message)
    expect(failed).to.equal('does not stop')
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect(said).to.deep.equal(['stop 3', 'stop two of one with one', 'stop one'])
  })

  it('are replaced by name', async () => {
    const { said, parts } = recorded()
    const container = await openParts<Parts>({ ...parts, second: { open: async () => ({ name: 'other', of: 'none!' }) } })
    expect(container.cradle.third).to.equal(5)
    await container.dispose()
    expect(said).to.deep.equal(['stop 5', 'stop one'])
  })
})
