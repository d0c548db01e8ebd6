import { expect } from 'chai'
import type { RequestContext } from '../../core/handlers/context.ts'
import { limitHandlers } from '../../core/handlers/limits.ts'
import { createLongReadings } from '../../core/handlers/long-readings.ts'

const never = () => new Promise<never>(() => {})
const refusalOf = (work: Promise<unknown>): Promise<string> =>
  Promise.race([
    work.then(
      () => 'done',
      ({ name, message }: Error) => `${name}: ${message}`,
    ),
    new Promise<string>((resolve) => setTimeout(resolve, 20, 'under way')),
  ])

describe('a reading that takes long', () => {
  it('is one of each client at a time, and leaves places to others', async () => {
    const readings = createLongReadings('Books are being verified', 2)
    void readings.of('thief', never)
    expect(await refusalOf(readings.of('thief', never))).to.equal(
      'OVERLOADED: Books are being verified for "thief" already: try again in a moment.',
    )
    expect(await refusalOf(readings.of('operator', async () => 1))).to.equal('done')
    void readings.of('operator', never)
    expect(await refusalOf(readings.of('other', never))).to.match(/for 2 other clients already/)
  })

  it('gives its place back where it fails', async () => {
    const readings = createLongReadings('Books are being verified', 2)
    expect(await refusalOf(readings.of('bot', () => Promise.reject(new Error('no node'))))).to.equal('Error: no node')
    expect(await refusalOf(readings.of('bot', async () => 1))).to.equal('done')
  })

  it('is a check of limits: many at once would hold as many entries as there is memory', async () => {
    const contextOf = (id: string) =>
      ({
        caller: { id },
        signal: new AbortController().signal,
        services: {
          clients: { list: [] },
          registry: { plugins: [], networks: [] },
          limitReplay: () => ({}),
          transactions: { list: never },
        },
      }) as unknown as RequestContext
    const check = async (id: string) => limitHandlers.LimitsCheck({}, contextOf(id))
    void check('thief')
    expect(await refusalOf(check('thief'))).to.match(/^OVERLOADED: Limits are being checked for "thief" already/)
    expect(await refusalOf(check('operator'))).to.equal('under way')
  })
})
