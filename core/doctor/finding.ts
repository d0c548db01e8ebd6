/** One thing that was looked at. `warn` can wait, `bad` cannot; `cure` says what to do where `what` does not. */
export type Finding = { part: string; state: 'good'; what: string } | { part: string; state: 'warn' | 'bad'; what: string; cure?: string }
