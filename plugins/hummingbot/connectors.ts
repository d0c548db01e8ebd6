// Connectors as Hummingbot names them: a bare name, or a name with the type of its pools.
import type { InterfaceCall } from 'sluice/interface'
import type { NamedNetwork } from './networks.ts'

/** The best price of all connectors of a network, as one connector. */
export const everyConnector = 'sluice'

export type PoolType = 'router' | 'clmm' | 'amm'

/** The versions of protocols whose pools are of a type. */
const versions: Readonly<Record<Exclude<PoolType, 'router'>, readonly string[]>> = { amm: ['v2'], clmm: ['v3', 'v4'] }

/** The name here, of `uniswap` and `uniswap/clmm` alike. */
export function connectorOf(name: string): string {
  const bare = bareName(name)
  return bare === everyConnector ? 'any' : bare
}

/** Without the type. */
export function bareName(name: string): string {
  const slash = name.indexOf('/')
  return slash < 0 ? name : name.slice(0, slash)
}

/** The type in a name such as `uniswap/clmm`. */
export function typeIn(name: string): PoolType | undefined {
  const [, type] = name.split('/')
  return type === 'router' || type === 'clmm' || type === 'amm' ? type : undefined
}

/** The type of a pool's protocol. Stable, weighted and others are as pools without ranges. */
export const typeOf = (version: string): PoolType =>
  versions.clmm.includes(version) || /algebra|slipstream|clmm/.test(version) ? 'clmm' : 'amm'

/** The versions of a connector; none of one that has no choice of them. */
export async function versionsOf(connector: string, { call }: Pick<InterfaceCall, 'call'>): Promise<readonly string[]> {
  const config = await call('ConnectorConfig', { connector })
  return Object.keys(Object(config['versions']))
}

export interface ShownConnector {
  readonly name: string
  /** Hummingbot's. */
  readonly chain: string
  readonly trading_types: string[]
  readonly networks: string[]
}

/** Those that swap, once for each of Hummingbot's chains. */
export async function connectorsOn(here: readonly NamedNetwork[], { call }: InterfaceCall): Promise<ShownConnector[]> {
  const plugins = await call('Plugins', {})
  const swapping = plugins.filter(
    ({ kind, state, trading_type }) => kind === 'connector' && state === 'loaded' && trading_type.includes('AMM'),
  )
  const shown = await Promise.all(
    swapping.map(async ({ name, available_networks }) => {
      const known = await versionsOf(name, { call })
      const types = (['clmm', 'amm'] as const).filter((type) => versions[type].some((version) => known.includes(version)))
      const isOn = ({ own }: NamedNetwork) =>
        available_networks.some((each) => each.chain === own.chain && each.networks.includes(own.network))
      const on = here.filter(isOn)
      return [...new Set(on.map(({ chain }) => chain))].map((chain) => ({
        name,
        chain,
        trading_types: ['router', ...types],
        networks: on.flatMap((each) => (each.chain === chain ? [each.network] : [])),
      }))
    }),
  )
  return shown.flat()
}

/**
 * Who takes the tokens, as their own gateway means it: with the type `clmm` what opens positions, with `amm` the router of pools without ranges, and for
 * swaps the bare name, `router` and `clmm/swap`. Source: `getSpender` in its src/connectors/uniswap/uniswap.contracts.ts. All else is named as here.
 */
export function spenderOf(name: string): string {
  const [bare = '', ...type] = name.split('/')
  const connector = connectorOf(name)
  switch (type.join('/')) {
    case '':
    case 'router':
    case 'clmm/swap':
      return connector
    case 'clmm':
      return `${connector}/positions`
    case 'amm':
      return `${connector}/v2`
    default:
      return bare === connector ? name : connector
  }
}

/** The other way: as a client asks to approve a spender of a connector that a refusal names. What all swaps of the connector need is one approval. */
export function commandOf(spenderName: string, token: string): string {
  const [connector = '', label = ''] = spenderName.split('/')
  if (connector === connectorOf(everyConnector)) return `gateway approve ${everyConnector}/router ${token}`
  const type = label === 'positions' ? 'clmm' : label === 'v2' ? 'amm' : label.endsWith('Positions') ? label : 'router'
  return `gateway approve ${connector}/${type} ${token}`
}
