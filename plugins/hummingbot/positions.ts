// Positions in ranges of prices. Clients close their books on a position that is gone, so that they are told so only where it is proven, and anything
// else is an error of another status. An open whose receipt is not there yet has a handle in the place of its id.
import { badFields, SluiceError, Type, type InterfaceCall, type InterfacePath, type Static } from 'sluice/interface'
import type { Networks } from './networks.ts'
import { outcomeOf, pollOrTrouble } from './poll.ts'
import { liquidityPaths, venueFields, venueOf, type Venue } from './venues.ts'
import { walletOf } from './wallets.ts'

export const PositionAddress = Type.String({
  minLength: 1,
  maxLength: 160,
  description: 'The id of a position, with its version before it where that is not v3: 38, v4:38. Or the handle of its open.',
})

const Position = Type.Object({
  address: Type.String(),
  poolAddress: Type.String(),
  baseTokenAddress: Type.String(),
  quoteTokenAddress: Type.String(),
  baseTokenAmount: Type.String(),
  quoteTokenAmount: Type.String(),
  baseFeeAmount: Type.String(),
  quoteFeeAmount: Type.String(),
  lowerBinId: Type.Number(),
  upperBinId: Type.Number(),
  lowerPrice: Type.String(),
  upperPrice: Type.String(),
  price: Type.String(),
})

/** As endpoints of the server name it. */
export interface NamedPosition {
  readonly version: string
  readonly tokenId: string
}

/** The version whose positions are known by their ids alone. */
const bareVersion = 'v3'

export const positionAddress = ({ version, tokenId }: NamedPosition): string =>
  version === bareVersion ? tokenId : `${version}:${tokenId}`

/** What an open is known by until its receipt says which position it made. */
export const handleOf = (txHash: string, version: string): string => positionAddress({ version, tokenId: txHash })

export function positionPaths(networks: Networks): InterfacePath[] {
  return [
    ...liquidityPaths('clmm', ['position-info', 'position-info'], {
      method: 'GET',
      summary: 'A position now. 404 only where it is final that it is gone.',
      permission: 'read',
      request: Type.Object({ ...venueFields, positionAddress: PositionAddress }),
      response: Position,
      async answer(request, call) {
        const venue = venueOf(request, networks)
        return shown(await readPosition(await positionNamed(request.positionAddress, venue, call), venue, call))
      },
    }),
    ...liquidityPaths('clmm', ['positions-owned', 'positions-owned'], {
      method: 'GET',
      summary: 'The positions of a wallet.',
      permission: 'read',
      request: Type.Object({
        ...venueFields,
        walletAddress: Type.Optional(Type.String({ maxLength: 256 })),
        address: Type.Optional(Type.String({ maxLength: 256 })),
        poolAddress: Type.Optional(Type.String({ maxLength: 256 })),
      }),
      response: Type.Array(Position),
      async answer(request, call) {
        const venue = venueOf(request, networks)
        const address = await walletOf(request.walletAddress ?? request.address, venue.on.chain, networks, call)
        const { positions, unavailable = [] } = await call.call('AMMLiquidityPositions', { ...venue.own, address })
        // A list without all positions of a version would read as if they were gone.
        const whole = unavailable.find(({ tokenId }) => tokenId === undefined)
        if (whole) throw new SluiceError('NETWORK', `The positions of ${venue.own.connector} cannot be read: ${whole.reason}`)
        const { poolAddress } = request
        return positions.filter(({ pool }) => poolAddress === undefined || pool.toLowerCase() === poolAddress.toLowerCase()).map(shown)
      },
    }),
  ]
}

type OwnPosition = Omit<Awaited<ReturnType<typeof readPosition>>, 'blockNumber' | 'network' | 'timestamp' | 'latency'>

/** @throws SluiceError UNSUPPORTED where the bounds of its exchange are no ticks */
function shown(position: OwnPosition): Static<typeof Position> {
  const { tickLower, tickUpper, tokenId } = position
  if (tickLower === undefined || tickUpper === undefined)
    throw new SluiceError('UNSUPPORTED', `The bounds of ${tokenId} are no ticks, and clients of Hummingbot need them as such.`)
  return {
    address: positionAddress(position),
    poolAddress: position.pool,
    baseTokenAddress: position.token0,
    quoteTokenAddress: position.token1,
    baseTokenAmount: position.amount0,
    quoteTokenAmount: position.amount1,
    baseFeeAmount: position.unclaimedToken0,
    quoteFeeAmount: position.unclaimedToken1,
    lowerBinId: tickLower,
    upperBinId: tickUpper,
    lowerPrice: position.lowerPrice,
    upperPrice: position.upperPrice,
    price: position.poolPrice,
  }
}

/** @throws SluiceError UNKNOWN_POSITION where it is final that it is gone; NETWORK where that is not known */
export const readPosition = (position: NamedPosition, { own }: Venue, { call }: InterfaceCall) =>
  goneOrTrouble(position, () => call('AMMLiquidityPosition', { ...own, ...position }))

/** The position that a client means, by its id or the handle of its open. @throws SluiceError as `readPosition`, INCOMPLETE_PARAMS */
export async function positionNamed(address: string, { on }: Venue, call: InterfaceCall): Promise<NamedPosition> {
  const [, version = bareVersion, named = ''] = /^(?:([\w.-]+):)?(\w+)$/.exec(address) ?? []
  // As it is listed: zeros in front are the same number, and would be another close.
  const tokenId = named.replace(/^0+(?=\d+$)/, '')
  if (tokenId === '') throw badFields([{ field: 'positionAddress', problem: `"${address}" is no id of a position, such as 38 or v4:38` }])
  if (!/^0x[0-9a-f]{64}$/i.test(tokenId)) return { version, tokenId }
  const found = await pollOrTrouble(tokenId, on, call)
  const outcome = typeof found === 'number' ? found : outcomeOf(found)
  if (outcome === -2) throw badFields([{ field: 'positionAddress', problem: `${tokenId} is no transaction of this server` }])
  if (outcome === -1) throw gone(address, `the transaction ${tokenId} that was to open it did nothing`)
  const fill = typeof found === 'number' ? undefined : found.fill
  if (outcome !== 1 || !fill || !('tokenId' in fill)) throw pendingOpen(tokenId)
  return { version, tokenId: fill.tokenId }
}

const pendingOpen = (txHash: string) =>
  new SluiceError('NETWORK', `The position is being opened by the transaction ${txHash}, whose receipt is not there yet: ask again.`)

/** In the words that clients look for. */
const gone = (address: string, why: string) => new SluiceError('UNKNOWN_POSITION', `position closed: ${address} is gone, ${why}.`)

/** @throws SluiceError UNKNOWN_POSITION only where it is final; FORBIDDEN of a position that is another's */
export async function goneOrTrouble<T>(position: NamedPosition, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (thrown) {
    if (!(thrown instanceof SluiceError) || thrown.name !== 'UNKNOWN_POSITION') throw thrown
    const address = positionAddress(position)
    const details: object = Object(thrown.details)
    if (Reflect.has(details, 'owner')) throw new SluiceError('FORBIDDEN', thrown.message)
    if (Reflect.get(details, 'final') === true) throw gone(address, 'and was not there for as many blocks as make that final')
    throw new SluiceError('NETWORK', `The position ${address} is not there at this block, which is not final yet: ask again.`)
  }
}
