/** One thing that was looked at. `warn` can wait, `bad` cannot; both come with what to do. */
export type Finding = { part: string; state: 'good'; what: string } | { part: string; state: 'warn' | 'bad'; what: string; cure: string }
