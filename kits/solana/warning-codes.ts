// The names of warnings about tokens and accounts. They are stable: settings and clients have them.

/** Of a mint. */
const mintCodes = [
  'freeze-authority',
  'permanent-delegate',
  'pausable',
  'paused',
  'mint-close-authority',
  'transfer-hook',
  'transfer-fee',
  'frozen-accounts',
  'non-transferable',
  'interest-bearing',
  'scaled-amount',
  'confidential',
  'unknown-extension',
  'malformed-mint',
] as const
/** Of a wallet's own account of a token. */
const accountCodes = ['account-delegate', 'account-close-authority', 'account-frozen', 'account-owner'] as const

export const tokenWarningCodes = [...mintCodes, ...accountCodes] as const
export type MintCode = (typeof mintCodes)[number]
export type AccountCode = (typeof accountCodes)[number]
