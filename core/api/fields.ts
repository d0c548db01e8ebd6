import Type from 'typebox'

// The fields that requests share. `expects` completes the sentence "must be …" in the error of a malformed one;
// `acceptsNumber` lets a JSON body hold a number where it is exact.

const text = (expects: string, options: object = {}) => Type.String({ minLength: 1, maxLength: 256, expects, ...options })

export const decimalPattern = '^\\d{1,80}(\\.\\d{1,120})?([eE][+-]?\\d{1,2})?$'

/** A non-negative decimal in a token's human units. */
export const Decimal = (description: string) =>
  text('a decimal string such as "1.5"', { pattern: decimalPattern, maxLength: 220, acceptsNumber: true, description })

export const ChainName = text('the name of a chain, such as ethereum', { description: 'Name of a chain.' })
export const NetworkName = text('the name of a network, such as mainnet', { description: "One of the chain's networks." })
export const ConnectorName = text('the name of a connector', { description: 'Name of a registered connector.' })
export const WalletAddress = text('a wallet address', { description: 'Address of a wallet; the server holds its key.' })
export const TokenName = text('a token symbol or address', { description: "A symbol of the network's token list, or a token's address." })
export const TransactionHash = text('a transaction hash', { description: 'Hash (or signature) of a transaction.' })
export const TokenSymbols = Type.Array(TokenName, {
  minItems: 1,
  maxItems: 1000,
  expects: 'a list of token symbols or addresses',
  description: 'Symbols or addresses.',
})

export const Side = Type.Enum(['BUY', 'SELL'], {
  expects: 'BUY or SELL',
  description: 'BUY or SELL of the base token, in any letter case.',
})

export const Nonce = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  expects: 'a non-negative integer',
  description: 'Used exactly. Absent, the server assigns the next one.',
})

export const Slippage = text('a fraction such as "1/200"', {
  pattern: '^\\d{1,9}/[1-9]\\d{0,8}$',
  description: 'How far the execution price may move against the caller; may only tighten the configured one.',
})

/** What requests that make a transaction take, all optional. */
export const transactionFields = {
  nonce: Type.Optional(Nonce),
  maxFeePerGas: Type.Optional(Decimal('The most to pay per gas, in gwei.')),
  maxPriorityFeePerGas: Type.Optional(Decimal('The tip per gas, in gwei.')),
}

export const chainFields = { chain: ChainName, network: NetworkName }
export const connectorFields = { ...chainFields, connector: ConnectorName }

/** Added to every object that a chain or DEX endpoint answers. */
export const envelopeFields = {
  network: Type.String(),
  timestamp: Type.Number({ description: 'Milliseconds since the Unix epoch.' }),
  latency: Type.Number({ description: 'Seconds that the server took.' }),
}

export const gasFields = {
  gasPrice: Type.Number({ description: 'Base fee plus tip, in gwei: 10^-9 of the coin.' }),
  gasPriceToken: Type.String({ description: 'Symbol of the token that pays for gas.' }),
  gasLimit: Type.Number({ description: 'Gas units that are, or would be, signed.' }),
  gasCost: Type.String({ description: 'In the gas token, a decimal string.' }),
}

const mostPerPage = 500

export const pageFields = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: mostPerPage,
      expects: `an integer from 1 to ${mostPerPage}`,
      description: 'At most so many; 100 without it.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      expects: 'the nextCursor of an earlier answer',
      description: '`nextCursor` of the page before.',
    }),
  ),
}
