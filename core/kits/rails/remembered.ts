const most = 1000

/** Answers that hold for good; the oldest are forgotten. */
export interface Remembered<T> {
  get(key: string): T | undefined
  set(key: string, value: T): void
}

export function createRemembered<T>(): Remembered<T> {
  const values = new Map<string, T>()
  return {
    get: (key) => values.get(key),
    set(key, value) {
      values.set(key, value)
      for (const oldest of values.keys()) if (values.size > most) values.delete(oldest)
    },
  }
}
