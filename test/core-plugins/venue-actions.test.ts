import { expect } from 'chai'
import { actionsTarget } from '../../core/plugins/registry-entries.ts'
import { connectorBoundary } from '../../core/plugins/code/boundary.ts'
import type { Chain, Connector } from '../../core/contracts/index.ts'
import { actionRail } from '../fixtures/signed-actions/fixture-exchange/rail.ts'
import { rejection, silent } from '../transactions/site.ts'

// Of the chain only what an exchange does not have of its own is taken.
const chain = { bumpAfterSeconds: 3, address: (text: string) => text.toUpperCase() } as unknown as Chain
const own = actionRail({ url: 'http://127.0.0.1:1', livesMs: 1, marginMs: 1, pollMs: 1 })

function siteOf(actions: Connector['actions']) {
  const implementation = connectorBoundary({ ...(actions && { actions }) }, { plugin: 'book', log: silent })
  const venue = { plugin: 'book', chain: 'c', network: 'n', implementation, log: silent }
  return actionsTarget(venue as unknown as Parameters<typeof actionsTarget>[0], chain)
}

describe("an exchange's own rail", () => {
  it('serves as a target of transactions beside the network, and takes what it lacks from the chain', () => {
    const site = siteOf(own)
    expect(site).to.include({ chain: 'c', network: 'n', connector: 'book' })
    expect(site?.impl.address('0xa')).to.equal('0XA')
    expect(site?.impl).to.include({ confirmations: 1, bumpAfterSeconds: 3 })
    expect(siteOf(undefined)).to.equal(undefined)
  })

  it('fails only one request where it throws an unknown error', async () => {
    const rail = { ...own.rail, check: () => Promise.reject(new Error('oh')), draft: () => JSON.parse('{') }
    const impl = siteOf({ ...own, rail })?.impl
    if (!impl) throw new Error('It has one.')
    const at = { signal: new AbortController().signal }
    expect((await rejection(impl.rail.check([null], [], '', { feeOverrides: {} }, at))).name).to.equal('UNKNOWN_ERROR')
    expect(() => impl.rail.draft({ step: null, fees: null }, null))
      .to.throw('book')
      .with.property('name', 'UNKNOWN_ERROR')
  })

  it('ends with TIMEOUT where it ignores its signal', async () => {
    const impl = siteOf({ ...own, rail: { ...own.rail, send: () => new Promise(() => {}) } })?.impl
    if (!impl) throw new Error('It has one.')
    const over = new AbortController()
    const sent = rejection(impl.rail.send({ id: '', raw: new Uint8Array() }, { signal: over.signal }))
    over.abort()
    expect((await sent).name).to.equal('TIMEOUT')
  })
})
