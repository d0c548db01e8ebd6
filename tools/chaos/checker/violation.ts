export type Invariant = 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6'

/** What must not be, and what shows it. */
export interface Violation {
  invariant: Invariant
  what: string
  evidence: object
}
