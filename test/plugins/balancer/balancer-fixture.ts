import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import type { Quote, Token } from '../../../core/contracts/index.ts'
import { devnetQuoter } from '../../../testkit/devnet-operators.ts'
import balancer from '../../../plugins/balancer/index.ts'
import { consistentReads } from '../../kits/amm/walk/consistent-reads.ts'
import { openDevnetFixture, tokens } from '../../kits/amm/devnet-fixture.ts'

const folder = new URL('../../../plugins/balancer/', import.meta.url)
export const defaults = parse(readFileSync(new URL('defaults.yml', folder), 'utf8'))
const devnetFile = fileURLToPath(new URL('devnet.ts', folder))
const devnetFiles = [devnetFile, fileURLToPath(new URL('../../../plugins/ethereum/devnet.ts', import.meta.url))]

/** The devnet with Balancer alone on it, and its connector. */
export async function openBalancer() {
  const fixture = await openDevnetFixture(devnetFiles, { pollingSeconds: 0.05 }, consistentReads)
  const create = (contracts: Readonly<Record<string, string>> = defaults.contractAddresses.local) =>
    balancer.create({ ...fixture.venue(contracts), config: defaults })
  const quoter = await devnetQuoter(devnetFile, fixture.provider)
  const own = async ({ swap, route, head }: Quote): Promise<bigint | undefined> =>
    (swap.exact === 'in' ? quoter?.exactIn : quoter?.exactOut)?.(route, swap.amountRaw, Number(head.number))
  const vault: string = defaults.contractAddresses.local.routerAddress
  const approveAll = async () => {
    for (const { address } of Object.values<Token>(tokens)) await fixture.approve(address, vault)
  }
  return { fixture, create, own, vault, approveAll, ...create() }
}
