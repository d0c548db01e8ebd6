// What the consent says of what wallets have approved already: contracts that a plugin has wallets call could use it.
import { withTimeout } from '../base/async.ts'
import { readLock, type LockedPlugin } from '../config/lock.ts'
import type { Settings } from '../config/settings.ts'
import { command } from '../base/layout.ts'
import { findPlugins } from '../plugins/index.ts'
import { named } from '../base/printable.ts'
import { keystoreHasKeys } from '../keys/keystore-files.ts'
import { releasedScope } from '../wallet/policy-files.ts'
import { revocationOf, standingAllowances, walletsOf, type Allowance, type Approvable } from './plugin-allowances.ts'
import { serverOf } from './server-options.ts'
import { addressKey } from '../base/addresses.ts'

const timeoutMs = 10_000
/** In all. */
const withinMs = 20_000
const maxLines = 40

/**
 * By the running server; nothing where nothing stands, or there is no wallet.
 * @param url of that server, where it is not that of the settings
 */
export async function rightsWords({ networks }: Pick<LockedPlugin, 'networks'>, settings: Settings, url?: string): Promise<string[]> {
  const on = Object.entries(networks).flatMap(([each, { contracts }]) =>
    Object.values(contracts).some((address) => address.startsWith('0x')) ? [each] : [],
  )
  if (on.length === 0) return []
  const owners = ownersOf(on, settings)
  const found = await withTimeout(
    standing(owners, settings, url).catch(() => undefined),
    withinMs,
    () => undefined,
  )
  if (found === undefined)
    return keystoreHasKeys(settings.data.dir)
      ? [
          '',
          `What your wallets have approved on ${on.join(', ')} could not be read: no server of these settings says so. A contract that it calls could use that. ${command} doctor names it, and how it is taken back.`,
        ]
      : []
  if (found.length === 0) return []
  return [
    '',
    'A contract that it calls could use what wallets have approved:',
    ...found.slice(0, maxLines).flatMap((each) => {
      const whose = owners.get(keyOf(each)) ?? []
      return [
        `  ${amountOf(each)} ${named(each.symbol)} of ${each.address} on ${each.chain}/${each.network}, by ${each.spender}${whose.length === 0 ? '' : ` (${whose.join(', ')})`}`,
        `    POST /evm/approve ${JSON.stringify(revocationOf(each))} takes it back.`,
      ]
    }),
    ...(found.length > maxLines ? [`  and ${found.length - maxLines} more.`] : []),
    'Positions are not looked at here, nor tokens that are on no list.',
  ]
}

const keyOf = ({ chain, network, spender }: Pick<Approvable, 'chain' | 'network' | 'spender'>): string =>
  `${chain}/${network} ${addressKey(spender)}`

/** Longer ones are without a limit in effect. */
const maxDigits = 30
const amountOf = ({ amount }: Allowance): string => (amount.replace(/\..*/, '').length > maxDigits ? 'any amount of' : amount)

/** Spenders on these networks, and which connectors have them. */
function ownersOf(on: readonly string[], { confDir, plugins, wallet }: Settings): ReadonlyMap<string, readonly string[]> {
  const owners = new Map<string, string[]>()
  const add = (network: string, spender: string, owner?: string): void => {
    const key = `${network} ${addressKey(spender)}`
    if (spender.startsWith('0x')) owners.set(key, [...new Set([...(owners.get(key) ?? []), ...(owner === undefined ? [] : [owner])])])
  }
  for (const { name, builtIn } of findPlugins(plugins.folders, plugins.disabled).found) {
    const scope = builtIn ? releasedScope(name, { confDir, environment: process.env }) : undefined
    for (const each of scope?.networks ?? [])
      for (const label of on.includes(each.on) ? (scope?.spenders ?? []) : []) {
        const spender = each.contracts[label]
        if (typeof spender === 'string') add(each.on, spender, name)
      }
  }
  for (const [name, { networks }] of Object.entries(readLock(confDir)))
    for (const [network, { spenders }] of Object.entries(networks))
      if (on.includes(network)) for (const spender of spenders) add(network, spender, name)
  for (const network of on) for (const spender of wallet.allowedSpenders) add(network, spender)
  return owners
}

/** @throws Error where no server says it */
async function standing(owners: ReadonlyMap<string, unknown>, settings: Settings, url: string | undefined): Promise<readonly Allowance[]> {
  const client = serverOf(settings, { ...(url !== undefined && { url }) }, { timeoutMs })
  const wallets = await walletsOf(client)
  const all = [...owners.keys()].flatMap((key): Approvable[] => {
    const [on = '', spender = ''] = key.split(' ')
    const [chain = '', network = ''] = on.split('/')
    return wallets.filter((each) => each.chain === chain).map(({ address }) => ({ chain, network, address, spender }))
  })
  return standingAllowances(client, all)
}
