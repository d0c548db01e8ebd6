import Type from 'typebox'
import { decimal, shape, whole } from '../api/shape.ts'

export const perpMeta = Type.Object({
  universe: Type.Array(
    Type.Object({
      name: Type.String(),
      szDecimals: whole,
      maxLeverage: whole,
      onlyIsolated: Type.Optional(Type.Boolean()),
      isDelisted: Type.Optional(Type.Boolean()),
      marginMode: Type.Optional(Type.String()),
    }),
  ),
})
export const meta = shape(perpMeta)

export const spotMeta = shape(
  Type.Object({
    universe: Type.Array(Type.Object({ name: Type.String(), index: whole, tokens: Type.Array(whole) })),
    tokens: Type.Array(
      Type.Object({
        name: Type.String(),
        index: whole,
        szDecimals: whole,
        weiDecimals: whole,
        evmContract: Type.Optional(Type.Union([Type.Object({ address: Type.String() }), Type.Null()])),
      }),
    ),
  }),
)

/** Parts of what is traded. */
export const userFees = shape(
  Type.Object({ userCrossRate: decimal, userAddRate: decimal, userSpotCrossRate: decimal, userSpotAddRate: decimal }),
)
