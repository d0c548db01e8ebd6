// Changes of positions, in the pool's own order of tokens. What was done is read from the receipt: an open is answered with a position that can be
// followed, and a close is one, however often it is asked for.
import { badFields, Type, type InterfaceCall, type InterfacePath } from 'sluice/interface'
import { cutBoth } from './amounts.ts'
import {
  added,
  addressOf,
  changed,
  fee,
  named,
  removed,
  slippage,
  slippagePct,
  waitUntil,
  walletFields,
  type ChangeParts,
} from './changes.ts'
import { closed, fillIn, noRent, type Fill, type PositionChange } from './closes.ts'
import { removeAllOnce } from './full-removals.ts'
import type { HummingbotConfig, Networks } from './networks.ts'
import { canonical, canonicalOf } from './numbers.ts'
import { isUsedSince, past, signedUnder, untilNotPast } from './past-outcomes.ts'
import { feeOf } from './poll.ts'
import {
  followed,
  goneOrTrouble,
  handleOf,
  positionAddress,
  PositionAddress,
  positionNamed,
  readPosition,
  type NamedPosition,
} from './positions.ts'
import { rangePoolAt } from './range-pools.ts'
import { amountFields, inFieldsOfClients, rangeFields } from './range-quotes.ts'
import { answerSeconds, signedAnswer, signOnce, successOf, windowsOf } from './signed.ts'
import { Decimal, liquidityPaths, venueFields, venueOf, type Venue } from './venues.ts'

const ofPosition = { ...venueFields, ...walletFields, positionAddress: PositionAddress }
const collected = { baseFeeAmountCollected: Type.String(), quoteFeeAmountCollected: Type.String() }

export const liquidityChangePaths = (networks: Networks, config: HummingbotConfig): InterfacePath[] => [
  ...openPaths({ networks, config }),
  ...addPaths({ networks, config }),
  ...removePaths({ networks, config }),
  ...collectPaths({ networks, config }),
  ...closePaths({ networks, config }),
]

const openPaths = ({ networks, config }: ChangeParts): InterfacePath[] =>
  liquidityPaths('clmm', ['open', 'open-position'], {
    method: 'POST',
    summary: 'Opens a position between two prices. It has a handle for an id until the receipt says its own.',
    permission: 'trade',
    timeoutSeconds: config.positionSeconds + answerSeconds,
    request: Type.Object({
      ...venueFields,
      ...walletFields,
      ...amountFields,
      ...rangeFields,
      slippagePct,
    }),
    response: signedAnswer(
      Type.Object({
        positionAddress: Type.String(),
        ...Type.Partial(Type.Object({ ...added, ...fee, positionRent: Type.String() })).properties,
      }),
    ),
    async answer(request, call) {
      const untilMs = waitUntil(config.positionSeconds)
      const venue = venueOf(request, networks)
      const address = await addressOf(request, venue, networks, call)
      const { poolAddress, slippagePct: percent } = request
      const range = { lowerPrice: canonical(request.lowerPrice), upperPrice: canonical(request.upperPrice), ...amountsOf(request) }
      const once = {
        fields: { how: 'open', ...named(venue, address), poolAddress, ...range, slippage: canonicalOf(percent) },
        ...windowsOf(config, config.positionSeconds),
      }
      const prepare = async () => {
        const { token0, token1, version, pool } = await rangePoolAt(poolAddress, venue, call)
        const amounts = await cutAmounts(range, [token0, token1], venue, call)
        return {
          ...venue.own,
          address,
          token0,
          token1,
          version,
          pool,
          ...range,
          ...amounts,
          ...(await slippage(percent, venue, version, call)),
        }
      }
      return untilNotPast(() =>
        call.once(once, prepare, async (key, addition) => {
          const earlier = await signedUnder(key, call)
          const { txHash: signature } = await signOnce(() => inFieldsOfClients(() => call.call('AMMLiquidityAdd', addition, { key })), call)
          const handle = handleOf(signature, addition.version)
          const done = await successOf(signature, { on: venue.on, call, untilMs })
          if (!done) return { signature, data: { positionAddress: handle } }
          const [fill, paid] = [fillIn(done), feeOf(done.txReceipt)]
          if (!fill) return { signature, status: 1 as const, data: { positionAddress: handle } }
          const position = { version: addition.version, tokenId: fill.tokenId }
          if (earlier && (await isUsedSince(position, { ...earlier, venue, address, call })))
            throw past(signature, 'opened a position that somebody else follows')
          const data = {
            positionAddress: positionAddress(position),
            ...addedIn(fill),
            positionRent: noRent,
            ...(paid !== undefined && { fee: paid }),
          }
          return { signature, status: 1 as const, data }
        }),
      )
    },
  })

const addPaths = ({ networks, config }: ChangeParts): InterfacePath[] =>
  liquidityPaths('clmm', ['add', 'add-liquidity'], {
    method: 'POST',
    summary: 'Adds to a position.',
    permission: 'trade',
    request: Type.Object({ ...ofPosition, ...amountFields, slippagePct }),
    response: signedAnswer(Type.Object({ ...added, ...fee })),
    async answer(request, call) {
      const untilMs = waitUntil(config.receiptSeconds)
      const { venue, address, position } = await ownPosition(request, networks, call)
      const amounts = amountsOf(request)
      const { slippagePct: percent } = request
      const fields = {
        how: 'add',
        ...named(venue, address),
        position: positionAddress(position),
        ...amounts,
        slippage: canonicalOf(percent),
      }
      return call.once(
        { fields, ...windowsOf(config, config.receiptSeconds) },
        async () => {
          const { token0, token1 } = await readPosition(position, venue, call)
          return {
            ...venue.own,
            address,
            token0,
            token1,
            ...position,
            ...(await cutAmounts(amounts, [token0, token1], venue, call)),
            ...(await slippage(percent, venue, position.version, call)),
          }
        },
        async (key, addition) =>
          changedPosition(
            () => inFieldsOfClients(() => call.call('AMMLiquidityAdd', addition, { key })),
            { position, venue, call, untilMs },
            addedIn,
          ),
      )
    },
  })

const removePaths = ({ networks, config }: ChangeParts): InterfacePath[] =>
  liquidityPaths('clmm', ['remove', 'remove-liquidity'], {
    method: 'POST',
    summary: 'Removes a percentage of a position, and all fees with it.',
    permission: 'trade',
    request: Type.Object({ ...ofPosition, percentageToRemove: Decimal, slippagePct }),
    response: signedAnswer(Type.Object({ ...removed, ...fee })),
    async answer(request, call) {
      const untilMs = waitUntil(config.receiptSeconds)
      const { venue, address, position } = await ownPosition(request, networks, call)
      const decreasePercent = canonical(request.percentageToRemove)
      const { slippagePct: percent } = request
      const of = { position, venue, call, untilMs }
      const fields = { how: 'remove', ...named(venue, address), position: positionAddress(position), decreasePercent }
      const prepare = async () => ({
        ...venue.own,
        address,
        ...position,
        decreasePercent,
        ...(await slippage(percent, venue, position.version, call)),
      })
      const sign = (key: string, removal: Awaited<ReturnType<typeof prepare>>) => call.call('AMMLiquidityRemove', removal, { key })
      if (decreasePercent !== '100')
        return call.once(
          { fields: { ...fields, slippage: canonicalOf(percent) }, ...windowsOf(config, config.receiptSeconds) },
          prepare,
          async (key, removal) => changedPosition(() => sign(key, removal), of, removedIn),
        )
      return removeAllOnce(
        { fields, ...windowsOf(config, config.receiptSeconds) },
        {
          ...of,
          prepare,
          sign: (key, removal) => goneOrTrouble(position, () => sign(key, removal)),
          answer: (signed) => changedPosition(async () => signed, of, removedIn),
        },
      )
    },
  })

const collectPaths = ({ networks, config }: ChangeParts): InterfacePath[] =>
  liquidityPaths('clmm', ['collect-fees', 'collect-fees'], {
    method: 'POST',
    summary: 'Collects the fees of a position.',
    permission: 'trade',
    request: Type.Object(ofPosition),
    response: signedAnswer(Type.Object({ ...collected, ...fee })),
    async answer(request, call) {
      const untilMs = waitUntil(config.receiptSeconds)
      const { venue, address, position } = await ownPosition(request, networks, call)
      const collection = { ...venue.own, address, ...position }
      return call.once(
        {
          fields: { how: 'collect', ...named(venue, address), position: positionAddress(position) },
          ...windowsOf(config, config.receiptSeconds),
        },
        async () => collection,
        async (key) =>
          changedPosition(
            () => call.call('AMMLiquidityCollectFees', collection, { key }),
            { position, venue, call, untilMs },
            ({ amount0, amount1 }) => ({
              baseFeeAmountCollected: amount0,
              quoteFeeAmountCollected: amount1,
            }),
          ),
      )
    },
  })

/** Whoever asks again, with whatever slippage, asks for the same close, until its answer was delivered: after that the position is gone, and no amounts are told
 * a second time. After one that can never come it is another close. */
const closePaths = ({ networks, config }: ChangeParts): InterfacePath[] =>
  liquidityPaths('clmm', ['close', 'close-position'], {
    method: 'POST',
    summary: 'Removes all of a position with its fees, and the position itself.',
    permission: 'trade',
    timeoutSeconds: config.positionSeconds + answerSeconds,
    request: Type.Object({ ...ofPosition, slippagePct }),
    response: signedAnswer(
      Type.Object({
        ...removed,
        ...Type.Partial(Type.Object({ ...collected, ...fee })).properties,
        positionRentRefunded: Type.String(),
      }),
    ),
    async answer(request, call) {
      const untilMs = waitUntil(config.positionSeconds)
      return call.follow(followed(request.positionAddress, venueOf(request, networks)), 'close', async () => {
        const { venue, address, position } = await ownPosition(request, networks, call)
        return call.once(
          {
            fields: { how: 'close', ...named(venue, address), position: positionAddress(position) },
            ...windowsOf(config, config.positionSeconds),
            isOneForEver: true,
            isNewAfterFailure: true,
            isNewAfterAnswer: true,
          },
          async () => ({
            ...venue.own,
            address,
            ...position,
            burn: true,
            ...(await slippage(request.slippagePct, venue, position.version, call)),
          }),
          async (key, removal) => closed(() => call.call('AMMLiquidityRemove', removal, { key }), { position, venue, call, untilMs }),
        )
      })
    },
  })

const removedIn = ({ amount0, amount1 }: Fill) => ({ baseTokenAmountRemoved: amount0, quoteTokenAmountRemoved: amount1 })
const addedIn = ({ amount0, amount1 }: Fill) => ({ baseTokenAmountAdded: amount0, quoteTokenAmountAdded: amount1 })

/** @throws SluiceError as `goneOrTrouble` and `changed` */
const changedPosition = <D extends object>(
  sign: () => Promise<{ txHash: string }>,
  { position, ...parts }: PositionChange,
  dataOf: (fill: Fill) => D,
) =>
  changed(
    () => goneOrTrouble(position, sign),
    parts,
    (done) => {
      const fill = fillIn(done)
      return fill && dataOf(fill)
    },
  )

/** The pool's first token is the base. @throws SluiceError INCOMPLETE_PARAMS without any */
function amountsOf({ baseTokenAmount, quoteTokenAmount }: { baseTokenAmount?: string; quoteTokenAmount?: string }) {
  if (baseTokenAmount === undefined && quoteTokenAmount === undefined)
    throw badFields([{ field: 'baseTokenAmount', problem: 'is required, or quoteTokenAmount' }])
  return { amount0: canonical(baseTokenAmount ?? '0'), amount1: canonical(quoteTokenAmount ?? '0') }
}

/** @throws SluiceError as `cutBoth` */
async function cutAmounts(given: ReturnType<typeof amountsOf>, tokens: readonly [string, string], { on }: Venue, call: InterfaceCall) {
  const [amount0 = '0', amount1 = '0'] = await cutBoth([given.amount0, given.amount1], tokens, on, call)
  return { amount0, amount1 }
}

async function ownPosition(
  request: Parameters<typeof venueOf>[0] & { walletAddress?: string; address?: string; positionAddress: string },
  networks: Networks,
  call: InterfaceCall,
): Promise<{ venue: Venue; address: string; position: NamedPosition }> {
  const venue = venueOf(request, networks)
  const address = await addressOf(request, venue, networks, call)
  return { venue, address, position: await positionNamed(request.positionAddress, venue, call) }
}
