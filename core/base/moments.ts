// Moments as people write them. A time without a zone would mean another moment on another machine, so there is none.

/** What `readMoment` takes, to end a sentence. */
export const momentForms = 'a date such as 2026-03-01 (UTC), or a moment such as 2026-03-01T12:00Z'

/** Milliseconds since the Unix epoch; undefined for a text that is no such date or moment. */
export function readMoment(text: string): number | undefined {
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text)
  const isMoment = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text)
  const moment = isDate || isMoment ? new Date(text).getTime() : Number.NaN
  if (Number.isNaN(moment)) return undefined
  // There is no 31 February: it would be read as a day of March.
  return new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)) - 1, Number(text.slice(8, 10))))
    .toISOString()
    .startsWith(text.slice(0, 10))
    ? moment
    : undefined
}
