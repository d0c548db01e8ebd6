const outcomes = []

/** One thing that must hold; the others go on when it does not. */
export async function check(what, test) {
  const startedAt = performance.now()
  try {
    await test()
    outcomes.push(true)
    console.log(`  ✔ ${what} (${seconds(startedAt)} s)`)
  } catch (error) {
    outcomes.push(false)
    console.log(`  ✘ ${what} (${seconds(startedAt)} s)\n      ${String(error?.stack ?? error).replaceAll('\n', '\n      ')}`)
  }
}

export function summary() {
  const failed = outcomes.filter((outcome) => !outcome).length
  return { passed: outcomes.length - failed, failed }
}

/** Asks until there is a value; fails, with what `why` says, when there is none in time. */
export async function eventually(ask, withinSeconds, why = () => '') {
  const deadline = Date.now() + withinSeconds * 1000
  for (;;) {
    const value = await ask()
    if (value) return value
    if (Date.now() > deadline) throw new Error(`not within ${withinSeconds} s\n${why()}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

export function seconds(since) {
  return ((performance.now() - since) / 1000).toFixed(1)
}
