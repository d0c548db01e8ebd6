import { decimal, either, flag, list, nothing, object, shape, text, whole } from '../shape.ts'

export const perpMeta = object({
  universe: list(object({ name: text, szDecimals: whole, maxLeverage: whole }, { onlyIsolated: flag, isDelisted: flag, marginMode: text })),
})
export const meta = shape(perpMeta)

export const spotMeta = shape(
  object({
    universe: list(object({ name: text, index: whole, tokens: list(whole) })),
    tokens: list(
      object(
        { name: text, index: whole, szDecimals: whole, weiDecimals: whole },
        { evmContract: either(object({ address: text }), nothing) },
      ),
    ),
  }),
)

/** Parts of what is traded. */
export const userFees = shape(
  object({ userCrossRate: decimal, userAddRate: decimal, userSpotCrossRate: decimal, userSpotAddRate: decimal }),
)
