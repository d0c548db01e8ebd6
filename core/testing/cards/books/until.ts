/** Asks again and again until what is told holds. */
export async function until<T>(what: string, ask: () => Promise<T>, holds: (told: T) => boolean): Promise<T> {
  const end = performance.now() + 20_000
  for (;;) {
    const told = await ask()
    if (holds(told)) return told
    if (performance.now() > end) throw new Error(`${what}: never came about. Last told: ${JSON.stringify(told)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
