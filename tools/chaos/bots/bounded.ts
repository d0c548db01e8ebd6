/** Longer than the server gives a request. */
const patienceMs = 12_000

/** A bot does not wait for ever: what it has given up may still go on at the server. */
export async function bounded<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${patienceMs / 1000} s`)), patienceMs)
  })
  try {
    return await Promise.race([work, tooLong])
  } finally {
    clearTimeout(timer)
  }
}
