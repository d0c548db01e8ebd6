import { createTelemetry, type StateSubject } from '../../core/live-state/telemetry.ts'

/** What was counted, as `what outcome place`. */
export function createRecorder() {
  const told: string[] = []
  const of = ({ connector, what }: StateSubject) => [connector, what].filter(Boolean).join(' ')
  const witness = createTelemetry(
    { info() {}, warn() {} },
    {
      trouble: (place, what) => void told.push(`${what} ${of(place)}`.trim()),
      check: (place, outcome) => void told.push(`${outcome} ${of(place)}`),
      update() {},
    },
  )
  return { told, witness }
}

/** Waits until it holds; fails with what it says after a generous time. */
export async function until(holds: () => boolean, what = 'it'): Promise<void> {
  const end = Date.now() + 40_000
  while (!holds()) {
    if (Date.now() > end) throw new Error(`It never came about: ${what}`)
    await new Promise((resolve) => {
      setTimeout(resolve, 5)
    })
  }
}
