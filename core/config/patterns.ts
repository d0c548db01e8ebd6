// How texts of the configuration are written, and the words for it: nobody reads a regular expression.

export const amountPattern = String.raw`^\d{1,40}(\.\d{1,36})?$`
export const networkPattern = '^[^/]+/[^/]+$'
export const hoursPattern = String.raw`^([01]\d|2[0-3]):[0-5]\d-(([01]\d|2[0-3]):[0-5]\d|24:00)$`
/** The symbol of a token, without invisible characters. */
export const symbolPattern = /^[^\s\p{C}]([^\p{C}]{0,62}[^\s\p{C}])?$/u

const words: Readonly<Record<string, string>> = {
  [amountPattern]: 'a number in quotes like "1.5", not negative, with a point',
  [networkPattern]: 'a chain and network like ethereum/mainnet',
  [hoursPattern]: 'hours of the day like "08:00-18:00"',
}

/** Undefined for a pattern of others. */
export const wordsOfPattern = (pattern: unknown): string | undefined =>
  typeof pattern === 'string' && Object.hasOwn(words, pattern) ? words[pattern] : undefined
