const base58Key = '[1-9A-HJ-NP-Za-km-z]{80,90}'
/** A key file of solana-keygen, or most of one. */
const numbers = '(?:\\d{1,3}\\s*,\\s*){31,}\\d{1,3}'

const secret = new RegExp(`^(?:(?:0x)?[0-9a-f]{64}|(?:0x)?[0-9a-f]{128}|${base58Key})$`, 'i')
const withinText = new RegExp(`[0-9a-f]{64}|${base58Key}|${numbers}`, 'i')

/** Whether a text is what may be a private key or a seed phrase: for arguments, where none may ever stand. */
export const looksLikeSecret = (text: string): boolean => secret.test(text.trim()) || isSeedPhrase(text) || new RegExp(numbers).test(text)

/** Whether something like a private key stands anywhere in a text. */
export const holdsKey = (text: string): boolean => withinText.test(text)

export const isSeedPhrase = (text: string): boolean => /^([a-z]{3,8}\s+){11,23}[a-z]{3,8}$/i.test(text.trim())
