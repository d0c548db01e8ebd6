import { expect } from 'chai'
import { fewestApprovals } from '../../../kits/amm/pool-amm.ts'
import type { Router } from '../../../kits/amm/protocol.ts'

/** A router for the routes of one version, which takes those of others as well. */
const router = (name: string, others: readonly string[] = [], permit2?: string): Router => ({
  address: name,
  name,
  ...(permit2 !== undefined && { permit2 }),
  carries: (versions) => versions.every((each) => each === name),
  alsoCarries: (versions) => versions.every((each) => each === name || others.includes(each)),
  plan: () => expect.fail('nothing is planned'),
  fill: () => undefined,
})

describe('what a wallet approves for swaps', () => {
  for (const [what, routers, fewest] of [
    ['the only router', [router('v2')], ['v2']],
    ['the one that takes routes of both versions', [router('v2'), router('v3', ['v2'])], ['v3']],
    ['every router where none takes the routes of another', [router('v2'), router('v3')], ['v2', 'v3']],
    ['one by Permit2 where it takes all versions', [router('v2'), router('v3', ['v2']), router('v4', ['v2', 'v3'], 'permit2')], ['v4']],
    [
      'one less by Permit2 where two others do in one transaction',
      [router('v2'), router('v3', ['v2', 'v4']), router('v4', ['v2', 'v3'], 'permit2')],
      ['v3'],
    ],
  ] as const)
    it(`covers ${what}`, () => {
      expect(
        fewestApprovals(
          routers,
          routers.map(({ name }) => name),
        ),
      ).to.deep.equal(fewest)
    })
})
