/**
 * What follows from a value: at once where it is there, else when it comes. A price from memory waits for nothing, not even for a turn of the
 * event loop, and so costs no promise and no timer.
 */
export const after = <T, R>(value: T | Promise<T>, make: (value: T) => R | Promise<R>): R | Promise<R> =>
  value instanceof Promise ? value.then(make) : make(value)
