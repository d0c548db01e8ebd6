// What a position is now, and which ones a wallet has, in the fields of Hummingbot's clients.
import { SluiceError, Type, type InterfacePath, type Static } from 'sluice/interface'
import { createLastReadings } from './last-readings.ts'
import type { Networks } from './networks.ts'
import { followed, positionAddress, PositionAddress, type OwnPosition } from './positions.ts'
import { liquidityPaths, venueFields, venueOf } from './venues.ts'
import { walletOf } from './wallets.ts'

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

export function positionPaths(networks: Networks): InterfacePath[] {
  const readings = createLastReadings()
  return [
    ...liquidityPaths('clmm', ['position-info', 'position-info'], {
      method: 'GET',
      summary: 'A position now, or as it was less than a minute ago where no node answers. 404 only where it is final that it is gone.',
      permission: 'read',
      request: Type.Object({ ...venueFields, positionAddress: PositionAddress }),
      response: Position,
      async answer(request, call) {
        const venue = venueOf(request, networks)
        const { positionAddress: address } = request
        return call.follow(followed(address, venue), 'position', async () => shown(await readings.read(address, venue, call)))
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
