// Positions in ranges of prices. Clients close their books on a position that is gone, so that they are told so only where it is proven, and anything
// else is an error of another status. An open whose receipt is not there yet has a handle in the place of its id.
import { badFields, SluiceError, Type, type FollowedPosition, type InterfaceCall } from 'sluice/interface'
import { outcomeOf, pollOrTrouble } from './poll.ts'
import type { Venue } from './venues.ts'

export const PositionAddress = Type.String({
  minLength: 1,
  maxLength: 160,
  description: 'The id of a position, with its version before it where that is not v3: 38, v4:38. Or the handle of its open.',
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

/** As its client names it. @throws SluiceError INCOMPLETE_PARAMS */
export function followed(address: string, { own }: Venue): FollowedPosition {
  const { version, tokenId } = spelt(address)
  return { ...own, version, tokenId: isHash(tokenId) ? tokenId.toLowerCase() : tokenId }
}

const isHash = (tokenId: string): boolean => /^0x[0-9a-f]{64}$/i.test(tokenId)

/** What an open is known by until its receipt says which position it made. */
export const handleOf = (txHash: string, version: string): string => positionAddress({ version, tokenId: txHash })

export type OwnPosition = Omit<Awaited<ReturnType<typeof readPosition>>, 'blockNumber' | 'network' | 'timestamp' | 'latency'>

/** @throws SluiceError UNKNOWN_POSITION where it is final that it is gone; NETWORK where that is not known */
export const readPosition = (position: NamedPosition, { own }: Venue, { call }: InterfaceCall) =>
  goneOrTrouble(position, () => call('AMMLiquidityPosition', { ...own, ...position }))

/** An id or a handle, in one spelling. @throws SluiceError INCOMPLETE_PARAMS */
export function spelt(address: string): NamedPosition {
  const [, version = bareVersion, named = ''] = /^(?:([\w.-]+):)?(\w+)$/.exec(address) ?? []
  // As it is listed: zeros in front are the same number, and would be another close.
  const tokenId = named.replace(/^0+(?=\d+$)/, '')
  if (tokenId === '') throw badFields([{ field: 'positionAddress', problem: `"${address}" is no id of a position, such as 38 or v4:38` }])
  return { version, tokenId }
}

/** The position that a client means, by its id or the handle of its open. @throws SluiceError as `readPosition`, INCOMPLETE_PARAMS */
export async function positionNamed(address: string, { on }: Venue, call: InterfaceCall): Promise<NamedPosition> {
  const { version, tokenId } = spelt(address)
  if (!isHash(tokenId)) return { version, tokenId }
  const found = await pollOrTrouble(tokenId, on, call)
  const outcome = typeof found === 'number' ? found : outcomeOf(found)
  if (outcome === -2) throw badFields([{ field: 'positionAddress', problem: `${tokenId} is no transaction of this server` }])
  if (outcome === -1) throw gone(address, `the transaction ${tokenId} that was to open it did nothing`)
  const fill = typeof found === 'number' ? undefined : found.fill
  if (outcome !== 1 || !fill || !('tokenId' in fill))
    throw notThere(
      `The position is being opened by the transaction ${tokenId}, whose receipt is not there yet: ask again.`,
      typeof found !== 'number',
    )
  return { version, tokenId: fill.tokenId }
}

/** Of what may be there in a later block. @param isRead whether a node said so now */
const notThere = (message: string, isRead: boolean) => new SluiceError('NETWORK', message, { details: { isRead } })

/** Whether what it tells of a position was read now. */
export const isRead = (thrown: unknown): boolean => thrown instanceof SluiceError && Reflect.get(Object(thrown.details), 'isRead') === true

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
    throw notThere(`The position ${address} is not there at this block, which is not final yet: ask again.`, true)
  }
}
