// A connector on one network, as requests about liquidity name it: by fields in 2.17, in the path in 2.16.
import {
  badFields,
  interfacePath,
  SluiceError,
  Type,
  type InterfaceCall,
  type InterfacePath,
  type Static,
  type TObject,
  type TSchema,
} from 'sluice/interface'
import { connectorOf, everyConnector, type PoolType } from './connectors.ts'
import { slippageOf as ownSlippageOf } from './defaults.ts'
import { networkFields, type NamedNetwork, type Networks } from './networks.ts'
import { canonical, decimalPattern } from './numbers.ts'

export const venueFields = {
  ...networkFields,
  connector: Type.Optional(Type.String({ maxLength: 128 })),
  dex: Type.Optional(Type.String({ maxLength: 128, description: 'As connector, in paths of 2.16.' })),
}
type VenueRequest = Static<ReturnType<typeof asObject>>
const asObject = () => Type.Object(venueFields)

export const Decimal = Type.String({ pattern: decimalPattern })

export interface Venue {
  readonly on: NamedNetwork
  /** As endpoints of the server name it. */
  readonly own: { readonly chain: string; readonly network: string; readonly connector: string }
}

/** @throws SluiceError INCOMPLETE_PARAMS */
export function venueOf(request: VenueRequest, networks: Networks): Venue {
  const { dex, connector: named = dex } = request
  // Paths of 2.16 have the network alone, and all connectors with liquidity are on chains of EVM.
  const on = networks.of({ ...request, chain: request.chain ?? 'ethereum' })
  const connector = named === undefined ? 'any' : connectorOf(named)
  if (connector !== 'any') return { on, own: { ...on.own, connector } }
  throw badFields([{ field: 'connector', problem: `names the exchange whose pool it is, such as uniswap; "${everyConnector}" is none` }])
}

interface LiquidityPath<Req extends TObject, Res extends TSchema> extends Omit<InterfacePath<Req, Res>, 'path' | 'answer'> {
  answer(request: Static<Req>, call: InterfaceCall): Promise<Static<Res>>
}

/**
 * One act of both generations. Of these paths clients take 404 for proof that a position is gone, so that nothing else has it.
 * @param names in 2.17 and in 2.16
 */
export function liquidityPaths<Req extends TObject, Res extends TSchema>(
  type: Exclude<PoolType, 'router'>,
  [name, olderName]: readonly [string, string],
  path: LiquidityPath<Req, Res>,
): InterfacePath[] {
  const answer = async (request: Static<Req>, call: InterfaceCall) => {
    try {
      return await path.answer(request, call)
    } catch (thrown) {
      if (!(thrown instanceof SluiceError) || thrown.http !== 404 || thrown.name === 'UNKNOWN_POSITION') throw thrown
      throw new SluiceError('INCOMPLETE_PARAMS', thrown.message, { details: thrown.details })
    }
  }
  return [`/trading/${type}/${name}`, `/connectors/:dex/${type}/${olderName}`].map((each) => interfacePath({ ...path, path: each, answer }))
}

/** The percentage of a request, or what its client has set, as the fraction that endpoints take; undefined where the configured one is as tight. */
export async function slippageOf(
  slippagePct: string | undefined,
  { connector }: Venue['own'],
  version: string | undefined,
  { call, preferences }: Pick<InterfaceCall, 'call' | 'preferences'>,
): Promise<string | undefined> {
  const percent = await ownSlippageOf({ connector, ...(slippagePct !== undefined && { slippagePct }) }, { preferences })
  if (percent === undefined) return undefined
  const { versions, allowedSlippage } = await call('ConnectorConfig', { connector })
  const own = version === undefined ? undefined : Reflect.get(Object(Reflect.get(Object(versions), version)), 'allowedSlippage')
  const [numerator = 0n, denominator = 1n] = String(own ?? allowedSlippage)
    .split('/')
    .map(BigInt)
  // Nine digits are what a fraction may have: down, which is tighter.
  const millionths = toMillionths(canonical(percent))
  return millionths * denominator < numerator * 100_000_000n ? `${millionths}/100000000` : undefined
}

function toMillionths(percent: string): bigint {
  const [whole = '0', fraction = ''] = percent.split('.')
  return BigInt(whole) * 1_000_000n + BigInt(fraction.slice(0, 6).padEnd(6, '0'))
}
