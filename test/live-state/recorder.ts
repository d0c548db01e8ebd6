import { createTelemetry, type StateSubject } from '../../core/live-state/telemetry.ts'

/** What was counted, as `what outcome subject`, and the fields of warnings. */
export function createRecorder() {
  const told: string[] = []
  const warned: Record<string, unknown>[] = []
  const of = ({ connector, what }: StateSubject) => [connector, what].filter(Boolean).join(' ')
  const telemetry = createTelemetry(
    { info() {}, warn: (fields: object) => void warned.push({ ...fields }) },
    {
      trouble: (subject, what) => void told.push(`${what} ${of(subject)}`.trim()),
      check: (subject, outcome) => void told.push(`${outcome} ${of(subject)}`),
      update() {},
    },
  )
  return { told, warned, telemetry }
}

/** Waits until it holds; fails with what it says after a generous time. */
export async function until(holds: () => boolean, what = 'it'): Promise<void> {
  const end = Date.now() + 180_000
  while (!holds()) {
    if (Date.now() > end) throw new Error(`It never came about: ${what}`)
    await new Promise((resolve) => {
      setTimeout(resolve, 5)
    })
  }
}
