/** Letters and digits together, longer than words are. */
const keyLike = /^(?=.*\d)(?=.*[a-z]).{24,}$|^[^.]{40,}$/i

/** A URL's host without the labels that are keys: some providers put the key into the host's name. */
export const shownHost = (host: string): string =>
  host
    .split('.')
    .map((label) => (keyLike.test(label) ? '***' : label))
    .join('.')
