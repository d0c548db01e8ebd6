export const sameBytes = (a: ArrayLike<number>, b: ArrayLike<number>): boolean => Buffer.from(Uint8Array.from(a)).equals(Uint8Array.from(b))
